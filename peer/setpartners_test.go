package peer_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPartnersAsAfterARestart: in random grids, what a peer that was given other partners says of
// its partners and its jobs is what one says that is started with these partners on its rows.
func TestPartnersAsAfterARestart(t *testing.T) {
	t.Parallel()
	missing := 0
	for seed := uint64(1); seed <= 80; seed++ {
		c := newChaos(t, 8_000_000+seed)
		c.nemesis.CommitBy, c.nemesis.CrashEach = 0, 0 // the rows are what the peer has
		c.timeless = true                              // the one that is started is so an hour later
		for range 40 {
			c.world.After(c.between(0, int64(c.span)), c.arrive)
		}
		c.nemesis.Unleash(c.world)
		c.world.Advance(c.between(10_000, int64(c.span)))
		whole := map[protocol.SiteName][]rules.Partner{}
		var cfg rules.Config
		s := c.world.Sites()[0]
		for range 3 {
			c.world.Configure(s.Name, func(cfg *rules.Config) {
				if whole[s.Name] == nil {
					whole[s.Name] = cfg.Partners
				}
			})
			c.setPartnersOf(s, whole[s.Name])
			c.world.Configure(s.Name, func(has *rules.Config) { cfg = *has })
			again := newCardsOf(t, cfg, s.Rows().Copy().Rows)
			live := reportedBy(func(ev event.Event) view.Reply {
				return s.Answer(c.world.Ask(s.Name, func(asked event.AskID) event.Event { return numbered(ev, asked) }))
			}, s.Rows())
			restarted := reportedBy(func(ev event.Event) view.Reply { return again.ask(numbered(ev, 77)) }, s.Rows())
			if live != restarted {
				t.Fatalf("seed %d: the live peer says\n%s\nand one that is started\n%s", seed, live, restarted)
			}
			missing += strings.Count(live, "missing")
		}
	}
	if missing < 20 {
		t.Errorf("only %d times a partner left with jobs", missing)
	}
}

// setPartnersOf gives a site some of its partners.
func (c *chaos) setPartnersOf(s *peertest.Site, whole []rules.Partner) {
	var some []rules.Partner
	for _, one := range whole {
		if c.rng.IntN(2) == 0 {
			some = append(some, one)
		}
	}
	rand.New(rand.NewPCG(c.seed, 1)).Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	c.world.SetPartners(s.Name, func(cfg *rules.Config) { cfg.Partners = some })
}

// numbered is a question with its number.
func numbered(ev event.Event, asked event.AskID) event.Event {
	switch ev := ev.(type) { //nolint:gochecksumtype // those of toldOf
	case event.AskSites:
		ev.Asked = asked
		return ev
	case event.AskJob:
		ev.Asked = asked
		return ev
	}
	return ev
}

// reportedBy is what a peer says of its partners but for their sessions, and of the jobs in the rows that
// need an operator.
func reportedBy(ask func(event.Event) view.Reply, rows peertest.Rows) string {
	var out strings.Builder
	sites, _ := ask(event.AskSites{}).(view.Sites)
	for _, one := range sites.Sites[1:] {
		link := "configured"
		if one.Link == "missing" {
			link = one.Link + " " + one.Reason
		}
		fmt.Fprintln(&out, one.Site, link, one.GuestJobs, one.SentJobs)
	}
	for _, row := range rows.Jobs() {
		view, _ := ask(event.AskJob{Job: row.Spec.Job}).(view.Job)
		why := ""
		if strings.HasPrefix(view.Reason, "NeedsOperator") {
			why = view.Reason
		}
		fmt.Fprintln(&out, view.ID, row.Phase, view.Site, why)
	}
	return out.String()
}

// TestSetPartnersRefuses: a set with a fault changes nothing.
func TestSetPartnersRefuses(t *testing.T) {
	t.Parallel()
	for want, partners := range map[string][]rules.Partner{
		"configured twice":  {{Site: "b"}, {Site: "c"}, {Site: "b"}},
		"or is this site":   {{Site: "a"}},
		"negative latency":  {{Site: "b", Latency: -1}},
		`site name "B C"`:   {{Site: "B C"}},
		"site name \"\" is": {{}},
	} {
		l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
		l.step(event.SetPartners{Asked: 1, Partners: partners})
		refusal, _ := l.answers[0].(view.Refusal)
		if refusal.Code != view.BadRequest || !strings.Contains(refusal.Reason, strings.TrimSuffix(want, " is")) {
			t.Errorf("got %+v, want %q", l.answers, want)
		}
		if got := l.linkToB(); got != "up" {
			t.Errorf("%s: b is %s", want, got)
		}
	}
}

