package peer_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/fairness"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fair has use count, with the weights that are usual.
func fair(cfg *rules.Config) {
	cfg.Partners = nil
	countingUse(cfg)
}

func countingUse(cfg *rules.Config) {
	cfg.FairShare = rules.FairShare{HalfLife: 7 * protocol.Day, Weights: fairshare.Weights{Age: 1000, FairShare: 10_000, MaxAge: 7 * protocol.Day}}
}

// deciding is a site alone whose rounds wait for the test before they are decided.
func deciding(t *testing.T, change func(*rules.Config)) *lone {
	t.Helper()
	answer := idle(peertest.Greedy{}, func(r protocol.Request) protocol.Quote {
		return protocol.Quote{Job: r.Job, AWT: protocol.Day, ERT: r.WallTime}
	})
	return newLone(t, change, func(op event.Op) (event.Result, error) {
		if _, ok := op.(event.DecideOp); ok {
			return nil, errLater
		}
		return answer(op)
	})
}

// submitAs submits jobs of a user.
func (l *lone) submitAs(user string, jobs int) {
	l.t.Helper()
	s := submission(jobs)
	s.User = user
	l.step(s)
}

// decide has the round that is open be decided, and counts its jobs by their users.
func (l *lone) decide() (of map[string]int) {
	l.t.Helper()
	i := slices.IndexFunc(l.open, func(c event.Call) bool { _, ok := c.Op.(event.DecideOp); return ok })
	if i < 0 {
		l.t.Fatal("no round is open")
	}
	call := l.open[i]
	l.open = slices.Delete(l.open, i, i+1)
	op, _ := call.Op.(event.DecideOp)
	of = map[string]int{}
	for i := range op.Snapshot.Jobs {
		of[op.Snapshot.Jobs[i].User]++
	}
	decisions, hint, err := peertest.Greedy{}.Decide(context.Background(), op.Snapshot)
	l.step(event.CallDone{ID: call.ID, Result: event.DecideResult{Decisions: decisions, Hint: hint}, Err: err})
	return of
}

// rows are those of the peer now.
func (l *lone) rows() row.Rows {
	rows := row.Rows{}
	for _, rec := range l.records {
		rows.Commit(rec)
	}
	return rows
}

// TestFloodByOneUser: the next round has the only job of a user who comes after 10,000 of another one.
func TestFloodByOneUser(t *testing.T) {
	t.Parallel()
	l := deciding(t, fair)
	l.submitAs("ann", 10_000)
	if of := l.decide(); of["ann"] != 64 {
		t.Fatalf("the first round has %v", of)
	}
	l.submitAs("bob", 1)
	first, next := l.decide(), l.decide()
	if first["ann"] != 64 || next["bob"] != 1 || next["ann"] != 63 {
		t.Errorf("the rounds have %v and %v, want the job of bob in the second, which opens after it has come", first, next)
	}
}

// TestUseIsKept: what users have used is in the rows, and a peer that is restored from them gives the same turns.
func TestUseIsKept(t *testing.T) {
	t.Parallel()
	l := deciding(t, fair)
	l.submitAs("ann", 1)
	l.decide()
	l.now = l.now.Add(3 * protocol.Hour)
	l.finish(protocol.Tag{Job: l.first(), Epoch: 1}, 3*protocol.Hour, protocol.Usage{})
	rows := l.rows()
	if n := len(rows[row.UseTable]); n != 1 {
		t.Fatalf("%d rows of use, want that of ann", n)
	}
	for _, r := range rows[row.UseTable] {
		if u, ok := r.(row.Use); !ok || u.User != "ann" || u.Site != "a" || u.Amount > int64(3*protocol.Hour) || u.Amount < int64(3*protocol.Hour)*98/100 {
			t.Errorf("the row is %+v", r)
		}
	}
	records, err := rows.Records()
	if err != nil {
		t.Fatal(err)
	}
	cfg := goodConfig()
	cfg.Policy = policy.Describe(peertest.Greedy{})
	fair(&cfg)
	again, err := peer.New(cfg, 1, records)
	if err != nil {
		t.Fatal(err)
	}
	l.peer = again
	l.step(event.Tick{})
	l.submitAs("ann", 64)
	l.submitAs("bob", 64)
	if of := l.decide(); of["ann"] != 64 {
		t.Fatalf("the first round has %v", of)
	}
	if of := l.decide(); of["bob"] != 64 {
		t.Errorf("the round has %v, want those of bob, since ann has used the site", of)
	}
}

