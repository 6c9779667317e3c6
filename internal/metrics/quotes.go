package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Answered observes how long a partner took to answer a quote request.
func (m *Metrics) Answered(partner protocol.SiteName, after time.Duration) {
	m.answering.WithLabelValues(string(partner)).Observe(after.Seconds())
}

// startTolerance is by how much a start may miss the interval of its quote: staging in and local scheduling
// passes take time that no quote covers.
const startTolerance = protocol.Minute

// Ended compares a job of this origin that has ended with the quote by which it was placed. A job without a
// quote, one that did not start, and one whose start was agreed on have nothing to compare.
func (m *Metrics) Ended(job *view.Job) {
	quote := job.Waits
	if quote == nil || quote.AWT == protocol.Never || job.Started == 0 || job.Together != nil || job.ReservedAt != 0 {
		return
	}
	site := string(job.Site)
	m.quoted(site)
	wait := max(0, job.Started.Sub(max(quote.At, job.CommittedAt))) // the hand-off is not part of the wait
	m.starts.WithLabelValues(site, startResult(quote, wait)).Inc()
	difference(m.waitErrors, site, wait-quote.AWT)
	if job.State == protocol.Completed && quote.ERT > 0 { // else the run has ended sooner than the job
		difference(m.runErrors, site, job.RunTime()-quote.ERT)
	}
}

// quoted makes all series of a site, so that shares and differences of them can be computed.
func (m *Metrics) quoted(site string) {
	for _, result := range []string{early, within, late, noInterval} {
		m.starts.WithLabelValues(site, result)
	}
	for _, direction := range []string{longer, shorter} {
		m.waitErrors.WithLabelValues(site, direction)
		m.runErrors.WithLabelValues(site, direction)
	}
}

// The labels of a start, and of a difference.
const (
	early, within, late, noInterval = "early", "within", "late", "no_interval"
	longer, shorter                 = "longer", "shorter"
)

// startResult is the label of a start after the wait. A site that quotes no wait states an interval: now.
func startResult(quote *view.QuotedWaits, wait protocol.Duration) string {
	switch {
	case quote.High == 0 && quote.AWT > 0:
		return noInterval
	case wait < quote.Low-startTolerance:
		return early
	case wait > quote.High.Plus(startTolerance):
		return late
	}
	return within
}

// difference observes how much longer than quoted something took. Observations are never negative, so that
// the sum of a histogram does not fall.
func difference(histogram *prometheus.HistogramVec, site string, by protocol.Duration) {
	direction := longer
	if by < 0 {
		by, direction = -by, shorter
	}
	histogram.WithLabelValues(site, direction).Observe(seconds(by))
}
