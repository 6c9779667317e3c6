package policyv1

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// resources are lists of resources in columns, one list for each row.
type resources struct {
	row    string // that the names of the columns begin with
	most   int    // kinds of one row
	counts []int64
	kind   []string
	count  []int64
	per    []string // of what jobs ask for
}

func siteResources(m *DecideRequest) *resources {
	return &resources{
		row: "site", most: protocol.MaxSiteResources,
		counts: m.GetSiteResources(), kind: m.GetSiteResourceKind(), count: m.GetSiteResourceCount(),
	}
}

func jobResources(m *DecideRequest) *resources {
	return &resources{
		row: "job", most: protocol.MaxResources,
		counts: m.GetJobResources(), kind: m.GetJobResourceKind(), count: m.GetJobResourceCount(), per: m.GetJobResourcePer(),
	}
}

// encodeResources enters the lists of n rows.
func encodeResources(n int, of func(i int) []protocol.Resource) (r resources) {
	r.counts = make([]int64, n)
	for i := range n {
		list := of(i)
		r.counts[i] = int64(len(list))
		for _, one := range list {
			r.kind, r.per = append(r.kind, one.Kind()), append(r.per, one.Per.String())
			r.count = append(r.count, int64(one.Count))
		}
	}
	r.counts = wire.Sparse(r.counts)
	return r
}

// check finds what is wrong with the lists of n rows.
func (r *resources) check(n int) error {
	name := func(column string) string { return r.row + "_" + column }
	if err := wire.SparseLength(name("resources"), len(r.counts), n); err != nil {
		return err
	}
	total := 0
	for i, n := range r.counts {
		if n < 0 || n > int64(r.most) {
			return wire.Wrong(wire.Entry(name("resources"), i), "%d is outside 0 to %d", n, r.most)
		}
		total += int(n)
	}
	err := wire.First(
		wire.Length(name("resource_kind"), len(r.kind), total),
		wire.Length(name("resource_count"), len(r.count), total),
		counts(name("resource_count"), r.count),
	)
	if err == nil && r.row == "job" {
		err = wire.Length("job_resource_per", len(r.per), total)
	}
	for i := 0; i < len(r.per) && err == nil; i++ {
		err = wire.In(wire.Entry("job_resource_per", i), new(protocol.Per).UnmarshalText([]byte(r.per[i])))
	}
	if err != nil {
		return err
	}
	for i, list := range r.lists() {
		if err := protocol.CheckResources(list, wire.Entry(name("resources"), i), r.most, r.row == "job"); err != nil {
			return err
		}
	}
	return nil
}

// lists relies on what check has found to be right.
func (r *resources) lists() [][]protocol.Resource {
	all, first := make([][]protocol.Resource, len(r.counts)), 0
	for row, n := range r.counts {
		for i := first; i < first+int(n); i++ {
			var one protocol.Resource
			one.Name, one.Type, _ = strings.Cut(r.kind[i], ":")
			one.Count = int(r.count[i])
			if len(r.per) > 0 {
				_ = one.Per.UnmarshalText([]byte(r.per[i])) // checked
			}
			all[row] = append(all[row], one)
		}
		first += int(n)
	}
	return all
}

// writeRequests enters what jobs ask for beside CPUs and memory.
func writeRequests(m *DecideRequest, jobs []policy.Job) {
	m.JobNodes = jobColumn(jobs, func(j *policy.Job) int64 { return int64(j.Nodes) })
	r := encodeResources(len(jobs), func(i int) []protocol.Resource { return jobs[i].Resources })
	m.JobResources, m.JobResourceKind, m.JobResourceCount, m.JobResourcePer = r.counts, r.kind, r.count, r.per
	m.JobFeatures = jobTexts(jobs, protocol.MaxConstraint, func(j *policy.Job) string { return j.Features })
	m.JobExclusive = make([]bool, len(jobs))
	for i := range jobs {
		m.JobExclusive[i] = jobs[i].Exclusive
	}
	m.JobExclusive = sparse(m.GetJobExclusive())
}

func checkRequests(m *DecideRequest) error {
	jobs := len(m.GetJobId())
	return wire.First(
		wire.SparseLength("job_nodes", len(m.GetJobNodes()), jobs),
		counts("job_nodes", m.GetJobNodes()),
		jobResources(m).check(jobs),
		wire.SparseLength("job_features", len(m.GetJobFeatures()), jobs),
		wire.Each("job_features", m.GetJobFeatures(), func(s string) error {
			_, err := protocol.ParseFeatures(s)
			return err
		}),
		wire.SparseLength("job_exclusive", len(m.GetJobExclusive()), jobs),
	)
}

func readRequests(m *DecideRequest, jobs []policy.Job) {
	for i, n := range m.GetJobNodes() {
		jobs[i].Nodes = int(n)
	}
	for i, list := range jobResources(m).lists() {
		jobs[i].Resources = list
	}
	for i, s := range m.GetJobFeatures() {
		jobs[i].Features = s
	}
	for i, is := range m.GetJobExclusive() {
		jobs[i].Exclusive = is
	}
}
