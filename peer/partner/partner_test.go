package partner_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const now protocol.Instant = 1_000_000

// card is that of site b, number 2, with 8 CPUs.
func card(set ...func(*protocol.Card)) protocol.Card {
	c := protocol.Card{
		Site: "b", Number: 2, Incarnation: 5, Protocol: protocol.ProtocolVersion,
		Capacity: protocol.Capacity{CPUs: 8, Nodes: 1}, Software: "1.0",
	}
	for _, f := range set {
		f(&c)
	}
	return c
}

// connected is site b in a session.
func connected() *partner.Partner {
	p := partner.New(rules.Partner{Site: "b", MaxJobs: 3})
	p.Connect(card())
	return p
}

func TestUsable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		set             func(*partner.Partner)
		usable, reached bool
	}{
		"connected":       {func(*partner.Partner) {}, true, true},
		"not linked":      {func(p *partner.Partner) { p.Linked = false }, false, false},
		"without a card":  {func(p *partner.Partner) { p.Card = nil }, false, true},
		"barred":          {func(p *partner.Partner) { p.Barred = "why" }, false, true},
		"missed deadline": {func(p *partner.Partner) { p.MissDeadline() }, false, false},
	}
	for name, tt := range tests {
		p := connected()
		if tt.set(p); p.Usable() != tt.usable || p.Reached() != tt.reached {
			t.Errorf("%s: usable %v, reached %v", name, p.Usable(), p.Reached())
		}
	}
}

// A partner may run what its card says that it can.
func TestEligible(t *testing.T) {
	t.Parallel()
	fits := protocol.Spec{Request: protocol.Request{CPUs: 8, WallTime: protocol.Hour}}
	large := protocol.Spec{Request: protocol.Request{CPUs: 9, WallTime: protocol.Hour}}
	p := connected()
	if !p.Eligible(&fits, false) || p.Eligible(&large, false) || p.Eligible(&fits, true) {
		t.Errorf("by its card: %v, %v, %v", p.Eligible(&fits, false), p.Eligible(&large, false), p.Eligible(&fits, true))
	}
	if p.Card.Reserves = true; !p.Eligible(&fits, true) {
		t.Error("a partner that holds room gets no components that start together")
	}
	if p.Barred = "why"; p.Eligible(&fits, false) {
		t.Error("a partner that is barred is eligible")
	}
	if p.Barred, p.Card = "", nil; p.Eligible(&fits, false) {
		t.Error("a partner of which nothing is known is eligible")
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	lived := func(incarnation, boot uint64) protocol.Card {
		return card(func(c *protocol.Card) { c.Incarnation, c.Boot = incarnation, boot })
	}
	tests := map[string]struct {
		before              []protocol.Card // sessions
		ended               bool            // the last of them has
		card                protocol.Card
		renewed, overlapped bool
	}{
		"first session":             {card: lived(5, 1), renewed: true},
		"again":                     {before: []protocol.Card{lived(5, 1)}, ended: true, card: lived(5, 1)},
		"again, unseen":             {before: []protocol.Card{lived(5, 1)}, card: lived(5, 1)},
		"started again":             {before: []protocol.Card{lived(5, 1)}, ended: true, card: lived(5, 2)},
		"started again, unseen":     {before: []protocol.Card{lived(5, 1)}, card: lived(5, 2), overlapped: true},
		"another store":             {before: []protocol.Card{lived(5, 1)}, ended: true, card: lived(6, 1), renewed: true},
		"without lives before that": {before: []protocol.Card{lived(5, 0)}, card: lived(5, 1)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := partner.New(rules.Partner{Site: "b"})
			for _, c := range tt.before {
				p.Connect(c)
				if c.Boot != 0 {
					p.HearLife(c.Life(), false, now, 0)
				}
			}
			if tt.ended && (!p.Disconnect(now, "reset") || p.Linked || p.Unlinked != "reset" || p.Heard != now) {
				t.Errorf("after the session: %+v", p)
			}
			renewed, overlapped := p.Connect(tt.card)
			if renewed != tt.renewed || overlapped != tt.overlapped {
				t.Errorf("renewed %v, overlapped %v", renewed, overlapped)
			}
			if !p.Linked || p.Unlinked != "" || !reflect.DeepEqual(*p.Card, tt.card) {
				t.Errorf("in the session: %+v", p)
			}
		})
	}
}