// linkToB is the state of the link to b; empty: it is no partner.
func (l *lone) linkToB() string {
	l.step(event.AskSites{Asked: 99})
	sites, _ := l.answers[len(l.answers)-1].(view.Sites)
	for _, one := range sites.Sites {
		if one.Site == "b" {
			return one.Link
		}
	}
	return ""
}

// TestAPartnersKeyChanges: what was heard with the old key counts no more. Other keys of a partner
// change at once, and the session goes on.
func TestAPartnersKeyChanges(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	l.step(event.SetPartners{Partners: []rules.Partner{{Site: "b", MaxJobs: 0}}})
	reply := l.quote(protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{{
		Request: protocol.Request{Job: protocol.NewJobID(2, 1), CPUs: 1, WallTime: 1}, User: "ada",
	}}})
	if len(reply.Quotes) != 1 || !strings.Contains(reply.Quotes[0].Declined, "max_jobs of its [[partner]] is 0") {
		t.Errorf("max_jobs has not changed: %+v", reply)
	}
	if got := l.linkToB(); got != "up" {
		t.Errorf("b is %s", got)
	}
	l.step(event.SetPartners{Partners: []rules.Partner{{Site: "b", MaxJobs: 9, PublicKey: "U"}}})
	if got := l.linkToB(); got != "down" {
		t.Errorf("with another key b is %s", got)
	}
	l.step(submission(1))
	for _, sent := range l.sent {
		if _, asks := sent.Body.(protocol.QuoteRequest); asks {
			t.Errorf("it is asked: %+v", sent)
		}
	}
}

// TestAPartnersNextKey: the session goes on when a second key is added, and ends with the removal of either.
func TestAPartnersNextKey(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	l.step(event.SetPartners{Partners: []rules.Partner{{Site: "b", MaxJobs: 9, PublicKey: "U1", NextPublicKey: "U2"}}})
	card := protocol.Card{Site: "b", Number: 2, Incarnation: 5, Protocol: protocol.ProtocolVersion, Capacity: protocol.Capacity{CPUs: 8, Nodes: 1}}
	for _, c := range []struct {
		key        string // of the partner's card; empty: it shows none anew
		configured rules.Partner
		want       string
	}{
		{"U1", rules.Partner{PublicKey: "U1", NextPublicKey: "U2"}, "up"},
		{"U2", rules.Partner{PublicKey: "U1", NextPublicKey: "U2"}, "up"},
		{"", rules.Partner{PublicKey: "U2", NextPublicKey: "U1"}, "up"},
		{"", rules.Partner{PublicKey: "U2"}, "down"},
		{"U2", rules.Partner{PublicKey: "U2", NextPublicKey: "U3"}, "up"},
		{"", rules.Partner{PublicKey: "U2"}, "down"},
	} {
		if c.key != "" {
			card.PublicKey = c.key
			l.step(event.Connected{Card: card})
		}
		c.configured.Site, c.configured.MaxJobs = "b", 9
		l.step(event.SetPartners{Partners: []rules.Partner{c.configured}})
		if got := l.linkToB(); got != c.want {
			t.Errorf("%+v: b is %s", c, got)
		}
	}
}

