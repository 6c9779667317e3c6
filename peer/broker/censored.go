package broker

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A run that was ended at its time limit is censored: it says that the component runs for at least
// so long, and not how long. The Γ model does not learn from it; it raises what is expected.

// Of the latest runs of a component, wherever they were, half or more must be censored to count:
// one that hung says little of the others.
const (
	latestRuns    = 5
	keptCensored  = 4 // of a site
	moreEach      = 3 // of every further censored run, what is expected grows by 3/2
	moreEachOf    = 2
	limitTolerant = 11 // tenths of its limit that a run is believed to have lasted at most
)

// latest are the latest runs of a component at all sites, the last one first.
func (e *executions) latest() (runs []*row.Execution) {
	for _, of := range e.sites {
		for i := range of {
			runs = append(runs, &of[i])
		}
	}
	slices.SortFunc(runs, func(a, b *row.Execution) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Site, b.Site))
	})
	return runs[:min(len(runs), latestRuns)]
}

// atLeast is the lower bound that the censored runs of a component set for one on cpus CPUs. Zero
// means that they set none.
func (e *executions) atLeast(cpus int, on *protocol.Capacity) (d protocol.Duration) {
	if cpus < 1 {
		return 0
	}
	runs, censored := e.latest(), 0
	for _, run := range runs {
		if run.Censored {
			censored++
			work := int128.Product(int64(run.Ran), int64(run.CPUs)).Up(int64(cpus))
			d = max(d, on.Rescale(protocol.Duration(work), run.MHz, 0))
		}
	}
	if 2*censored < len(runs) {
		return 0
	}
	for range censored - 1 {
		d = protocol.Duration(int128.Product(int64(d), moreEach).Up(moreEachOf))
	}
	return d
}

// withoutCensored are the runs of a site, of which only the latest censored ones are kept.
func withoutCensored(runs []row.Execution) []row.Execution {
	more := -keptCensored
	for i := range runs {
		if runs[i].Censored {
			more++
		}
	}
	return slices.DeleteFunc(runs, func(run row.Execution) bool {
		if !run.Censored || more <= 0 {
			return false
		}
		more--
		return true
	})
}

// unreachable bounds nothing.
const unreachable = 1 << 62

// believed returns a run without the measurements that are impossible for its CPUs and its time:
// a record from another site may be wrong, or forged.
func believed(run gamma.Execution, limit protocol.Duration) gamma.Execution {
	longest := int128.Product(int64(limit), limitTolerant).Up(10)
	run.Ran = min(run.Ran, protocol.Duration(longest))
	busy := int128.Product(int64(run.Ran), int64(run.CPUs)).Times(2) // two threads of a core may count both
	u := &run.Usage
	if u.CPU < 0 || int64(u.CPU) > busy.Up(1) {
		u.CPU = 0
	}
	most := func(perSecond int64, unit int64) int64 { // the machine's rate is for one CPU, in ones
		if perSecond <= 0 {
			return unreachable
		}
		return int128.Product(perSecond, int64(run.Ran)).Times(int64(run.CPUs)).Times(2).Up(int64(protocol.Second), unit)
	}
	const million = 1_000_000
	doubt(&u.Mflop, most(run.Machine.Flops, million))
	doubt(&u.Mwords, most(run.Machine.Words, million))
	doubt(&u.Sent, most(run.Machine.Network, 1))
	doubt(&u.Messages, most(run.Machine.Network, 1))
	if u.Energy < 0 || u.MHz < 0 || (run.MHz > 0 && u.MHz > 4*run.MHz) {
		u.Energy, u.MHz = max(0, u.Energy), 0
	}
	return run
}

// doubt takes a number back that is out of reach.
func doubt(n *int64, most int64) {
	if *n < 0 || *n > most {
		*n = 0
	}
}
