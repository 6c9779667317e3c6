package partner_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Five facts of a kind are made in an hour; of more the number is said at its end.
func TestPace(t *testing.T) {
	t.Parallel()
	const end = now + protocol.Instant(protocol.Hour)
	p := connected()
	pace := func(kind string, at protocol.Instant, want bool) {
		t.Helper()
		made, until := p.Pace(kind, at)
		if made != want || !made && until != end || made && until != 0 {
			t.Errorf("%s at %d: made %v, until %d", kind, at, made, until)
		}
	}
	for i := range protocol.Instant(8) {
		pace("odd", now+i, i < 5)
	}
	pace("clash", now+20, true)
	if over, next := p.EndPeriod(end - 1); over != nil || next != end {
		t.Errorf("before the end: %v, next %d", over, next)
	}
	pace("odd", end, false) // the period goes on until its number is said
	over, next := p.EndPeriod(end)
	if want := []partner.Unmade{{Kind: "odd", Others: 4, Text: "4 more of this kind since " + now.Text()}}; !reflect.DeepEqual(over, want) || next != 0 {
		t.Errorf("%+v, next %d; want %+v", over, next, want)
	}
	pace("odd", end, true)
}

// A period in which all facts were made ends by itself.
func TestPaceOfFewFacts(t *testing.T) {
	t.Parallel()
	p := connected()
	for i := range protocol.Instant(12) {
		if made, _ := p.Pace("odd", now+i*protocol.Instant(12*protocol.Minute)); !made {
			t.Errorf("fact %d is not made", i)
		}
	}
	if over, next := p.EndPeriod(now + 100*protocol.Instant(protocol.Hour)); over != nil || next != 0 {
		t.Errorf("%v, next %d", over, next)
	}
}

// Periods of several kinds end each on its own, in the order of the kinds.
func TestPaceOfSeveralKinds(t *testing.T) {
	t.Parallel()
	p := connected()
	for i, kind := range []string{"b", "a", "c"} {
		for range 6 {
			p.Pace(kind, now+protocol.Instant(i))
		}
	}
	end := now + protocol.Instant(protocol.Hour)
	over, next := p.EndPeriod(end + 1)
	if len(over) != 2 || over[0].Kind != "a" || over[1].Kind != "b" || next != end+2 {
		t.Errorf("%+v, next %d", over, next)
	}
}
