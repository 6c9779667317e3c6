package experiment

import (
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/sim"
)

// measure is a metric by its key in JSON.
type measure[T any] struct {
	key string
	of  func(*T) float64
}

func gridMeasures() []measure[sim.Metrics] {
	return []measure[sim.Metrics]{
		{"jobs", func(m *sim.Metrics) float64 { return float64(m.Jobs) }},
		{"unplaced", func(m *sim.Metrics) float64 { return float64(m.Unplaced) }},
		{"mean_wait_s", func(m *sim.Metrics) float64 { return m.MeanWait }},
		{"mean_response_s", func(m *sim.Metrics) float64 { return m.MeanResponse }},
		{"wait_deviation_s", func(m *sim.Metrics) float64 { return m.WaitDeviation }},
		{"wait_deviation_paper_s", func(m *sim.Metrics) float64 { return m.WaitDeviationPaper }},
		{"bounded_slowdown", func(m *sim.Metrics) float64 { return m.BoundedSlowdown }},
		{"utilization", func(m *sim.Metrics) float64 { return m.Utilization }},
		{"utilization_allocated", func(m *sim.Metrics) float64 { return m.Allocated }},
		{"makespan_s", func(m *sim.Metrics) float64 { return m.Makespan }},
		{"grid_efficiency", func(m *sim.Metrics) float64 { return m.GridEfficiency }},
		{"fraction_transferred", func(m *sim.Metrics) float64 { return m.Transferred }},
		{"messages_per_job", func(m *sim.Metrics) float64 { return m.MessagesPerJob }},
		{"bytes_per_job", func(m *sim.Metrics) float64 { return m.BytesPerJob }},
	}
}

func siteMeasures() []measure[sim.SiteMetrics] {
	return []measure[sim.SiteMetrics]{
		{"jobs_submitted", func(m *sim.SiteMetrics) float64 { return float64(m.Submitted) }},
		{"jobs_run", func(m *sim.SiteMetrics) float64 { return float64(m.Ran) }},
		{"jobs_sent", func(m *sim.SiteMetrics) float64 { return float64(m.Sent) }},
		{"mean_wait_s", func(m *sim.SiteMetrics) float64 { return m.MeanWait }},
		{"mean_response_s", func(m *sim.SiteMetrics) float64 { return m.MeanResponse }},
		{"utilization", func(m *sim.SiteMetrics) float64 { return m.Utilization }},
		{"utilization_allocated", func(m *sim.SiteMetrics) float64 { return m.Allocated }},
	}
}

// point sums the seeds up. Apart is the cell to compare with, nil for none.
func (c *cell) point(apart *cell) Point {
	p := Point{
		Scheme: c.scheme, Membership: c.membership, Settings: map[string]string{}, Metrics: map[string]report.Average{},
	}
	if len(c.outcomes) == 0 {
		return p
	}
	for _, one := range c.settings {
		p.Settings[one.Key] = one.Value
	}
	for _, m := range gridMeasures() {
		p.Metrics[m.key] = report.AverageOf(each(c.outcomes, m.of))
	}
	for i := range c.outcomes[0].Sites {
		site := SitePoint{Site: string(c.outcomes[0].Sites[i].Site), Metrics: map[string]report.Average{}}
		own := sitesAt(c.outcomes, i)
		for _, m := range siteMeasures() {
			site.Metrics[m.key] = report.AverageOf(each(own, m.of))
		}
		if apart != nil {
			site.Gain = gain(own, sitesAt(apart.outcomes, i))
		}
		p.Sites = append(p.Sites, site)
	}
	p.add(c.energies)
	p.addApplications(c.applications)
	return p
}

func gain(joined, apart []sim.SiteMetrics) map[string]report.Average {
	gains := map[string]report.Average{}
	for _, m := range siteMeasures() {
		more := each(joined, m.of)
		for i, before := range each(apart, m.of) {
			more[i] -= before
		}
		gains[m.key] = report.AverageOf(more)
	}
	return gains
}

func each[T any](of []T, value func(*T) float64) []float64 {
	values := make([]float64, len(of))
	for i := range of {
		values[i] = value(&of[i])
	}
	return values
}

func sitesAt(outcomes []sim.Metrics, site int) []sim.SiteMetrics {
	of := make([]sim.SiteMetrics, len(outcomes))
	for i := range outcomes {
		of[i] = outcomes[i].Sites[site]
	}
	return of
}
