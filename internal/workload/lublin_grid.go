package workload

import (
	"cmp"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// LublinOptions say what [LublinMachine] draws.
type LublinOptions struct {
	CPUs     int               // of the machine
	Jobs     int               // 0: 1000, as the reference draws
	Load     float64           // divides the times between submissions
	Typeless bool              // one kind of jobs, not batch and interactive ones
	Longest  protocol.Duration // the longest run time that users may ask for; 0: they ask for what they need
}

// LublinMachine draws the jobs of one machine by the model of Lublin and Feitelson and, if
// estimates have a bound, what users ask for by that of Tsafrir, Etsion and Feitelson.
func LublinMachine(o LublinOptions, seed uint64) (*Grid, error) {
	const usualJobs = 1000
	machine := Machine{Name: "machine", Nodes: o.CPUs, CPUsPerNode: 1, MHz: 1000}
	if err := machine.Validate(); err != nil {
		return nil, fmt.Errorf("the machine: %w", err)
	}
	model := Lublin99()
	if o.Typeless {
		model = LublinTypeless()
	}
	model = model.For(o.CPUs)
	model.Load, model.Limit = o.Load, o.Longest
	jobs, err := model.Generate(cmp.Or(o.Jobs, usualJobs), seed)
	if err == nil && o.Longest > 0 {
		jobs, err = Tsafrir{Max: o.Longest, Draws: 100}.Assign(jobs, seed)
	}
	if err != nil {
		return nil, err
	}
	return &Grid{
		Name: "a machine by Lublin and Feitelson", Jobs: jobs,
		Systems: []System{{Name: machine.Name, Cores: o.CPUs, MflopsPerCore: machine.MHz, MaxRequest: o.CPUs, MaxRun: o.Longest}},
	}, nil
}