// TestUseAtPartners: what a partner states of a run counts at most from its commit on, and for its time limit.
func TestUseAtPartners(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ lasted, stated, most protocol.Duration }{
		"as stated":             {30 * protocol.Minute, 20 * protocol.Minute, 20 * protocol.Minute},
		"longer than it had":    {30 * protocol.Minute, 10 * protocol.Day, 30 * protocol.Minute},
		"longer than its limit": {5 * protocol.Hour, 5 * protocol.Hour, protocol.Hour},
		"the longest":           {30 * protocol.Minute, math.MaxInt64, 30 * protocol.Minute},
	} {
		l, _ := atPartner(t, 1, countingUse)
		l.runsAtB(l.expensive(), nil, tt.lasted, protocol.Outcome{State: protocol.Completed, Ran: tt.stated})
		var got []row.Use
		for _, r := range l.rows()[row.UseTable] {
			u, _ := r.(row.Use)
			got = append(got, u)
		}
		if len(got) != 1 || got[0].Site != "b" || got[0].Amount > int64(tt.most) || got[0].Amount < int64(tt.most)*98/100 {
			t.Errorf("%s: %+v, want %d CPU·ms at b", name, got, tt.most)
		}
	}
}

// first is the ID of the first job of the site.
func (l *lone) first() (id protocol.JobID) {
	for _, a := range l.answers {
		if s, ok := a.(view.Submitted); ok {
			return s.Jobs[0]
		}
	}
	l.t.Fatal("nothing was submitted")
	return 0
}

// TestLimitHolds: jobs beyond the limit of their user wait in the grid queue with Slurm's word, and one of them is placed
// when another one has ended. Beyond the limit of submissions they are refused.
func TestLimitHolds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rules.Config){
		"with fair share": fair,
		"without":         func(cfg *rules.Config) { cfg.Partners = nil },
		"at home": func(cfg *rules.Config) { // each job is placed without a round
			cfg.Partners = nil
			cfg.Policy.Can = []policy.Capability{policy.LocalOnly}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := deciding(t, func(cfg *rules.Config) {
				change(cfg)
				cfg.Limits.User = rules.Limit{Jobs: 2, Submit: 4}
			})
			l.submitAs("ann", 4)
			if name != "at home" {
				l.decide()
			}
			waiting := func() (n int) {
				for _, r := range l.rows()[row.JobTable] {
					if j, ok := r.(row.Job); ok && j.Phase == row.JobInGridQueue {
						n++
					}
				}
				return n
			}
			if n := waiting(); n != 2 {
				t.Fatalf("%d jobs wait, want 2", n)
			}
			j, _ := l.rows()[row.JobTable][row.JobKey(l.first()+2)].(row.Job)
			if j.Reason != "AssocMaxJobsLimit" {
				t.Errorf("the next job waits with %q", j.Reason)
			}
			l.submitAs("ann", 1)
			if refusal, ok := l.answers[len(l.answers)-1].(view.Refusal); !ok || refusal.Code != view.Unavailable {
				t.Errorf("one more is answered %+v", l.answers[len(l.answers)-1])
			}
			l.finish(protocol.Tag{Job: l.first(), Epoch: 1}, protocol.Minute, protocol.Usage{})
			if name != "at home" {
				l.decide()
			}
			if n := waiting(); n != 1 {
				t.Errorf("when a job has ended %d wait, want 1", n)
			}
		})
	}
}

// TestLimitedHeadLeaves: when the job that a limit keeps in the grid queue is cancelled, held, or ends by its deadline, those
// behind it are placed.
func TestLimitedHeadLeaves(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*lone, protocol.JobID){
		"cancelled": func(l *lone, id protocol.JobID) { l.step(event.Cancel{Job: id, User: "ada"}) },
		"held":      func(l *lone, id protocol.JobID) { l.step(event.SetHold{Job: id, User: "ada", Hold: true}) },
		"too late":  func(l *lone, _ protocol.JobID) { l.advance(10 * protocol.Hour) },
	} {
		l := newLone(t, func(cfg *rules.Config) {
			cfg.Partners = nil
			cfg.Limits = rules.Limits{User: rules.Limit{CPUs: 4}}
		}, idle(peertest.Greedy{}, atOnce))
		for i, cpus := range []int{3, 3, 1} {
			s := submission(1)
			s.Jobs[0].Spec.CPUs = cpus
			if i == 1 {
				s.Jobs[0].Conditions.Deadline = l.now.Add(5 * protocol.Hour)
			}
			l.step(s)
		}
		jobs := l.jobs()
		if jobs[1].Reason != fairness.ReasonCPUs || jobs[2].Phase != row.JobInGridQueue {
			t.Fatalf("%s: at first %s, %q", name, l.phases(), jobs[1].Reason)
		}
		leave(l, jobs[1].Spec.Job)
		l.advance(protocol.Second)
		if now := l.jobs(); now[len(now)-1].Phase != row.JobCommittedLocal {
			t.Errorf("%s: %s", name, l.phases())
		}
	}
}

