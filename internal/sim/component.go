package sim

import (
	"math"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// componentRun is how a component runs at a site, if it starts there.
type componentRun struct {
	spec  protocol.Spec // as its origin sent it to the site
	ran   protocol.Duration
	full  protocol.Duration // what that would be at the full frequency
	state protocol.State
	usage protocol.Usage
}

// outcome is how a job ends by itself: those of the workload well, at any time.
func (r *componentRun) outcome() protocol.Outcome {
	if r == nil {
		return protocol.Outcome{State: protocol.Completed}
	}
	out := protocol.Outcome{State: r.state, Ran: r.ran, Usage: r.usage}
	if r.state == protocol.Timeout {
		out.Reason = "reached its limit of time"
	}
	return out
}

// prepare decides how a component will run at a site: as the Γ model has it for what it
// really does, with what of communication is hidden behind computing and the error that is
// drawn for this run at this site. It is ended at its limit. A job of the workload has nil.
func (g *grid) prepare(s *site, index int32, sub *localsched.Submission) *componentRun {
	c := g.component(index)
	if c == nil {
		return nil
	}
	m := &g.machines[s.index]
	slow, mhz := m.Gamma, m.MHz
	if asked := frequency(sub.Payload.Env); asked > 0 && m.MHz > 0 {
		slow.Flops, mhz = whole(float64(slow.Flops)*float64(asked)/float64(m.MHz)), asked
	}
	stretch := 1 + g.cfg.drift(chanceOfRun, index, s.index, c.Noise)
	r := &componentRun{
		spec: sub.Spec, full: milliseconds(stretch * c.seconds(m.Gamma, sub.Spec.CPUs)),
		ran: milliseconds(stretch * c.seconds(slow, sub.Spec.CPUs)), state: protocol.Completed,
	}
	done := 1.0
	if limit := sub.Spec.WallTime; r.ran > limit {
		done = float64(limit) / float64(r.ran)
		r.full = max(1, protocol.Duration(done*float64(r.full))) // rounded down, so that it stays within the limit
		r.ran, r.state = limit, protocol.Timeout
	}
	r.usage = g.measure(s, index, slow, r, done)
	r.usage.MHz = mhz
	if mhz != m.MHz { // [IS 4.2]: energy grows with the square of the frequency
		speed := float64(mhz) / float64(m.MHz)
		r.usage.Energy = whole(speed * speed * float64(r.usage.Energy))
	}
	return r
}

// frequency is the one that a job's environment sets for its CPUs, in MHz. Zero means that it
// sets none.
func frequency(env []string) int {
	for _, one := range env {
		if value, ok := strings.CutPrefix(one, "SWITCHYARD_MHZ="); ok {
			mhz, _ := strconv.Atoi(value) // the peer wrote it
			return mhz
		}
	}
	return 0
}

// seconds is how long the component runs on cpus CPUs of a machine, without errors.
func (c *Component) seconds(m protocol.Machine, cpus int) float64 {
	p := gamma.Predict(c.True, m, cpus)
	talk := p.Send + p.Latency
	return p.Compute + talk - float64(c.Overlap)/protocol.PPM*min(p.Compute, talk)
}

// measure is what the site measures of a run, of which so large a part is done when it
// ends. Energy is that at the full frequency.
func (g *grid) measure(s *site, index int32, m protocol.Machine, r *componentRun, done float64) (u protocol.Usage) {
	c := g.component(index)
	noisy := func(kind uint64, n float64) int64 {
		return whole(done * n * (1 + g.cfg.drift(kind, index, s.index, c.Noise)))
	}
	cpus := r.spec.CPUs
	if c.Measured.CPU {
		computed := noisy(chanceOfCPU, 1000*float64(cpus)*gamma.Predict(c.True, m, cpus).Compute)
		u.CPU = min(protocol.Duration(computed), protocol.Duration(cpus)*r.ran)
	}
	if c.Measured.Energy {
		watts := float64(pricing.JobPower(g.cfg.Sites[s.index].Electricity.Milliwatts, &r.spec))
		u.Energy = whole(watts * float64(r.ran) / 1000 * (1 + g.cfg.drift(chanceOfEnergy, index, s.index, c.Noise)))
	}
	if c.Measured.Operations {
		u.Mflop = noisy(chanceOfOperations, float64(c.True.Mflop))
	}
	if c.Measured.Accesses {
		u.Mwords = noisy(chanceOfAccesses, float64(c.True.Mwords))
	}
	if c.Measured.Traffic {
		// A network of a word a second, where a message takes a second, counts them.
		counted := gamma.Predict(c.True, protocol.Machine{Flops: 1, Words: 1, Network: 1, Latency: 1e9}, cpus)
		u.Sent, u.Messages = noisy(chanceOfWords, counted.Send), noisy(chanceOfMessages, counted.Latency)
	}
	return u
}

// drift is an error drawn from the seed, up to a bound in parts per million in either
// direction: the same for the same run, whatever else happens.
func (c Config) drift(kind uint64, index int32, site, bound int) float64 {
	if bound == 0 {
		return 0
	}
	drawn := c.chance(kind, uint64(index), uint64(site), 2*protocol.PPM+1) //nolint:gosec // not negative
	return float64(bound) / protocol.PPM * (float64(drawn)/protocol.PPM - 1)
}

// milliseconds is a time of a millisecond or more, rounded up.
func milliseconds(seconds float64) protocol.Duration {
	return max(1, protocol.Duration(whole(math.Ceil(1000*seconds))))
}

// whole is a number that is not negative, rounded, and at most one that can be added up.
func whole(n float64) int64 {
	const most = 1 << 60
	return int64(min(most, math.Round(n)))
}
