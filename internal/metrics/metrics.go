package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Identity is what every scrape can tell the peer by.
type Identity struct {
	Site    protocol.SiteName
	Version string
}

// Metrics are a peer's counters. All methods may be called from any goroutine.
type Metrics struct {
	registry *prometheus.Registry
	self     protocol.SiteName
	policy   atomic.Pointer[string]

	jobs       *prometheus.GaugeVec
	ended      *prometheus.CounterVec
	submitted  *prometheus.CounterVec
	placements *prometheus.CounterVec
	quotes     *prometheus.CounterVec
	guests     *prometheus.CounterVec
	errors     *prometheus.CounterVec
	rejected   *prometheus.CounterVec
	dropped    *prometheus.CounterVec
	volunteers *prometheus.CounterVec
	rules      *prometheus.GaugeVec
	pluginUp   *prometheus.GaugeVec
	restarts   *prometheus.GaugeVec
	rounds     prometheus.Counter
	retuned    prometheus.Counter
	placing    prometheus.Histogram
	handing    prometheus.Histogram
}

// New makes the counters of a peer.
func New(id Identity) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		self:     id.Site,
		jobs:     gauges("jobs", "Jobs of this site's users that have not ended, by state.", "state"),
		ended:    counters("jobs_ended_total", "Jobs of this site's users that have ended, by state.", "state"),
		submitted: counters("submit_total",
			"Jobs taken in (accepted), and submissions refused, by the reason's code.", "result"),
		placements: counters("placements_total",
			"What became of the places chosen for jobs: committed, handed, refused or returned.",
			"policy", "from", "to", "result"),
		quotes:   counters("quotes_total", "Quotes for this site's jobs: offered, declined or silent.", "peer", "result"),
		guests:   counters("guests_total", "Jobs of other sites: refused, owned, aborted, or ended by state.", "peer", "result"),
		errors:   counters("peer_errors_total", "Trouble worth an operator's notice, by kind.", "reason"),
		rejected: counters("rejected_messages_total", "What the gates of the network refused, by reason.", "reason"),
		dropped: counters("dropped_total",
			"What a partner asked for beyond its bounds and was not worked on: question or offer.", "peer", "what"),
		volunteers: counters("volunteers_total",
			"Availability messages: of this site to its partners (peer is its own name), and of each partner.", "peer"),
		rules: gauges("rules_info", "Always 1; the labels say by what rules jobs are placed.",
			"initiation", "policy", "local_policy"),
		pluginUp: gauges("plugin_up", "Whether a plugin answers.", "plugin", "kind"),
		restarts: gauges("plugin_restarts", "Times that a plugin was started again.", "plugin", "kind"),
		rounds:   counter("rounds_total", "Rounds of quotes that were opened."),
		retuned:  counter("retuned_total", "Changes of the rules for rounds while the peer ran."),
		placing:  histogram("placement_duration_seconds", "From the opening of a round to a job's decision."),
		handing:  histogram("handoff_duration_seconds", "From the offer of a job to its acceptance by a partner."),
	}
	m.registry.MustRegister(
		m.jobs, m.ended, m.submitted, m.placements, m.quotes, m.guests, m.errors, m.rejected, m.dropped,
		m.volunteers, m.rules, m.pluginUp, m.restarts, m.rounds, m.retuned, m.placing, m.handing, build(id), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	for _, state := range []protocol.State{protocol.Pending, protocol.Running} {
		m.jobs.WithLabelValues(state.String())
	}
	m.submitted.WithLabelValues("accepted")
	m.policy.Store(new(string))
	return m
}

// Rules says by what rules jobs are placed from here on.
func (m *Metrics) Rules(initiation, policy, localPolicy string) {
	m.policy.Store(&policy)
	m.rules.Reset()
	m.rules.WithLabelValues(initiation, policy, localPolicy).Set(1)
}

// Plugin says how a plugin is.
func (m *Metrics) Plugin(name, kind string, up bool, restarts int) {
	value := 0.0
	if up {
		value = 1
	}
	m.pluginUp.WithLabelValues(name, kind).Set(value)
	m.restarts.WithLabelValues(name, kind).Set(float64(restarts))
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: "switchyard_" + name, Help: help})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "switchyard_" + name, Help: help}, labels)
}

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "switchyard_" + name, Help: help}, labels)
}

func histogram(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "switchyard_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(0.005, 2, 15), // to 82 s
	})
}

func build(id Identity) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "switchyard_build_info", Help: "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": id.Version, "site": string(id.Site)},
	}, func() float64 { return 1 })
}

// Moved counts a job of this site's users that went from one state to another;
// the zero State stands for outside the peer.
func (m *Metrics) Moved(from, to protocol.State) {
	if from != 0 {
		m.jobs.WithLabelValues(from.String()).Dec()
	}
	if to != 0 {
		m.jobs.WithLabelValues(to.String()).Inc()
	}
}

// Refused counts a submission that was refused.
func (m *Metrics) Refused(code view.RefusalCode) { m.submitted.WithLabelValues(string(code)).Inc() }

// Rejected counts what a gate of the network refused.
func (m *Metrics) Rejected(reason string) { m.rejected.WithLabelValues(reason).Inc() }
