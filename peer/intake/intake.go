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

// Intake is the count of one period after another.
//
// Invariant: 0 <= jobs.
type Intake struct {
	rule   Rule
	number Number
	period protocol.Instant // its number
	jobs   int
}

// New is an intake that has counted nothing.
func New(rule Rule) Intake { return Intake{rule: rule} }

// open begins a new count in a new period.
func (in *Intake) open(now protocol.Instant) {
	if period := in.rule.number(now); period != in.period || in.number == 0 {
		*in = Intake{rule: in.rule, number: in.number + 1, period: period}
	}
}

// Take counts a job, and says in which intake.
func (in *Intake) Take(now protocol.Instant) Number {
	in.open(now)
	in.jobs++
	return in.number
}

// GiveBack takes a job out of the count that was taken and did not come after all. It says whether
// the job was in this period's.
func (in *Intake) GiveBack(now protocol.Instant, taken Number) bool {
	if in.open(now); taken != in.number || in.jobs == 0 {
		return false
	}
	in.jobs--
	return true
}

// Left is how many jobs the site may still take in this period.
func (in *Intake) Left(now protocol.Instant) int {
	if in.rule.Max == 0 {
		return math.MaxInt32
	}
	in.open(now)
	return max(0, in.rule.Max-in.jobs)
}

// FullReason says why the site takes no more jobs in this period; empty: it does.
func (in *Intake) FullReason(now protocol.Instant) string {
	if in.Left(now) > 0 {
		return ""
	}
	return fmt.Sprintf("has taken %s in this period, as many as it allows", protocol.Count(in.rule.Max, "job"))
}

// Change goes on with the count by another rule: what has come in the old period counts in the new
// one.
func (in *Intake) Change(to Rule, now protocol.Instant) {
	in.open(now)
	in.rule, in.period = to, to.number(now)
}

// Row is the count as it outlives the peer.
func (in *Intake) Row() row.Intake {
	return row.Intake{Until: (in.period + 1) * protocol.Instant(in.rule.Period), Jobs: in.jobs}
}

// Resume goes on with the period in which an earlier life ended, if it still lasts. Jobs that came
// since the instant are in the count, with the number.
func (in *Intake) Resume(now protocol.Instant, last row.Intake) (since protocol.Instant, number Number, lasts bool) {
	if in.open(now); now >= last.Until {
		return 0, 0, false
	}
	in.jobs = last.Jobs
	return last.Until - protocol.Instant(in.rule.Period), in.number, true
}
