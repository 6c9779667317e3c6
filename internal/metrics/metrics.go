package metrics

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/switchyard-hpc/switchyard/peer/audit"
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
	notices    *prometheus.CounterVec
	traces     *prometheus.CounterVec
	volunteers *prometheus.CounterVec
	rules      *prometheus.GaugeVec
	pluginUp   *prometheus.GaugeVec
	restarts   *prometheus.CounterVec
	rounds     prometheus.Counter
	retuned    prometheus.Counter
	placing    prometheus.Histogram
	handing    prometheus.Histogram
	answering  *prometheus.HistogramVec
	starts     *prometheus.CounterVec
	waitErrors *prometheus.HistogramVec
	runErrors  *prometheus.HistogramVec
	requests   *prometheus.CounterVec
	auditLost  prometheus.Counter
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
			"Placements of jobs of this origin, by result: committed (to the local queue), handed_off, refused, requeued, or moved (out of a local queue, since another site would end the job sooner).",
			"policy", "from", "to", "result"),
		quotes:   counters("quotes_total", "Answers to quote requests for jobs of this origin: offered, declined or timeout.", "partner", "result"),
		guests:   counters("guest_jobs_total", "Jobs of other origins: refused, accepted, aborted, or the state in which they ended.", "partner", "result"),
		errors:   counters("errors_total", "Errors that need an operator, by kind.", "reason"),
		rejected: counters("rejected_messages_total", "Network messages rejected, by reason.", "reason"),
		dropped: counters("dropped_total",
			"Messages of a partner that were dropped because it exceeded its limits, by kind.", "partner", "kind"),
		mails:   counters("mails_total", "Mails to users about their jobs, by result: sent, failed or dropped.", "result"),
		notices: counters("notices_total", "Notices to other programs about jobs, by result: sent, failed or dropped.", "result"),
		traces:  counters("traces_total", "Jobs and guests whose spans were to be exported, by result: sent, failed or dropped.", "result"),
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
		answering: histograms("quote_latency_seconds", "Time from a quote request to the answer of the partner.",
			answerBuckets(), "partner"),
		starts: counters("quoted_starts_total",
			"Ended jobs of this origin by their start against the quote by which they were placed: early (more than a minute before its P10), within, late (more than a minute after its P90), or no_interval (the quote had none).",
			"site", "result"),
		waitErrors: histograms("quote_wait_error_seconds",
			"Difference of the wait of ended jobs of this origin, from their commit on, from that of the quote by which they were placed; the direction is longer or shorter.",
			errorBuckets(), "site", "direction"),
		runErrors: histograms("quote_run_error_seconds",
			"Difference of the run time of completed jobs of this origin from that of the quote by which they were placed; the direction is longer or shorter.",
			errorBuckets(), "site", "direction"),
		requests:  counters("api_requests_total", "Requests to the API, by the way they came (socket or network), and by result: done, or the code of the refusal.", "way", "result"),
		auditLost: counter("audit_lost_entries_total", "Entries of the audit log that could not be written, or came faster than they were."),
	}
	m.registry.MustRegister(
		m.jobs, m.ended, m.submitted, m.placements, m.quotes, m.guests, m.errors, m.rejected, m.dropped, m.mails, m.notices,
		m.traces, m.volunteers, m.rules, m.pluginUp, m.restarts, m.rounds, m.retuned, m.placing, m.handing,
		m.answering, m.starts, m.waitErrors, m.runErrors, m.requests, m.auditLost, build(id), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	for _, state := range []protocol.State{protocol.Pending, protocol.Running} {
		m.jobs.WithLabelValues(state.String())
	}
	m.beginAtZero()
	m.policy.Store(new(string))
	return m
}

// beginAtZero makes the series that alerts are about: rate and increase do not see the first event of a series
// that begins with it.
func (m *Metrics) beginAtZero() {
	for _, state := range protocol.States() {
		if state.Terminal() {
			m.ended.WithLabelValues(state.String())
		}
	}
	for _, kind := range errorKinds() {
		m.errors.WithLabelValues(string(kind))
	}
	for _, result := range []string{"sent", "failed", "dropped"} { // as peer/mail, peer/notices and peer/otlp have them
		m.mails.WithLabelValues(result)
		m.notices.WithLabelValues(result)
		m.traces.WithLabelValues(result)
	}
	m.rejected.WithLabelValues("bad-version")
	m.submitted.WithLabelValues("accepted")
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

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "switchyard_" + name, Help: help, Buckets: buckets}, labels)
}

// answerBuckets are those of one histogram for each partner.
func answerBuckets() []float64 { return prometheus.ExponentialBuckets(0.01, 4, 7) } // to 41 s

// errorBuckets are those of two histograms for each site: from a second to three days.
func errorBuckets() []float64 {
	return []float64{1, 10, 60, 300, 900, 3600, 14400, 43200, 86400, 259200}
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

// Noticed counts a notice to another program about a job.
func (m *Metrics) Noticed(result string) { m.notices.WithLabelValues(result).Inc() }

// Traced counts jobs and guests whose spans were to be exported.
func (m *Metrics) Traced(result string, n int) { m.traces.WithLabelValues(result).Add(float64(n)) }

// Mailed counts a mail to a user about a job.
func (m *Metrics) Mailed(result string) { m.mails.WithLabelValues(result).Inc() }

// Requested counts a request to the API.
func (m *Metrics) Requested(way audit.Way, result string) {
	m.requests.WithLabelValues(string(way), result).Inc()
}

// AuditLost counts an entry of the audit log that could not be written.
func (m *Metrics) AuditLost() { m.auditLost.Inc() }
