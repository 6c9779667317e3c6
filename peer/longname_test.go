package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// TestLongFileNames: a job whose file name is too long for the wire once its id stands in it is
// refused; the longest that is taken can be offered. Else the offers that no site can encode would
// look like the partner's silence.
func TestLongFileNames(t *testing.T) {
	t.Parallel()
	id := protocol.NewJobID(1, 1).String()
	for name, tt := range map[string]struct {
		change func(*protocol.Payload)
		why    string // refused; empty: taken
	}{
		"the longest":         {func(p *protocol.Payload) { p.Stdout = "/" + strings.Repeat("x", 4095) }, ""},
		"one more":            {func(p *protocol.Payload) { p.Stdout = "/" + strings.Repeat("x", 4096) }, "stdout has 4097 bytes"},
		"the longest, %j":     {func(p *protocol.Payload) { p.Stderr = strings.Repeat("/", 4096-len(id)) + "%j" }, ""},
		"one more, %j":        {func(p *protocol.Payload) { p.Stderr = strings.Repeat("/", 4097-len(id)) + "%j" }, "stderr has 4097 bytes"},
		"many, %A":            {func(p *protocol.Payload) { p.Stdout = "/" + strings.Repeat("%A", 2000) }, "stdout has 26001 bytes"},
		"a working directory": {func(p *protocol.Payload) { p.WorkDir = strings.Repeat("/", 4097) }, "working directory has 4097 bytes"},
	} {
		l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
		ev := submission(1)
		ev.Jobs[0].Spec.Sites = []protocol.SiteName{"b"}
		tt.change(ev.Jobs[0].Payload)
		l.step(ev)
		refusal, refused := l.answers[0].(view.Refusal)
		if refused != (tt.why != "") || !strings.Contains(refusal.Reason, tt.why) || refused && refusal.Code != view.BadRequest {
			t.Errorf("%s: answered %+.300v", name, l.answers[0])
		}
		if refused {
			continue
		}
		request := l.last().(protocol.QuoteRequest)
		l.step(event.MessageIn{From: "b", Body: protocol.QuoteReply{
			Round: request.Round, Quotes: []protocol.Quote{{Job: request.Jobs[0].Job, ERT: 1}}, Load: protocol.Load{CPUs: 8}, Free: 8, MaxJobs: 1,
		}})
		offer, ok := l.last().(protocol.Offer)
		if !ok {
			t.Fatalf("%s: sent %+v", name, l.last())
		}
		if _, err := peerv1.Encode(offer); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
