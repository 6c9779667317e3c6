package recordedgrid

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// exchange is the messages between the sites of a grid, matched.
type exchange struct {
	readings []*reading
	arrived  map[[2]int][]arrival // from one site to another
	lost     map[[2]int]int
}

// arrival is a message that arrived.
type arrival struct {
	took    protocol.Duration // by the two clocks
	durable bool              // it waited for records
}

// matched matches the messages that peers sent with those that their partners received. Of equal messages the
// first sent is the first received.
func matched(readings []*reading) *exchange {
	x := &exchange{readings: readings, arrived: map[[2]int][]arrival{}, lost: map[[2]int]int{}}
	index := map[protocol.SiteName]int{}
	for i, r := range readings {
		index[r.config.Site] = i
	}
	type content struct {
		way  [2]int
		text string
	}
	waiting := map[content][]message{}
	for i, r := range readings {
		for _, m := range r.sent {
			key := content{[2]int{i, index[m.other]}, m.content}
			waiting[key] = append(waiting[key], m)
		}
	}
	for i, r := range readings {
		for _, m := range r.received {
			key := content{[2]int{index[m.other], i}, m.content}
			if sent := waiting[key]; len(sent) > 0 {
				waiting[key] = sent[1:]
				x.arrived[key.way] = append(x.arrived[key.way], arrival{took: m.at.Sub(sent[0].at), durable: sent[0].durable})
			}
		}
	}
	for key, rest := range waiting {
		for _, m := range rest {
			if m.at < readings[key.way[1]].last { // else the receiver may have stopped before
				x.lost[key.way]++
			}
		}
	}
	return x
}

// clocks is how far the clock of each site is ahead of that of the first one. The fastest messages in both
// directions take equally long. Sites that exchanged no messages, even by way of others, have equal clocks.
func (x *exchange) clocks(g *Grid) []protocol.Duration {
	n := len(x.readings)
	ahead, known := make([]protocol.Duration, n), make([]bool, n)
	known[0] = true
	for next := []int{0}; len(next) > 0; next = next[1:] {
		a := next[0]
		for b := range n {
			there, back := x.fastest(a, b), x.fastest(b, a)
			if known[b] || there == protocol.Never || back == protocol.Never {
				continue
			}
			ahead[b], known[b] = ahead[a]+(there-back)/2, true
			next = append(next, b)
		}
	}
	for i, k := range known {
		if !k {
			g.note("site %s: no messages in both directions, so that its clock is taken as that of site %s", x.readings[i].config.Site, x.readings[0].config.Site)
		}
	}
	return ahead
}

func (x *exchange) fastest(from, to int) protocol.Duration {
	fastest := protocol.Never
	for _, one := range x.arrived[[2]int{from, to}] {
		fastest = min(fastest, one.took)
	}
	return fastest
}

// latencies measures those of links, records and calls, and how much those of messages vary.
func (x *exchange) latencies(g *Grid, ahead []protocol.Duration) {
	n := len(x.readings)
	commits := make([][]protocol.Duration, n)
	var apart []protocol.Duration
	for a := range n {
		for b := a + 1; b < n; b++ {
			var plain, durable []protocol.Duration
			ways := [][2]int{{a, b}, {b, a}}
			for _, way := range ways {
				for _, one := range x.arrived[way] {
					took := one.took - ahead[way[1]] + ahead[way[0]]
					if one.durable {
						durable = append(durable, took)
					} else {
						plain = append(plain, took)
					}
				}
			}
			if len(plain) == 0 {
				plain = durable
			}
			link := Link{A: a, B: b, Latency: max(0, median(plain)), Messages: len(x.arrived[ways[0]]) + len(x.arrived[ways[1]]), Lost: x.lost[ways[0]] + x.lost[ways[1]]}
			if link.Messages > 0 {
				g.Links = append(g.Links, link)
			}
			for _, took := range plain {
				apart = append(apart, max(took-link.Latency, link.Latency-took))
			}
			for _, way := range ways {
				for _, one := range x.arrived[way] {
					if one.durable {
						commits[way[0]] = append(commits[way[0]], max(0, one.took-ahead[way[1]]+ahead[way[0]]-link.Latency))
					}
				}
			}
		}
	}
	for i, r := range x.readings {
		// That of a fast record: what slower ones add to a job's hand-off is in the latency of its submission.
		g.Sites[i].Latencies = sim.Latencies{Commit: share(commits[i], 10), Call: median(r.quick)}
		for _, took := range commits[i] {
			apart = append(apart, max(took-median(commits[i]), median(commits[i])-took))
		}
	}
	g.Noise = share(apart, 95)
}

// measureJobs measures the latencies of each job that ran here, and sets their medians. Commit is set: the records of a
// call to submit take so long to be durable.
func (r *reading) measureJobs(medians *sim.Latencies) {
	var runs []*run
	var submits, starts, ends []protocol.Duration
	var atOnce []protocol.Duration
	for _, one := range r.runs {
		if one.started == 0 || one.queued == 0 {
			continue
		}
		runs = append(runs, one)
		if one.started >= one.queued {
			atOnce = append(atOnce, one.started.Sub(one.queued))
		}
	}
	r.inOrder()
	shortest := share(atOnce, 5)
	slices.SortFunc(runs, func(a, b *run) int {
		return cmp.Or(cmp.Compare(a.started, b.started), cmp.Compare(a.tag.Job, b.tag.Job), cmp.Compare(a.tag.Epoch, b.tag.Epoch))
	})
	for _, one := range runs {
		one.latency.Submit = max(0, min(one.queued, one.started).Sub(one.called)-medians.Commit)
		one.latency.Start = max(0, one.started.Sub(r.enabled(one, runs, shortest)))
		submits, starts = append(submits, one.latency.Submit), append(starts, one.latency.Start)
	}
	for _, one := range runs {
		if one.freed > 0 {
			one.latency.End = max(0, one.freed.Sub(one.ended()))
			ends = append(ends, one.latency.End)
		}
	}
	medians.Submit, medians.Start, medians.End = median(submits), median(starts), median(ends)
}

// inOrder moves the times at which jobs came into the local queue so that they have the order of the queue. Answers to
// submissions at the same time may come in another order, but none comes before its job is in the queue. Of jobs that come
// at the same time, the simulator queues first what was called first.
func (r *reading) inOrder() {
	var next *run
	for _, one := range slices.Backward(r.order) {
		if one.queued == 0 {
			continue
		}
		if next != nil && (one.queued > next.queued || one.queued == next.queued && one.call > next.call) {
			latest := next.queued
			if one.call > next.call {
				latest--
			}
			one.queued = max(one.called, latest)
		}
		next = one
	}
}

// enabled is when the local scheduler could start a job: when it was in the queue, or when the last job before
// its start had freed its CPUs. The peer may see an end after the local scheduler has started another job in its
// place; then the CPUs were free so long before as the shortest start takes.
func (r *reading) enabled(one *run, runs []*run, shortest protocol.Duration) protocol.Instant {
	latest := one.queued
	for _, other := range runs {
		if other == one || other.freed == 0 || other.ended() > one.started {
			continue
		}
		free := other.freed
		if free > one.started.Add(-shortest) {
			if free = max(other.ended(), one.started.Add(-shortest)); other.freed > one.started {
				other.freed = free
			}
		}
		latest = max(latest, free)
	}
	return min(latest, one.started)
}

func median(all []protocol.Duration) protocol.Duration { return share(all, 50) }

// share is the value that the given percentage does not exceed; 0 if there is none.
func share(all []protocol.Duration, percent int) protocol.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}
