package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestCancelThere: the account that has a job at another site cancels it there, such as the job itself, whether it runs or waits;
// the origin hears so also if the sites are parted, and the site's peer dies right after.
func TestCancelThere(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ waits, parted, crashes bool }{
		"it runs":                            {},
		"it waits":                           {waits: true},
		"it runs, and the peer dies":         {crashes: true},
		"it waits, and the peer dies":        {waits: true, crashes: true},
		"it runs, and the sites are parted":  {parted: true},
		"it waits, and the sites are parted": {waits: true, parted: true, crashes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := twoSites(t)
			if tt.waits {
				busy := twoCPUs(3 * protocol.Hour)
				busy.Spec.CPUs, busy.Spec.WallTime = 4, 4*protocol.Hour
				w.Submit("b", "bob", "", busy)
				w.Advance(10 * protocol.Second)
			}
			id := submit(t, w, twoCPUs(2*protocol.Hour))
			if v := shown(w, id); v.Site != "b" || (v.State == protocol.Running) == tt.waits {
				t.Fatalf("before, the job is %v at %q: %s", v.State, v.Site, v.Reason)
			}
			if tt.parted {
				part(w)
			}
			asked := w.CancelThere("b", id, "ada")
			w.Advance(protocol.Second)
			if got := w.Site("b").Answer(asked); got != (view.Done{}) {
				t.Fatalf("answered %+v", got)
			}
			if tt.crashes {
				w.Crash("b")
				if err := w.Restart("b"); err != nil {
					t.Fatal(err)
				}
			}
			if tt.parted {
				w.Advance(10 * protocol.Minute)
				meet(w)
			}
			w.Advance(10 * protocol.Minute)
			ended := w.Site("a").Finished()
			if len(ended) != 1 || ended[0].State != protocol.Cancelled || !strings.HasPrefix(ended[0].Reason, "cancelled at b by its account there, ") {
				t.Errorf("the job has ended as %+v", ended)
			}
			if left := w.Site("b").Rows().Guests(); len(left) != 1 || left[0].Phase.Open() {
				t.Errorf("b has %+v", left)
			}
		})
	}
}

// TestNotCancelledThere: only the account that has the job may, and only while it has not ended.
func TestNotCancelledThere(t *testing.T) {
	t.Parallel()
	w := twoSites(t)
	id := submit(t, w, twoCPUs(protocol.Minute))
	refused := func(user string) string {
		asked := w.CancelThere("b", id, user)
		w.Advance(protocol.Second)
		refusal, _ := w.Site("b").Answer(asked).(view.Refusal)
		return refusal.Reason
	}
	if why := refused("eve"); !strings.Contains(why, "only that site decides about it") {
		t.Errorf("another account: %q", why)
	}
	w.Advance(10 * protocol.Minute)
	if why := refused("ada"); why == "" {
		t.Error("a job that has ended was cancelled")
	}
	if ended := w.Site("a").Finished(); len(ended) != 1 || ended[0].State != protocol.Completed {
		t.Errorf("the job has ended as %+v", ended)
	}
}
