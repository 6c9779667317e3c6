package superscheduler

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// tableFour fits the log that the paper's model of M3 is of.
func tableFour() exhibit {
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-table4", Title: "the paper's method on the archive's log of M3", Paper: "[SS] Table 4"},
		notes: []string{
			"From March to August 2002, without the interactive queue. Rates are in 10⁻⁵/s. Classes of less than 2 % of the jobs are merged with the next smaller one.",
		},
		build: func(s *study, r *reproduce.Report) error {
			classes, err := s.fit()
			if err != nil {
				return err
			}
			shares := reproduce.Table{Title: "Classes", Stub: "CPUs", Columns: []reproduce.Column{{Key: "share", Title: "jobs", Unit: "%", Digits: 1}}}
			arrivals := reproduce.Table{Title: "Times between submissions", Stub: "CPUs", Columns: distributionColumns()}
			services := reproduce.Table{Title: "Run times", Stub: "CPUs", Columns: distributionColumns()}
			for _, paper := range workload.M3().Classes {
				label := fmt.Sprintf("%d–%d", paper.Min, paper.Max)
				var share, arrival, service []float64
				if i := slices.IndexFunc(classes, func(c experiment.FittedClass) bool { return c.Min == paper.Min }); i >= 0 {
					share, arrival, service = []float64{100 * classes[i].Share}, parameters(classes[i].Arrival.HyperErlang), parameters(classes[i].Service.HyperErlang)
				}
				shares.Rows = append(shares.Rows, beside(label, share, []float64{100 * paper.Share}))
				arrivals.Rows = append(arrivals.Rows, beside(label, arrival, parameters(paper.Arrival)))
				services.Rows = append(services.Rows, beside(label, service, parameters(paper.Service)))
			}
			r.Tables = append(r.Tables, shares, arrivals, services)
			return nil
		},
	}
}

// fit is what sim fit --method classes makes of the log.
func (s *study) fit() ([]experiment.FittedClass, error) {
	path := s.log(blueHorizon)
	trace, err := experiment.ReadTrace(path, "", false)
	if err != nil {
		return nil, fmt.Errorf("%w; name the directory of the data with --data", err)
	}
	fitted, err := experiment.FitTrace(path, trace, experiment.FitOptions{
		Method: experiment.ByClasses, From: "2002-03-01", To: "2002-09-01", Skip: []int{0}, Merge: workload.MergeDown, Machine: workload.M3().Machine,
	})
	if err != nil {
		return nil, err
	}
	return fitted.Result().Classes, nil
}

func distributionColumns() []reproduce.Column {
	return []reproduce.Column{
		{Key: "n", Title: "n"}, {Key: "lambda1", Title: "λ1", Digits: 2}, {Key: "lambda2", Title: "λ2", Digits: 1}, {Key: "rho", Title: "ρ", Digits: 4},
	}
}

func parameters(h workload.HyperErlang) []float64 {
	return []float64{float64(h.N), h.Lambda1 * 1e5, h.Lambda2 * 1e5, h.Rho}
}

// beside is a row of our values, if there are any, and the paper's.
func beside(label string, ours, paper []float64) reproduce.Row {
	made := reproduce.Row{Label: label}
	for i, value := range paper {
		c := reproduce.Cell{}
		if ours != nil {
			c = reproduce.Ours(ours[i])
		}
		made.Cells = append(made.Cells, c.Beside(value))
	}
	return made
}
