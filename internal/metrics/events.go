package metrics

import (
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Count counts a log event.
func (m *Metrics) Count(f event.LogEvent) {
	switch f.Kind {
	case event.LogJobSubmitted:
		m.submitted.WithLabelValues("accepted").Inc()
	case event.LogRoundOpened:
		m.rounds.Inc()
	case event.LogRoundDecided, event.LogJobPlacedLocally:
		m.decided(f)
	case event.LogJobCommitted, event.LogJobHandedOff, event.LogOfferRefused, event.LogJobRequeued, event.LogJobReclaimed, event.LogJobMoved:
		m.placement(f)
	case event.LogJobEnded:
		m.ended.WithLabelValues(f.State.String()).Inc()
	case event.LogGuestRefused, event.LogGuestAccepted, event.LogGuestAborted, event.LogGuestEnded:
		m.guests.WithLabelValues(string(f.Site), guestResult(f)).Inc()
	case event.LogVolunteered, event.LogPartnerVolunteered:
		m.volunteers.WithLabelValues(string(f.Site)).Inc()
	case event.LogReconfigured:
		m.retuned.Inc()
	case event.LogNeedsOperator, event.LogPartnerUnresponsive, event.LogSiteIDConflict, event.LogCallFailed, event.LogPolicyFailed, event.LogUnexpectedMessage,
		event.LogPricesMissing, event.LogMemberConflict, event.LogRequeueForced, event.LogUnknownLocalJob, event.LogPartnerMissing, event.LogOutputLeft,
		event.LogPartnerQuality, event.LogRecoveryNeeded, event.LogTwoPeers, event.LogRecovered, event.LogKeyRefused, event.LogBillDisputed, event.LogLimitExceeded, event.LogStartMissed: // as in errorKinds
		m.errors.WithLabelValues(string(f.Kind)).Add(float64(max(1, f.OmittedQuotes)))
	case event.LogQuoteRequestDropped, event.LogOfferDropped:
		m.dropped.WithLabelValues(string(f.Site), strings.TrimSuffix(string(f.Kind), "-dropped")).Inc()
	case event.LogJobDeferred, event.LogJobOffered, event.LogReserved, event.LogJobGranted, event.LogJobStarted, event.LogCancelRequested, event.LogRequeueRequested, event.LogJobHeld, event.LogJobReleased, event.LogJobUpdated, event.LogGuestPrepared,
		event.LogGuestStarted, event.LogGuestClosed, event.LogPartnerUp, event.LogPartnerDown, event.LogDrained, event.LogResumed, event.LogCallRestored,
		event.LogArraySubmitted, event.LogArrayEnded, event.LogMoveBegun:
		// Counted elsewhere, or of interest only in the log.
	}
}

// errorKinds are the kinds of events that are counted as errors.
func errorKinds() []event.LogKind {
	return []event.LogKind{
		event.LogNeedsOperator, event.LogPartnerUnresponsive, event.LogSiteIDConflict, event.LogCallFailed, event.LogPolicyFailed, event.LogUnexpectedMessage,
		event.LogPricesMissing, event.LogMemberConflict, event.LogRequeueForced, event.LogUnknownLocalJob, event.LogPartnerMissing, event.LogOutputLeft,
		event.LogPartnerQuality, event.LogRecoveryNeeded, event.LogTwoPeers, event.LogRecovered, event.LogKeyRefused, event.LogBillDisputed, event.LogLimitExceeded, event.LogStartMissed,
	}
}

// decided counts the answers to the quote requests for a job.
func (m *Metrics) decided(f event.LogEvent) {
	m.placing.Observe(seconds(f.Duration))
	for _, quote := range f.Quotes {
		result := "offered"
		if quote.Declined != "" {
			result = "declined"
		}
		m.quotes.WithLabelValues(string(quote.Site), result).Inc()
	}
	for _, site := range f.Silent {
		m.quotes.WithLabelValues(site, "timeout").Inc()
	}
}

// placement counts what became of an attempt to place a job.
func (m *Metrics) placement(f event.LogEvent) {
	switch f.Kind { //nolint:exhaustive // the caller passes events of placements only
	case event.LogJobCommitted:
		m.placed(m.self, "committed")
	case event.LogJobHandedOff:
		m.placed(f.Site, "handed_off")
		m.handing.Observe(seconds(f.Duration))
	case event.LogOfferRefused:
		m.placed(f.Site, "refused")
	case event.LogJobMoved:
		m.placed(f.Site, "moved")
	default:
		m.placed(f.Site, "requeued")
	}
}

func (m *Metrics) placed(to protocol.SiteName, result string) {
	m.placements.WithLabelValues(*m.policy.Load(), string(m.self), string(to), result).Inc()
}

// guestResult is the label of an event of a guest.
func guestResult(f event.LogEvent) string {
	switch f.Kind { //nolint:exhaustive // the caller passes events of guests only
	case event.LogGuestRefused:
		return "refused"
	case event.LogGuestAccepted:
		return "accepted"
	case event.LogGuestAborted:
		return "aborted"
	}
	return f.State.String()
}

func seconds(d protocol.Duration) float64 { return d.Std().Seconds() }

// unix converts an instant to seconds since the epoch, as Prometheus expects.
func unix(at protocol.Instant) float64 { return float64(at) / float64(time.Second/time.Millisecond) }
