package metrics

import (
	"time"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Fact counts what happened.
func (m *Metrics) Fact(f peer.Fact) {
	switch f.Kind {
	case peer.JobSubmitted:
		m.submitted.WithLabelValues("accepted").Inc()
	case peer.RoundOpened:
		m.rounds.Inc()
	case peer.RoundDecided, peer.JobShortcut:
		m.decided(f)
	case peer.JobCommitted:
		m.placed(m.self, "committed")
	case peer.JobHanded:
		m.placed(f.Site, "handed")
		m.handing.Observe(seconds(f.Took))
	case peer.OfferRefused:
		m.placed(f.Site, "refused")
	case peer.JobReturned, peer.JobRequeued:
		m.placed(f.Site, "returned")
	case peer.JobEnded:
		m.ended.WithLabelValues(f.State.String()).Inc()
	case peer.GuestRefused:
		m.guest(f.Site, "refused")
	case peer.GuestOwned:
		m.guest(f.Site, "owned")
	case peer.GuestAborted:
		m.guest(f.Site, "aborted")
	case peer.GuestEnded:
		m.guest(f.Site, f.State.String())
	case peer.NeedsOperator, peer.PartnerSilent, peer.NameClash, peer.CallFailed, peer.MessageOdd:
		m.errors.WithLabelValues(string(f.Kind)).Inc()
	case peer.JobWaits, peer.JobOffered, peer.JobGranted, peer.JobStarted, peer.JobCancelled, peer.GuestPrepared,
		peer.GuestStarted, peer.GuestClosed, peer.PartnerUp, peer.PartnerDown:
		// For people, or counted elsewhere.
	}
}

// decided counts the quotes that a job got.
func (m *Metrics) decided(f peer.Fact) {
	m.placing.Observe(seconds(f.Took))
	for _, quote := range f.Quotes {
		result := "offered"
		if quote.Declined != "" {
			result = "declined"
		}
		m.quotes.WithLabelValues(string(quote.Site), result).Inc()
	}
	for _, site := range f.Silent {
		m.quotes.WithLabelValues(site, "silent").Inc()
	}
}

func (m *Metrics) placed(to protocol.SiteName, result string) {
	m.placements.WithLabelValues(string(m.self), string(to), result).Inc()
}

func (m *Metrics) guest(from protocol.SiteName, result string) {
	m.guests.WithLabelValues(string(from), result).Inc()
}

func seconds(d protocol.Duration) float64 { return d.Std().Seconds() }

// unix is an instant as Prometheus counts time.
func unix(at protocol.Instant) float64 { return float64(at) / float64(time.Second/time.Millisecond) }
