// Package words lies in the room of cmd.
package words

// Name names it.
const Name = "words"
