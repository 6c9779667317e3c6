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