// TestWhatARemovedKeyShowed: neither a second life that spoke by it nor the number of a digest stays, though the card that came
// last has the other key.
func TestWhatARemovedKeyShowed(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(cfg *rules.Config) { cfg.Watermark = protocol.Second }, idle(peertest.Greedy{}, atOnce))
	partner := rules.Partner{Site: "b", MaxJobs: 9, PublicKey: "U1", NextPublicKey: "U2"}
	l.step(event.SetPartners{Partners: []rules.Partner{partner}})
	life := func(boot uint64) protocol.Card {
		return protocol.Card{
			Site: "b", Number: 2, PublicKey: fmt.Sprintf("U%d", boot), Protocol: protocol.ProtocolVersion, Capacity: protocol.Capacity{CPUs: 8, Nodes: 1},
			Incarnation: 5, Boot: boot, Begun: protocol.Instant(boot), Generation: 1,
		}
	}
	for _, boot := range []uint64{2, 1, 2, 1, 2} {
		l.step(event.Connected{Card: life(boot)})
	}
	if got := l.linkToB(); got != "refused" {
		t.Fatalf("while two lives speak, b is %s", got)
	}
	digest := func(seq uint64, busy int) int {
		l.step(event.DigestSeen{Digest: protocol.Digest{Site: "b", Seq: seq, Load: protocol.Load{CPUs: 8, Busy: busy}}})
		l.step(event.AskSites{Asked: 98})
		sites, _ := l.answers[len(l.answers)-1].(view.Sites)
		return sites.Sites[1].Busy
	}
	if digest(math.MaxUint64, 7) != 7 || digest(1, 3) != 7 {
		t.Fatal("a lower number counts after a higher one")
	}
	partner.PublicKey, partner.NextPublicKey = "U2", ""
	l.step(event.SetPartners{Partners: []rules.Partner{partner}})
	l.step(event.Connected{Card: life(1)}) // of a session that the links are about to end
	if got := l.linkToB(); got != "down" {
		t.Errorf("after the card of the removed key, b is %s", got)
	}
	l.step(event.AskSites{Asked: 98})
	if sites, _ := l.answers[len(l.answers)-1].(view.Sites); sites.Sites[1].PublicKey == "U1" {
		t.Error("b is shown with the removed key")
	}
	l.step(event.Connected{Card: life(2)})
	if got := l.linkToB(); got != "up" {
		t.Errorf("after the removal of the other key, b is %s", got)
	}
	if got := digest(1, 3); got != 3 {
		t.Errorf("the digest of the removed key hides others: %d CPUs are busy", got)
	}
}

// TestTheOwnKeyChanges: cards and the list of sites have the new one, and an event without a key leaves it as it is.
func TestTheOwnKeyChanges(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	partners := []rules.Partner{{Site: "b", MaxJobs: 9}}
	for _, ev := range []event.SetPartners{{PublicKey: "U9", Partners: partners}, {Partners: partners}} {
		l.step(ev)
		if got := l.peer.Card("b").PublicKey; got != "U9" {
			t.Errorf("after %+v the card has the key %q", ev, got)
		}
		l.step(event.AskSites{Asked: 7})
		if sites, _ := l.answers[len(l.answers)-1].(view.Sites); sites.Sites[0].PublicKey != "U9" {
			t.Errorf("after %+v the site is shown as %+v", ev, sites.Sites[0])
		}
	}
}

// TestAnOfferOfARemovedPartner: what the local scheduler was asked about it brings nothing, also if
// the partner is back meanwhile.
func TestAnOfferOfARemovedPartner(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(cfg *rules.Config) { cfg.Protect.Delay = protocol.Minute }, idle(peertest.Greedy{}, atOnce))
	l.calls = func(event.Op) (event.Result, error) { return nil, errLater }
	offer := protocol.Offer{
		Spec: protocol.Spec{Request: protocol.Request{Job: protocol.NewJobID(2, 1), CPUs: 1, WallTime: 1}, User: "ada"}, Epoch: 1,
		Payload: &protocol.Payload{},
	}
	l.step(event.MessageIn{From: "b", Body: offer})
	if len(l.open) != 1 {
		t.Fatalf("calls: %+v", l.open)
	}
	l.step(event.SetPartners{})
	if left := l.peer.Leftovers(); len(left) != 1 { // the call
		t.Errorf("left: %v", left)
	}
	l.step(event.SetPartners{Partners: []rules.Partner{{Site: "b", MaxJobs: 9}}})
	l.step(event.CallDone{ID: l.open[0].ID, Result: event.QuoteResult{Quotes: []protocol.Quote{{Job: offer.Spec.Job, ERT: 1}}}})
	for _, rec := range l.records {
		if rec.Table == row.GuestTable {
			t.Errorf("it has become a guest: %+v", rec)
		}
	}
}
