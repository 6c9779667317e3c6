//go:build race

package forecast_test

const raceEnabled = true
