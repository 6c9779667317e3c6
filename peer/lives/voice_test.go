package lives_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// life is a start of an incarnation, as far as a generation.
func life(incarnation, boot, generation uint64) protocol.Life {
	return protocol.Life{Incarnation: incarnation, Boot: boot, Begun: protocol.Instant(100 * boot), Generation: generation}
}

// A life that is heard again after another one has run all the time: both are peers of one site,
// until a life begins after both.
func TestVoiceHearsTwins(t *testing.T) {
	t.Parallel()
	a, b, c := life(1, 1, 10), life(1, 2, 10), life(1, 3, 10)
	tests := map[string]struct {
		heard []protocol.Life
		twin  protocol.Life
		said  int // how often two peers are news
	}{
		"one life":                  {[]protocol.Life{a, a}, protocol.Life{}, 0},
		"one after the other":       {[]protocol.Life{a, b, c}, protocol.Life{}, 0},
		"the first one again":       {[]protocol.Life{a, b, a}, b, 1},
		"by turns, said once":       {[]protocol.Life{a, b, a, b}, a, 1},
		"a third one after both":    {[]protocol.Life{a, b, a, c}, protocol.Life{}, 1},
		"the one before last again": {[]protocol.Life{a, b, c, a}, c, 1},
		"further on in one life":    {[]protocol.Life{a, life(1, 1, 20)}, protocol.Life{}, 0},
		"twins after a third one":   {[]protocol.Life{a, b, a, c, b}, c, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var v lives.Voice
			said := 0
			for _, one := range tt.heard {
				if text := v.Hear("b", one, protocol.Life{}, false); text != "" {
					said++
					if !strings.HasPrefix(text, "two peers run as b: "+one.String()) {
						t.Errorf("said %q", text)
					}
				}
			}
			if last := tt.heard[len(tt.heard)-1]; v.Present != last {
				t.Errorf("%v speaks, want %v", v.Present, last)
			}
			if v.Twin() != tt.twin || said != tt.said {
				t.Errorf("twin %v, said %d times, want %v and %d", v.Twin(), said, tt.twin, tt.said)
			}
			why := v.DistrustReason("b")
			if (why != "") != (tt.twin.Boot != 0) || why != "" && !strings.Contains(why, "two peers run as b: ") {
				t.Errorf("distrusted since %q", why)
			}
		})
	}
}

// Lives of long ago are forgotten: of a site that starts again and again nothing piles up.
func TestVoiceForgetsFormerLives(t *testing.T) {
	t.Parallel()
	for since, twins := range map[uint64]bool{8: true, 9: false} {
		var v lives.Voice
		v.Hear("b", life(1, 1, 1), protocol.Life{}, false)
		for i := range since {
			v.Hear("b", life(1, 2+i, 1), protocol.Life{}, false)
		}
		if got := v.Hear("b", life(1, 1, 1), protocol.Life{}, false) != ""; got != twins {
			t.Errorf("after %d more lives the first one is a twin: %v, want %v", since, got, twins)
		}
	}
}

func TestVoiceDistrust(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		life, known protocol.Life
		stopped     bool
		want        string // in the reason; empty: it is believed
	}{
		"as known":         {life(1, 1, 5), life(1, 1, 5), false, ""},
		"never heard of":   {life(1, 1, 5), protocol.Life{}, false, ""},
		"a later start":    {life(1, 2, 5), life(1, 1, 5), false, ""},
		"an older store":   {life(1, 2, 4), life(1, 1, 5), false, "its store is older than what it has said of it before: it is at " + life(1, 2, 4).String() + ", and was at " + life(1, 1, 5).String()},
		"an older line":    {life(1, 9, 9), life(2, 1, 1), false, "its store is older"},
		"a new line":       {life(2, 1, 1), life(1, 9, 9), false, ""},
		"stopped":          {life(1, 1, 5), life(1, 1, 5), true, "it starts nothing until its operator has run"},
		"stopped and old":  {life(1, 2, 4), life(1, 1, 5), true, "it starts nothing"},
		"a little further": {life(1, 1, 9), life(1, 1, 5), false, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var v lives.Voice
			if news := v.Hear("b", tt.life, tt.known, tt.stopped); news != "" {
				t.Errorf("two peers: %s", news)
			}
			why := v.DistrustReason("b")
			if (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
				t.Errorf("distrusted since %q, want %q", why, tt.want)
			}
			if v.Hear("b", tt.life, tt.life, false); v.DistrustReason("b") != "" {
				t.Errorf("still distrusted: %s", v.DistrustReason("b"))
			}
		})
	}
}

func TestVoiceLate(t *testing.T) {
	t.Parallel()
	var v lives.Voice
	if v.OtherThan(life(1, 1, 1)) || v.Late(life(1, 1, 1)) {
		t.Error("nothing has been heard, and a first life is late or another one")
	}
	v.Hear("b", life(2, 2, 9), protocol.Life{}, false)
	tests := map[string]struct {
		life        protocol.Life
		late, other bool
	}{
		"the same":               {life(2, 2, 9), false, false},
		"the same, before":       {life(2, 2, 1), false, false},
		"an earlier start":       {life(2, 1, 9), true, true},
		"a later start":          {life(2, 3, 1), false, true},
		"an older line":          {life(1, 9, 9), true, true},
		"a newer line":           {life(3, 1, 1), false, true},
		"another of that number": {protocol.Life{Incarnation: 2, Boot: 2, Begun: 1, Generation: 9}, true, true},
	}
	for name, tt := range tests {
		if v.Late(tt.life) != tt.late || v.OtherThan(tt.life) != tt.other {
			t.Errorf("%s: late %v, another %v", name, v.Late(tt.life), v.OtherThan(tt.life))
		}
	}
}
