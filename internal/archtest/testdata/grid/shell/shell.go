// Package shell imports what must be injected.
package shell

import (
	"example.org/gossiper"
	"example.org/grid/tool/deep"
)

// Name names it.
const Name = gossiper.Name + deep.Name
