// Package adapter may import its library.
package adapter

import "example.org/gossiper"

// Name names it.
const Name = gossiper.Name
