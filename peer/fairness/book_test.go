package fairness_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/fairness"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	hour = protocol.Hour
	now  = protocol.Instant(1000 * hour)
)

// site is a site with a grid queue of jobs, each of one CPU for an hour.
type site struct {
	fairness.Book
	queue gridqueue.Queue
	jobs  map[protocol.JobID]*row.Job
}

func newSite(change func(*rules.Config)) *site {
	cfg := rules.Config{Site: "a", Capacity: protocol.Capacity{CPUs: 100}}
	cfg.FairShare = rules.FairShare{HalfLife: 7 * protocol.Day, Weights: fairshare.Weights{Age: 1000, FairShare: 10_000, MaxAge: 7 * protocol.Day}}
	change(&cfg)
	return &site{Book: fairness.New(&cfg), jobs: map[protocol.JobID]*row.Job{}}
}

func (s *site) submit(user, account string, jobs int) {
	for range jobs {
		id := protocol.JobID(len(s.jobs) + 1)
		j := &row.Job{Spec: protocol.Spec{
			Request: protocol.Request{Job: id, CPUs: 1, WallTime: hour}, User: user, Association: protocol.Association{Account: account}, Submitted: now,
		}}
		s.jobs[id] = j
		s.Open(&j.Spec, +1)
		s.queue.Put(id)
		lane, rank := s.Lane(j)
		s.queue.SetLane(id, lane, rank)
	}
}

// round takes jobs and places them. It counts them by their users.
func (s *site) round(n int) (of map[string]int, limited []fairness.Limited) {
	ids, limited := s.Take(&s.queue, n, now, func(id protocol.JobID) *row.Job { return s.jobs[id] })
	of = map[string]int{}
	for _, id := range ids {
		of[s.jobs[id].Spec.User]++
		s.queue.Remove(id)
		s.Place(&s.jobs[id].Spec)
	}
	return of, limited
}

// TestFloodDelaysNoOther: the only job of a user is in the next round, however many another one has submitted before.
func TestFloodDelaysNoOther(t *testing.T) {
	t.Parallel()
	s := newSite(func(*rules.Config) {})
	s.submit("a", "", 10_000)
	if of, _ := s.round(64); of["a"] != 64 {
		t.Fatalf("the first round has %v", of)
	}
	s.submit("b", "", 1)
	if of, _ := s.round(64); of["b"] != 1 || of["a"] != 63 {
		t.Errorf("the next round has %v, want the job of b", of)
	}
}

// TestRoundIsShared: users whose jobs wait share a round by their shares, in the first round too, of which
// nothing has been placed before.
func TestRoundIsShared(t *testing.T) {
	t.Parallel()
	s := newSite(func(cfg *rules.Config) {
		cfg.FairShare.Shares.Accounts = []fairshare.Account{{Name: "chem", Shares: 3}, {Name: "phys", Shares: 1, Users: map[string]int{"c": 1, "d": 1}}}
	})
	s.submit("a", "chem", 200)
	s.submit("b", "Chem", 200)
	s.submit("c", "phys", 200)
	s.submit("d", "phys", 200)
	of, _ := s.round(64)
	want := map[string]int{"a": 24, "b": 24, "c": 8, "d": 8}
	for user, n := range want {
		if of[user] < n-1 || of[user] > n+1 {
			t.Errorf("the round has %v, want %v", of, want)
		}
	}
}

// TestUseCounts: who has used more comes later, at whatever site it was, and less so as it is forgotten. A guest's use
// does not count for a user of the same name here.
func TestUseCounts(t *testing.T) {
	t.Parallel()
	s := newSite(func(*rules.Config) {})
	s.submit("a", "", 1)
	s.submit("b", "", 1)
	s.Count("far", "a", &s.jobs[1].Spec, now-protocol.Instant(hour), now)
	s.Count("a", "far", &protocol.Spec{User: "b", Request: protocol.Request{CPUs: 50}}, now-protocol.Instant(9*hour), now)
	if of, _ := s.round(1); of["b"] != 1 {
		t.Errorf("the round has %v, want b, who has used nothing", of)
	}
	if keys := s.Prune(now.Add(14 * protocol.Day)); len(keys) != 0 {
		t.Errorf("after two half-lives %q is forgotten", keys)
	}
	if keys := s.Prune(now.Add(400 * protocol.Day)); len(keys) != 2 {
		t.Errorf("in the end %q is forgotten, want both", keys)
	}
}

// TestUseIsRestored: a book from the rows gives the same standings.
func TestUseIsRestored(t *testing.T) {
	t.Parallel()
	s, again := newSite(func(*rules.Config) {}), newSite(func(*rules.Config) {})
	s.submit("a", "chem", 1)
	for _, ran := range []protocol.Duration{hour, 30 * hour} {
		key := s.Count("b", "a", &s.jobs[1].Spec, now.Add(-ran), now)
		u, has := s.Row(key)
		if !has || u.Key() != key {
			t.Fatalf("the row of %q is %+v", key, u)
		}
		again.Restore(u)
	}
	if got, want := again.Standings(now), s.Standings(now); len(want) != 1 || !reflect.DeepEqual(got, want) || want[0].Use < 25*int64(hour) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if key := s.Count("b", "a", &s.jobs[1].Spec, now, now); key != "" {
		t.Error("a run without length is counted")
	}
}

