package broker_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestTurns: of the groups of one origin one at a time seeks room at a site.
func TestTurns(t *testing.T) {
	t.Parallel()
	one, two := broker.GroupKey{Application: 1, Number: 1}, broker.GroupKey{Application: 9, Number: 1}
	seeking := map[broker.GroupKey]bool{}
	seeks := func(key broker.GroupKey) bool { return seeking[key] }
	at := func(first protocol.JobID, sites ...protocol.SiteName) (places []broker.Place) {
		for i, site := range sites {
			places = append(places, broker.Place{Job: member(first+protocol.JobID(i), row.JobInGridQueue, 0), Site: site})
		}
		return places
	}
	var turns broker.Turns
	claim := func(key broker.GroupKey, waits bool, places []broker.Place) {
		t.Helper()
		other, site, got := turns.Claim(key, places, seeks)
		if got != waits || waits && (other != one || site != "b") {
			t.Errorf("%v waits for %v at %q: %t", key, other, site, got)
		}
	}
	claim(one, false, at(1, "a", "b"))
	seeking[one] = true
	claim(one, false, at(1, "a", "b"))
	claim(two, false, at(11, "c", "d"))
	claim(two, true, at(11, "c", "b"))
	if sites, waiting := turns.Open(); sites != 4 || waiting != 2 {
		t.Errorf("%d sites, %d wait", sites, waiting)
	}
	if woken := turns.End(broker.GroupKey{Application: 7}); woken != nil {
		t.Errorf("the end of no turn wakes %v", woken)
	}
	if woken := turns.End(one); len(woken) != 2 || woken[0] != 11 || woken[1] != 12 {
		t.Errorf("woken: %v", woken)
	}
	claim(one, false, at(1, "b"))
	seeking[one] = false
	claim(two, false, at(11, "c", "b")) // it seeks room no more
	if sites, waiting := turns.Open(); sites != 3 || waiting != 0 {
		t.Errorf("%d sites, %d wait", sites, waiting)
	}
}
