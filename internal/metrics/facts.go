package metrics

import (
	"strings"
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
	case peer.GuestRefused, peer.GuestOwned, peer.GuestAborted, peer.GuestEnded:
		m.guests.WithLabelValues(string(f.Site), guestResult(f)).Inc()
	case peer.Volunteered, peer.PartnerVolunteers:
		m.volunteers.WithLabelValues(string(f.Site)).Inc()
	case peer.Retuned:
		m.retuned.Inc()
	case peer.NeedsOperator, peer.PartnerSilent, peer.NameClash, peer.CallFailed, peer.PolicyFailed, peer.MessageOdd,
		peer.PricesMissing, peer.MemberClash, peer.RequeueForced, peer.SetAside, peer.PartnerMissing, peer.OutputLeft,
		peer.PartnerQuality, peer.RecoveryNeeded, peer.TwoPeers, peer.Recovered, peer.KeyRefused, peer.BillDisputed, peer.LimitBroken, peer.StartMissed:
		m.errors.WithLabelValues(string(f.Kind)).Add(float64(max(1, f.Others)))
	case peer.QuestionDropped, peer.OfferDropped:
		m.dropped.WithLabelValues(string(f.Site), strings.TrimSuffix(string(f.Kind), "-dropped")).Inc()
	case peer.JobWaits, peer.JobOffered, peer.RoomHeld, peer.JobGranted, peer.JobStarted, peer.JobCancelled, peer.GuestPrepared,
		peer.GuestStarted, peer.GuestClosed, peer.PartnerUp, peer.PartnerDown, peer.CallWorks:
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
	m.placements.WithLabelValues(*m.policy.Load(), string(m.self), string(to), result).Inc()
}

// guestResult is what became of a job of another site.
func guestResult(f peer.Fact) string {
	switch f.Kind { //nolint:exhaustive // of guests
	case peer.GuestRefused:
		return "refused"
	case peer.GuestOwned:
		return "owned"
	case peer.GuestAborted:
		return "aborted"
	}
	return f.State.String()
}

func seconds(d protocol.Duration) float64 { return d.Std().Seconds() }

// unix is an instant as Prometheus counts time.
func unix(at protocol.Instant) float64 { return float64(at) / float64(time.Second/time.Millisecond) }
