package slurm

import (
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// runTimes is how long jobs have run, by who they were: most ask for more time than they need.
type runTimes struct {
	ended map[native]bool // of the last look, which have been counted
	like  map[runner][]run
}

// runner is whose jobs have run, and how long they might have.
type runner struct {
	uid     uint32
	account string
	limit   int // as of classOf
}

// run is how long a job has run, and its limit.
type run struct{ took, limit protocol.Duration }

const (
	runsKept   = 32
	runsNeeded = 5 // fewer say nothing
	maxRunners = 4096
)

// classOf is equal for spans of about the same length: within a factor of two, in minutes.
func classOf(d protocol.Duration) int {
	return 1 + bits.Len64(uint64(max(0, d)/protocol.Minute))
}

// addEnded counts the jobs that have ended since the last look.
func (t *runTimes) addEnded(queue []entry) {
	ended := map[native]bool{}
	for i := range queue {
		e := &queue[i]
		if !e.over() || e.start == 0 || e.end < e.start || e.limit <= 0 || e.limit == protocol.Never {
			continue
		}
		ended[e.native] = true
		if !t.ended[e.native] && (e.state == "COMPLETED" || e.state == "FAILED" || e.state == "TIMEOUT") {
			t.add(e.runner(), run{e.end.Sub(e.start), e.limit})
		}
	}
	t.ended = ended
}

func (e *entry) runner() runner {
	return runner{uid: e.uid, account: e.account, limit: classOf(e.limit)}
}

func (t *runTimes) add(who runner, r run) {
	if t.like == nil || len(t.like) >= maxRunners {
		t.like = map[runner][]run{}
	}
	kept := append(t.like[who], r)
	t.like[who] = kept[max(0, len(kept)-runsKept):]
}

// predict is how long a job is likely to run that has run for a while: as long as others of the
// same user, account and limit did, on average, of those that took longer; up to its limit if
// too few are known.
func (t *runTimes) predict(e *entry, ran protocol.Duration) protocol.Duration {
	if e.limit <= 0 || e.limit == protocol.Never {
		return e.limit
	}
	known := t.like[e.runner()]
	if len(known) < runsNeeded {
		return e.limit
	}
	var sum, n protocol.Duration
	for _, r := range known {
		if took := min(e.limit, e.limit.Rescale(int(r.took+1), int(r.limit+1))); took > ran {
			sum, n = sum.Plus(took), n+1
		}
	}
	if n == 0 || sum == protocol.Never {
		return e.limit
	}
	return sum / n
}
