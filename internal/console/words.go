package console

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Plain makes text of other people harmless for a terminal.
func Plain(s string) string { return protocol.EscapeText(s) }

// PlainLines is [Plain] that keeps line ends.
func PlainLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Plain(lines[i])
	}
	return strings.Join(lines, "\n")
}

// OrDash is text of other people, made harmless, and "-" for none.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return Plain(s)
}

// Names lists names of any kind as text, made harmless.
func Names[T ~string](names []T) []string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = Plain(string(name))
	}
	return texts
}

// Span prints a duration as h:mm:ss, or d-hh:mm:ss from a day on.
func Span(d protocol.Duration) string { return d.Text() }

// Seconds prints a mean of times in seconds as [Span] does.
func Seconds(s float64) string { return Span(protocol.Duration(math.Round(s)) * protocol.Second) }

// Brief prints a short duration to the tenth of a second, "-" for a negative one, which is
// not known.
func Brief(d protocol.Duration) string {
	switch {
	case d == protocol.Never:
		return "never"
	case d < 0:
		return "-"
	case d < protocol.Second:
		return fmt.Sprintf("%d ms", int64(d))
	case d < protocol.Minute:
		return fmt.Sprintf("%.1f s", d.Std().Seconds())
	}
	return Span(d)
}

// Clock prints an instant in local time, "-" for none.
func Clock(t protocol.Instant) string {
	if t == 0 {
		return "-"
	}
	return t.Time().Local().Format("2006-01-02 15:04:05")
}

// Amount prints money with at least two decimals, and as many as it has.
func Amount(a protocol.Micro, currency string) string { return a.TextIn(Plain(currency)) }

// Percent prints parts per million as a whole percentage.
func Percent(ppm int) string {
	return fmt.Sprintf("%d %%", (ppm+protocol.PPM/200)/(protocol.PPM/100))
}

// FinePercent prints parts per million with two decimals, rounded up.
func FinePercent(ppm int) string {
	return decimal.Text(int64(ppm+99)/100, 2, 2) + " %"
}

// Part prints a fraction of 1 in percent, with one decimal.
func Part(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// Ratio prints parts per million as a factor, "-" for none.
func Ratio(ppm int) string {
	if ppm == 0 {
		return "-"
	}
	return decimal.Text(int64(ppm+protocol.PPM/200)/(protocol.PPM/100), 2, 2) + "x"
}

// Times says how many times shorter the second is.
func Times(long, short float64) string {
	if short <= 0 || long <= 0 {
		return "-"
	}
	return "÷" + strconv.FormatFloat(long/short, 'f', 2, 64)
}

// Decimals prints a number so that people can compare it.
func Decimals(x float64) string {
	if math.Abs(x) >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// Number prints a count or a number of something, "-" for 0, which is not known.
func Number(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// Flowed breaks a text that is too long for one line between words, at the width in
// characters; what follows is indented.
func Flowed(text string, indent, width int) string {
	var out strings.Builder
	at := 0
	for i, word := range strings.Split(text, " ") {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+length > width:
			out.WriteString("\n" + strings.Repeat(" ", indent))
			at = 0
		default:
			out.WriteByte(' ')
			at++
		}
		out.WriteString(word)
		at += length
	}
	return out.String()
}

// Wrapped lists words with commas in lines of about that width.
func Wrapped(words []string, width int) string {
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
