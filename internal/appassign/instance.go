package appassign

import (
	"math"
	"math/bits"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// instance is a problem as the search sees it.
type instance struct {
	p       *Problem
	ceiling int64 // of amounts
	sites   []site
	options []option // by component, then in the problem's order
	first   []int    // of each component in options, and the end
	group   []int    // of each component; [ungrouped]: none
	groups  int
	ends    []protocol.Duration // of all options, sorted, each once
	latest  protocol.Duration   // nothing ends later, whatever is chosen
	maxCost int64
	crowded bool // some site may be asked to take more than it accepts
	pairs   int  // choices within the limit of time
	coupled bool // some end may depend on what else is chosen
}

// ungrouped is the group of a component without one.
const ungrouped = -1

type site struct {
	cpus, free int64
	before     tally // what is just taken
	accept     int
	shared     bool // two may meet here and one of them wait, or more than it accepts
}

// option is a choice that no other one makes superfluous.
type option struct {
	component, index, site int

	cpus  int64
	work  int64             // CPU·ms
	wait  protocol.Duration // as quoted
	alone protocol.Duration // when no other component goes there
	ready protocol.Duration
	tail  protocol.Duration // from the start until its results are back
	end   protocol.Duration // at the earliest
	late  int64             // Late of that
	own   int64             // of this, what counts for the component itself
	load  int64             // what it counts in z at least, own included
	cost  int64
}

// most is where times of work stop counting, far from overflow.
const most = math.MaxInt64 / 4

// newInstance is a problem without superfluous choices.
func newInstance(p *Problem) *instance {
	in := newWhole(p)
	in.thin()
	for i := range in.options {
		in.ends = append(in.ends, in.options[i].end)
	}
	slices.Sort(in.ends)
	in.ends = slices.Compact(in.ends)
	return in
}

// newWhole is a problem with all choices within the limit of time.
func newWhole(p *Problem) *instance {
	in := newBare(p)
	in.measureSites()
	in.latest = in.horizon()
	return in
}

// newBare is one with all choices, of which nothing is known yet but what each is alone.
func newBare(p *Problem) *instance {
	n := len(p.Components)
	in := &instance{p: p, ceiling: min(1<<50, 1<<60/int64(n+2)), maxCost: Unlimited}
	if p.MaxCost != Unlimited {
		in.maxCost = max(-1<<60, min(p.MaxCost, 1<<60))
	}
	in.sites = make([]site, 0, len(p.Sites))
	for _, s := range p.Sites {
		in.sites = append(in.sites, site{
			cpus: int64(s.CPUs), free: int64(max(0, s.Free)), accept: min(s.MaxJobs, n),
			before: tally{cpus: int64(max(0, s.Taken)), work: max(0, min(s.Work, most))},
		})
	}
	in.gather()
	in.read()
	in.pairs = len(in.options)
	in.latest = min(p.MaxEnd, protocol.Never-1)
	return in
}

// gather numbers the groups.
func (in *instance) gather() {
	numbers := map[int]int{}
	for _, c := range in.p.Components {
		group := ungrouped
		if c.Together > 0 {
			known, seen := numbers[c.Together]
			if !seen {
				known = len(numbers)
				numbers[c.Together] = known
			}
			group = known
		}
		in.group = append(in.group, group)
	}
	in.groups = len(numbers)
}

// read makes options of the choices at sites that take components.
func (in *instance) read() {
	soonest, all := in.soonest(), 0
	for _, c := range in.p.Components {
		all += len(c.Choices)
	}
	in.options = make([]option, 0, all)
	for k, c := range in.p.Components {
		in.first = append(in.first, len(in.options))
		for i, choice := range c.Choices {
			if in.sites[choice.Site].accept <= 0 {
				continue
			}
			o := in.option(k, i, &choice)
			start := max(o.alone, o.ready)
			if g := in.group[k]; g != ungrouped {
				start = max(start, soonest[g])
			}
			if o.end = start.Plus(o.tail); o.end > in.p.MaxEnd || o.end == protocol.Never {
				continue
			}
			o.late = in.late(o.end)
			if in.p.EachLate {
				o.own = o.late
			}
			o.load = in.amount(choice.Weighted) + o.own
			in.options = append(in.options, o)
		}
	}
	in.first = append(in.first, len(in.options))
}

func (in *instance) option(k, i int, choice *Choice) option {
	o := option{
		component: k, index: i, site: choice.Site,
		cpus: int64(choice.CPUs), work: product(int64(choice.CPUs), int64(choice.Run)),
		wait: choice.Wait, ready: choice.Ready, tail: choice.Run.Plus(choice.Back), cost: in.amount(choice.Cost),
	}
	row := &in.sites[o.site]
	o.alone = row.wait(&row.before, &o)
	return o
}

// wait is how long an option waits for the CPUs of its site after what is there.
func (s *site) wait(there *tally, o *option) protocol.Duration {
	if s.cpus <= 0 || there.cpus+o.cpus <= s.free {
		return o.wait
	}
	return o.wait.Plus(protocol.Duration((there.work + s.cpus - 1) / s.cpus))
}

// soonest is when each group can start if each of its members goes where it starts first.
func (in *instance) soonest() []protocol.Duration {
	soonest := make([]protocol.Duration, in.groups)
	for k, c := range in.p.Components {
		if in.group[k] == ungrouped {
			continue
		}
		first := protocol.Never
		for i, choice := range c.Choices {
			if in.sites[choice.Site].accept > 0 {
				o := in.option(k, i, &choice)
				first = min(first, max(o.alone, o.ready))
			}
		}
		soonest[in.group[k]] = max(soonest[in.group[k]], first)
	}
	return soonest
}

// measureSites finds where components may come into each other's way.
func (in *instance) measureSites() {
	cpus, visitors := in.maxAt(func(o *option) int64 { return o.cpus })
	for s := range in.sites {
		row := &in.sites[s]
		waits := visitors[s] > 1 && row.before.cpus+cpus[s] > row.free && row.cpus > 0
		row.shared = waits || visitors[s] > row.accept
		in.coupled = in.coupled || waits
		in.crowded = in.crowded || visitors[s] > row.accept
	}
	in.coupled = in.coupled || in.groups > 0
}

// maxAt is how much of something is at each site if every component takes its largest
// option there, and how many components can go there.
func (in *instance) maxAt(of func(o *option) int64) (sums []int64, visitors []int) {
	sums, visitors = make([]int64, len(in.sites)), make([]int, len(in.sites))
	largest := make([]int64, len(in.sites))
	for k := range in.p.Components {
		row := in.options[in.first[k]:in.first[k+1]]
		for i := range row {
			largest[row[i].site] = -1
		}
		for i := range row {
			s, size := row[i].site, of(&row[i])
			switch before := largest[s]; {
			case before < 0:
				visitors[s]++
				sums[s] = min(sums[s]+size, most)
			case size > before:
				sums[s] = min(sums[s]+size-before, most)
			default:
				continue
			}
			largest[s] = size
		}
	}
	return sums, visitors
}

// thin leaves out the options that another one of the component beats.
func (in *instance) thin() {
	kept, starts := make([]option, 0, len(in.options)), make([]int, 0, len(in.first))
	for k := range in.p.Components {
		starts = append(starts, len(kept))
		row := in.options[in.first[k]:in.first[k+1]]
		for i := range row {
			if !in.beaten(&row[i], row) {
				kept = append(kept, row[i])
			}
		}
	}
	in.options, in.first = kept, append(starts, len(kept))
}

// beaten says whether one of its row beats an option.
func (in *instance) beaten(o *option, row []option) bool {
	for i := range row {
		if in.beats(&row[i], o) {
			return true
		}
	}
	return false
}

// beats says whether a solution with b stays possible and does not become worse with a
// instead, and a does not beat itself, nor two each other.
func (in *instance) beats(a, b *option) bool {
	if a.site != b.site && in.sites[a.site].shared {
		return false
	}
	if a.load-a.own > b.load-b.own || a.cost > b.cost || a.alone > b.alone || a.ready > b.ready || a.tail > b.tail {
		return false
	}
	if a.site == b.site && (a.wait > b.wait || a.cpus > b.cpus || a.work > b.work) {
		return false
	}
	return a.load-a.own < b.load-b.own || a.cost < b.cost || a.index < b.index
}

// horizon is when the last component ends at the latest, if each waits for all others.
func (in *instance) horizon() protocol.Duration {
	work, _ := in.maxAt(func(o *option) int64 { return o.work })
	last, start, tail, extra := in.p.Floor, protocol.Duration(0), protocol.Duration(0), protocol.Duration(0)
	for i := range in.options {
		o := &in.options[i]
		start, tail = max(start, o.wait, o.ready), max(tail, o.tail)
		last = max(last, o.end)
	}
	for s, row := range in.sites {
		if row.cpus > 0 {
			extra = max(extra, protocol.Duration((min(row.before.work+work[s], most)+row.cpus-1)/row.cpus))
		}
	}
	if in.coupled {
		last = max(last, start.Plus(extra).Plus(tail))
	}
	return min(last, in.p.MaxEnd, protocol.Never-1)
}

// amount is an amount within the ceiling.
func (in *instance) amount(of int64) int64 { return max(-in.ceiling, min(of, in.ceiling)) }

// late is Late, within the ceiling.
func (in *instance) late(end protocol.Duration) int64 {
	if in.p.Late == nil {
		return 0
	}
	return in.amount(in.p.Late(end))
}

// product multiplies two numbers that are not negative.
func product(a, b int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b)) //nolint:gosec // not negative
	if high > 0 || low > most {
		return most
	}
	return int64(low)
}
