package partner_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// set are the partners of a life that begins with them.
func set(sites ...protocol.SiteName) *partner.Set {
	s := partner.NewSet()
	for _, site := range sites {
		s.Begin(rules.Partner{Site: site})
	}
	return &s
}

func names(s *partner.Set) string {
	var out []string
	for _, one := range s.All() {
		out = append(out, string(one.Site))
	}
	return strings.Join(out, " ")
}

// A site that leaves and comes back has what the rows say of it, and another place, so that what
// was asked for it before is not taken for its own.
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := set("b", "d")
	s.Restore(row.Partner{Site: "b", Number: 2})
	s.Restore(row.Partner{Site: "c", Number: 3})
	if s.Of("b").Row.Number != 2 || s.Of("c") != nil || s.Row("c").Number != 3 {
		t.Errorf("restored: %+v, %+v", s.Of("b").Row, s.Row("c"))
	}
	c := partner.New(rules.Partner{Site: "c"})
	s.Enter(c)
	if names(s) != "b c d" || s.Of("c") != c || c.Row.Number != 3 {
		t.Errorf("%s; c: %+v", names(s), c.Row)
	}
	first := c.ID()
	if s.At(first) != c || s.At(partner.ID{Site: "c"}) != nil || s.At(partner.ID{Site: "x"}) != nil || s.At(s.Of("b").ID()) != s.Of("b") {
		t.Error("an ID does not name the partner that has the place")
	}

	c.Departed, c.Row.Number = true, 33
	s.Depart(map[protocol.SiteName]bool{"c": true})
	if names(s) != "b c d" {
		t.Errorf("%s: a site that jobs concern has left", names(s))
	}
	s.Depart(nil)
	if names(s) != "b d" || s.Of("c") != nil || s.At(first) != nil || s.Row("c").Number != 33 {
		t.Errorf("%s; %+v", names(s), s.Row("c"))
	}
	again := partner.New(rules.Partner{Site: "c"})
	s.Enter(again)
	if names(s) != "b c d" || again.ID() == first || s.At(first) != nil || again.Row.Number != 33 {
		t.Errorf("%s; it is %+v again: %+v", names(s), again.ID(), again.Row)
	}
}

// A row that is given out shares nothing with the partner, and has a name.
func TestRow(t *testing.T) {
	t.Parallel()
	s := set("b")
	s.Of("b").Row.Quality.Failures = []uint64{1}
	got := s.Row("b")
	s.Of("b").Row.Quality.Failures[0] = 2
	if got.Site != "b" || got.Quality.Failures[0] != 1 {
		t.Errorf("%+v", got)
	}
	if got := s.Row("x"); got.Site != "x" {
		t.Errorf("of a site that was never heard of: %+v", got)
	}
}

func TestSums(t *testing.T) {
	t.Parallel()
	s := set("b", "c")
	if s.AllSpoke() || s.Highest() != 0 || s.CPUsHere() != 0 {
		t.Error("partners that were not heard have spoken")
	}
	b, c := s.Of("b"), s.Of("c")
	b.Spoken, b.Highest, b.CPUsHere = true, 9, 4
	c.Highest, c.CPUsHere = 7, 2
	if s.AllSpoke() || s.Highest() != 9 || s.CPUsHere() != 6 {
		t.Errorf("all spoke %v, highest %d, %d CPUs", s.AllSpoke(), s.Highest(), s.CPUsHere())
	}
	if c.Departed = true; !s.AllSpoke() {
		t.Error("a site that has departed is waited for")
	}
	if c.Departed, c.Spoken = false, true; !s.AllSpoke() {
		t.Error("all have spoken")
	}
	empty := set()
	if !empty.AllSpoke() {
		t.Error("a partner is waited for where there is none")
	}
}

// numbered connects partners with the numbers that their cards say, in this order.
func numbered(s *partner.Set, cards ...protocol.Card) {
	for _, c := range cards {
		one := s.Of(c.Site)
		one.Connect(c)
		s.ClaimNumber(one)
	}
}

func of(site protocol.SiteName, number protocol.SiteNumber) protocol.Card {
	return card(func(c *protocol.Card) { c.Site, c.Number = site, number })
}

