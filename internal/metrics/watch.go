package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// queryTimeout bounds how long a scrape waits for the peer.
const queryTimeout = 2 * time.Second

// WatchSites adds the metrics of all sites. Each scrape calls ask. Without gossip there is no age of
// reported loads: partners say theirs only with quotes, and an idle grid has none.
func (m *Metrics) WatchSites(gossip bool, ask func(context.Context) ([]view.Site, error)) {
	m.registry.MustRegister(&sites{
		ask:     ask,
		gossip:  gossip,
		gossips: desc("gossip_configured", "1 if the site has [gossip], 0 if not."),
		up:      desc("partner_link_up", "1 while a session with the partner is up.", "partner"),
		seen:    desc("partner_last_seen_timestamp_seconds", "Time of the last message of the partner.", "partner"),
		stale:   desc("gossip_age_seconds", "Age of the last reported load of the partner. Absent without [gossip].", "partner"),
		cpus:    desc("site_cpus", "CPUs of the site.", "site"),
		busy:    desc("site_busy_cpus", "Busy CPUs of the site, as last reported.", "site"),
		queued:  desc("site_queued_jobs", "Pending jobs in the local queue of the site, as last reported.", "site"),
		here:    desc("partner_guest_jobs", "Active jobs of the partner at the local site.", "partner"),
		there:   desc("partner_sent_jobs", "Active jobs of this origin at the partner.", "partner"),
		drained: desc("site_drained", "1 while an operator of the local site has drained or isolated the site, the local one or a partner.", "site"),
		refuses: desc("partner_draining", "1 while the partner takes no jobs of this site, as it said last.", "partner"),
		kept:    desc("partner_quotes_met_ratio", "Share of the latest jobs of this origin at the partner that met its quote.", "partner"),
		doubt:   desc("partner_asked_last", "1 while the partner is asked last because its jobs do not meet its quotes.", "partner"),
		draw:    desc("power_draw_watts", "Estimated power draw of the running jobs. Zero if it is not configured."),
		budget:  desc("power_budget_watts", "Active power budget of the running jobs. Absent while no budget is active."),
		price: desc("electricity_price_per_joule",
			"Current electricity price. Multiplied by the power draw in watts it gives a cost per second. Absent while unknown.", "currency"),
		energy: desc("energy_joules_total", "Energy of the jobs that have ended at the local site, including guests."),
		cost:   desc("energy_cost_total", "Billed electricity cost of these jobs at positive prices.", "currency"),
		credit: desc("energy_credit_total", "Billed electricity credit of these jobs at negative prices. Subtract it from the cost.", "currency"),
		saved: desc("grid_saved_total",
			"Cost saved by jobs that were cheaper at partners than quoted by the local site, for their actual run time.", "currency"),
		lost: desc("grid_lost_total", "Extra cost of jobs that were more expensive at partners. Subtract it from the savings.", "currency"),
		operator: desc("operator_jobs",
			"Jobs of this origin in NeedsOperator, and guests of which the local scheduler cannot say whether it has them."),
		stopped: desc("site_stopped", "1 while the peer starts no job, since its database may be older than what partners know, or another peer runs as this site."),
		held:    desc("power_idled_cpus", "CPUs of the local site that are idle because of the power budget."),
	})
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("switchyard_"+name, help, labels, nil)
}

// sites collects at each scrape.
type sites struct {
	ask                                              func(context.Context) ([]view.Site, error)
	gossip                                           bool
	up, seen, stale, cpus, busy, queued, here, there *prometheus.Desc
	drained                                          *prometheus.Desc
	refuses, kept, doubt                             *prometheus.Desc // of partners
	draw, budget, held, stopped, operator, gossips   *prometheus.Desc // of the local site only
	price, energy, cost, credit, saved, lost         *prometheus.Desc // of the local site: electricity, and savings by the grid
}

// Describe implements [prometheus.Collector].
func (s *sites) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		s.up, s.seen, s.stale, s.cpus, s.busy, s.queued, s.here, s.there, s.drained, s.refuses, s.kept, s.doubt, s.draw, s.budget, s.held, s.stopped, s.operator, s.gossips,
		s.price, s.energy, s.cost, s.credit, s.saved, s.lost,
	} {
		out <- d
	}
}

