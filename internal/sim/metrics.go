package sim

import (
	"math"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Metrics judge a schedule, in base units. Those of [SS 3.2] first; the JSON keys
// are part of the command line's interface (docs/simulator.md).
type Metrics struct {
	Jobs               int     `json:"jobs"`
	Unplaced           int     `json:"unplaced"` // jobs that never ran, left out of all the rest
	MeanWait           float64 `json:"mean_wait_s"`
	MeanResponse       float64 `json:"mean_response_s"`
	WaitDeviation      float64 `json:"wait_deviation_s"`       // population standard deviation
	WaitDeviationPaper float64 `json:"wait_deviation_paper_s"` // the formula as printed in [SS 3.2]
	BoundedSlowdown    float64 `json:"bounded_slowdown"`       // mean of max(1, response / max(run, 10 s))
	Utilization        float64 `json:"utilization"`            // CPU time used, by the CPUs that jobs request, over CPUs × makespan
	Allocated          float64 `json:"utilization_allocated"`  // the same by the CPUs of the nodes or the partition that jobs have
	Makespan           float64 `json:"makespan_s"`             // first submission to last end
	GridEfficiency     float64 `json:"grid_efficiency"`        // as utilization, CPUs weighted by their speed
	Transferred        float64 `json:"fraction_transferred"`   // jobs that ran elsewhere than submitted, over jobs
	MessagesPerJob     float64 `json:"messages_per_job"`
	BytesPerJob        float64 `json:"bytes_per_job"`

	Sites []SiteMetrics `json:"sites,omitempty"`
}

// SiteMetrics are those of one site.
type SiteMetrics struct {
	Site         protocol.SiteName `json:"site"`
	Submitted    int               `json:"jobs_submitted"`
	Ran          int               `json:"jobs_run"`
	Sent         int               `json:"jobs_sent"`             // submitted here, run elsewhere
	MeanWait     float64           `json:"mean_wait_s"`           // of the jobs submitted here
	MeanResponse float64           `json:"mean_response_s"`       // of the jobs submitted here
	Utilization  float64           `json:"utilization"`           // over the site's own span: first submission or start here to last end here
	Allocated    float64           `json:"utilization_allocated"` // over the same span, by the CPUs of allocations: [SS] Tables 5 and 6
}

// slowdownBound is the shortest run time that counts for the bounded slowdown.
const slowdownBound = 10 * protocol.Second

// tally adds up a site's jobs, or all.
type tally struct {
	jobs           int
	wait, response float64 // ms
	squares        float64 // of waits
	slowdown       float64
	busy           float64 // CPU·ms that jobs requested
	allocated      float64 // CPU·ms of their allocations
	weighted       float64 // CPU·ms·MHz
	first          protocol.Instant
	last           protocol.Instant
}

// since lets the tally begin at the time or earlier.
func (t *tally) since(at protocol.Instant) {
	if t.first < 0 || at < t.first {
		t.first = at
	}
}

// Measure judges the result of a workload on machines. Machines are those of the
// grid, in the order that [workload.Job.Origin] and [Placement.Site] count.
func Measure(machines []Machine, jobs []workload.Job, r *Result) Metrics {
	all := tally{first: -1}
	at := make([]tally, len(machines)) // by where jobs ran, for utilization
	of := make([]tally, len(machines)) // by where jobs came from
	m := Metrics{Sites: make([]SiteMetrics, len(machines))}
	allocations := make([]allocation, len(machines))
	for i := range machines {
		at[i].first = -1
		m.Sites[i].Site = machines[i].Name
		allocations[i] = allocationOn(machines[i])
	}
	sent := 0
	for i := r.History; i < len(jobs); i++ {
		job, p := &jobs[i], r.Placements[i]
		m.Sites[job.Origin].Submitted++
		if p.Site < 0 {
			m.Unplaced++
			continue
		}
		all.since(job.Submit)
		at[job.Origin].since(job.Submit)
		at[p.Site].since(p.Start)
		one := ran{
			job: job, Placement: p, run: machines[p.Site].takes(job.Run, machines[job.Origin]),
			mhz: machines[p.Site].MHz, allocated: allocations[p.Site].cpus(job.CPUs),
		}
		all.add(&one)
		at[p.Site].add(&one)
		of[job.Origin].add(&one)
		m.Sites[p.Site].Ran++
		if p.Site != job.Origin {
			m.Sites[job.Origin].Sent++
			sent++
		}
	}
	m.fill(&all, machines)
	if r.Virtual { // no job ran on a site's CPUs, and those are of unlike speed
		m.Utilization, m.Allocated = m.GridEfficiency, m.GridEfficiency
		at = make([]tally, len(machines))
	}
	m.Transferred = ratio(float64(sent), float64(m.Jobs))
	m.MessagesPerJob = ratio(float64(r.Traffic.Messages), float64(m.Jobs))
	m.BytesPerJob = ratio(float64(r.Traffic.Bytes), float64(m.Jobs))
	for i := range m.Sites {
		s := &m.Sites[i]
		s.MeanWait = seconds(ratio(of[i].wait, float64(of[i].jobs)))
		s.MeanResponse = seconds(ratio(of[i].response, float64(of[i].jobs)))
		capacity := float64(machines[i].CPUs()) * float64(at[i].last-max(0, at[i].first))
		s.Utilization, s.Allocated = ratio(at[i].busy, capacity), ratio(at[i].allocated, capacity)
	}
	return m
}

// allocation says how many CPUs the jobs of a machine have.
type allocation struct {
	machine engine.Machine // nil: as many as they request
}

// allocationOn is that of a machine. One whose partitions do not fit it runs no job.
func allocationOn(m Machine) allocation {
	if !m.WholeNode && m.Partitions == nil {
		return allocation{}
	}
	model, err := m.Model()
	if err != nil {
		return allocation{}
	}
	return allocation{model}
}

// cpus is the number that a job with this request gets.
func (a allocation) cpus(requested int) int {
	if a.machine == nil {
		return requested
	}
	units, _ := a.machine.Units(protocol.Request{CPUs: requested, WallTime: 1})
	return a.machine.CPUs(units)
}

// ran is a job that ran.
type ran struct {
	Placement

	job       *workload.Job
	run       protocol.Duration // without the time for its data
	mhz       int
	allocated int // CPUs
}

func (t *tally) add(r *ran) {
	wait, response := float64(r.Start-r.job.Submit), float64(r.End-r.job.Submit)
	t.jobs++
	t.wait += wait
	t.response += response
	t.squares += wait * wait
	t.slowdown += max(1, response/float64(max(r.run, slowdownBound)))
	used := float64(r.job.CPUs) * float64(r.run)
	t.busy += used
	t.allocated += float64(r.allocated) * float64(r.run)
	t.weighted += used * float64(max(1, r.mhz))
	t.last = max(t.last, r.End)
}

func (m *Metrics) fill(all *tally, machines []Machine) {
	n := float64(all.jobs)
	span := float64(all.last - all.first)
	cpus, power := 0.0, 0.0
	for _, one := range machines {
		cpus += float64(one.CPUs())
		power += float64(one.CPUs()) * float64(max(1, one.MHz))
	}
	mean := ratio(all.wait, n)
	m.Jobs = all.jobs
	m.MeanWait = seconds(mean)
	m.MeanResponse = seconds(ratio(all.response, n))
	m.WaitDeviation = seconds(math.Sqrt(max(0, ratio(all.squares, n)-mean*mean)))
	m.WaitDeviationPaper = seconds(ratio(math.Sqrt(max(0, all.squares-mean*mean)), n))
	m.BoundedSlowdown = ratio(all.slowdown, n)
	if n == 0 {
		return
	}
	m.Makespan = seconds(span)
	m.Utilization = ratio(all.busy, cpus*span)
	m.Allocated = ratio(all.allocated, cpus*span)
	m.GridEfficiency = ratio(all.weighted, power*span)
}

// ratio is a/b, 0 where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

func seconds(ms float64) float64 { return ms / float64(protocol.Second) }
