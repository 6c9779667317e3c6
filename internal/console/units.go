package console

import (
	"fmt"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
)

// Power prints what jobs draw and, if there is one, the budget that they are under, both
// in watts: "12.3/50 kW", or "-" when neither is known.
func Power(draw int64, budget *int64) string {
	most := draw
	if budget != nil {
		most = max(draw, *budget)
	}
	text, unit := thousands, " kW"
	if most < 10_000 {
		text, unit = whole, " W"
	}
	switch {
	case budget != nil:
		return text(draw) + "/" + text(*budget) + unit
	case draw == 0:
		return "-"
	}
	return text(draw) + unit
}

func whole(n int64) string { return decimal.Text(n, 0, 0) }

// thousands prints a thousandth of a number, to the tenth if it is not whole.
func thousands(n int64) string { return decimal.Text(n/100, 1, 0) }

// Kilowatts prints milliwatts to the tenth of a kilowatt.
func Kilowatts(milliwatts int64) string { return fmt.Sprintf("%.1f kW", float64(milliwatts)/1e6) }

// Energy prints millijoules in kWh, to three digits or the watt hour.
func Energy(millijoules int64) string {
	const kWh = 3_600_000_000
	n := float64(millijoules) / kWh
	digits := 0
	switch {
	case n >= 100:
	case n >= 1:
		digits = 2
	case n > 0:
		digits = 3
		for least := .1; digits < 9 && n < least; least /= 10 {
			digits++
		}
	}
	return strconv.FormatFloat(n, 'f', digits, 64) + " kWh"
}

// Measured prints an amount in units with a prefix and three digits or so, "-" when
// it was not measured.
func Measured(n int64, unit float64, name string) string {
	if n <= 0 {
		return "-"
	}
	const prefixes = " kMGTPE"
	const rounded = 999.5 // what is printed as 1000
	value, prefix := float64(n)*unit, 0
	for value >= rounded && prefix < len(prefixes)-1 {
		value, prefix = value/1000, prefix+1
	}
	decimals := 2
	if value >= 100 {
		decimals = 0
	}
	text := strconv.FormatFloat(value, 'f', decimals, 64) + " "
	if prefix > 0 {
		text += prefixes[prefix : prefix+1]
	}
	return text + name
}
