package reproduce

import (
	"context"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// hit is how near the waits quoted to the portal came.
type hit struct {
	percent float64 // mean of 100 × |error| ÷ max(response, 10 s), as for [MC] Figure 2
	minutes float64 // mean |error|
	hour    float64 // share of the jobs with an error below an hour, in percent
}

const shortest = 10 * protocol.Second // response that percentages are of

func (o *outcome) hit() hit {
	var sum hit
	n := 0
	o.measured(func(_ int, job *workload.Job, p sim.Placement) {
		if n >= len(o.quotedWaits) {
			return
		}
		waited := p.Start.Sub(job.Submit)
		off := max(waited, o.quotedWaits[n]) - min(waited, o.quotedWaits[n])
		sum.percent += 100 * float64(off) / float64(max(p.End.Sub(job.Submit), shortest))
		sum.minutes += minutes(off)
		if off < protocol.Hour {
			sum.hour += 100
		}
		n++
	})
	jobs := float64(n)
	return hit{ratio(sum.percent, jobs), ratio(sum.minutes, jobs), ratio(sum.hour, jobs)}
}

// estimates is [MC] Table VI.
func (o *Options) estimates() exhibit {
	mcmf, two, inst := o.portal(builtin.MCMF, usual), o.portal(builtin.TwoPrice, usual), o.portal(builtin.Inst, usual)
	return exhibit{
		Exhibit: Exhibit{Name: "table6", Title: "MCMF's response by how far estimates exceed run times, w = 25 %", Paper: "[MC] Table VI"},
		waits:   o.Waits, trials: []trial{o.baseline(), inst, two, mcmf},
		build: func(_ context.Context, s *study, r *Report) error {
			t := Table{Stub: "estimate over run time by, %", Columns: []Column{
				{"jobs", "jobs", "", 0},
				{"over_baseline_pct", "shorter than baseline", "%", 1},
				{"over_inst_pct", "than INST", "%", 1},
				{"over_twoprice_pct", "than TWOPRICE", "%", 2},
			}}
			for _, class := range []struct {
				label                                string
				from, to                             float64
				jobs, overBaseline, overInst, overTP float64
			}{
				{"0–10", 0, 10, 1637, 21.83, 83.67, -0.10},
				{"10–20", 10, 20, 1456, 25.57, 88.23, -0.07},
				{"20–30", 20, 30, 799, 25.62, 88.47, -0.28},
				{"30–50", 30, 50, 1070, 28.81, 87.36, -0.18},
				{"50–100", 50, 100, 1342, 27.63, 85.48, -0.24},
				{"100–200", 100, 200, 1247, 29.82, 87.69, -0.46},
				{"≥ 200", 200, 1e12, 2448, 34.56, 90.18, -0.35},
			} {
				mean := func(o *outcome) (mean, jobs float64) {
					return o.mean((*outcome).response, func(job *workload.Job) bool {
						over := 100 * float64(job.Estimate-job.Run) / float64(job.Run)
						return over >= class.from && over < class.to
					})
				}
				shorter := func(one, than *outcome) float64 {
					a, _ := mean(one)
					b, _ := mean(than)
					return 100 - 100*ratio(a, b)
				}
				jobs := Ours(s.each(mcmf, func(o *outcome) float64 { _, n := mean(o); return n })...)
				t.Rows = append(t.Rows, Row{class.label, []Cell{
					jobs.Beside(class.jobs),
					Ours(s.against(mcmf, o.baseline(), shorter)...).Beside(class.overBaseline),
					Ours(s.against(mcmf, inst, shorter)...).Beside(class.overInst),
					Ours(s.against(mcmf, two, shorter)...).Beside(class.overTP),
				}})
			}
			r.Tables = append(r.Tables, t)
			return nil
		},
	}
}

// mean is that of a value of the measured jobs that are wanted, and how many those are.
func (o *outcome) mean(value func(o *outcome, i int) float64, wanted func(*workload.Job) bool) (mean, jobs float64) {
	sum := 0.0
	o.measured(func(i int, job *workload.Job, _ sim.Placement) {
		if wanted(job) {
			sum += value(o, i)
			jobs++
		}
	})
	return ratio(sum, jobs), jobs
}
