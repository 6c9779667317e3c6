package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// seconds prints a mean of times as span does.
func seconds(s float64) string {
	return span(protocol.Duration(math.Round(s)) * protocol.Second)
}

// part prints a fraction in percent, with one decimal.
func part(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// decimals prints a number so that people can compare it.
func decimals(x float64) string {
	if math.Abs(x) >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// times says how many times shorter the second is.
func times(long, short float64) string {
	if short <= 0 || long <= 0 {
		return "-"
	}
	return "÷" + strconv.FormatFloat(long/short, 'f', 2, 64)
}

// plainLines is plain that keeps line ends.
func plainLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return strings.Join(lines, "\n")
}

// wrapped lists words in lines of about that width.
func wrapped(words []string, width int) string {
	var b strings.Builder
	line := 0
	for i, word := range words {
		switch {
		case i == 0:
		case line+len(word) > width:
			b.WriteString(",\n")
			line = 0
		default:
			b.WriteString(", ")
		}
		b.WriteString(word)
		line += len(word) + 2
	}
	return b.String()
}
