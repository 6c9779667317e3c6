package partner

import (
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	// A job is late when it has not started after lateFactor times the wait that was quoted
	// and lateMargin: quotes are forecasts, and an honest one may be wrong by its own length.
	lateFactor = 3
	lateMargin = 10 * protocol.Minute
	// A job failed at once when it ran less than quickRun, and asked for at least longRun.
	quickRun = 5 * protocol.Second
	longRun  = 10 * protocol.Minute

	// What was seen weighs 15/16 of itself after the next job, so that some twenty jobs are
	// judged. A partner is doubtful when at least half of eight or more did not go as it said.
	weightOne    = 1000
	fadeBy       = 16
	enoughWeight = 6 * weightOne // of eight jobs, faded
	maxFailures  = 16
)

// keepQuality is how often the row of a partner is written, at most, for what was seen of it
// alone. A crash forgets less than that.
const keepQuality = protocol.Minute

// LateAfter is how long after the hand-off a job has to have started of which the wait was
// quoted.
func LateAfter(quoted protocol.Duration) protocol.Duration { return lateFactor*quoted + lateMargin }

// Judge counts one job of this site at the partner, or at least quoted by it. A partner that
// becomes doubtful is not asked about jobs that others could run until a pause is over. Changed
// says that it became so, or is so no more; save that its row is to be written.
func (p *Partner) Judge(what row.Conduct, now protocol.Instant, pause protocol.Duration) (changed, save bool) {
	q := &p.Row.Quality
	for i := range q.Weights {
		q.Weights[i] -= q.Weights[i] / fadeBy
	}
	q.Weights[what] += weightOne
	if save = now.Sub(p.judged) >= keepQuality; save {
		p.judged = now
	}
	all := q.Total()
	doubtful := all >= enoughWeight && 2*(all-q.Weights[row.Kept]) >= all
	if doubtful == q.Doubtful {
		return false, save
	}
	q.Doubtful, q.Probe = doubtful, now.Add(pause)
	return true, true
}

// QualityText says what is known against the partner, or that nothing is any more.
func (p *Partner) QualityText() string {
	if p.Row.Quality.Doubtful {
		return p.Row.Quality.String()
	}
	return "it keeps its quotes again"
}

// PlansNone says whether the partner takes no jobs of this site because its operator has said so: then its quotes were good when it gave
// them, and what it refuses or gives back for a reason like this one does not count against it. What it says may be lost, so that
// either the reason says it or what it last said of all jobs.
func (p *Partner) PlansNone(reason string) bool {
	return p.Draining != "" || strings.HasPrefix(reason, view.Draining)
}

// FailedAtOnce says whether a job that ended at the partner after a time counts as one that failed as soon as
// it ran. The jobs of one user with one name may all have the same fault, so they count once for
// as long as that is remembered.
func (p *Partner) FailedAtOnce(spec *protocol.Spec, state protocol.State, ran protocol.Duration) bool {
	failed := state == protocol.Failed || state == protocol.NodeFail
	if !failed || ran >= quickRun || spec.WallTime < longRun {
		return false
	}
	q := &p.Row.Quality
	if slices.Contains(q.Failures, spec.PowerClass) {
		return false
	}
	if q.Failures = append(q.Failures, spec.PowerClass); len(q.Failures) > maxFailures {
		q.Failures = q.Failures[1:]
	}
	return true
}

// Probed says whether a doubtful partner is asked now about a job that others could run: from
// time to time it gets one, to show that it has changed.
func (p *Partner) Probed(now protocol.Instant) bool {
	return p.JobsThere == 0 && now >= p.Row.Quality.Probe
}

// Asked notes that a partner was asked for quotes: a doubtful one is not again for a pause.
func (p *Partner) Asked(now protocol.Instant, pause protocol.Duration) {
	if p.Row.Quality.Doubtful {
		p.Row.Quality.Probe = now.Add(pause)
	}
}
