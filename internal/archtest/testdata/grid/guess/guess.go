// Package guess is pure and reaches a module that its library brings along.
package guess

import "example.org/stats"

// Mean is a mean.
const Mean = stats.Mean
