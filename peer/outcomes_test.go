package peer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sameNames gives each user of a partner the account of the same name.
type sameNames struct{}

func (sameNames) Local(user string) (string, error)                      { return user, nil }
func (sameNames) Guest(_ protocol.SiteName, user string) (string, error) { return user, nil }

// TestPrivateJobsOfAnotherSite: at a site whose users see only their own jobs, those of a partner depend on the jobs of the account
// that they have there. What is said of all others, whether they wait, run or have ended, is what is said of a job that never was,
// and does no harm to the jobs of others that wait for the same one.
func TestPrivateJobsOfAnotherSite(t *testing.T) {
	t.Parallel()
	for name, private := range map[string]bool{"private": true, "shown to all": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := twoSites(t)
			w.Crash("b")
			w.Configure("b", func(cfg *rules.Config) { cfg.PrivateJobs, cfg.Accounts = private, sameNames{} })
			restarted(t, w, "b")
			ask := func(site protocol.SiteName, user string, job protocol.Job) protocol.JobID {
				asked := w.Submit(site, user, "", job)
				w.Advance(protocol.Second)
				submitted, ok := w.Site(site).Answer(asked).(view.Submitted)
				if !ok {
					t.Fatalf("%+v", w.Site(site).Answer(asked))
				}
				return submitted.Jobs[0]
			}
			array := twoCPUs(protocol.Minute)
			array.Array, array.Conditions.Hold = &protocol.Array{Indexes: protocol.IndexesOf(0, 1, 2)}, protocol.HeldByUser
			ended := ask("b", "ada", twoCPUs(protocol.Minute))
			w.Advance(10 * protocol.Minute)
			elements := ask("b", "ada", array)
			cancelled := protocol.Element{Array: elements, Index: 1}.ID()
			w.Cancel("b", cancelled)
			runs := ask("b", "ada", twoCPUs(20*protocol.Minute))
			awaited := map[string]protocol.JobID{"ended": ended, "cancelled element": cancelled, "running": runs, "pending element": elements + 1}
			waiting := map[string]map[string]protocol.JobID{}
			for of, id := range awaited {
				waiting[of] = map[string]protocol.JobID{}
				for _, user := range []string{"bob", "ada"} {
					waiting[of][user] = ask("a", user, waitsFor(t, fmt.Sprintf("afterany:%v", id), false))
				}
			}
			restarted(t, w, "b") // whoever watches asks again
			w.Advance(10 * protocol.Minute)
			check := func(when string, done map[string]bool) {
				t.Helper()
				for of, jobs := range waiting {
					for user, id := range jobs {
						job, over := w.Site("a").Archived(id)
						if !over {
							job = shown(w, id)
						}
						refused := strings.HasPrefix(job.Reason, view.ReasonDependencyNever)
						if want := private && user == "bob"; refused != want || over != (done[of] && !want) {
							t.Errorf("%s: the job of %s that waits for one that is %s is %v (%s)", when, user, of, job.State, job.Reason)
						}
						if want := fmt.Sprintf("%s (b has no record of job %v, on which it depends, or does not show it to bob)", view.ReasonDependencyNever, awaited[of]); refused && job.Reason != want {
							t.Errorf("%s: the reason is %q, want %q", when, job.Reason, want)
						}
					}
				}
			}
			check("while one runs", map[string]bool{"ended": true, "cancelled element": true})
			w.Advance(30 * protocol.Minute)
			check("when it has ended", map[string]bool{"ended": true, "cancelled element": true, "running": true})
		})
	}
}

// TestOutcomeQueriesAreBounded: a partner is answered as many queries as it may send, and has so many looked up in the archive at
// once. More are passed over, and do not keep those of other partners from being answered.
func TestOutcomeQueriesAreBounded(t *testing.T) {
	t.Parallel()
	const burst, lookups = 10_001, 16 // a bucket may go into debt once
	l := newLone(t, func(cfg *rules.Config) {
		cfg.Partners = append(cfg.Partners, rules.Partner{Site: "c", MaxJobs: 1})
	}, func(event.Op) (event.Result, error) { return nil, errLater })
	l.step(event.Connected{Card: protocol.Card{Site: "c", Number: 3, Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1, Capacity: protocol.Capacity{CPUs: 8, Nodes: 8}}})
	for range 100 {
		l.step(event.Submit{Asked: 1, User: "ada", Jobs: []protocol.Job{waitsFor(t, "", false)}})
	}
	submitted, ok := l.answers[len(l.answers)-1].(view.Submitted)
	if !ok {
		t.Fatalf("%+v", l.answers[len(l.answers)-1])
	}
	query := func(from protocol.SiteName, id protocol.JobID) (answered bool) {
		before := len(l.sent)
		l.step(event.MessageIn{From: from, Body: protocol.OutcomeQuery{Job: id, User: "ada"}})
		for _, m := range l.sent[before:] {
			_, outcome := m.Body.(protocol.JobOutcome)
			answered = answered || outcome && m.To == from
		}
		return answered
	}
	known, answers := submitted.Jobs[0], 0
	for range burst + 100 {
		if query("b", known) {
			answers++
		}
	}
	if answers != burst || !query("c", known) {
		t.Errorf("%d queries of b are answered, want %d, or none of c", answers, burst)
	}
	l.advance(protocol.Minute)
	for _, id := range submitted.Jobs {
		l.step(event.Cancel{Asked: 2, Job: id, User: "ada"})
	}
	archive := func() (open int) {
		for _, call := range l.open {
			if _, ok := call.Op.(event.ArchiveOp); ok {
				open++
			}
		}
		return open
	}
	for id := known - 99; id < known; id++ {
		l.step(event.Cancel{Asked: 2, Job: id, User: "ada"})
		query("b", id)
	}
	if open := archive(); open != lookups {
		t.Errorf("%d lookups for b at once, want %d", open, lookups)
	}
	query("c", known-1)
	if open := archive(); open != lookups+1 {
		t.Errorf("%d lookups for b and c, want %d", open, lookups+1)
	}
	answered := map[protocol.JobID]bool{}
	for before := len(l.sent); archive() > 0; before = len(l.sent) { // those that waited are looked up one after the other
		calls := l.open
		l.open = nil
		for _, call := range calls {
			if op, ok := call.Op.(event.ArchiveOp); ok {
				l.step(event.CallDone{ID: call.ID, Result: event.ArchiveResult{Ended: []event.Ended{{Job: op.Jobs[0], State: protocol.Cancelled, User: "ada"}}}})
			}
		}
		for _, m := range l.sent[before:] {
			if outcome, ok := m.Body.(protocol.JobOutcome); ok && m.To == "b" && outcome.State == protocol.Cancelled {
				answered[outcome.Job] = true
			}
		}
	}
	if len(answered) != 99 {
		t.Errorf("%d of 99 queries about jobs in the archive are answered", len(answered))
	}
}
