package slurm

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// asksPerQuote bounds how often one Quote runs sbatch --test-only.
const asksPerQuote = 4

// testOnlyAnswers are those of sbatch --test-only about a queue, by the job's shape.
type testOnlyAnswers struct {
	mu      sync.Mutex
	about   *snapshot
	known   map[string]protocol.Instant
	refused map[string]refusedAnswer
	asking  map[string]chan struct{} // closed when the answer has come, or will not
}

// refusedAnswer is why Slurm refused, and until when it is not asked again.
type refusedAnswer struct {
	reason string
	until  time.Time
}

// refusalTTL is how long a refusal is believed while the queue looks the same: a node
// that was down for a moment may refuse what it takes when it is back.
const refusalTTL = 10 * time.Second

// Quote implements [localsched.Planner]. The expected run time is the wall-time
// limit. The error says that Slurm has not answered for a while.
func (s *Scheduler) Quote(ctx context.Context, query localsched.Query) ([]protocol.Quote, error) {
	seen, err := s.fresh(ctx)
	if err != nil {
		return nil, err
	}
	now := protocol.InstantOf(time.Now())
	ways, ahead := make([]admittedJob, len(query.Jobs)), s.missing(seen, query.Ahead)
	for i, request := range query.Jobs {
		ways[i] = seen.admitted(request, query.Association(i).Partition)
	}
	plain := seen.plan.starts(now, nil, ways)
	planned := seen.plan.starts(now, ahead, ways)
	likely := seen.predicted.starts(now, ahead, ways)
	quotes := make([]protocol.Quote, len(query.Jobs))
	asks := asksPerQuote
	for i, request := range query.Jobs {
		quotes[i] = protocol.Quote{Job: request.Job}
		reason := seen.refuses(request, query.Association(i).Partition)
		if reason == "" {
			reason = planned[i].declined
		}
		if reason != "" {
			quotes[i].Declined = reason
			continue
		}
		guess := estimates{byPlan: plannedWait(planned[i], now), byRuns: plannedWait(likely[i], now)}
		start, reason, ok := s.ask(ctx, seen, s.shapeFor(request, planned[i].partition.name, seen.machine, query.Association(i)), &asks)
		switch {
		case reason != "":
			quotes[i].Declined = reason
			continue
		case ok: // which knows nothing of the jobs ahead
			guess[bySlurm] = max(0, start.Sub(now)).Plus(addedWait(plain[i], planned[i]))
		}
		quotes[i].ERT = request.WallTime
		s.mu.Lock()
		waits := s.record.waits(kindOf(request), guess)
		s.mu.Unlock()
		quotes[i].AWTLow, quotes[i].AWT, quotes[i].AWTHigh = waits.low, waits.middle, waits.high
		quotes[i].AWTMedian = waits.middle
	}
	return quotes, nil
}

// admitted is a job with the partitions that admit it, of those that it names or, with an empty name, of all.
func (s *snapshot) admitted(r protocol.Request, in string) admittedJob {
	among, _ := s.in(in)
	some, _ := admitting(among, r, s.machine)
	return admittedJob{Request: r, partitions: some, nodes: nodesOf(r, s.machine)}
}

// refuses is why no partition takes a job, or not those that it names; empty: one does.
func (s *snapshot) refuses(r protocol.Request, in string) (reason string) {
	among, reason := s.in(in)
	if reason == "" {
		_, reason = admitting(among, r, s.machine)
	}
	return reason
}

// missing are the jobs that a look at the queue does not show: what Slurm has
// taken since, and what was promised and has not come.
func (s *Scheduler) missing(seen *snapshot, ahead []localsched.Tentative) []admittedJob {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := seen.admittedAll(s.since(seen))
	for _, one := range ahead {
		if j := s.jobs[one.Tag]; j == nil || j.state == making || j.state == unsettled {
			out = append(out, seen.admitted(one.Request, one.Association.Partition))
		}
	}
	return out
}

func (s *snapshot) admittedAll(specs []*protocol.Spec) []admittedJob {
	ways := make([]admittedJob, len(specs))
	for i, spec := range specs {
		ways[i] = s.admitted(spec.Request, spec.Partition)
	}
	return ways
}