func TestDisconnect(t *testing.T) {
	t.Parallel()
	p := connected()
	p.Volunteer = partner.Volunteering{Until: now + 1, AnyNumber: true}
	if !p.Disconnect(now, "") || p.Volunteer.Live(now) {
		t.Error("a partner without a session still volunteers")
	}
	if p.Disconnect(now+5, "the key is another one") || p.Heard != now || p.Unlinked != "the key is another one" {
		t.Errorf("there was no session: heard %d, since %q", p.Heard, p.Unlinked)
	}
}

func TestResponsive(t *testing.T) {
	t.Parallel()
	p := connected()
	p.Volunteer = partner.Volunteering{Until: now + 1, AnyNumber: true}
	if p.Hear(now) || p.Heard != now {
		t.Error("a partner comes back that was there")
	}
	if !p.MissDeadline() || p.MissDeadline() || p.Volunteer.Live(now) {
		t.Error("a deadline is not missed once")
	}
	if !p.Hear(now+1) || p.Hear(now+2) || p.Heard != now+2 || !p.Usable() {
		t.Error("it does not come back once")
	}
}

func TestIncarnation(t *testing.T) {
	t.Parallel()
	p := partner.New(rules.Partner{Site: "b"})
	if p.Incarnation() != 0 {
		t.Errorf("of a partner that was never heard: %d", p.Incarnation())
	}
	if p.Connect(card()); p.Incarnation() != 5 {
		t.Errorf("by its card: %d", p.Incarnation())
	}
	if p.HearLife(protocol.Life{Incarnation: 7, Boot: 1}, false, now, 0); p.Incarnation() != 7 {
		t.Errorf("by its life: %d", p.Incarnation())
	}
}

// The row of a partner is written for another life at once, and for changes of the same one now
// and then; what is not believed is not written.
func TestHearLife(t *testing.T) {
	t.Parallel()
	const pause = protocol.Minute
	life := func(boot, generation uint64) protocol.Life {
		return protocol.Life{Incarnation: 5, Boot: boot, Begun: protocol.Instant(boot), Generation: generation}
	}
	tests := map[string]struct {
		life    protocol.Life
		stopped bool
		after   protocol.Duration
		changed bool
		trusted bool
	}{
		"the same":              {life(2, 10), false, pause, false, true},
		"further":               {life(2, 11), false, pause, true, true},
		"further, a moment ago": {life(2, 11), false, pause - 1, false, true},
		"a later start":         {life(3, 10), false, 0, true, true},
		"an older store":        {life(3, 9), false, pause, false, false},
		"stopped":               {life(3, 11), true, pause, false, false},
		"before, in its life":   {life(2, 9), false, pause, false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := connected()
			if _, changed := p.HearLife(life(2, 10), false, now, pause); !changed {
				t.Error("the first life is not written")
			}
			twoPeers, changed := p.HearLife(tt.life, tt.stopped, now.Add(tt.after), pause)
			if changed != tt.changed || twoPeers != "" || (p.DistrustReason() == "") != tt.trusted {
				t.Errorf("changed %v, two peers %q, distrusted since %q", changed, twoPeers, p.DistrustReason())
			}
			if want := tt.life; changed != (p.Row.Life == want && want != life(2, 10)) {
				t.Errorf("the row has %v", p.Row.Life)
			}
		})
	}
	p := connected()
	p.HearLife(life(2, 10), false, now, pause)
	p.HearLife(life(3, 10), false, now, pause)
	if twoPeers, _ := p.HearLife(life(2, 12), false, now, pause); !strings.Contains(twoPeers, "two peers run as b") {
		t.Errorf("two peers: %q", twoPeers)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	busy := func(cpus int) protocol.Load { return protocol.Load{CPUs: 8, Busy: cpus} }
	p := connected()
	if p.LoadAge(now) != nil {
		t.Errorf("age of a load that is not known: %d", *p.LoadAge(now))
	}
	p.HearDigest(7, busy(1), now-50)
	for _, tt := range []struct {
		what string
		seq  uint64
		at   protocol.Instant
		want int // CPUs that are busy then
	}{
		{"the same digest again", 7, now, 1},
		{"an older digest", 6, now, 1},
		{"a newer one", 8, now - 40, 8},
		{"a newer one of an older load", 9, now - 45, 8},
		{"one as old as what is known", 10, now - 40, 10},
	} {
		if p.HearDigest(tt.seq, busy(int(tt.seq)), tt.at); p.Load.Busy != tt.want {
			t.Errorf("%s: %d CPUs are busy, want %d", tt.what, p.Load.Busy, tt.want)
		}
	}
	if *p.LoadAge(now) != 40 {
		t.Errorf("age %d", *p.LoadAge(now))
	}
	if p.HearLoad(busy(3), now-10); p.Load.Busy != 3 || *p.LoadAge(now) != 10 {
		t.Errorf("by its own word: %+v at %d", p.Load, p.LoadAt)
	}
	first := connected()
	if first.HearDigest(0, busy(4), now); first.Load.Busy != 4 {
		t.Error("the digest with number 0 is not taken")
	}
}

