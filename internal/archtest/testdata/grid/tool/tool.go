// Package tool imports from its own room and from above.
package tool

import (
	"example.org/grid/cmd/grid/words"
	"example.org/grid/shell/adapter"
	"example.org/grid/tool/deep"
)

// Name names it.
const Name = words.Name + adapter.Name + deep.Name
