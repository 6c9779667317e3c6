package sim

import (
	"container/heap"
	"errors"
	"math/bits"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// ideal is the upper bound of [SS 2.3]: one virtual machine with a node of 1 MHz
// for each MHz of each CPU, and jobs that use any number of nodes equally well.
// Nothing is ever idle while there is work. The paper does not say which job is
// served first; here it is the one with the least work left, which no schedule
// whatever can beat in mean response (Schrage 1968). Efficiency is the same in any
// order.
//
// A job's site is its origin: nothing is moved between real machines.
func ideal(machines []Machine, jobs []workload.Job) (*Result, error) {
	v := virtualMachine{jobs: jobs, machines: machines, r: &Result{Placements: make([]Placement, len(jobs)), Virtual: true}}
	for _, m := range machines {
		v.power += uint64(m.CPUs()) * uint64(max(1, m.MHz)) //nolint:gosec // not negative
	}
	total := uint64(0) // work so far
	for i := range jobs {
		if err := v.serveUntil(jobs[i].Submit); err != nil {
			return nil, err
		}
		work, err := v.work(&jobs[i])
		if err != nil {
			return nil, err
		}
		total += work
		if v.done+total >= 1<<63 {
			return nil, errTooMuchWork
		}
		v.r.Placements[i] = Placement{Site: jobs[i].Origin, Start: -1}
		heap.Push(&v.waiting, portion{left: work, index: i})
	}
	if err := v.serveUntil(lastArrival); err != nil {
		return nil, err
	}
	return v.r, nil
}

// lastArrival is after all arrivals.
const lastArrival protocol.Instant = 1 << 62

// virtualMachine does power units of work in a millisecond. A unit of work is a
// CPU·MHz·ms.
type virtualMachine struct {
	jobs     []workload.Job
	machines []Machine
	power    uint64
	done     uint64 // the time, in units of work since the beginning
	waiting  portions
	r        *Result
}

var errTooMuchWork = errors.New("the workload has more work than 64 bits can count in CPU·MHz·ms; simulate a part of it")

func (v *virtualMachine) work(job *workload.Job) (uint64, error) {
	speed := uint64(max(1, v.machines[job.Origin].MHz))
	high, work := bits.Mul64(uint64(job.CPUs)*speed, uint64(job.Run)) //nolint:gosec // positive
	if high > 0 || work >= 1<<62 {
		return 0, errTooMuchWork
	}
	return work, nil
}

// serveUntil works on what waits until the time.
func (v *virtualMachine) serveUntil(until protocol.Instant) error {
	budget := uint64(1) << 63
	if until < lastArrival {
		high, end := bits.Mul64(uint64(until), v.power) //nolint:gosec // not negative
		if high > 0 || end >= budget {
			return errTooMuchWork
		}
		budget = end
	}
	for len(v.waiting) > 0 && v.done < budget {
		job := &v.waiting[0]
		p := &v.r.Placements[job.index]
		if p.Start < 0 {
			p.Start = protocol.Instant(v.done / v.power) //nolint:gosec // below 2⁶³
		}
		part := min(job.left, budget-v.done)
		v.done += part
		if job.left -= part; job.left == 0 {
			p.End = protocol.Instant((v.done + v.power - 1) / v.power) //nolint:gosec // below 2⁶³
			heap.Pop(&v.waiting)
		}
	}
	if until < lastArrival {
		v.done = max(v.done, budget)
	}
	return nil
}

// portion is what is left of a job. The heap has the least one first; working on
// it keeps it there.
type portion struct {
	left  uint64
	index int
}

type portions []portion

func (p *portions) Len() int { return len(*p) }
func (p *portions) Less(i, j int) bool {
	a, b := (*p)[i], (*p)[j]
	return a.left < b.left || (a.left == b.left && a.index < b.index)
}
func (p *portions) Swap(i, j int) { (*p)[i], (*p)[j] = (*p)[j], (*p)[i] }

// Push implements [heap.Interface].
func (p *portions) Push(x any) {
	if one, ok := x.(portion); ok {
		*p = append(*p, one)
	}
}

// Pop implements [heap.Interface].
func (p *portions) Pop() any {
	last := len(*p) - 1
	one := (*p)[last]
	*p = (*p)[:last]
	return one
}
