// Package tc is the turnaround-cost policy of [SS 2.1.1]: a job goes where its
// approximate turnaround time (AWT + ERT) is least; among sites within ε of the
// least, to the one with the lowest utilization.
package tc

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// DefaultEpsilon is ε where the configuration gives none; the paper has no
// value. Half of φ: a difference that no user who accepts a local wait of φ would
// move a job for.
const DefaultEpsilon = 30 * protocol.Second

// Config are the policy's parameters.
type Config struct {
	Epsilon protocol.Duration // ε, the tolerance of the turnaround time
}

// Policy implements [policy.Policy].
type Policy struct{ epsilon protocol.Duration }

// New returns the policy.
func New(cfg Config) *Policy { return &Policy{epsilon: cfg.Epsilon} }

// Restore returns the policy with these parameters, as [Policy.Info] listed them.
func Restore(params []policy.Param) (*Policy, error) {
	if len(params) != 1 || params[0].Name != epsilonName {
		return nil, fmt.Errorf("policy tc: the parameters are %q; it has one, %s", params, epsilonName)
	}
	ms, err := strconv.ParseInt(params[0].Value, 10, 64)
	if err != nil || ms < 0 {
		return nil, fmt.Errorf("policy tc: its parameter %s is %q, not a number of milliseconds", epsilonName, params[0].Value)
	}
	return New(Config{Epsilon: protocol.Duration(ms)}), nil
}

// epsilonName is the name of ε among the parameters.
const epsilonName = "epsilon_ms"

// Info implements [policy.Policy].
func (p *Policy) Info() policy.Info {
	return policy.Info{
		Name:        "tc",
		Initiations: []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric},
		Params:      []policy.Param{{Name: epsilonName, Value: strconv.FormatInt(int64(p.epsilon), 10)}},
	}
}

// SkipsRoundBelowThreshold implements [policy.ThresholdPolicy].
func (*Policy) SkipsRoundBelowThreshold() {}

// Decide implements [policy.Policy]. Jobs are placed in order. A quote answers
// for its job alone, so what this round has already sent to a site is added to
// the wait of the jobs after it.
func (p *Policy) Decide(_ context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	sites := make([]tally, len(in.Sites))
	for s, site := range in.Sites {
		sites[s] = tally{free: site.Free, accept: site.MaxJobs}
	}
	var decisions []policy.Decision
	for j, job := range in.Jobs {
		costs := p.costs(&in, j, sites)
		s := p.choose(&in, sites, costs)
		if s < 0 {
			continue
		}
		at := in.At(j, s)
		decisions = append(decisions, policy.Decision{
			Job: j, Site: s,
			Wait:   in.AWT[at].Plus(sites[s].wait(job, in.Sites[s].CPUs)),
			Reason: p.reason(&in, costs, s, sites[s].wait(job, in.Sites[s].CPUs)),
		})
		sites[s].add(job, in.ERT[at])
	}
	return decisions, nil, nil
}

// tally is what the round has sent to one site so far.
type tally struct {
	free   int
	accept int
	jobs   int
	work   int64 // CPU·ms
}

func (t *tally) add(job policy.Job, ert protocol.Duration) {
	t.free -= job.CPUs
	t.accept--
	t.jobs++
	if high, work := bits.Mul64(uint64(max(0, job.CPUs)), uint64(max(0, ert))); high == 0 && work < most {
		t.work = min(t.work+int64(work), most)
		return
	}
	t.work = most
}

// most is where work stops counting, far from overflow.
const most = math.MaxInt64 / 4

// wait is how much longer the job waits because of what the round sent here: the
// work spread over the machine, nothing while CPUs are left for it.
func (t *tally) wait(job policy.Job, cpus int) protocol.Duration {
	if job.CPUs <= t.free || cpus <= 0 {
		return 0
	}
	return protocol.Duration(t.work / int64(cpus))
}

// costs are the job's turnaround times by site.
func (p *Policy) costs(in *policy.Snapshot, j int, sites []tally) []protocol.Duration {
	out := make([]protocol.Duration, len(in.Sites))
	for s, site := range in.Sites {
		at := in.At(j, s)
		out[s] = in.AWT[at].Plus(in.ERT[at]).Plus(sites[s].wait(in.Jobs[j], site.CPUs))
		if sites[s].accept <= 0 {
			out[s] = protocol.Never
		}
	}
	return out
}

// choose is the site of least turnaround cost, -1 when none takes the job. Within
// ε: lowest RUS, then fewest jobs of this round, then the own site, then by name.
func (p *Policy) choose(in *policy.Snapshot, sites []tally, costs []protocol.Duration) int {
	best := protocol.Never
	for _, cost := range costs {
		best = min(best, cost)
	}
	if best == protocol.Never {
		return -1
	}
	chosen := -1
	for s, cost := range costs {
		if cost > best.Plus(p.epsilon) || cost == protocol.Never {
			continue
		}
		if chosen < 0 || better(in, sites, s, chosen) {
			chosen = s
		}
	}
	return chosen
}

func better(in *policy.Snapshot, sites []tally, s, than int) bool {
	if a, b := in.Sites[s].RUS, in.Sites[than].RUS; a != b {
		return a < b
	}
	if a, b := sites[s].jobs, sites[than].jobs; a != b {
		return a < b
	}
	return s == in.Self
}

// reason says what a job's turnaround at the chosen site is, and how much of it is due to jobs that
// the round has sent there before: the quotes do not know of these.
func (p *Policy) reason(in *policy.Snapshot, costs []protocol.Duration, s int, behind protocol.Duration) string {
	least, rivals := s, 0
	for o, cost := range costs {
		if cost < costs[least] {
			least = o
		}
	}
	for _, cost := range costs {
		if cost != protocol.Never && cost <= costs[least].Plus(p.epsilon) {
			rivals++
		}
	}
	if rivals == 1 {
		return "least turnaround, " + costs[s].Text() + before(behind)
	}
	return fmt.Sprintf("turnaround %s%s within %s of the least (%s), lowest utilization of %d such sites (%.1f %%)",
		costs[s].Text(), before(behind), p.epsilon.Text(), costs[least].Text(), rivals,
		float64(in.Sites[s].RUS)/(protocol.PPM/100))
}

func before(behind protocol.Duration) string {
	if behind == 0 {
		return ""
	}
	return " (" + behind.Text() + " of it behind jobs of this round)"
}
