//go:build race

package sarima_test

const raceEnabled = true
