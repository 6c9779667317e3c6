package metrics

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Identity identifies the peer in every scrape.
type Identity struct {
	Site    protocol.SiteName
	Version string
}

// Metrics are a peer's counters. All methods may be called from any goroutine.
type Metrics struct {
	registry *prometheus.Registry
	self     protocol.SiteName
	policy   atomic.Pointer[string]

	pluginMu       sync.Mutex
	pluginRestarts map[pluginKey]int // as last reported

	jobs       *prometheus.GaugeVec
	ended      *prometheus.CounterVec
	submitted  *prometheus.CounterVec
	placements *prometheus.CounterVec
	quotes     *prometheus.CounterVec
	guests     *prometheus.CounterVec
	errors     *prometheus.CounterVec
	rejected   *prometheus.CounterVec
	dropped    *prometheus.CounterVec
	mails      *prometheus.CounterVec
	volunteers *prometheus.CounterVec
	rules      *prometheus.GaugeVec
	pluginUp   *prometheus.GaugeVec
	restarts   *prometheus.CounterVec
	rounds     prometheus.Counter
	retuned    prometheus.Counter
	placing    prometheus.Histogram
	handing    prometheus.Histogram
}

type pluginKey struct{ name, kind string }

// New makes the counters of a peer.
func New(id Identity) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), pluginRestarts: make(map[pluginKey]int),
		self:  id.Site,
		jobs:  gauges("jobs", "Active jobs of this origin, by state.", "state"),
		ended: counters("jobs_ended_total", "Finished jobs of this origin, by state.", "state"),
		submitted: counters("submissions_total",
			"Submissions, by result: accepted, or the code of the refusal.", "result"),
		placements: counters("placements_total",
			"Placements of jobs of this origin, by result: committed (to the local queue), handed_off, refused or requeued.",
			"policy", "from", "to", "result"),
		quotes:   counters("quotes_total", "Answers to quote requests for jobs of this origin: offered, declined or timeout.", "partner", "result"),
		guests:   counters("guest_jobs_total", "Jobs of other origins: refused, accepted, aborted, or the state in which they ended.", "partner", "result"),
		errors:   counters("errors_total", "Errors that need an operator, by kind.", "reason"),
		rejected: counters("rejected_messages_total", "Network messages rejected, by reason.", "reason"),
		dropped: counters("dropped_total",
			"Messages of a partner that were dropped because it exceeded its limits, by kind.", "partner", "kind"),
		mails: counters("mails_total", "Mails to users about their jobs, by result: sent, failed or dropped.", "result"),
		volunteers: counters("volunteer_messages_total",
			"Volunteer messages received from a partner; with the name of the local site, those sent to its partners.", "partner"),
		rules: gauges("config_info", "Always 1; the labels are the active policies.",
			"initiation", "policy", "local_policy"),
		pluginUp: gauges("plugin_up", "1 if the plugin is up and answers calls.", "plugin", "kind"),
		restarts: counters("plugin_restarts_total", "Restarts of the plugin.", "plugin", "kind"),
		rounds:   counter("rounds_total", "Rounds opened."),
		retuned:  counter("reconfigurations_total", "Configuration changes applied while the peer ran."),
		placing:  histogram("placement_duration_seconds", "Time from the start of a round to the decision on a job."),
		handing:  histogram("handoff_duration_seconds", "Time from the offer of a job to its acceptance by a partner."),
	}
	m.registry.MustRegister(
		m.jobs, m.ended, m.submitted, m.placements, m.quotes, m.guests, m.errors, m.rejected, m.dropped, m.mails,
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

// Rules sets the active policies, which label placements from now on.
func (m *Metrics) Rules(initiation, policy, localPolicy string) {
	m.policy.Store(&policy)
	m.rules.Reset()
	m.rules.WithLabelValues(initiation, policy, localPolicy).Set(1)
}

// Plugin sets the state of a plugin. Restarts is their total since the peer started.
func (m *Metrics) Plugin(name, kind string, up bool, restarts int) {
	value := 0.0
	if up {
		value = 1
	}
	m.pluginUp.WithLabelValues(name, kind).Set(value)
	m.pluginMu.Lock()
	defer m.pluginMu.Unlock()
	key := pluginKey{name, kind}
	m.restarts.WithLabelValues(name, kind).Add(float64(max(0, restarts-m.pluginRestarts[key])))
	m.pluginRestarts[key] = restarts
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
		Name: "switchyard_build_info", Help: "Always 1; the labels are the version and the site.",
		ConstLabels: prometheus.Labels{"version": id.Version, "site": string(id.Site)},
	}, func() float64 { return 1 })
}

// Moved counts a state transition of a job of this origin. From is zero for a new
// job, to is zero for one that leaves the queue.
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

// Rejected counts a network message that was rejected.
func (m *Metrics) Rejected(reason string) { m.rejected.WithLabelValues(reason).Inc() }

// Mailed counts a mail to a user about a job.
func (m *Metrics) Mailed(result string) { m.mails.WithLabelValues(result).Inc() }
