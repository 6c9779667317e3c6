package iss

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/appassign"
	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// reason says what the choice for component k costs, what proves it, and what the next one
// would have cost. Amounts are totals: z is the sum of the weighted costs of its components and
// of waiting since the first submission.
func (r *round) reason(t *task, solution *appassign.Solution, k int, other *appassign.Alternative) string {
	pair := t.pairs[k][solution.Chosen[k]]
	m := t.money(pair.row, pair.site)
	var b strings.Builder
	fmt.Fprintf(&b, "z %s, %s; here on %d CPUs: use %s, license %s, energy %s, data %s, weighed %s",
		t.priced(t.z(solution.Z)), proof(solution), r.in.Jobs[pair.row].CPUs,
		m.use.Text(), m.license.Text(), m.eco.Text(), m.data.Text(), m.weighted(&r.in.Jobs[pair.row]).Text())
	if t.problem.Late != nil && t.problem.EachLate {
		fmt.Fprintf(&b, ", its own waiting %s", t.waited().Plus(t.waiting(solution.Ends[k])).Text())
	}
	fmt.Fprintf(&b, ", wait %s, run %s; all done in %s",
		solution.Starts[k].Text(), t.in.ERT[t.in.At(pair.row, pair.site)].Text(), solution.End.Text())
	if t.problem.Late != nil {
		fmt.Fprintf(&b, ", waiting %s", t.waited().Plus(t.waiting(solution.End)).Text())
	}
	switch {
	case other.Choice >= 0:
	case t.application.MaxCost == protocol.Unlimited && t.application.MaxTime == protocol.Never:
		return b.String() + "; it has no other choice"
	default:
		return b.String() + "; no other choice is within the limits"
	}
	next := t.pairs[k][other.Choice]
	fmt.Fprintf(&b, "; next: %s on %d CPUs, z %s, done in %s",
		r.in.Sites[next.site].Name, r.in.Jobs[next.row].CPUs, t.z(other.Z).Text(), other.End.Text())
	return b.String()
}

// proof says how good a solution is known to be.
func proof(solution *appassign.Solution) string {
	choices := "all choices from " + grouped(solution.Pairs) + " quotes"
	if solution.Pairs == 1 {
		choices = "the only choice"
	}
	switch {
	case solution.Bound == solution.Z && solution.Pairs == 1:
		return choices
	case solution.Bound == solution.Z:
		return "the least of " + choices + ", proven"
	}
	return "within " + percent(solution.Gap()) + " of the least of " + choices
}

// percent prints parts per million as percent, rounded up to a tenth.
func percent(ppm int) string {
	return decimal.Text(int64(ppm+999)/1000, 1, 1) + " %"
}

// grouped prints a number with its thousands apart.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return grouped(n/1000) + "," + strconv.Itoa(1000 + n%1000)[1:]
}

// turnedAway says why no site takes component k this round; empty: none has quoted it.
func (r *round) turnedAway(t *task, k int) string {
	if len(t.pairs[k]) == 0 {
		return ""
	}
	if t.problem.Components[k].Together > 0 {
		return "the sites do not take all the components together that start together; they are looked at again in the next round"
	}
	return "the sites that could run it take no more jobs this round; it is looked at again in the next one"
}

// maxReason bounds a reason, in bytes, as the wire does.
const maxReason = 512

// clipped is a reason within that bound.
func clipped(why string) string {
	if len(why) <= maxReason {
		return why
	}
	return strings.ToValidUTF8(why[:maxReason], "")
}

// refused has all components of a task stay, with the reason.
func (r *round) refused(t *task, none *appassign.InfeasibleError) []policy.Decision {
	why := clipped(t.advice(none, r.Nodes))
	decisions := make([]policy.Decision, len(t.members))
	for k, c := range t.members {
		decisions[k] = policy.Decision{Job: c.first, Site: policy.NoSite, Reason: why}
	}
	return decisions
}

// advice says which limit rules out all choices, and the smallest change that would not.
func (t *task) advice(none *appassign.InfeasibleError, nodes int) string {
	if none.Limit != appassign.Room && t.application.Elapsed >= t.application.MaxTime {
		return fmt.Sprintf("max_time: %s since its submission are over; cancel the application and submit it again", t.application.MaxTime.Text())
	}
	cost, time := t.costAdvice(none.MaxCost), t.timeAdvice(none.MaxEnd)
	more := ""
	if !none.Exact {
		more = ", or perhaps to somewhat less"
	}
	switch none.Limit {
	case appassign.Room:
		return "the sites do not take its components this round"
	case appassign.Cost:
		return "max_cost: " + cost.found + "; raise " + cost.change + more
	case appassign.Time:
		return "max_time: " + time.found + "; raise " + time.change + more
	case appassign.Either:
		return "max_cost and max_time: in time, " + cost.found + "; within the cost, " + time.found + "; raise " + cost.change + " or " + time.change + more
	case appassign.Both:
		return "max_cost and max_time: " + time.found + ", and then " + cost.found + "; raise " + cost.change + " and " + time.change + more
	case appassign.Steps:
	}
	return "no choice within max_cost and max_time was found in " + grouped(nodes) + " steps; raise max_search_nodes in [policy.iss] or the limits"
}

// change is what was found about a limit, and what it has to become.
type change struct{ found, change string }

func (t *task) costAdvice(least int64) change {
	if t.application.MaxCost == protocol.Unlimited {
		return change{}
	}
	needed := protocol.Micro(least).Plus(t.application.Spent).Plus(t.kept)
	over := left(int64(needed), int64(t.application.MaxCost))
	found := "the cheapest choice costs " + t.priced(protocol.Micro(least))
	if used := t.application.Spent.Plus(t.kept); used != 0 {
		found += " besides " + t.priced(used) + " for the other components"
	}
	return change{
		found + ", " + t.priced(protocol.Micro(over)) + " above max_cost " + t.priced(t.application.MaxCost),
		"max_cost to " + t.priced(needed),
	}
}

func (t *task) timeAdvice(end protocol.Duration) change {
	if t.application.MaxTime == protocol.Never {
		return change{}
	}
	needed := end.Plus(max(0, t.application.Elapsed))
	since := ""
	if t.application.Elapsed > 0 { // max_time counts from the submission, and the reader from now
		since = fmt.Sprintf(", %s from its submission", needed.Text())
	}
	return change{
		fmt.Sprintf("the fastest choice is done in %s%s, %s after max_time %s", end.Text(), since,
			protocol.Duration(left(int64(needed), int64(t.application.MaxTime))).Text(), t.application.MaxTime.Text()),
		"max_time to " + needed.Text(),
	}
}
