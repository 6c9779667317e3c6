package peer_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// moving has a site look for better places every minute.
func moving(cfg *rules.Config) {
	cfg.PlannedStarts = protocol.Minute
	cfg.Moves = rules.Moves{
		Interval: protocol.Minute, Jobs: 64, Gain: 10 * protocol.Minute, GainShare: protocol.PPM / 5, Wait: protocol.Minute, Pause: 30 * protocol.Minute, Most: 3,
	}
}

// gridOf is a site a of some CPUs whose partners b and c have 2 each.
func gridOf(t *testing.T, cpus int, place policy.Policy, change func(*rules.Config)) *peertest.World {
	t.Helper()
	site := func(name protocol.SiteName, cpus int) peertest.SiteOptions {
		return peertest.SiteOptions{Name: name, Capacity: protocol.Capacity{CPUs: cpus, Nodes: cpus}, Policy: place, Config: func(cfg *rules.Config) {
			moving(cfg)
			change(cfg)
		}}
	}
	w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{site("a", cpus), site("b", 2), site("c", 2)}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// lasting is a job of two CPUs with a time limit that it may not need.
func lasting(run, limit protocol.Duration, sites ...protocol.SiteName) protocol.Job {
	return peertest.Plan{Run: run}.Job(protocol.Spec{Request: protocol.Request{CPUs: 2, WallTime: limit}, Sites: sites})
}

// behind submits a job that waits at a site until 9 h from now, and one that blocks another site for an hour, which
// seems to be 10 h before. The first one is returned.
func behind(t *testing.T, w *peertest.World, waitsAt, blocked protocol.SiteName) protocol.JobID {
	t.Helper()
	for _, site := range []protocol.SiteName{"a", "b", "c"} {
		if run := map[protocol.SiteName]protocol.Duration{waitsAt: 9 * protocol.Hour, blocked: protocol.Hour}[site]; run != 0 {
			limit := max(run, 10*protocol.Hour)
			if site == waitsAt {
				limit = run
			}
			submit(t, w, lasting(run, limit, site))
			w.Advance(2 * protocol.Minute) // a cycle
		}
	}
	id := submit(t, w, lasting(protocol.Hour, protocol.Hour, "a", "b", "c"))
	w.Advance(10 * protocol.Minute)
	if stored, _ := w.Site("a").Rows().Job(id); stored.Site != waitsAt || stored.State != protocol.Pending {
		t.Fatalf("the job is %s at %q, to wait at %s", stored.Phase, stored.Site, waitsAt)
	}
	return id
}

// TestMove: a job that waits for 9 hours at a partner, or at its own site, is placed again once another site is free sooner than
// it had seemed to be, whatever opens rounds, and not without [moves].
func TestMove(t *testing.T) {
	t.Parallel()
	greedy := peertest.Greedy{}
	for name, tt := range map[string]struct {
		cpus       int
		waitsAt    protocol.SiteName
		to         protocol.SiteName
		place      policy.Policy
		initiation policy.Initiation
	}{
		"from a partner to another":    {1, "b", "c", nil, policy.Sender},
		"from a partner to its origin": {2, "b", "a", nil, policy.Sender},
		"from its origin":              {2, "a", "b", nil, policy.Sender},
		"receiver":                     {1, "b", "c", nil, policy.Receiver},
		"symmetric":                    {2, "a", "b", nil, policy.Symmetric},
		"cycle":                        {2, "a", "b", greedy, policy.Cycle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := gridOf(t, tt.cpus, tt.place, func(cfg *rules.Config) { cfg.Initiation = tt.initiation })
			third := map[string]protocol.SiteName{"ab": "c", "ba": "c", "bc": "a"}[string(tt.waitsAt+tt.to)]
			if tt.cpus == 2 || third != "a" {
				submit(t, w, lasting(20*protocol.Hour, 20*protocol.Hour, third))
			}
			id := behind(t, w, tt.waitsAt, tt.to)
			began := w.Now()
			w.Advance(2 * protocol.Hour)
			at, site := w.LastStart(id)
			if site != tt.to || at.Sub(began) > 70*protocol.Minute {
				t.Errorf("it started at %q after %v, want %q", site, at.Sub(began), tt.to)
			}
			w.Advance(2 * protocol.Hour)
			job, ended := w.Site("a").Archived(id)
			if !ended || job.State != protocol.Completed || job.Moves != 1 || job.MovedAt == 0 {
				t.Errorf("ended %t: %v, moved %d times", ended, job.State, job.Moves)
			}
			if err := w.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMoveOverACrash: a job that moves does so although its origin crashes while the job is recalled, or before it is offered
// again: the move counts, and the job waits for no volunteer.
func TestMoveOverACrash(t *testing.T) {
	t.Parallel()
	for name, crashes := range map[string]func(row.Job) bool{
		"while it is recalled":     func(j row.Job) bool { return j.Phase == row.JobRecalling },
		"in the grid queue":        func(j row.Job) bool { return j.Phase == row.JobInGridQueue },
		"when it is offered again": func(j row.Job) bool { return j.Phase == row.JobOffered },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := gridOf(t, 2, nil, func(cfg *rules.Config) { cfg.VolunteerBelow = 0 })
			submit(t, w, lasting(20*protocol.Hour, 20*protocol.Hour, "a"))
			id := behind(t, w, "b", "c")
			w.Tune("a", func(cfg *rules.Config) { cfg.Initiation = policy.Receiver })
			began := w.Now()
			for len(w.Site("a").Finished()) == 0 { // that which blocks c
				w.Advance(protocol.Second)
			}
			stored, _ := w.Site("a").Rows().Job(id)
			for !crashes(stored) {
				if w.Advance(1); w.Now().Sub(began) > 2*protocol.Hour {
					t.Fatalf("the job is %s, and was %s", stored.Phase, name)
				}
				stored, _ = w.Site("a").Rows().Job(id)
			}
			restarted(t, w, "a")
			w.Advance(70*protocol.Minute - w.Now().Sub(began))
			if _, site := w.LastStart(id); site != "c" {
				t.Errorf("it has started at %q", site)
			}
			w.Advance(2 * protocol.Hour)
			if job, _ := w.Site("a").Archived(id); job.State != protocol.Completed || job.Moves != 1 || job.MovedAt == 0 {
				t.Errorf("%v, moved %d times", job.State, job.Moves)
			}
			if err := w.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoMove: a job stays where it waits if its user holds on to that, if no gain is large enough, or if that
// is not wanted.
func TestNoMove(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rules.Config){
		"without moves":        func(cfg *rules.Config) { cfg.Moves = rules.Moves{} },
		"no site says when":    func(cfg *rules.Config) { cfg.PlannedStarts = 0 },
		"too small a gain":     func(cfg *rules.Config) { cfg.Moves.Gain = 8 * protocol.Hour },
		"too small a share":    func(cfg *rules.Config) { cfg.Moves.GainShare = 90 * protocol.PPM / 100 },
		"it has moved already": func(cfg *rules.Config) { cfg.Moves.Most = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := gridOf(t, 1, nil, change)
			id := behind(t, w, "b", "c")
			w.Advance(8 * protocol.Hour)
			stored, _ := w.Site("a").Rows().Job(id)
			if stored.Site != "b" || stored.State != protocol.Pending || stored.Moves != 0 || stored.Epoch != 1 {
				t.Errorf("the job is %v (%s) at %q, moved %d times", stored.State, stored.Phase, stored.Site, stored.Moves)
			}
		})
	}
}

// TestTailMoves: elements of an array that wait at a partner are placed again as other jobs are.
func TestTailMoves(t *testing.T) {
	t.Parallel()
	w := gridOf(t, 1, nil, func(*rules.Config) {})
	behind(t, w, "b", "c")
	tail := lasting(protocol.Hour, protocol.Hour)
	tail.Array = &protocol.Array{Indexes: protocol.IndexesOf(0, 1)}
	id := submit(t, w, tail)
	w.Advance(5 * protocol.Hour)
	moves := 0
	for index := range 2 {
		job, ended := w.Site("a").Archived(protocol.Element{Array: id, Index: index}.ID())
		if !ended || job.State != protocol.Completed || job.Site != "c" {
			t.Errorf("element %d: ended %t, %v at %q", index, ended, job.State, job.Site)
		}
		moves += job.Moves
	}
	if moves == 0 {
		t.Error("no element has moved")
	}
}

// TestMoveAfterRestart: a job that is recalled when its origin crashes comes back, and is placed again.
func TestMoveAfterRestart(t *testing.T) {
	t.Parallel()
	w := gridOf(t, 1, nil, func(*rules.Config) {})
	id := behind(t, w, "b", "c")
	recalling := func() bool {
		stored, _ := w.Site("a").Rows().Job(id)
		return stored.Phase == row.JobRecalling
	}
	for w.Advance(30 * protocol.Minute); !recalling(); w.Advance(1) {
		if w.Now().Sub(peertest.Epoch) > 2*protocol.Hour {
			t.Fatal("it was never recalled")
		}
	}
	restarted(t, w, "a")
	w.Advance(2 * protocol.Hour)
	wantJob(t, w, id, protocol.Completed, "")
	if _, site := w.LastStart(id); site != "c" {
		t.Errorf("it ran at %q", site)
	}
}
