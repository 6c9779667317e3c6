package view

import (
	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// QuotedWaits are the waits of the quote by which a job was placed, from an instant on.
type QuotedWaits struct {
	At     protocol.Instant  `json:"at_ms"`
	AWT    protocol.Duration `json:"awt_ms"`
	Low    protocol.Duration `json:"awt_p10_ms"` // this and the next two are 0 if the site states no interval
	Median protocol.Duration `json:"awt_p50_ms"`
	High   protocol.Duration `json:"awt_p90_ms"`
	ERT    protocol.Duration `json:"ert_ms,omitempty"` // the run time that was expected with them; 0: not known
}

// PlannedStart is when a site plans to start a job that waits in its local queue, if nothing more comes and all jobs run until
// their time limits.
type PlannedStart struct {
	Start  protocol.Instant `json:"start_ms"`  // by the clock of this site; it may have passed
	Stated protocol.Instant `json:"stated_ms"` // when the site said so
}

// BestQuote has the waits of the quote with the shortest one in the last round of a job that has no site yet.
type BestQuote struct {
	QuotedWaits

	Site protocol.SiteName `json:"site"` // that quoted them
}

// ExpectedStart is when a pending job is expected to start, as a median with its P10 and P90. Without an interval
// the three are one instant.
type ExpectedStart struct {
	Low, Median, High protocol.Instant

	Stated protocol.Instant // when it was planned or quoted; 0: it follows from what was agreed on, and does not age
}

// ExpectedStart says when a pending job is expected to start, no earlier than now: by its reservation, by the plan of the
// site where it waits, by the waits that were quoted when it was placed or, as long as it has no site, in its last round, or
// by the instant before which it must not start; false: none of these is known.
func (v *Job) ExpectedStart(now protocol.Instant) (ExpectedStart, bool) {
	begin := v.Conditions.Begin
	switch {
	case v.State != protocol.Pending:
		return ExpectedStart{}, false
	case v.ReservedAt != 0:
		return certain(max(now, v.ReservedAt)), true
	case v.Planned != nil:
		return v.Planned.expected(v.Waits).notBefore(max(now, begin)), true
	case v.Waits != nil && v.Waits.AWT != protocol.Never:
		return v.Waits.expected().notBefore(max(now, begin)), true
	case v.BestQuote != nil && v.BestQuote.AWT != protocol.Never:
		return v.BestQuote.expected().notBefore(max(now, begin)), true
	case begin > now:
		return certain(begin), true
	}
	return ExpectedStart{}, false
}

func certain(at protocol.Instant) ExpectedStart { return ExpectedStart{Low: at, Median: at, High: at} }

func (e ExpectedStart) notBefore(at protocol.Instant) ExpectedStart {
	e.Low, e.Median, e.High = max(e.Low, at), max(e.Median, at), max(e.High, at)
	return e
}

// expected is the start by the quoted waits.
func (w *QuotedWaits) expected() ExpectedStart {
	if w.High == 0 {
		return ExpectedStart{w.At.Add(w.AWT), w.At.Add(w.AWT), w.At.Add(w.AWT), w.At}
	}
	return ExpectedStart{w.At.Add(w.Low), w.At.Add(w.Median), w.At.Add(w.High), w.At}
}

// expected is the planned start, with an interval if the quote had one by which the job was placed: its distances from the
// quoted wait, in proportion to the part of that wait that is left.
func (p *PlannedStart) expected(quoted *QuotedWaits) ExpectedStart {
	if quoted == nil || quoted.High == 0 || quoted.AWT == protocol.Never {
		return ExpectedStart{p.Start, p.Start, p.Start, p.Stated}
	}
	left := min(max(0, p.Start.Sub(p.Stated)), quoted.AWT)
	after := func(wait protocol.Duration) protocol.Instant {
		distance := int64(wait - quoted.AWT)
		if quoted.AWT > 0 {
			distance = int128.Product(distance, int64(left)).Nearest(int64(quoted.AWT))
		}
		return p.Start.Add(protocol.Duration(distance))
	}
	return ExpectedStart{after(quoted.Low), after(quoted.Median), after(quoted.High), p.Stated}
}
