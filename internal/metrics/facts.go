package metrics

import (
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Fact counts what happened.
func (m *Metrics) Fact(f event.Fact) {
	switch f.Kind {
	case event.JobSubmitted:
		m.submitted.WithLabelValues("accepted").Inc()
	case event.RoundOpened:
		m.rounds.Inc()
	case event.RoundDecided, event.JobShortcut:
		m.decided(f)
	case event.JobCommitted:
		m.placed(m.self, "committed")
	case event.JobHanded:
		m.placed(f.Site, "handed")
		m.handing.Observe(seconds(f.Took))
	case event.OfferRefused:
		m.placed(f.Site, "refused")
	case event.JobReturned, event.JobRequeued:
		m.placed(f.Site, "returned")
	case event.JobEnded:
		m.ended.WithLabelValues(f.State.String()).Inc()
	case event.GuestRefused, event.GuestOwned, event.GuestAborted, event.GuestEnded:
		m.guests.WithLabelValues(string(f.Site), guestResult(f)).Inc()
	case event.Volunteered, event.PartnerVolunteers:
		m.volunteers.WithLabelValues(string(f.Site)).Inc()
	case event.Retuned:
		m.retuned.Inc()
	case event.NeedsOperator, event.PartnerSilent, event.NameClash, event.CallFailed, event.PolicyFailed, event.MessageOdd,
		event.PricesMissing, event.MemberClash, event.RequeueForced, event.SetAside, event.PartnerMissing, event.OutputLeft,
		event.PartnerQuality, event.RecoveryNeeded, event.TwoPeers, event.Recovered, event.KeyRefused, event.BillDisputed, event.LimitBroken, event.StartMissed:
		m.errors.WithLabelValues(string(f.Kind)).Add(float64(max(1, f.Others)))
	case event.QuestionDropped, event.OfferDropped:
		m.dropped.WithLabelValues(string(f.Site), strings.TrimSuffix(string(f.Kind), "-dropped")).Inc()
	case event.JobWaits, event.JobOffered, event.RoomHeld, event.JobGranted, event.JobStarted, event.JobCancelled, event.GuestPrepared,
		event.GuestStarted, event.GuestClosed, event.PartnerUp, event.PartnerDown, event.CallWorks:
		// For people, or counted elsewhere.
	}
}

// decided counts the quotes that a job got.
func (m *Metrics) decided(f event.Fact) {
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
func guestResult(f event.Fact) string {
	switch f.Kind { //nolint:exhaustive // of guests
	case event.GuestRefused:
		return "refused"
	case event.GuestOwned:
		return "owned"
	case event.GuestAborted:
		return "aborted"
	}
	return f.State.String()
}

func seconds(d protocol.Duration) float64 { return d.Std().Seconds() }

// unix is an instant as Prometheus counts time.
func unix(at protocol.Instant) float64 { return float64(at) / float64(time.Second/time.Millisecond) }
