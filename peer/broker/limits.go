package broker

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits are those of an application, in the money of its site.
type Limits struct {
	App   *row.Application
	Money pricing.Money
}

// maxCost is the limit of what the application may cost; false: it has none.
func (l Limits) maxCost() (protocol.Micro, bool) {
	limit := l.Money.MaxCost(&l.App.Application)
	return limit, limit != protocol.Unlimited
}

// Unreachable says why what has not started of the application cannot keep its limits any more; empty:
// it may.
func (l Limits) Unreachable(now protocol.Instant) string {
	if limit, ok := l.maxCost(); ok && l.App.Spent > limit {
		return fmt.Sprintf("its application has cost %s, and max_cost is %s", l.Money.Text(l.App.Spent), l.Money.Text(limit))
	}
	if l.App.MaxTime != protocol.Never && now >= l.App.Deadline() {
		return fmt.Sprintf("max_time of its application, %s from the submission on, is over", l.App.MaxTime.Text())
	}
	return ""
}

// BrokenBy says which limit the end of a component, which has cost so much, has broken, and why;
// empty: none.
func (l Limits) BrokenBy(j *row.Job, cost protocol.Micro) string {
	if limit, ok := l.maxCost(); ok && l.App.Spent > limit {
		return fmt.Sprintf("max_cost: what has run cost %s of at most %s; %s",
			l.Money.Text(l.App.Spent), l.Money.Text(limit), l.asPredicted(j, cost))
	}
	if l.App.MaxTime != protocol.Never && j.Ended > l.App.Deadline() && j.Outcome != nil {
		return fmt.Sprintf("max_time: %s ended %s after the submission, at most %s; %s",
			j.ComponentName(), j.Ended.Sub(l.App.Submitted).Text(), l.App.MaxTime.Text(), l.asPredicted(j, cost))
	}
	return ""
}

// asPredicted compares a component with what was predicted of it.
func (l Limits) asPredicted(j *row.Job, cost protocol.Micro) string {
	if j.Prediction == nil || j.Outcome == nil {
		return "nothing was predicted of " + j.ComponentName()
	}
	return fmt.Sprintf("%s ran %s and cost %s, predicted were %s and %s", j.ComponentName(), j.Outcome.Ran.Text(),
		l.Money.Text(cost), j.Prediction.Run.Text(), l.Money.Text(j.Prediction.Cost))
}

// ChargedMore says why a component is not granted to a site that charges more for it than it quoted:
// the application, with all that is placed of it, would break its limit; empty: it would not.
func (l Limits) ChargedMore(site protocol.SiteName, quoted, charged, all protocol.Micro) string {
	limit, ok := l.maxCost()
	if !ok || charged <= quoted || all <= limit {
		return ""
	}
	return fmt.Sprintf("%s quoted %s and now charges %s, with which the application would cost %s of at most %s", site,
		l.Money.Text(quoted), l.Money.Text(charged), l.Money.Text(all), l.Money.Text(limit))
}

// PastTime says why components must not start together at an instant: the limit of time of the
// application; empty: they may. What they cost from then on is not known here.
func (l Limits) PastTime(components []*row.Job, start protocol.Instant) string {
	if l.App.MaxTime == protocol.Never {
		return ""
	}
	for _, j := range components {
		f := j.Prediction
		if f == nil {
			continue
		}
		if end := start.Add(f.Run).Add(f.Back); end > l.App.Deadline() {
			return fmt.Sprintf("max_time: from %s on, when its sites have room for all that start together, job %v would be done in %s from its submission, after max_time %s",
				start.Text(), j.Spec.Job, end.Sub(l.App.Submitted).Text(), l.App.MaxTime.Text())
		}
	}
	return ""
}