func TestHearLimits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ jobs, cpus, moreJobs, moreCPUs, wantJobs, wantCPUs int }{
		"more than the card says": {3, 30, 5, 50, 5, 50},
		"less":                    {3, 30, 2, 20, 3, 30},
		"it does not say CPUs":    {3, 30, 5, 0, 5, 30},
		"the card has no limits":  {0, 0, 5, 50, 0, 0},
	}
	for name, tt := range tests {
		p := connected()
		p.Card.MaxJobs, p.Card.MaxCPUs = tt.jobs, tt.cpus
		if p.HearLimits(tt.moreJobs, tt.moreCPUs); p.Card.MaxJobs != tt.wantJobs || p.Card.MaxCPUs != tt.wantCPUs {
			t.Errorf("%s: %d jobs, %d CPUs", name, p.Card.MaxJobs, p.Card.MaxCPUs)
		}
	}
	partner.New(rules.Partner{Site: "b"}).HearLimits(5, 5) // there is no card to correct
}

func TestLink(t *testing.T) {
	t.Parallel()
	const perGB, perHour = 3_000_000, 7_000_000
	there, back := protocol.Transfer(4e9, 50, 1e6), protocol.Transfer(2e9, 50, 1e6)
	link := cost.Link{PerGB: perGB, PerHour: perHour}
	tests := map[string]struct {
		data, out, bandwidth int64
		travels              protocol.Duration
		costs                protocol.Micro
	}{
		"there and back":       {4e9, 2e9, 1e6, there, link.Cost(4e9, 2e9, there+back)},
		"there":                {4e9, 0, 1e6, there, link.Cost(4e9, 0, there)},
		"back":                 {0, 2e9, 1e6, 0, link.Cost(0, 2e9, back)},
		"no data":              {0, 0, 1e6, 0, 0},
		"a link of no account": {4e9, 2e9, 0, 0, link.Cost(4e9, 2e9, 0)},
	}
	for name, tt := range tests {
		p := partner.New(rules.Partner{Site: "b", Latency: 50, Bandwidth: tt.bandwidth, PerGB: perGB, PerHour: perHour})
		spec := protocol.Spec{Data: tt.data, DataOut: tt.out}
		if p.Transfer(&spec) != tt.travels || p.LinkCost(&spec) != tt.costs {
			t.Errorf("%s: %v and %v, want %v and %v", name, p.Transfer(&spec), p.LinkCost(&spec), tt.travels, tt.costs)
		}
	}
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	p := connected()
	p.Admit(4, +1)
	p.Admit(2, +1)
	if p.Admit(4, -1); p.JobsHere != 1 || p.CPUsHere != 2 {
		t.Errorf("%d jobs on %d CPUs", p.JobsHere, p.CPUsHere)
	}
}

// What makes a partner one to be asked is noticed once, and so is what ends it.
func TestNotice(t *testing.T) {
	t.Parallel()
	p := partner.New(rules.Partner{Site: "b"})
	for _, step := range []struct {
		what string
		do   func()
		want bool
	}{
		{"nothing known", func() {}, false},
		{"connected", func() { p.Connect(card()) }, true},
		{"nothing new", func() {}, false},
		{"barred", func() { p.Barred = "why" }, true},
		{"barred and down", func() { p.Disconnect(now, "") }, false},
		{"another card", func() { p.Connect(card()) }, true},
		{"not barred", func() { p.Barred = "" }, true},
		{"the same card", func() { p.Connect(card()) }, true},
	} {
		if step.do(); p.Notice() != step.want {
			t.Errorf("%s: changed %v", step.what, !step.want)
		}
	}
}

