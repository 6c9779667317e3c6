package config

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxSocket is the longest path of a socket on every system, in bytes.
const maxSocket = 103

// check reports what the tables contain that cannot be.
func (r *report) check() {
	c := r.config
	r.checkSite(&c.Site)
	r.checkNATS(&c.NATS)
	if c.Gossip != nil {
		r.checkGossip(c.Gossip)
	}
	r.checkLocalSched(&c.LocalSched)
	r.checkOneOf("policy.name", c.Policy.Name, "tc")
	r.checkRounds(&c.Rounds)
	r.checkHandoff(&c.Handoff)
	r.atLeast("limits.max_jobs", c.Limits.MaxJobs, 1)
	r.checkAccounts(&c.Accounts)
	r.checkPartners()
	if c.Metrics.Listen != "" {
		r.checkAddress("metrics.listen", c.Metrics.Listen)
	}
	r.checkPorts()
	r.checkOneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	r.checkOneOf("log.format", c.Log.Format, JSON, Text)
}

func (r *report) checkSite(s *Site) {
	switch err := s.Name.Validate(); {
	case s.Name == "":
		r.problem("site.name", "is missing; choose a name that no other site of the grid has, such as \"north\"")
	case err != nil:
		r.problem("site.name", "%v", err)
	}
	switch err := s.Number.Validate(); {
	case s.Number == 0:
		r.problem("site.number", "is missing; choose a number from 1 to %d that no other site of the grid has", protocol.MaxSiteNumber)
	case err != nil:
		r.problem("site.number", "%v", err)
	}
	r.required("site.state_dir", s.StateDir, "name a folder on a local disk")
	r.required("site.key", s.Key, "make a key with \"switchyard keygen --out PATH\" and name its path")
	r.required("site.socket", s.Socket, "name the socket for submit, queue and the rest")
	if n := len(s.Socket); n > maxSocket {
		r.problem("site.socket", "this path has %d characters and a socket's may have %d; choose a shorter one, such as /run/switchyard/%s.sock",
			n, maxSocket, s.Name)
	}
}

func (r *report) required(key string, path Path, remedy string) {
	if path == "" {
		r.problem(key, "is empty; %s", remedy)
	}
}

func (r *report) checkOneOf(key, value string, allowed ...string) {
	if wrong := oneOf(value, allowed...); wrong != "" {
		r.problem(key, "%s", wrong)
	}
}

func (r *report) atLeast(key string, value, least int) {
	if value < least {
		r.problem(key, "is %d; use %d or more", value, least)
	}
}

// positive asks for a duration that is not 0; a negative one cannot be written.
func (r *report) positive(key string, d protocol.Duration) {
	if d <= 0 {
		r.problem(key, "is 0; use 1ms or more")
	}
}

func (r *report) checkLocalSched(l *LocalSched) {
	if l.Plugin == "slurm" {
		r.problem("localsched.plugin", "\"slurm\" comes with a later version; use \"process\"")
	}
	r.checkOneOf("localsched.plugin", l.Plugin, "process")
	r.checkOneOf("localsched.machine", l.Machine, PerCPU, WholeNode)
	r.checkOneOf("localsched.policy", l.Policy, "easy")
	r.checkOneOf("localsched.on_stop", l.OnStop, Leave, End)
	r.atLeast("localsched.cpus", l.CPUs, 0)
	r.atLeast("localsched.nodes", l.Nodes, 1)
	switch {
	case l.CPUs == 0 && l.Nodes > 1:
		r.problem("localsched.nodes", "is %d, but cpus is not set; set cpus to the CPUs of all nodes together", l.Nodes)
	case l.CPUs > 0 && l.Nodes > 0 && l.CPUs%l.Nodes != 0:
		r.problem("localsched.nodes", "%d nodes do not divide %d cpus; all nodes have the same number of CPUs", l.Nodes, l.CPUs)
	}
}

func (r *report) checkRounds(o *Rounds) {
	switch o.Initiation {
	case policy.Sender:
	case policy.Receiver, policy.Symmetric, policy.Cycle:
		r.problem("rounds.initiation", "%q comes with a later version; use %q", o.Initiation, policy.Sender)
	default:
		r.checkOneOf("rounds.initiation", string(o.Initiation), string(policy.Sender))
	}
	r.positive("rounds.phi", o.Phi)
	r.positive("rounds.sigma", o.Sigma)
	r.positive("rounds.deadline", o.Deadline)
	if o.Sigma > 0 && o.Deadline >= o.Sigma {
		r.problem("rounds.deadline", "%s is not less than sigma (%s); a round would outlast the next probe, so use a few seconds",
			formatDuration(o.Deadline), formatDuration(o.Sigma))
	}
	r.atLeast("rounds.round_jobs", o.RoundJobs, 1)
	r.atLeast("rounds.ask", o.Ask, 1)
}

func (r *report) checkHandoff(h *Handoff) {
	r.positive("handoff.retry", h.Retry)
	r.positive("handoff.retry_max", h.RetryMax)
	r.positive("handoff.settle", h.Settle)
	r.positive("handoff.reclaim_after", h.ReclaimAfter)
	r.positive("handoff.remember", h.Remember)
	if h.RetryMax > 0 && h.RetryMax < h.Retry {
		r.problem("handoff.retry_max", "%s is less than retry (%s); use that or more", formatDuration(h.RetryMax), formatDuration(h.Retry))
	}
	if h.Remember > 0 && h.Remember <= max(h.RetryMax, h.ReclaimAfter) {
		r.problem("handoff.remember", "%s is not more than retry_max and reclaim_after; late messages would find nothing, so use days",
			formatDuration(h.Remember))
	}
}
