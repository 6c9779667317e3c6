// Command grid imports from its own room.
package main

import "example.org/grid/cmd/grid/words"

func main() { println(words.Name) }