// plannedWait is the time until a planned start.
func plannedWait(p placement, now protocol.Instant) protocol.Duration {
	if p.start == endOfTime {
		return protocol.Never
	}
	return max(0, p.start.Sub(now))
}

// addedWait is by how much jobs ahead put a start off.
func addedWait(without, with placement) protocol.Duration {
	if with.start == endOfTime {
		return protocol.Never
	}
	return max(0, with.start.Sub(without.start))
}

// ask has Slurm estimate the start of a job, unless it has for this queue, or somebody is
// asking it. It does nothing once asks is 0, which it is after an answer that did not come in
// time. The reason is Slurm's for refusing the job.
func (s *Scheduler) ask(ctx context.Context, seen *snapshot, args []string, asks *int) (at protocol.Instant, reason string, ok bool) {
	at, reason, ok = s.asked.get(seen, args)
	if ok || reason != "" || *asks < 1 {
		return at, reason, ok
	}
	*asks--
	asking, cancel := context.WithTimeout(ctx, s.config.timeouts.ask)
	defer cancel()
	if done := s.asked.begin(args); done != nil {
		select {
		case <-done:
		case <-asking.Done():
		}
		return s.asked.get(seen, args)
	}
	defer s.asked.end(args)
	if at, reason, ok = s.asked.get(seen, args); ok || reason != "" {
		return at, reason, ok // it has come meanwhile
	}
	at, err := s.commands.testOnly(asking, args)
	if err == nil {
		s.asked.put(seen, args, at, "", 0)
		return at, "", true
	}
	if os.Geteuid() == 0 && says(err, personal()) {
		return 0, "", false // what root may not do, its users may: the plan alone answers
	}
	if refused, ok := refusal(err); ok {
		s.asked.put(seen, args, 0, refused.Reason, refusalTTL)
		return 0, refused.Reason, false
	}
	*asks = 0
	return 0, "", false
}

// begin is nil for the one who is to ask; for others it is closed when the answer has come.
func (a *testOnlyAnswers) begin(args []string) (done <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := strings.Join(args, " ")
	if other, ok := a.asking[key]; ok {
		return other
	}
	if a.asking == nil {
		a.asking = map[string]chan struct{}{}
	}
	a.asking[key] = make(chan struct{})
	return nil
}

func (a *testOnlyAnswers) end(args []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := strings.Join(args, " ")
	close(a.asking[key])
	delete(a.asking, key)
}

func (a *testOnlyAnswers) get(seen *snapshot, args []string) (at protocol.Instant, reason string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.about == nil || a.about.fingerprint != seen.fingerprint {
		return 0, "", false
	}
	key := strings.Join(args, " ")
	at, ok = a.known[key]
	if said := a.refused[key]; time.Now().Before(said.until) {
		reason = said.reason
	}
	return at, reason, ok
}

func (a *testOnlyAnswers) put(seen *snapshot, args []string, at protocol.Instant, reason string, holds time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.about == nil || a.about.fingerprint != seen.fingerprint {
		a.about, a.known, a.refused = seen, map[string]protocol.Instant{}, map[string]refusedAnswer{}
	}
	key := strings.Join(args, " ")
	if reason != "" {
		a.refused[key] = refusedAnswer{reason: reason, until: time.Now().Add(holds)}
		return
	}
	a.known[key] = at
}

// estimate is what the predictors say of a job that is being submitted, from what
// is known already, and the partition in which it would start first.
func (s *Scheduler) estimate(seen *snapshot, w admittedJob, of protocol.Association) (*partition, estimates) {
	s.mu.Lock()
	ahead := seen.admittedAll(s.since(seen))
	s.mu.Unlock()
	now := protocol.InstantOf(time.Now())
	planned := seen.plan.starts(now, ahead, []admittedJob{w})[0]
	guess := estimates{}
	if planned.declined == "" {
		guess[byPlan], guess[byRuns] = plannedWait(planned, now), plannedWait(seen.predicted.starts(now, ahead, []admittedJob{w})[0], now)
	}
	if at, _, ok := s.asked.get(seen, s.shapeFor(w.Request, planned.partition.name, seen.machine, of)); ok {
		guess[bySlurm] = max(0, at.Sub(now))
	}
	return planned.partition, guess
}
