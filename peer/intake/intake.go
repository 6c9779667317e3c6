// Package intake counts the jobs that a site takes in one period, so that it takes at most so
// many (MaxQ), whoever sends them: first come, first served, so that one partner can have them
// all [MC 2].
package intake

import (
	"fmt"
	"math"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rule is how many jobs a site takes.
type Rule struct {
	Max    int               // in a period; 0: any number
	Period protocol.Duration // positive
}

func (r Rule) number(at protocol.Instant) protocol.Instant {
	return at / protocol.Instant(r.Period)
}

// Number names one intake among those of a life of the peer; 0: none.
type Number uint64

// Intake is the count of one period after another. Its zero value has counted nothing.
//
// Invariant: 0 <= jobs.
type Intake struct {
	number Number
	period protocol.Instant // its number
	jobs   int
}

// Open begins a new count in a new period.
func (in *Intake) Open(rule Rule, now protocol.Instant) {
	if period := rule.number(now); period != in.period || in.number == 0 {
		*in = Intake{number: in.number + 1, period: period}
	}
}

// Take counts a job, and says in which intake.
func (in *Intake) Take(rule Rule, now protocol.Instant) Number {
	in.Open(rule, now)
	in.jobs++
	return in.number
}

// GiveBack takes a job out of the count that was taken and did not come after all. It says whether
// the job was in this period's.
func (in *Intake) GiveBack(rule Rule, now protocol.Instant, taken Number) bool {
	if in.Open(rule, now); taken != in.number || in.jobs == 0 {
		return false
	}
	in.jobs--
	return true
}

// Left is how many jobs the site may still take in this period.
func (in *Intake) Left(rule Rule, now protocol.Instant) int {
	if rule.Max == 0 {
		return math.MaxInt32
	}
	in.Open(rule, now)
	return max(0, rule.Max-in.jobs)
}

// FullReason says why the site takes no more jobs in this period; empty: it does.
func (in *Intake) FullReason(rule Rule, now protocol.Instant) string {
	if in.Left(rule, now) > 0 {
		return ""
	}
	return fmt.Sprintf("has taken %s in this period, as many as it allows", protocol.Count(rule.Max, "job"))
}

// Change goes on with the count by another rule: what has come in the old period counts in the new
// one.
func (in *Intake) Change(from, to Rule, now protocol.Instant) {
	in.Open(from, now)
	in.period = to.number(now)
}

// Row is the count as it outlives the peer.
func (in *Intake) Row(rule Rule) row.Intake {
	return row.Intake{Until: (in.period + 1) * protocol.Instant(rule.Period), Jobs: in.jobs}
}

// Resume goes on with the period in which an earlier life ended, if it still lasts. Jobs that came
// since the instant are in the count, with the number.
func (in *Intake) Resume(rule Rule, now protocol.Instant, last row.Intake) (since protocol.Instant, number Number, lasts bool) {
	if in.Open(rule, now); now >= last.Until {
		return 0, 0, false
	}
	in.jobs = last.Jobs
	return last.Until - protocol.Instant(rule.Period), in.number, true
}