// A partner that is heard anew keeps its place, its row and its jobs, and loses what it has said.
func TestAgain(t *testing.T) {
	t.Parallel()
	p := connected()
	p.Place, p.Departed, p.SeenSeq, p.Heard, p.Row.Number = 4, true, 77, now, 2
	p.JobsHere, p.CPUsHere, p.JobsThere = 1, 2, 3
	p.Questions = partner.Questions{Answering: 1, Marginal: true, Waiting: &partner.Question{}}
	p.Barred, p.Spoken, p.Highest, p.Unresponsive = "why", true, 9, true
	p.HearLoad(protocol.Load{Busy: 3}, now)
	p.Undone.Take(now, 1)
	want := partner.New(p.Partner)
	want.Place, want.Departed, want.SeenSeq, want.Heard, want.Row.Number = 4, true, 77, now, 2
	want.JobsHere, want.CPUsHere, want.JobsThere = 1, 2, 3
	want.Questions = partner.Questions{Answering: 1, Marginal: true}
	if p.Again(); !reflect.DeepEqual(p, want) {
		t.Errorf("%+v\nwant %+v", p, want)
	}
}

func TestPutOff(t *testing.T) {
	t.Parallel()
	p := connected()
	fresh := *p
	if p.PutOff(50); !reflect.DeepEqual(*p, fresh) {
		t.Errorf("what has not come about is put off: %+v", p)
	}
	p.Heard, p.LoadAt, p.Row.Quality.Probe = 1, 2, 3
	p.Volunteer = partner.Volunteering{Heard: 4, Until: 5}
	p.Questions.Waiting = &partner.Question{Until: 6}
	p.Rechecks.Next(now, 100)
	p.HearLife(protocol.Life{Incarnation: 5, Boot: 1, Generation: 1}, false, now, 100)
	p.Judge(row.Kept, now, 0)
	p.PutOff(50)
	got := []protocol.Instant{p.Heard, p.LoadAt, p.Row.Quality.Probe, p.Volunteer.Heard, p.Volunteer.Until, p.Questions.Waiting.Until}
	if want := []protocol.Instant{51, 52, 53, 54, 55, 56}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if at := p.Rechecks.Next(now, 100); at != now+150 {
		t.Errorf("it may be asked again at %d", at)
	}
	later := protocol.Life{Incarnation: 5, Boot: 1, Generation: 2}
	if _, changed := p.HearLife(later, false, now+149, 100); changed {
		t.Error("a row is written too early")
	}
	if _, changed := p.HearLife(later, false, now+150, 100); !changed {
		t.Error("a row is not written in time")
	}
	if _, save := p.Judge(row.Kept, now.Add(protocol.Minute)+49, 0); save {
		t.Error("a row is written for its quality too early")
	}
	if _, save := p.Judge(row.Kept, now.Add(protocol.Minute)+50, 0); !save {
		t.Error("a row is not written for its quality in time")
	}
}

func TestRechecks(t *testing.T) {
	t.Parallel()
	var r partner.Rechecks
	for _, tt := range []struct{ at, want protocol.Instant }{{100, 100}, {100, 110}, {109, 110}, {110, 110}, {115, 120}, {130, 130}} {
		if got := r.Next(tt.at, 10); got != tt.want {
			t.Errorf("at %d: next at %d, want %d", tt.at, got, tt.want)
		}
	}
}

