//go:build race

package bluegene_test

const raceEnabled = true
