package workload

import "github.com/switchyard-hpc/switchyard/protocol"

// Load is work in proportion to what a machine can do in a span.
type Load struct {
	Asked float64 // by the CPUs that jobs ask for
	Held  float64 // by the CPUs of the whole nodes that they hold
}

// OfferedLoad returns the work of the jobs divided by that of the machine in
// span. Run times are taken as they are, on whatever machine they were made for.
func OfferedLoad(jobs []Job, m Machine, span protocol.Duration) Load {
	var l Load
	for _, j := range jobs {
		run := float64(j.Run)
		l.Asked += run * float64(j.CPUs)
		l.Held += run * float64(m.NodesOf(j.CPUs)*m.CPUsPerNode)
	}
	capacity := float64(m.CPUs()) * float64(span)
	return Load{Asked: l.Asked / capacity, Held: l.Held / capacity}
}

// Counts draws which values so many jobs ask for, in falling order, and how many
// ask for each.
func (t Tsafrir) Counts(jobs int, seed uint64) ([]EstimateCount, error) {
	if err := t.check(jobs); err != nil {
		return nil, err
	}
	return t.counts(jobs, seed, 0), nil
}