func TestVolunteering(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		v    partner.Volunteering
		want bool
	}{
		"never":         {partner.Volunteering{}, false},
		"for any jobs":  {partner.Volunteering{Until: now + 1, AnyNumber: true}, true},
		"for one more":  {partner.Volunteering{Until: now + 1, Left: 1}, true},
		"for none more": {partner.Volunteering{Until: now + 1}, false},
		"no longer":     {partner.Volunteering{Until: now, AnyNumber: true}, false},
	} {
		if tt.v.Live(now) != tt.want {
			t.Errorf("%s: %v", name, !tt.want)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	of := func(doubtful bool, busy int) *partner.Partner {
		p := connected()
		p.Row.Quality.Doubtful, p.Load = doubtful, protocol.Load{CPUs: 8, Busy: busy}
		return p
	}
	inOrder := []*partner.Partner{of(false, 1), of(false, 8), of(true, 0), of(true, 5)}
	for i, a := range inOrder {
		for k, b := range inOrder {
			if got := partner.Order(a, b); (got < 0) != (i < k) || (got > 0) != (i > k) {
				t.Errorf("%d and %d: %d", i, k, got)
			}
		}
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		set  func(*partner.Partner)
		want func(*view.Site)
	}{
		"up": {func(*partner.Partner) {}, func(*view.Site) {}},
		"departed": {
			func(p *partner.Partner) { p.Departed, p.Barred = true, "x" },
			func(v *view.Site) { v.Link, v.Reason = "missing", "2 jobs" },
		},
		"barred": {
			func(p *partner.Partner) { p.Barred, p.Linked = "has this number", false },
			func(v *view.Site) { v.Link, v.Reason = "refused", "has this number" },
		},
		"down": {
			func(p *partner.Partner) { p.Disconnect(now, "reset"); p.Unresponsive = true },
			func(v *view.Site) { v.Link, v.Reason, v.LastSeen = "down", "reset", now },
		},
		"unresponsive": {
			func(p *partner.Partner) { p.MissDeadline() },
			func(v *view.Site) {
				v.Link, v.Reason = "unresponsive", "no answer within quote_timeout; not asked until its next message"
			},
		},
		"without a card": {
			func(p *partner.Partner) { p.Card = nil },
			func(v *view.Site) { v.Number, v.Software, v.CPUs, v.Nodes = 0, "", 0, 0 },
		},
		"with its first of two keys": {
			func(p *partner.Partner) { p.PublicKey, p.NextPublicKey, p.Card.PublicKey = "U1", "U2", "U1" },
			func(v *view.Site) { v.PublicKey, v.Reason = "U1", "uses public_key, and may use next_public_key" },
		},
		"with its second of two keys": {
			func(p *partner.Partner) {
				p.PublicKey, p.NextPublicKey, p.Card.PublicKey, p.Shared = "U1", "U2", "U2", []string{"/home"}
			},
			func(v *view.Site) {
				v.PublicKey, v.Shared = "U2", []string{"/home"}
				v.Reason = `uses next_public_key: write public_key = "U2" in its [[partner]] in place of public_key or public_key_file, and remove next_public_key; ` +
					"does not name /home in shared of its [[partner]] for this site, so files there are sent"
			},
		},
		"busy": {
			func(p *partner.Partner) {
				p.HearLoad(protocol.Load{CPUs: 8, Busy: 4, QueuedJobs: 3, Benefit: 7, PowerIdledCPUs: 2, Draw: 1500, Budget: protocol.ActiveBudget(0)}, now-10)
			},
			func(v *view.Site) {
				v.Age, v.Busy, v.Queued, v.RUS, v.Benefit, v.PowerIdledCPUs, v.Draw, v.Budget = new(protocol.Duration(10)), 4, 3, 750_000, 7, 2, 2, new(int64)
			},
		},
		"judged": {
			func(p *partner.Partner) {
				p.Row.Quality.Weights[row.Kept], p.Row.Quality.Weights[row.Late], p.Row.Quality.Doubtful = 1000, 3000, true
			},
			func(v *view.Site) {
				v.QuotesMet, v.AskedLastReason = new(250_000), "asked last, since of the latest jobs 75 % started long after its quote said"
			},
		},
		"with jobs": {
			func(p *partner.Partner) { p.JobsHere, p.JobsThere = 3, 4 },
			func(v *view.Site) { v.GuestJobs, v.SentJobs = 3, 4 },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := connected()
			tt.set(p)
			want := view.Site{Site: "b", Number: 2, Link: "up", CPUs: 8, Nodes: 1, Software: "1.0"}
			tt.want(&want)
			if got := p.View(now, "2 jobs"); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v\nwant %+v", got, want)
			}
		})
	}
}

// TestViewOfANumber: the number of a partner that has not been linked since the start is the one that its card said before.
func TestViewOfANumber(t *testing.T) {
	t.Parallel()
	p := connected()
	p.Row.Number = 3
	if got := p.View(now, ""); got.Number != 2 {
		t.Errorf("with a card: %d, want that of the card", got.Number)
	}
	p.Card = nil
	if got := p.View(now, ""); got.Number != 3 {
		t.Errorf("without a card: %d, want that of the row", got.Number)
	}
}

func TestMark(t *testing.T) {
	t.Parallel()
	p := connected()
	if _, ok := p.Mark(7); ok {
		t.Error("a partner that has seen no job has a mark")
	}
	p.Highest, p.OfHere = 42, protocol.Life{Boot: 3}
	if got, ok := p.Mark(7); !ok || got != (view.PartnerMark{Site: "b", Life: p.OfHere, Highest: protocol.NewJobID(7, 42)}) {
		t.Errorf("%+v", got)
	}
}
