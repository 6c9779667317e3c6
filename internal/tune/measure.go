package tune

import (
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// measure is what a search looks at of an outcome of an experiment. The CPUs of sites that
// are retired count for nothing.
func measure(o *experiment.Outcome, retired []string) Outcome {
	m := Outcome{Response: o.MeanResponse, Span: span(o)}
	done, all := float64(o.Metrics.Jobs), float64(o.Metrics.Jobs+o.Unplaced)
	users, incomes := o.Paid()
	m.Cost = users
	work := worked(o)
	m.Energy = o.Drawn()
	if a := o.Applications; a != nil {
		m.Energy += a.KWh
		m.Broken = 1 - a.LimitsMet
		m.Response = mean(o.MeanResponse, done, a.MeanResponse, float64(a.Completed))
		done, all = done+float64(a.Completed), all+float64(a.Applications)
	}
	if all > 0 {
		m.Undone = 1 - done/all
	}
	cpus, busy := 0, 0.0
	for i := range o.Plan.Sites {
		s := Site{Name: o.Plan.Sites[i].Name, CPUs: o.Plan.CPUs(i)}
		if slices.Contains(retired, s.Name) {
			s.CPUs = 0
		}
		if i < len(incomes) {
			s.Income = incomes[i]
		}
		s.Utilization = part(work[i], s.CPUs, m.Span)
		cpus, busy = cpus+s.CPUs, busy+work[i]
		m.Sites = append(m.Sites, s)
	}
	m.Utilization = part(busy, cpus, m.Span)
	return m
}

// mean is the mean of two means, weighted by the sizes of their samples.
func mean(a, as, b, bs float64) float64 {
	if as+bs == 0 {
		return 0
	}
	return (a*as + b*bs) / (as + bs)
}

// part is the share of the CPU time of cpus CPUs in a span that was busy.
func part(busy float64, cpus int, span float64) float64 {
	if cpus == 0 || span <= 0 {
		return 0
	}
	return busy / float64(cpus) / span
}

// worked are the CPU seconds of each site.
func worked(o *experiment.Outcome) []float64 {
	seconds := make([]float64, len(o.Plan.Sites))
	for i, p := range o.Result.Placements {
		if p.Site < 0 {
			continue
		}
		seconds[p.Site] += float64(o.Jobs[i].CPUs) * float64(p.End-p.Start) / float64(protocol.Second)
	}
	for i := range o.Result.Applications {
		for _, c := range o.Result.Applications[i].Components {
			if c.Site >= 0 {
				seconds[c.Site] += float64(c.CPUs) * float64(c.End-c.Start) / float64(protocol.Second)
			}
		}
	}
	return seconds
}

// span is from the first submission to the last end, in seconds.
func span(o *experiment.Outcome) float64 {
	first, last := math.Inf(1), 0.0
	for i := range o.Jobs {
		first = min(first, float64(o.Jobs[i].Submit)/float64(protocol.Second))
		last = max(last, float64(o.Result.Placements[i].End)/float64(protocol.Second))
	}
	if o.Applications != nil {
		for i, one := range o.Applications.Each {
			first = min(first, one.Submitted)
			for _, c := range o.Result.Applications[i].Components {
				last = max(last, float64(c.End)/float64(protocol.Second))
			}
		}
	}
	return max(0, last-first)
}
