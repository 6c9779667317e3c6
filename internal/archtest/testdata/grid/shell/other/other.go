// Package other imports its neighbour and a library without a room.
package other

import (
	"example.org/grid/shell/adapter"
	"example.org/stray"
)

// Name names it.
const Name = adapter.Name + stray.Name
