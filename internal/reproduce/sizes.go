package reproduce

import (
	"context"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sizes is [MC] Figure 5, the half of XSEDE.
func (o *Options) sizes() exhibit {
	mcmf := o.portal(builtin.MCMF, usual)
	return exhibit{
		Exhibit: Exhibit{Name: "fig5", Title: "what MCMF saves by the size of jobs, w = 25 %; nordugrid has the half of NorduGrid", Paper: "[MC] Figure 5"},
		waits:   o.Waits, trials: []trial{o.baseline(), mcmf},
		build: func(_ context.Context, s *study, r *Report) error {
			r.Tables = append(r.Tables, s.savedBySize("", "$", mcmf, o.baseline()))
			return nil
		},
	}
}

// nordugrid is the exhibit of NorduGrid's tables with the other half of Figure 5.
func (o *Options) nordugrid(tables exhibit) exhibit {
	mcmf, base := o.portal(builtin.MCMF, protocol.PPM/2), o.baseline()
	mcmf.scene, base.scene, mcmf.maxQ = nordugrid, nordugrid, 0
	return tables.then(func(s *study, r *Report) {
		r.Tables = append(r.Tables, s.savedBySize("Figure 5: what MCMF saves by the size of jobs, w = 50 %", "€", mcmf, base))
	}, mcmf, base)
}

// savedBySize is what a trial saves over another of jobs of some sizes, in units of money.
func (s *study) savedBySize(title, unit string, mcmf, base trial) Table {
	t := Table{Title: title, Stub: "CPU hours", Columns: []Column{
		{"jobs_pct", "jobs", "%", 1},
		{"response_saved_min", "response saved, a job", "min", 1},
		{"response_saved_pct", "of its response", "%", 1},
		{"cost_saved", "cost saved, a job", unit, 3},
		{"cost_saved_pct", "of its cost", "%", 1},
		{"bill_share_pct", "of all that is saved", "%", 1},
	}}
	for _, class := range []struct {
		label    string
		from, to float64
	}{{"small, < 512", 0, 512}, {"medium, to 4096", 512, 4096}, {"large, > 4096", 4096, 1e12}} {
		in := func(job *workload.Job) bool {
			hours := float64(job.CPUs) * float64(job.Run) / float64(protocol.Hour)
			return hours >= class.from && hours < class.to
		}
		saved := func(value func(*outcome, int) float64, percent bool) []float64 {
			return s.against(mcmf, base, func(one, base *outcome) float64 {
				a, _ := one.mean(value, in)
				b, _ := base.mean(value, in)
				if percent {
					return 100 * ratio(b-a, b)
				}
				return b - a
			})
		}
		t.Rows = append(t.Rows, Row{class.label, []Cell{
			Ours(s.each(mcmf, func(o *outcome) float64 {
				_, n := o.mean((*outcome).cost, in)
				return 100 * n / float64(o.metrics.Jobs)
			})...),
			Ours(saved((*outcome).response, false)...), Ours(saved((*outcome).response, true)...),
			Ours(saved((*outcome).cost, false)...), Ours(saved((*outcome).cost, true)...),
			Ours(s.against(mcmf, base, func(one, base *outcome) float64 {
				a, n := one.mean((*outcome).cost, in)
				b, _ := base.mean((*outcome).cost, in)
				return 100 * ratio(n*(b-a), base.bill.Cost-one.bill.Cost)
			})...),
		}})
	}
	return t
}
