// Package phase is the tables by which things change their phase, and in no other way: from where a
// phase is entered, and what entering it resets.
package phase

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Created is where something new comes from.
const Created = ""

// Entry is one phase of a table: P is the type of the phase, R of what has it.
type Entry[P ~string, R any] struct {
	From   []P      // where it is entered from; [Created]: something is made in it
	Resets func(*R) // when it is entered; nil: nothing
}

// Table has an entry for each phase.
type Table[P ~string, R any] map[P]Entry[P, R]

// MoveError is a move between phases that is in no table: a fault of the peer.
type MoveError struct {
	What     string // that was to move
	From, To string // the phases
}

func (e *MoveError) Error() string {
	return fmt.Sprintf("%s is in phase %q, from which phase %q must not be entered", e.What, e.From, e.To)
}

// Move has something enter a phase; name names it in an error. An illegal move is a [MoveError], and
// changes nothing.
func (t Table[P, R]) Move(name func() string, what *R, at *P, to P) error {
	entry, known := t[to]
	if !known || !slices.Contains(entry.From, *at) {
		return &MoveError{What: name(), From: string(*at), To: string(to)}
	}
	if *at = to; entry.Resets != nil {
		entry.Resets(what)
	}
	return nil
}

// Read takes the table's own string, so that many share it.
func (t Table[P, R]) Read(into *P, text []byte) error {
	for known := range t {
		if string(known) == string(text) {
			*into = known
			return nil
		}
	}
	return fmt.Errorf("phase %q is unknown; the row may come from a newer version", text)
}

// Lines lists the moves, a line for each phase, for the page that explains them.
func (t Table[P, R]) Lines(what string) (out []string) {
	for _, to := range slices.Sorted(maps.Keys(t)) {
		from := make([]string, len(t[to].From))
		for i, one := range t[to].From {
			from[i] = cmp.Or(string(one), "(new)")
		}
		out = append(out, fmt.Sprintf("| %s | `%s` | %s |", what, to, strings.Join(from, ", ")))
	}
	return out
}
