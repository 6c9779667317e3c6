package protocol_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestEvidence: what may have to be shown to others later is signed, nothing else.
func TestEvidence(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for message, want := range map[protocol.Message]bool{
		protocol.Prepared{}: false, protocol.Refused{}: false, protocol.Grant{}: true, protocol.Accept{}: true,
		protocol.PrepareExpired{}: false, protocol.Status{}: false, protocol.StatusAck{}: false, protocol.ResultAck{}: false,
		protocol.Recall{}: false, protocol.Recalled{}: false, protocol.DecisionQuery{}: false, protocol.Abort{}: false,
		protocol.UnknownJob{}: false, protocol.Fenced{}: false, protocol.Watermark{}: false, protocol.OutcomeQuery{}: false, protocol.JobOutcome{}: true,
	} {
		if got := protocol.Evidence(message); got != want {
			t.Errorf("Evidence(%s) = %t", message.Kind(), got)
		}
		if seen[message.Kind()] {
			t.Errorf("two messages are of kind %s", message.Kind())
		}
		seen[message.Kind()] = true
	}
	for _, m := range []protocol.Message{protocol.Result{}, protocol.UseReport{}} {
		if !protocol.Evidence(m) {
			t.Errorf("Evidence(%s) = false", m.Kind())
		}
	}
	for _, m := range []protocol.Message{protocol.QuoteRequest{}, protocol.QuoteReply{}, protocol.Volunteer{}, protocol.Offer{}, protocol.PlannedStarts{}} {
		if protocol.Evidence(m) {
			t.Errorf("Evidence(%s) = true", m.Kind())
		}
	}
}

func TestATT(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		quote protocol.Quote
		want  protocol.Duration
	}{
		{protocol.Quote{AWT: 5, ERT: 7}, 12},
		{protocol.Quote{Declined: "full", AWT: 5, ERT: 7}, protocol.Never},
		{protocol.Quote{AWT: protocol.Never, ERT: 7}, protocol.Never},
	} {
		if got := tt.quote.ATT(); got != tt.want {
			t.Errorf("%+v: ATT %v, want %v", tt.quote, got, tt.want)
		}
	}
}