// Collect implements [prometheus.Collector]. If the peer does not answer in time, the
// series are absent, which alerts can test.
func (s *sites) Collect(out chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), queryTimeout)
	defer stop()
	views, err := s.ask(ctx)
	if err != nil {
		return
	}
	for i := range views {
		s.collect(out, &views[i])
	}
}

func (s *sites) collect(out chan<- prometheus.Metric, v *view.Site) {
	gauge := func(d *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, string(v.Site))
	}
	if v.CPUs > 0 {
		gauge(s.cpus, float64(v.CPUs))
		gauge(s.busy, float64(v.Busy))
		gauge(s.queued, float64(v.Queued))
	}
	drained := 0.0
	if v.Drain != nil {
		drained = 1
	}
	gauge(s.drained, drained)
	if v.Self {
		own := func(d *prometheus.Desc, value float64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
		}
		own(s.draw, float64(v.Draw))
		if v.Budget != nil {
			own(s.budget, float64(*v.Budget))
		}
		own(s.held, float64(v.PowerIdledCPUs))
		stopped := 0.0
		if v.Reason != "" {
			stopped = 1
		}
		own(s.stopped, stopped)
		own(s.operator, float64(v.OperatorJobs))
		gossips := 0.0
		if s.gossip {
			gossips = 1
		}
		own(s.gossips, gossips)
		s.electricity(out, v.Electricity)
		return
	}
	up, draining := 0.0, 0.0
	if v.Link == "up" {
		up = 1
	}
	if v.Draining != "" {
		draining = 1
	}
	gauge(s.up, up)
	gauge(s.refuses, draining)
	gauge(s.here, float64(v.GuestJobs))
	gauge(s.there, float64(v.SentJobs))
	if v.QuotesMet != nil {
		doubt := 0.0
		if v.AskedLastReason != "" {
			doubt = 1
		}
		gauge(s.kept, float64(*v.QuotesMet)/protocol.PPM)
		gauge(s.doubt, doubt)
	}
	if v.LastSeen > 0 {
		gauge(s.seen, unix(v.LastSeen))
	}
	if s.gossip && v.Age != nil && *v.Age != protocol.Never {
		gauge(s.stale, seconds(*v.Age))
	}
}

// electricity reports energy in joules, and money in units of its currency.
func (s *sites) electricity(out chan<- prometheus.Metric, e *view.Electricity) {
	if e == nil {
		return
	}
	emit := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	if e.Price != nil {
		emit(s.price, prometheus.GaugeValue, units(*e.Price)/joulesOfMWh, e.PriceCurrency)
	}
	emit(s.energy, prometheus.CounterValue, float64(e.Energy)/1000)
	for _, m := range e.Money {
		emit(s.cost, prometheus.CounterValue, units(m.Cost), m.Currency)
		emit(s.credit, prometheus.CounterValue, units(m.Credit), m.Currency)
		emit(s.saved, prometheus.CounterValue, units(m.Saved), m.Currency)
		emit(s.lost, prometheus.CounterValue, units(m.Lost), m.Currency)
	}
}

const joulesOfMWh = 3_600_000_000

func units(amount protocol.Micro) float64 { return float64(amount) / float64(protocol.Unit) }

// WatchPrices adds the metrics of the price feed. Each scrape calls read, which returns
// the end of the published prices (zero if there are none) and whether the last request
// to the feed succeeded.
func (m *Metrics) WatchPrices(read func() (published time.Time, up bool)) {
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "switchyard_" + name, Help: help}, value))
	}
	gauge("price_horizon_seconds", "Time until the end of the published electricity prices. Zero if there are none.", func() float64 {
		published, _ := read()
		if published.IsZero() {
			return 0
		}
		return max(0, time.Until(published).Seconds())
	})
	gauge("price_feed_up", "1 if the last request to the price feed succeeded.", func() float64 {
		if _, up := read(); up {
			return 1
		}
		return 0
	})
}

// WatchBudget adds the age of the power budget. Each scrape calls stale, which returns the time
// since the end of the last hour that the feeds published, and zero while they cover the present.
func (m *Metrics) WatchBudget(stale func() time.Duration) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "switchyard_power_budget_stale_seconds",
		Help: "Time since the end of the last hour that the power budget feeds published. Zero while they cover the present.",
	}, func() float64 { return stale().Seconds() }))
}

