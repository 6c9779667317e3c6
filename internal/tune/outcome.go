package tune

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/report"
)

// Outcome is what one simulation gave.
type Outcome struct {
	Cost        float64 // what users pay, in the currency of the experiment
	Response    float64 // s, mean from submission to end, of jobs and applications
	Utilization float64 // part of all CPUs that worked, from the first submission to the last end
	Energy      float64 // kWh that jobs drew
	Broken      float64 // part of the applications that did not keep their limits, or did not end
	Undone      float64 // part of the jobs and applications that did not end
	Span        float64 // s, from the first submission to the last end
	Sites       []Site
}

// Site is a site's part of an outcome.
type Site struct {
	Name        string
	CPUs        int
	Utilization float64 // over the time of all sites
	Income      float64 // in the currency of the experiment
}

// Means are the means of outcomes over seeds.
type Means struct {
	Cost        report.Average `json:"cost"`
	Response    report.Average `json:"mean_response_s"`
	Utilization report.Average `json:"utilization"`
	Energy      report.Average `json:"energy_kwh"`
	Broken      report.Average `json:"limits_broken"`
	Undone      report.Average `json:"undone"`
	Sites       []SiteMeans    `json:"sites"`
}

// SiteMeans are those of a site.
type SiteMeans struct {
	Site        string         `json:"site"`
	CPUs        int            `json:"cpus"`
	Utilization report.Average `json:"utilization"`
	Income      report.Average `json:"income"`
}

// means sums outcomes up, of which there is at least one.
func means(outcomes []Outcome) Means {
	m := Means{
		Cost:        over(outcomes, func(o *Outcome) float64 { return o.Cost }),
		Response:    over(outcomes, func(o *Outcome) float64 { return o.Response }),
		Utilization: over(outcomes, func(o *Outcome) float64 { return o.Utilization }),
		Energy:      over(outcomes, func(o *Outcome) float64 { return o.Energy }),
		Broken:      over(outcomes, func(o *Outcome) float64 { return o.Broken }),
		Undone:      over(outcomes, func(o *Outcome) float64 { return o.Undone }),
	}
	for i, site := range outcomes[0].Sites {
		m.Sites = append(m.Sites, SiteMeans{
			Site: site.Name, CPUs: site.CPUs,
			Utilization: over(outcomes, func(o *Outcome) float64 { return o.Sites[i].Utilization }),
			Income:      over(outcomes, func(o *Outcome) float64 { return o.Sites[i].Income }),
		})
	}
	return m
}

// site is the part of a site; nil: there is none of the name.
func (m *Means) site(name string) *SiteMeans {
	i := slices.IndexFunc(m.Sites, func(s SiteMeans) bool { return s.Site == name })
	if i < 0 {
		return nil
	}
	return &m.Sites[i]
}

// over is the estimate of a measure over the seeds.
func over(outcomes []Outcome, of func(*Outcome) float64) report.Average {
	values := make([]float64, len(outcomes))
	for i := range outcomes {
		values[i] = of(&outcomes[i])
	}
	return report.AverageOf(values)
}

// change is the estimate of how much a measure has changed, seed by seed, as a part of
// what it was. What was 0 has not changed.
func change(after, before []Outcome, of func(*Outcome) float64) report.Average {
	values := make([]float64, len(after))
	for i := range after {
		if was := of(&before[i]); was != 0 {
			values[i] = of(&after[i])/was - 1
		}
	}
	return report.AverageOf(values)
}
