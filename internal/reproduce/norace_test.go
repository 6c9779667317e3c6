//go:build !race

package reproduce_test

const raceEnabled = false
