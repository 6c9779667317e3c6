// Package nouns is pure and clean.
package nouns

import "time"

// Zero converts; that needs no clock.
func Zero() time.Time { return time.UnixMilli(0) }

// Noun is a word.
type Noun string

// Text is the word.
func (n Noun) Text() string { return string(n) }

// Pair is two of a kind.
type Pair[A, B any] struct {
	first  A
	second B
}

// First is the first of the two.
func (p *Pair[A, B]) First() A { return p.first }
