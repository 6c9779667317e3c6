// Package nouns is pure and clean.
package nouns

import "time"

// Zero converts; that needs no clock.
func Zero() time.Time { return time.UnixMilli(0) }
