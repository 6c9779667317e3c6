package tokens_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/tokens"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestBucket(t *testing.T) {
	t.Parallel()
	const start protocol.Instant = 1_800_000_000_000
	b := tokens.New(100, 1000)
	b.Take(start, 1000)
	if wait := b.Wait(start); wait != 0 {
		t.Errorf("after the burst: %v", wait)
	}
	b.Take(start, 250) // in advance
	if wait := b.Wait(start); wait != 2500*protocol.Millisecond {
		t.Errorf("250 tokens in debt: %v", wait)
	}
	if b.Try(start.Add(2*protocol.Second), 1) {
		t.Error("took a token while in debt")
	}
	if wait := b.Wait(start.Add(protocol.Second)); wait != 500*protocol.Millisecond { // time ran back
		t.Errorf("after time ran back: %v", wait)
	}
	if !b.Try(start.Add(2500*protocol.Millisecond), 1) {
		t.Error("refused a token when out of debt")
	}
	b.Take(start.Add(protocol.Day), 1000) // no more than the burst is saved up
	if wait := b.Wait(start.Add(protocol.Day)); wait != 0 {
		t.Errorf("a full bucket: %v", wait)
	}
	b.Take(start.Add(protocol.Day), 1)
	if wait := b.Wait(start.Add(protocol.Day)); wait != 10*protocol.Millisecond {
		t.Errorf("one token in debt: %v", wait)
	}
}

func TestZeroBucketRefusesNothing(t *testing.T) {
	t.Parallel()
	var b tokens.Bucket
	for now := range protocol.Instant(3) {
		if !b.Try(now, 1<<40) {
			t.Error("refused")
		}
	}
}
