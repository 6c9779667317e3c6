package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// askTime is how long a scrape waits for the peer.
const askTime = 2 * time.Second

// WatchSites adds what is known of every site, asked at each scrape.
func (m *Metrics) WatchSites(ask func(context.Context) ([]view.Site, error)) {
	m.registry.MustRegister(&sites{
		ask:    ask,
		up:     desc("peer_up", "Whether a session with the partner is up.", "peer"),
		seen:   desc("peer_last_seen_timestamp_seconds", "When the partner was last heard.", "peer"),
		stale:  desc("gossip_staleness_seconds", "Age of what is known of the site's load.", "peer"),
		cpus:   desc("site_cpus", "CPUs of the site.", "site"),
		busy:   desc("site_busy_cpus", "Of these, CPUs that run jobs, as far as is known.", "site"),
		queued: desc("site_queued_jobs", "Jobs in the site's local queue, as far as is known.", "site"),
		here:   desc("peer_jobs_here", "Live jobs of the partner at this site.", "peer"),
		there:  desc("peer_jobs_there", "Live jobs of this site at the partner.", "peer"),
		kept:   desc("peer_kept_ratio", "Share of this site's latest jobs at the partner that went as it had quoted.", "peer"),
		doubt:  desc("peer_doubtful", "1 while the partner is asked last, because it does not keep its quotes.", "peer"),
		draw:   desc("power_draw_watts", "What the jobs that run at this site are taken to draw; 0: not known."),
		budget: desc("power_budget_watts", "What they may draw now; absent while there is no budget."),
		price: desc("electricity_price_per_joule",
			"What electricity costs this site now; times the draw in watts it is a cost per second. Absent while it is not known.", "currency"),
		energy: desc("energy_joules_total", "Energy of the jobs that have ended at this site, guests' too."),
		cost:   desc("energy_cost_total", "What the electricity of these cost, as they were billed, at prices above 0.", "currency"),
		credit: desc("energy_credit_total", "What it brought at prices below 0; to be taken off the cost.", "currency"),
		saved: desc("grid_saved_total",
			"What jobs of this site cost less at partners than home had quoted, for the time that they ran.", "currency"),
		lost: desc("grid_lost_total", "What other jobs cost more there; to be taken off what was saved.", "currency"),
		held: desc("cpus_withheld", "Idle CPUs of this site that its power budget keeps from working now."),
	})
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("switchyard_"+name, help, labels, nil)
}

// sites collects at each scrape.
type sites struct {
	ask                                              func(context.Context) ([]view.Site, error)
	up, seen, stale, cpus, busy, queued, here, there *prometheus.Desc
	kept, doubt                                      *prometheus.Desc // of partners
	draw, budget, held                               *prometheus.Desc // of this site alone
	price, energy, cost, credit, saved, lost         *prometheus.Desc // of its electricity, and of the grid
}

// Describe implements [prometheus.Collector].
func (s *sites) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		s.up, s.seen, s.stale, s.cpus, s.busy, s.queued, s.here, s.there, s.kept, s.doubt, s.draw, s.budget, s.held,
		s.price, s.energy, s.cost, s.credit, s.saved, s.lost,
	} {
		out <- d
	}
}

// Collect implements [prometheus.Collector]. A peer that does not answer has no
// such series, which alerts can look for.
func (s *sites) Collect(out chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), askTime)
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
	if v.Self {
		own := func(d *prometheus.Desc, value float64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
		}
		own(s.draw, float64(v.Draw))
		if v.Budget != nil {
			own(s.budget, float64(*v.Budget))
		}
		own(s.held, float64(v.Withheld))
		s.electricity(out, v.Electricity)
		return
	}
	up := 0.0
	if v.Link == "up" {
		up = 1
	}
	gauge(s.up, up)
	gauge(s.here, float64(v.JobsHere))
	gauge(s.there, float64(v.JobsSent))
	if v.Kept > 0 || v.Doubt != "" {
		doubt := 0.0
		if v.Doubt != "" {
			doubt = 1
		}
		gauge(s.kept, float64(v.Kept)/protocol.PPM)
		gauge(s.doubt, doubt)
	}
	if v.LastSeen > 0 {
		gauge(s.seen, unix(v.LastSeen))
	}
	if v.Age >= 0 && v.Age != protocol.Never {
		gauge(s.stale, seconds(v.Age))
	}
}

// electricity tells what the jobs of this site use and cost, in joules and units of the currencies.
func (s *sites) electricity(out chan<- prometheus.Metric, e *view.Electricity) {
	if e == nil {
		return
	}
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	if e.Price != nil {
		tell(s.price, prometheus.GaugeValue, units(*e.Price)/joulesOfMWh, e.PriceCurrency)
	}
	tell(s.energy, prometheus.CounterValue, float64(e.Energy)/1000)
	for _, m := range e.Money {
		tell(s.cost, prometheus.CounterValue, units(m.Cost), m.Currency)
		tell(s.credit, prometheus.CounterValue, units(m.Credit), m.Currency)
		tell(s.saved, prometheus.CounterValue, units(m.Saved), m.Currency)
		tell(s.lost, prometheus.CounterValue, units(m.Lost), m.Currency)
	}
}

const joulesOfMWh = 3_600_000_000

func units(amount protocol.Micro) float64 { return float64(amount) / float64(protocol.Unit) }

// WatchPrices adds what is known of the prices of electricity, read at each scrape:
// when those that are published end (the zero time: none are known), and whether the
// feed answered the last question.
func (m *Metrics) WatchPrices(read func() (published time.Time, up bool)) {
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "switchyard_" + name, Help: help}, value))
	}
	gauge("prices_known_seconds", "Time until the published prices of electricity end; 0: none are known.", func() float64 {
		published, _ := read()
		if published.IsZero() {
			return 0
		}
		return max(0, time.Until(published).Seconds())
	})
	gauge("price_feed_up", "Whether the price feed answered the last question.", func() float64 {
		if _, up := read(); up {
			return 1
		}
		return 0
	})
}

// WatchBudget adds for how long the feeds of the power budget have told no hour that has not
// passed, read at each scrape.
func (m *Metrics) WatchBudget(stale func() time.Duration) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "switchyard_power_budget_stale_seconds",
		Help: "Time since the last hour that a feed of the power budget told has passed; 0: all of them know the present.",
	}, func() float64 { return stale().Seconds() }))
}

// StoreStats are a store's counters since it was opened, and its sizes now.
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
	counter("requests_total", "Batches that the transactions held.", func(s StoreStats) float64 { return float64(s.Requests) })
	counter("rows_total", "Rows put or deleted.", func(s StoreStats) float64 { return float64(s.Rows) })
	counter("bytes_total", "Bytes of these rows.", func(s StoreStats) float64 { return float64(s.Bytes) })
	counter("failures_total", "Transactions that failed.", func(s StoreStats) float64 { return float64(s.Failures) })
	counter("busy_seconds_total", "Time in transactions.", func(s StoreStats) float64 { return s.Busy.Seconds() })
	gauge("queued_requests", "Batches that wait to be written.", func(s StoreStats) float64 { return float64(s.Queued) })
	gauge("file_bytes", "Size of the file.", func(s StoreStats) float64 { return float64(s.FileBytes) })
	gauge("free_bytes", "Of that, room for rows.", func(s StoreStats) float64 { return float64(s.FreeBytes) })
}
