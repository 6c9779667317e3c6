package workload

import (
	"strconv"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// System is one of the machines of a grid, with what a placement by speed, power
// and price asks about it [MC 4.2, 4.5]. Its batch system allots single cores.
type System struct {
	Name              string            `json:"name"`
	Cores             int               `json:"cores"`
	MilliwattsPerCore int               `json:"milliwatts_per_core"` // of a core that runs a job
	MflopsPerCore     int               `json:"mflops_per_core"`     // run times scale with the ratio of these
	PriceArea         string            `json:"price_area"`          // whose electricity prices hold there
	FixedPrice        bool              `json:"fixed_price"`         // they do not change with the hour
	ZoneLag           protocol.Duration `json:"zone_lag_ms"`         // of its wall clock after that of the grid; negative: behind
	MaxRun            protocol.Duration `json:"max_run_ms"`          // the longest estimate that it takes
	MaxRequest        int               `json:"max_request_cores"`   // the widest job that its users ask for
}

// Machine is the system as traces and models have it: nodes of one core, and a
// speed in MHz that stands for the Mflops.
func (s System) Machine() Machine {
	return Machine{Name: s.Name, Nodes: s.Cores, CPUsPerNode: 1, MHz: s.MflopsPerCore}
}

// Grid is several systems with the jobs that come to them.
type Grid struct {
	Name    string
	Systems []System
	// Jobs are in the order of [Merge]: Origin is an index of Systems.
	Jobs []Job
	// History is how many of the first jobs only make history for predictors: they
	// run where they are submitted [MC 4.3.2].
	History int
	// Credits are the comments that name whom to acknowledge for a log that the
	// jobs were made of.
	Credits []string
	// Cleaning tells what became of such a log's records, before jobs were drawn
	// from them.
	Cleaning Cleaning
}

// Trace returns the grid's jobs as records, numbered from 1, whose partition is
// the system where they are submitted, from 1, with the names in the header.
// [Split] by [SplitPartition] and [Clean] give the systems' jobs back. The notes
// come first.
func (g *Grid) Trace(notes ...string) *Trace {
	header := Header{}.With(HeaderField("Version", "2.2"))
	for _, note := range notes {
		header = header.With(HeaderField("Note", note))
	}
	header = header.With(g.Credits...)
	cores := 0
	names := make([]string, len(g.Systems))
	for i, s := range g.Systems {
		names[i] = s.Name
		cores += s.Cores
	}
	header = header.With(
		HeaderField("Computer", g.Name), HeaderField("MaxJobs", strconv.Itoa(len(g.Jobs))),
		HeaderField("MaxRecords", strconv.Itoa(len(g.Jobs))), HeaderField("MaxProcs", strconv.Itoa(cores)),
		HeaderField("MaxPartitions", strconv.Itoa(len(g.Systems))),
	)
	trace := &Trace{Header: header.named("Partition", names), Records: make([]Record, len(g.Jobs))}
	for i, job := range g.Jobs {
		r := UnknownRecord()
		r.ID, r.Submit, r.Run, r.User = int64(i)+1, job.Submit, job.Run, job.User
		r.CPUs, r.ReqCPUs, r.ReqTime, r.Partition = job.CPUs, job.CPUs, job.Estimate, job.Origin+1
		trace.Records[i] = r
	}
	return trace
}

// SystemLoad tells what comes to a system. The means are over its jobs.
type SystemLoad struct {
	Jobs       int     `json:"jobs"`
	Run        float64 `json:"mean_run_s"`
	Cores      float64 `json:"mean_cores"`
	Estimate   float64 `json:"mean_estimate_s"`
	Serial     float64 `json:"serial_share"`
	PowerOfTwo float64 `json:"power_of_two_share"` // the serial ones too
	Longest    float64 `json:"largest_estimate_share"`
	Load       float64 `json:"offered_load"` // work in proportion to what the system can do from the grid's first submit to its last
}

// Loads returns what comes to each system.
func (g *Grid) Loads() []SystemLoad {
	span := float64(g.Span())
	loads := make([]SystemLoad, len(g.Systems))
	most := make([]protocol.Duration, len(g.Systems))
	for _, j := range g.Jobs {
		most[j.Origin] = max(most[j.Origin], j.Estimate)
	}
	for _, j := range g.Jobs {
		l := &loads[j.Origin]
		l.Jobs++
		l.Run += float64(j.Run) / 1000
		l.Cores += float64(j.CPUs)
		l.Estimate += float64(j.Estimate) / 1000
		l.Load += float64(j.Work())
		l.Serial += one(j.CPUs == 1)
		l.PowerOfTwo += one(j.CPUs&(j.CPUs-1) == 0)
		l.Longest += one(j.Estimate == most[j.Origin])
	}
	for i := range loads {
		l := &loads[i]
		l.Load /= max(span, 1) * float64(g.Systems[i].Cores)
		for _, mean := range []*float64{&l.Run, &l.Cores, &l.Estimate, &l.Serial, &l.PowerOfTwo, &l.Longest} {
			*mean /= float64(max(l.Jobs, 1))
		}
	}
	return loads
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Span is the time from the first submit to the last.
func (g *Grid) Span() protocol.Duration {
	if len(g.Jobs) == 0 {
		return 0
	}
	return g.Jobs[len(g.Jobs)-1].Submit.Sub(g.Jobs[0].Submit)
}
