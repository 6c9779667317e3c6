package pluginhost_test

import (
	"slices"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
)

// Pauses double up to the longest; too many failures in the window make a rest; the
// window passes; and the seed decides the rest.
func TestPace(t *testing.T) {
	t.Parallel()
	spec := pluginhost.Spec{Name: "x"}
	start := time.UnixMilli(0)
	var at []time.Time
	for i := range 10 {
		at = append(at, start.Add(time.Duration(i)*time.Second))
	}
	at = append(at, start.Add(time.Hour))
	pauses := pluginhost.Pauses(spec, at)
	want := []int{1, 2, 4, 8, 16, 32, 60, 60, 300, 300, 1}
	for i, seconds := range want {
		least := time.Duration(seconds) * time.Second
		if pauses[i] < least || pauses[i] > least*6/5 {
			t.Errorf("pause %d is %v, want %v to %v", i, pauses[i], least, least*6/5)
		}
	}
	if again := pluginhost.Pauses(spec, at); !slices.Equal(again, pauses) {
		t.Error("the same seed gives other pauses")
	}
	spec.Host.Seed = 1
	if other := pluginhost.Pauses(spec, at); slices.Equal(other, pauses) {
		t.Error("another seed gives the same pauses")
	}
}
