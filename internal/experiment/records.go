package experiment

import (
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// Records tells what became of a trace's lines and records on their way to jobs,
// as it is printed in JSON.
type Records struct {
	Site    string          `json:"site,omitempty"` // where its jobs are submitted
	Trace   string          `json:"trace"`          // the file's name, without its directory
	Records int             `json:"records"`
	Jobs    int             `json:"jobs"`
	LeftOut map[string]int  `json:"records_left_out"` // by reason: see [workload.Cleaning]
	Changed map[string]int  `json:"jobs_changed"`     // by what differs from the record
	Overrun float64         `json:"overrun_work"`     // part of the recorded work that is beyond what jobs asked for
	Read    workload.Report `json:"read"`
}

// RecordsOf tells it of a trace that was read from a file.
func RecordsOf(file string, t *workload.Trace, c workload.Cleaning) Records {
	return Records{
		Trace: filepath.Base(file), Records: c.Records, Jobs: c.Jobs, LeftOut: c.LeftOut(), Changed: c.Changed(),
		Overrun: c.Overran(), Read: t.Report,
	}
}

// records tells it of all traces of the plan, in the order of its workloads.
func (p *Plan) records() []Records {
	var all []Records
	for i := range p.inputs {
		in := &p.inputs[i]
		if in.trace == nil {
			continue
		}
		one := RecordsOf(string(p.Workloads[in.work].Trace), in.trace, p.cleaning(in))
		one.Site = in.site
		all = append(all, one)
	}
	return all
}