// Of two partners with one number that one keeps it which had it first, until its card says
// another one or it departs.
func TestClaimNumber(t *testing.T) {
	t.Parallel()
	s := set("b", "c")
	b, c := s.Of("b"), s.Of("c")
	numbered(s, of("c", 5), of("b", 5))
	if c.Row.Number != 5 || b.Row.Number != 0 {
		t.Errorf("b has %d, c has %d", b.Row.Number, c.Row.Number)
	}
	if !s.ClaimNumber(b) || s.ClaimNumber(c) {
		t.Error("who has no number is not looked at again, or who has it is")
	}
	if s.Bar(b, 1); !strings.Contains(b.Barred, "has site number 5, by which c was known here first") {
		t.Errorf("b is barred since %q", b.Barred)
	}
	if s.Bar(c, 1); c.Barred != "" {
		t.Errorf("c is barred since %q", c.Barred)
	}
	numbered(s, of("c", 6))
	if s.ClaimNumber(b); b.Row.Number != 5 || c.Row.Number != 6 {
		t.Errorf("after c has another number: b has %d, c has %d", b.Row.Number, c.Row.Number)
	}
	if s.Bar(b, 1); b.Barred != "" {
		t.Errorf("b is barred since %q", b.Barred)
	}
	numbered(s, of("c", 5))
	b.Departed = true
	if s.ClaimNumber(c); c.Row.Number != 5 {
		t.Error("a number stays with a site that has departed")
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	older := func(b *partner.Partner) { b.HearLife(protocol.Life{Incarnation: 1, Boot: 1}, true, now, 0) }
	tests := map[string]struct {
		card  protocol.Card
		set   func(*partner.Partner)
		first bool   // c had its number first
		want  string // in the reason; empty: not barred
		news  bool
	}{
		"well":                    {card: of("b", 5)},
		"another protocol":        {card: card(func(c *protocol.Card) { c.Protocol++ }), want: "speaks protocol ", news: true},
		"this site's number":      {card: of("b", 1), want: "has site number 1, as this site has", news: true},
		"another partner's":       {card: of("b", 5), first: true, want: "by which c was known here first", news: true},
		"an older store":          {card: of("b", 5), set: older, want: "it starts nothing until its operator"},
		"an older store, as well": {card: of("b", 1), set: older, want: "it starts nothing until its operator"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set("b", "c")
			if tt.first {
				numbered(s, of("c", tt.card.Number))
			}
			numbered(s, tt.card)
			b := s.Of("b")
			if tt.set != nil {
				tt.set(b)
			}
			news := s.Bar(b, 1)
			if news != tt.news || (b.Barred == "") != (tt.want == "") || !strings.Contains(b.Barred, tt.want) {
				t.Errorf("news %v: %q", news, b.Barred)
			}
			if s.Bar(b, 1) {
				t.Error("the same reason is news again")
			}
		})
	}
}

// TestJudgeCards: the card that is new comes first, and a reason is reported once.
func TestJudgeCards(t *testing.T) {
	t.Parallel()
	s := set("b", "c", "d")
	b, c := s.Of("b"), s.Of("c")
	b.Connect(of("b", 5))
	c.Connect(of("c", 5))
	claimed, barred := s.JudgeCards(c, 1)
	if len(claimed) != 2 || claimed[0] != c || claimed[1] != b || c.Row.Number != 5 || b.Row.Number != 0 || len(barred) != 1 || barred[0] != b {
		t.Errorf("claimed %v, barred %v", claimed, barred)
	}
	if _, barred = s.JudgeCards(nil, 1); len(barred) != 0 {
		t.Errorf("barred again %v", barred)
	}
	c.Connect(of("c", 6))
	if _, barred = s.JudgeCards(c, 1); len(barred) != 0 || b.Row.Number != 5 || b.Barred != "" {
		t.Errorf("b waits for a number that is free: %+v, %v", b.Row, barred)
	}
}

// TestConflictReason: another site with the name or the number of this one is reported.
func TestConflictReason(t *testing.T) {
	t.Parallel()
	here := &rules.Config{Site: "a", Number: 1, PublicKey: "k"}
	for name, tt := range map[string]struct {
		site   protocol.SiteName
		number protocol.SiteNumber
		key    string
		want   bool
	}{
		"this site":     {"a", 1, "k", false},
		"its name":      {"a", 2, "x", true},
		"its number":    {"b", 1, "x", true},
		"another site":  {"b", 2, "x", false},
		"its other key": {"a", 1, "x", true},
	} {
		if got := partner.ConflictReason(here, tt.site, tt.number, tt.key); (got != "") != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestSilence: a partner with a session is not silent.
func TestSilence(t *testing.T) {
	t.Parallel()
	b := set("b").Of("b")
	b.Heard = 10
	if got := b.Silence(15); got != 5 {
		t.Errorf("%d, want 5", got)
	}
	if b.Linked = true; b.Silence(15) != 0 {
		t.Error("silent during a session")
	}
}

// TestUndoneReason: a partner that takes too many offers back has to wait.
func TestUndoneReason(t *testing.T) {
	t.Parallel()
	b := set("b").Of("b")
	if got := b.UndoneReason(10); got != "" {
		t.Errorf("%q of one that takes none back", got)
	}
	for range 20_000 {
		b.Undone.Take(10, partner.UndoneCost)
	}
	if got := b.UndoneReason(10); !strings.Contains(got, "of b were taken back") {
		t.Errorf("%q", got)
	}
}
