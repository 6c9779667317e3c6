package loadhistory_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/loadhistory"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestLoadsAreMeansOfSlots(t *testing.T) {
	t.Parallel()
	var history loadhistory.History
	fresh, old := protocol.Second, loadhistory.Stale+1
	add := func(at protocol.Instant, busy int, age *protocol.Duration) {
		history.Add(at, []view.Site{{Site: "north", CPUs: 8, Busy: busy, Queued: busy, Age: age}, {Site: "south", CPUs: 8}, {Site: "west", Age: &fresh}})
	}
	slot := protocol.Instant(loadhistory.Slot)
	start := 1000 * slot
	add(start+1, 2, &fresh)
	add(start+2, 6, &fresh)
	add(start+3, 8, &old)
	add(start+4, 8, nil)
	add(start+2*slot, 8, &fresh)
	var starts []protocol.Instant
	var busy []float64
	for _, load := range history.Of("north") {
		starts, busy = append(starts, load.Start), append(busy, load.Busy)
	}
	if !slices.Equal(starts, []protocol.Instant{start, start + 2*slot}) || !slices.Equal(busy, []float64{0.5, 1}) {
		t.Errorf("slots %v, busy %v", starts, busy)
	}
	if len(history.Of("south"))+len(history.Of("west"))+len(history.Of("east")) != 0 {
		t.Error("there are loads that were not known")
	}
}

func TestLoadsAreKeptForADay(t *testing.T) {
	t.Parallel()
	var history loadhistory.History
	age, slot := protocol.Second, protocol.Instant(loadhistory.Slot)
	for i := range protocol.Instant(1000) {
		history.Add(i*slot, []view.Site{{Site: "north", CPUs: 8, Busy: 1, Age: &age}})
	}
	loads := history.Of("north")
	if len(loads) != 289 || loads[0].Start != 711*slot {
		t.Errorf("%d loads from %d on", len(loads), loads[0].Start/slot)
	}
	history.Add(2000*slot, nil)
	if len(history.Of("north")) != 0 {
		t.Error("loads of long ago are kept")
	}
}

// A clock that was wrong and is set back makes slots that are to come.
func TestLoadsOfTheFutureAreForgotten(t *testing.T) {
	t.Parallel()
	var history loadhistory.History
	age, slot := protocol.Second, protocol.Instant(loadhistory.Slot)
	for _, one := range []struct {
		slot protocol.Instant
		busy int
	}{{100, 2}, {101, 8}, {200, 8}, {101, 4}, {102, 6}} {
		history.Add(one.slot*slot+1, []view.Site{{Site: "north", CPUs: 8, Busy: one.busy, Age: &age}})
	}
	var starts []protocol.Instant
	var busy []float64
	for _, load := range history.Of("north") {
		starts, busy = append(starts, load.Start/slot), append(busy, load.Busy)
	}
	if !slices.Equal(starts, []protocol.Instant{100, 101, 102}) || !slices.Equal(busy, []float64{0.25, 0.75, 0.75}) {
		t.Errorf("slots %v, busy %v", starts, busy)
	}
	history.Add(50*slot, nil)
	if loads := history.Of("north"); len(loads) != 0 {
		t.Errorf("%v are in the future", loads)
	}
}