// TestLimitHoldsAtPlacement: jobs that a round has taken are placed no further than the limits of their user let them be then,
// though others of the user have been placed while the policy decided, and though components of an application, and the
// members of a group, are in the round together.
func TestLimitHoldsAtPlacement(t *testing.T) {
	t.Parallel()
	one := rules.Limits{User: rules.Limit{Jobs: 1}}
	together := func(number int) func(*lone) {
		return func(l *lone) {
			jobs := pair(1, []protocol.SiteName{"a"}, []protocol.SiteName{"a"})
			jobs = append(jobs, jobs[0])
			for i := range jobs {
				jobs[i].Component.Together = number
			}
			l.step(event.Submit{User: "ada", Jobs: jobs, Application: wanting()})
			l.answerAll()
		}
	}
	for name, tt := range map[string]struct {
		site   func(*testing.T) *lone
		submit func(*lone)
		placed int // jobs
	}{
		"a cycle, and jobs that stay": {func(t *testing.T) *lone {
			t.Helper()
			return deciding(t, func(cfg *rules.Config) {
				cfg.Partners, cfg.Initiation, cfg.Limits = nil, policy.Cycle, rules.Limits{User: rules.Limit{Jobs: 2}}
			})
		}, func(l *lone) {
			l.submitAs("ann", 2)
			l.advance(30 * protocol.Minute) // they are in a cycle, which is not decided
			for range 2 {
				s := submission(1)
				s.User, s.Jobs[0].Spec.Sites = "ann", []protocol.SiteName{"a"}
				l.step(s)
			}
			l.decide()
		}, 2},
		"components": {func(t *testing.T) *lone {
			t.Helper()
			return holder(t, func(cfg *rules.Config) { cfg.Limits = one }, nothingElse)
		}, together(0), 1},
		"a group": {func(t *testing.T) *lone {
			t.Helper()
			return holder(t, func(cfg *rules.Config) { cfg.Limits = one }, nothingElse)
		}, together(1), 0},
	} {
		l := tt.site(t)
		tt.submit(l)
		placed := 0
		for _, j := range l.jobs() {
			if j.Phase != row.JobInGridQueue {
				placed++
			} else if j.Reason != fairness.ReasonUserJobs {
				t.Errorf("%s: job %v waits with %q", name, j.Spec.Job, j.Reason)
			}
		}
		if placed != tt.placed {
			t.Errorf("%s: %s, want %d placed", name, l.phases(), tt.placed)
		}
	}
}

// TestLimitOfShapes: a job is placed in no shape that has more CPUs than its user may have at once.
func TestLimitOfShapes(t *testing.T) {
	t.Parallel()
	l := holder(t, func(cfg *rules.Config) { cfg.Limits = rules.Limits{User: rules.Limit{CPUs: 2}} }, func(op event.Op) (event.Result, error) {
		if _, ok := op.(event.DecideOp); ok {
			return nil, errLater
		}
		return nil, nil
	})
	s := submission(1)
	s.Jobs[0].Spec.CPUs, s.Jobs[0].Spec.Sites = 1, []protocol.SiteName{"a"}
	s.Jobs[0].Component = protocol.Component{Alpha: protocol.PPM, Shapes: []protocol.Shape{
		{CPUs: 2, WallTime: 40 * protocol.Minute}, {CPUs: 3, WallTime: 30 * protocol.Minute},
	}}
	s.Application = wanting()
	l.step(s)
	l.answerAll()
	i := slices.IndexFunc(l.open, func(c event.Call) bool { _, ok := c.Op.(event.DecideOp); return ok })
	if i < 0 {
		t.Fatalf("no round is open: %s, %+v", l.phases(), l.answers)
	}
	op, _ := l.open[i].Op.(event.DecideOp)
	var cpus []int
	for _, j := range op.Snapshot.Jobs {
		cpus = append(cpus, j.CPUs)
	}
	if !slices.Equal(cpus, []int{1, 2}) {
		t.Errorf("the policy chooses between shapes with %v CPUs, want those within the limit", cpus)
	}
}
