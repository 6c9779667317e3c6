package phase_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/phase"
)

type colour string

type lamp struct {
	at    colour
	blown int
}

func colours() phase.Table[colour, lamp] {
	return phase.Table[colour, lamp]{
		"green": {From: []colour{phase.Created, "red"}},
		"red":   {From: []colour{"green"}, Resets: func(l *lamp) { l.blown = 0 }},
	}
}

// TestMove: a legal move resets what its phase resets, and an illegal one changes nothing.
func TestMove(t *testing.T) {
	t.Parallel()
	l := &lamp{blown: 3}
	name := func() string { return "the lamp" }
	if err := colours().Move(name, l, &l.at, "green"); err != nil || l.at != "green" || l.blown != 3 {
		t.Fatalf("made green: %v, %+v", err, l)
	}
	if err := colours().Move(name, l, &l.at, "red"); err != nil || l.at != "red" || l.blown != 0 {
		t.Fatalf("then red: %v, %+v", err, l)
	}
	l.blown = 4
	for _, to := range []colour{"red", "blue", phase.Created} {
		err := colours().Move(name, l, &l.at, to)
		if wrong, ok := errors.AsType[*phase.MoveError](err); !ok || wrong.What != "the lamp" || wrong.From != "red" || wrong.To != string(to) ||
			!strings.Contains(err.Error(), "the lamp") || l.at != "red" || l.blown != 4 {
			t.Errorf("then %q: %v, %+v", to, err, l)
		}
	}
}

// TestRead: what is in no table is refused, and not taken for another.
func TestRead(t *testing.T) {
	t.Parallel()
	var got colour
	if err := colours().Read(&got, []byte("red")); err != nil || got != "red" {
		t.Errorf("%v, %q", err, got)
	}
	for _, unknown := range []string{"", "Red", "blue"} {
		if err := colours().Read(&got, []byte(unknown)); err == nil || got != "red" {
			t.Errorf("%q is read as %q", unknown, got)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	want := []string{"| lamp | `green` | (new), red |", "| lamp | `red` | green |"}
	if got := colours().Lines("lamp"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
