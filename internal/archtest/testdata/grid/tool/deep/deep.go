// Package deep lies in the room of tool.
package deep

// Name names it.
const Name = "deep"
