package priceformat

import (
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// hourly reads the format of the authors of [MC]: a header, and one price a line. An
// empty line is an hour without a price.
func (r *reading) hourly(all []row) {
	if !r.priceColumn(all[0].number, unquote(all[0].text)) {
		return
	}
	area, ok := r.area(0, r.Area)
	if !ok {
		return
	}
	next := r.passing()
	if r.ByClock {
		next = r.showing()
	}
	var before string
	for _, line := range all[1:] {
		text := unquote(line.text)
		clock, starts := next()
		if len(starts) == 0 {
			r.checkFiller(line.number, clock, text, before)
			continue
		}
		if before = text; text == "" {
			r.checkEmpty(line.number, starts[0])
			continue
		}
		amount, ok := r.price(line.number, text, '.')
		for _, start := range starts {
			if ok {
				r.add(line.number, area, price.Slot{Start: start, Length: r.slot(), Price: amount})
			}
		}
	}
}

// passing counts the slots that pass from the start.
func (r *reading) passing() func() (clock time.Time, starts []protocol.Instant) {
	at := instants(r.Start, r.Zone)[0]
	return func() (time.Time, []protocol.Instant) {
		start := at
		at = at.Add(r.slot())
		return time.Time{}, []protocol.Instant{start}
	}
}

// showing counts what the clock shows from the start, if it never were changed.
func (r *reading) showing() func() (clock time.Time, starts []protocol.Instant) {
	at := r.Start
	return func() (time.Time, []protocol.Instant) {
		clock := at
		at = at.Add(r.slot().Std())
		return clock, instants(clock, r.Zone)
	}
}

// checkFiller checks what stands for the hour that the clock skips.
func (r *reading) checkFiller(line int, clock time.Time, text, before string) {
	if text != "" && text != before {
		r.problem(line, "%s does not exist in %s, so the line must be empty or repeat the one before; is the zone right, or does hours = \"elapsed\" hold?",
			clock.Format(clockForm), r.Zone)
	}
}

func (r *reading) checkEmpty(line int, start protocol.Instant) {
	if !r.Gaps {
		r.problem(line, "there is no price for %s; fill it in, or set gaps = true if it is in order", r.time(start))
	}
}
