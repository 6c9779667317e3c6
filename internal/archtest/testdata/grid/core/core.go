// Package core breaks every rule of a pure room.
package core

import (
	"os"
	clock "time"

	"example.org/grid/nouns"
	"example.org/grid/shell/adapter"
)

// Run has a clock, a goroutine and a file.
func Run() {
	go os.Exit(1)
	now := clock.Now
	_, _, _ = now, nouns.Zero, adapter.Name
}
