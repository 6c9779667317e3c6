package connlimit_test

import (
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/connlimit"
)

func TestPace(t *testing.T) {
	t.Parallel()
	p := connlimit.NewPace(time.Second, 3)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		at   time.Duration
		want bool
	}{
		{0, true},
		{0, true},
		{0, true},
		{0, false},
		{999 * time.Millisecond, false},
		{time.Second, true},
		{time.Second, false},
		{time.Hour, true},
		{time.Hour, true},
		{time.Hour, true},
		{time.Hour, false},
	} {
		if got := p.Allows(start.Add(c.at)); got != c.want {
			t.Errorf("step %d, at %v: got %v", i, c.at, got)
		}
	}
}