// WatchDisk adds the free space where the peer keeps its state. Each scrape calls free, which returns
// bytes; if it fails, the metric is absent from this scrape.
func (m *Metrics) WatchDisk(free func() (uint64, error)) {
	m.registry.MustRegister(&disk{free, desc("state_dir_free_bytes", "Free space on the file system of state_dir.")})
}

// disk collects at each scrape.
type disk struct {
	read func() (uint64, error)
	free *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (d *disk) Describe(out chan<- *prometheus.Desc) { out <- d.free }

// Collect implements [prometheus.Collector].
func (d *disk) Collect(out chan<- prometheus.Metric) {
	if bytes, err := d.read(); err == nil {
		out <- prometheus.MustNewConstMetric(d.free, prometheus.GaugeValue, float64(bytes))
	}
}

// WatchCertificate adds the end of the certificate of the API over TCP. Each scrape calls ends.
func (m *Metrics) WatchCertificate(ends func() time.Time) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "switchyard_api_certificate_expiry_timestamp_seconds", Help: "Time at which the certificate of the API over TCP expires.",
	}, func() float64 { return float64(ends().Unix()) }))
}

// WatchRoster adds the end of the signed roster. Each scrape calls end, which is zero while there is none.
func (m *Metrics) WatchRoster(end func() protocol.Instant) {
	m.registry.MustRegister(&rosterEnd{end, desc("roster_end_timestamp_seconds", "Time at which the roster of the grid ends or has ended. Absent without [roster].")})
}

// rosterEnd collects at each scrape.
type rosterEnd struct {
	read func() protocol.Instant
	end  *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (r *rosterEnd) Describe(out chan<- *prometheus.Desc) { out <- r.end }

// Collect implements [prometheus.Collector].
func (r *rosterEnd) Collect(out chan<- prometheus.Metric) {
	if end := r.read(); end != 0 {
		out <- prometheus.MustNewConstMetric(r.end, prometheus.GaugeValue, unix(end))
	}
}

// WatchIssuer adds whether the keys of an issuer of OpenID Connect could not be fetched the last time, by its name in the configuration. Each scrape calls failing.
func (m *Metrics) WatchIssuer(name string, failing func() bool) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "switchyard_oidc_keys_failed",
		Help:        "1 if the keys of an issuer of OpenID Connect could not be fetched the last time that they were needed. Absent without [[api.oidc]].",
		ConstLabels: prometheus.Labels{"issuer": name},
	}, func() float64 {
		if failing() {
			return 1
		}
		return 0
	}))
}

// StoreStats are the counters of a store since it was opened, and its current sizes.
type StoreStats struct {
	Commits, Requests, Rows, Bytes, Failures uint64
	Busy                                     time.Duration // in transactions
	Queued                                   int
	FileBytes, FreeBytes                     int64
}

// WatchStore adds the store's counters, read at each scrape.
func (m *Metrics) WatchStore(read func() StoreStats) {
	counter := func(name, help string, value func(StoreStats) float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(
			prometheus.CounterOpts{Name: "switchyard_store_" + name, Help: help},
			func() float64 { return value(read()) },
		))
	}
	gauge := func(name, help string, value func(StoreStats) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "switchyard_store_" + name, Help: help},
			func() float64 { return value(read()) },
		))
	}
	counter("commits_total", "Transactions.", func(s StoreStats) float64 { return float64(s.Commits) })
	counter("requests_total", "Batches in these transactions.", func(s StoreStats) float64 { return float64(s.Requests) })
	counter("rows_total", "Rows written or deleted.", func(s StoreStats) float64 { return float64(s.Rows) })
	counter("bytes_total", "Bytes of these rows.", func(s StoreStats) float64 { return float64(s.Bytes) })
	counter("failures_total", "Transactions that failed.", func(s StoreStats) float64 { return float64(s.Failures) })
	counter("busy_seconds_total", "Time in transactions.", func(s StoreStats) float64 { return s.Busy.Seconds() })
	gauge("queued_requests", "Batches waiting to be written.", func(s StoreStats) float64 { return float64(s.Queued) })
	gauge("file_bytes", "Size of the database file.", func(s StoreStats) float64 { return float64(s.FileBytes) })
	gauge("free_bytes", "Free space in the database file.", func(s StoreStats) float64 { return float64(s.FreeBytes) })
}