// TestLimits: what is beyond a limit waits with Slurm's word, others of the same round do not, and it is
// placed when a job has ended.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, shares := range []bool{true, false} {
		for name, tt := range map[string]struct {
			limits rules.Limits
			reason string
			of     map[string]int
		}{
			"jobs of users":      {rules.Limits{User: rules.Limit{Jobs: 3}, Users: map[string]rules.Limit{"b": {Jobs: 5}}}, fairness.ReasonUserJobs, map[string]int{"a": 3, "b": 5}},
			"CPUs of users":      {rules.Limits{User: rules.Limit{CPUs: 4}}, fairness.ReasonCPUs, map[string]int{"a": 4, "b": 4}},
			"jobs of accounts":   {rules.Limits{Accounts: map[string]rules.Limit{"chem": {Jobs: 2}}}, fairness.ReasonAccountJobs, map[string]int{"a": 2, "b": 10}},
			"CPUs of an account": {rules.Limits{Account: rules.Limit{CPUs: 6}}, fairness.ReasonCPUs, map[string]int{"a": 6, "b": 6}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newSite(func(cfg *rules.Config) {
					cfg.Limits = tt.limits
					if !shares {
						cfg.FairShare = rules.FairShare{}
					}
				})
				s.submit("a", "chem", 10)
				s.submit("b", "phys", 10)
				of, limited := s.round(64)
				if of["a"] != tt.of["a"] || of["b"] != tt.of["b"] {
					t.Fatalf("the round has %v, want %v", of, tt.of)
				}
				if len(limited) == 0 || limited[0].Reason != tt.reason || limited[0].Detail == "" {
					t.Errorf("jobs wait with %+v, want %s", limited, tt.reason)
				}
				if s.queue.Ready() {
					t.Error("jobs beyond the limits are ready")
				}
				if !s.Unplace(1) || s.Unplace(1) || !s.queue.OpenAll() {
					t.Fatal("job 1 was not placed")
				}
				if of, _ := s.round(64); of["a"] != 1 || of["b"] != 0 {
					t.Errorf("when a job of a has ended, the round has %v", of)
				}
			})
		}
	}
}

// TestRefuseSubmission: more jobs than a user or account may submit are refused, all of them.
func TestRefuseSubmission(t *testing.T) {
	t.Parallel()
	s := newSite(func(cfg *rules.Config) {
		cfg.Limits = rules.Limits{User: rules.Limit{Submit: 5, CPUs: 8}, Account: rules.Limit{Submit: 7, CPUs: 4}, Users: map[string]rules.Limit{"b": {Submit: 100}}}
	})
	s.submit("a", "chem", 5)
	job := func(account string, cpus int) protocol.Job {
		return protocol.Job{Spec: protocol.Spec{Request: protocol.Request{CPUs: cpus}, Association: protocol.Association{Account: account}}}
	}
	for _, tt := range []struct {
		user string
		jobs []protocol.Job
		has  int
		want string // empty: it may
		code view.RefusalCode
	}{
		{"a", []protocol.Job{job("", 1)}, 4, "", ""},
		{"a", []protocol.Job{job("", 1)}, 5, "AssocMaxSubmitJobLimit: user a has 5 jobs", view.Unavailable},
		{"b", []protocol.Job{job("chem", 1), job("CHEM", 1)}, 0, "", ""},
		{"b", []protocol.Job{job("chem", 1), job("chem", 1), job("chem", 1)}, 0, "AssocGrpSubmitJobsLimit: account chem has 5 jobs", view.Unavailable},
		{"b", []protocol.Job{job("", 9)}, 0, "AssocGrpCpuLimit: the job asks for 9 CPUs, and user b may have 8", view.Denied},
		{"b", []protocol.Job{job("chem", 5)}, 0, "account chem may have 4", view.Denied},
	} {
		refusal, refused := s.RefuseSubmission(tt.user, tt.jobs, tt.has)
		if refused != (tt.want != "") || !strings.Contains(refusal.Reason, tt.want) || refusal.Code != tt.code {
			t.Errorf("%s with %d jobs, %d more: %v %+v, want %q", tt.user, tt.has, len(tt.jobs), refused, refusal, tt.want)
		}
	}
}

// TestNothingSetChangesNothing: without a half-life and limits, jobs are taken as they were submitted.
func TestNothingSetChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSite(func(cfg *rules.Config) { cfg.FairShare = rules.FairShare{} })
		for range rapid.IntRange(1, 20).Draw(t, "jobs") {
			s.submit(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "user"), "", 1)
		}
		ids, _ := s.Take(&s.queue, 100, now, func(id protocol.JobID) *row.Job { return s.jobs[id] })
		if len(ids) != len(s.jobs) || !slices.IsSorted(ids) {
			t.Fatalf("took %v", ids)
		}
		if key := s.Count("a", "a", &s.jobs[1].Spec, 0, now); key != "" || s.Standings(now) != nil {
			t.Fatal("use is counted")
		}
	})
}

// TestPlacedIsUndone: jobs that are placed and end leave nothing behind, in whatever order.
func TestPlacedIsUndone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSite(func(cfg *rules.Config) { cfg.Limits.User.Jobs = 1000 })
		s.submit("a", "x", 3)
		s.submit("b", "", 3)
		before := s.Standings(now)
		for range rapid.IntRange(0, 20).Draw(t, "moves") {
			id := protocol.JobID(rapid.IntRange(1, 6).Draw(t, "job"))
			if rapid.Bool().Draw(t, "place") {
				s.Place(&s.jobs[id].Spec)
			} else {
				s.Unplace(id)
			}
		}
		for id := range s.jobs {
			s.Unplace(id)
		}
		for _, standing := range s.Standings(now) {
			if standing.Use != 0 || standing.Placed != 0 || standing.Factor != fairshare.One {
				t.Fatalf("left %+v, before %+v", standing, before)
			}
		}
	})
}
