package report

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// block is a rectangle of a schedule: CPUs low up to high of a site for some time.
type block struct {
	site, origin int
	low, high    int
	start, end   protocol.Instant
	sure         protocol.Instant // what is later is planned
}

func (b *block) area() float64 { return float64(b.high-b.low) * float64(b.end.Sub(b.start)) }

// gap is a run of free CPUs.
type gap struct{ low, high int }

// pack gives every job its CPUs, as one block or several. Jobs that take no time get
// none. Of a schedule that goes on, some may be left out.
func (g Gantt) pack() (blocks []block, crowded int, err error) {
	order := make([]int, 0, len(g.Jobs))
	for i, j := range g.Jobs {
		if j.Site >= 0 && j.Start < j.End {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.Jobs[a].Start, g.Jobs[b].Start) })
	floors := make([]floor, len(g.Sites))
	for i, s := range g.Sites {
		floors[i].free = []gap{{0, s.CPUs}}
	}
	for _, i := range order {
		j := &g.Jobs[i]
		f := &floors[j.Site]
		f.release(j.Start)
		gaps, lacking := f.take(j.CPUs)
		if lacking > 0 && g.Now != 0 {
			for _, a := range gaps {
				f.put(a)
			}
			crowded++
			continue
		}
		if lacking > 0 {
			return nil, 0, fmt.Errorf("job %d needs %d CPUs of site %q at %d ms, where %d are free",
				i, j.CPUs, g.Sites[j.Site].Name, j.Start, j.CPUs-lacking)
		}
		for _, a := range gaps {
			blocks = append(blocks, block{site: j.Site, origin: j.Origin, low: a.low, high: a.high, start: j.Start, end: j.End, sure: cmp.Or(j.Sure, j.End)})
			heap.Push(&f.busy, lease{until: j.End, gap: a})
		}
	}
	if g.Now != 0 && len(blocks) > drawnAlone {
		crowded += len(blocks) - drawnAlone
		blocks = blocks[:drawnAlone]
	}
	return blocks, crowded, nil
}

// floor is a site's CPUs: the free ones as gaps that neither touch nor overlap, lowest
// first, and the others until they are free again.
type floor struct {
	free []gap
	busy leases
}

// release frees what ended by now.
func (f *floor) release(now protocol.Instant) {
	for len(f.busy) > 0 && f.busy[0].until <= now {
		f.put(heap.Pop(&f.busy).(lease).gap) //nolint:errcheck,forcetypeassert // of this heap
	}
}

func (f *floor) put(g gap) {
	at, _ := slices.BinarySearchFunc(f.free, g, func(a, b gap) int { return cmp.Compare(a.low, b.low) })
	if at < len(f.free) && f.free[at].low == g.high {
		g.high = f.free[at].high
		f.free = slices.Delete(f.free, at, at+1)
	}
	if at > 0 && f.free[at-1].high == g.low {
		f.free[at-1].high = g.high
		return
	}
	f.free = slices.Insert(f.free, at, g)
}

// take removes the lowest gap that is wide enough, else the lowest gaps. It returns
// how many CPUs are lacking.
func (f *floor) take(cpus int) (taken []gap, lacking int) {
	wide := slices.IndexFunc(f.free, func(g gap) bool { return g.high-g.low >= cpus })
	for at := max(0, wide); cpus > 0 && at < len(f.free); {
		g := &f.free[at]
		part := gap{g.low, min(g.high, g.low+cpus)}
		taken = append(taken, part)
		cpus -= part.high - part.low
		g.low = part.high
		if g.low == g.high {
			f.free = slices.Delete(f.free, at, at+1)
		}
	}
	return taken, cpus
}

// lease is a gap in use.
type lease struct {
	until protocol.Instant
	gap   gap
}

// leases are a heap, the earliest end first. Which of several that end together comes
// first does not matter: they are all released before anything is taken.
type leases []lease

func (h *leases) Len() int           { return len(*h) }
func (h *leases) Less(i, j int) bool { return (*h)[i].until < (*h)[j].until }
func (h *leases) Swap(i, j int)      { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }
func (h *leases) Push(l any)         { *h = append(*h, l.(lease)) } //nolint:errcheck,forcetypeassert // of this heap

// Pop implements [heap.Interface].
func (h *leases) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	*h = (*h)[:last]
	return l
}
