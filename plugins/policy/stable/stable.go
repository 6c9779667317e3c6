// Package stable places the jobs of a round by a stable matching, as [MC 3.3.2]
// describes it for comparison with min-cost flow: jobs prefer sites by predicted
// response time, sites prefer jobs by electricity cost, and jobs propose. No job and
// site then prefer each other to what they have got.
package stable

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Policy implements [policy.Policy]. It has no parameters.
type Policy struct{}

// New returns the policy.
func New() Policy { return Policy{} }

// Info implements [policy.Policy].
func (Policy) Info() policy.Info {
	return policy.Info{Name: "stable", Initiations: []policy.Initiation{policy.Sender, policy.Cycle}}
}

// Decide implements [policy.Policy]. It is deferred acceptance with capacities: a job
// proposes to its sites in the order of its preference; a site that has no room gives
// up the job that it likes least. What comes out does not depend on who proposes first.
func (Policy) Decide(_ context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	m := newMatching(&in)
	for j := range in.Jobs {
		m.place(j)
	}
	return m.decisions(), nil, nil
}

// matching is who holds whom.
type matching struct {
	in    *policy.Snapshot
	wants [][]int32 // sites of each job, the preferred first
	asked []int     // how many of those each job has proposed to
	sites []holding
}

func newMatching(in *policy.Snapshot) *matching {
	m := &matching{
		in: in, wants: make([][]int32, len(in.Jobs)), asked: make([]int, len(in.Jobs)), sites: make([]holding, len(in.Sites)),
	}
	for s := range m.sites {
		m.sites[s] = holding{in: in, site: s}
	}
	all := make([]int32, 0, len(in.AWT))
	response := make([]protocol.Duration, len(in.Sites))
	for j := range in.Jobs {
		first := len(all)
		for s := range in.Sites {
			if response[s] = responseAt(in, j, s); response[s] != protocol.Never {
				all = append(all, int32(s))
			}
		}
		m.wants[j] = all[first:]
		slices.SortStableFunc(m.wants[j], func(a, b int32) int { return cmp.Compare(response[a], response[b]) })
	}
	return m
}

// responseAt is how long a job would take at a site from now on; never: it cannot run
// there. The transfer of its data goes on while it waits ([MC] equation 10).
func responseAt(in *policy.Snapshot, j, s int) protocol.Duration {
	at := in.At(j, s)
	if in.AWT[at] == protocol.Never {
		return protocol.Never
	}
	return max(in.AWT[at], in.Transfer(j, s)).Plus(in.ERT[at])
}

// noJob stands for no job.
const noJob = -1

// place lets a job propose until a site holds it, then the job that had to go for it,
// and so on, until each job has a site or has asked all.
func (m *matching) place(job int) {
	for job != noJob && m.asked[job] < len(m.wants[job]) {
		site := m.wants[job][m.asked[job]]
		m.asked[job]++
		job = m.sites[site].consider(job)
	}
}

// decisions are the pairs, by job.
func (m *matching) decisions() []policy.Decision {
	in := m.in
	var decisions []policy.Decision
	for s := range m.sites {
		for _, j := range m.sites[s].jobs {
			decisions = append(decisions, policy.Decision{Job: j, Site: s, Wait: in.AWT[in.At(j, s)], Reason: m.reason(j, s)})
		}
	}
	slices.SortFunc(decisions, func(a, b policy.Decision) int { return cmp.Compare(a.Job, b.Job) })
	return decisions
}

// reason says how good the site is for the job, and who has the one before it.
func (m *matching) reason(j, s int) string {
	choice, sites := m.asked[j], m.wants[j]
	text := "choice " + strconv.Itoa(choice) + " of " + strconv.Itoa(len(sites)) + " by response, " + responseAt(m.in, j, s).String()
	if choice == 1 {
		return text
	}
	before := int(sites[choice-2])
	return text + "; " + string(m.in.Sites[before].Name) + ", " + responseAt(m.in, j, before).String() +
		", has no room but for jobs that cost it less"
}
