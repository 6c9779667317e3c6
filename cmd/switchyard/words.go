package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// span prints a duration as h:mm:ss, or d-hh:mm:ss from a day on.
func span(d protocol.Duration) string { return d.Text() }

// brief prints a short duration to the tenth of a second.
func brief(d protocol.Duration) string {
	switch {
	case d == protocol.Never:
		return "never"
	case d < 0:
		return "-" // not known
	case d < protocol.Second:
		return fmt.Sprintf("%d ms", int64(d))
	case d < protocol.Minute:
		return fmt.Sprintf("%.1f s", d.Std().Seconds())
	}
	return span(d)
}

// clock prints an instant in local time, "-" for none.
func clock(t protocol.Instant) string {
	if t == 0 {
		return "-"
	}
	return t.Time().Local().Format("2006-01-02 15:04:05")
}

// percent prints parts per million.
func percent(ppm int) string {
	return fmt.Sprintf("%d %%", (ppm+protocol.PPM/200)/(protocol.PPM/100))
}

// amount prints money with at least two decimals, and as many as it has.
func amount(a protocol.Micro, currency string) string {
	return a.TextIn(plain(currency))
}

// ratio prints parts per million as a factor, "-" for none.
func ratio(ppm int) string {
	if ppm == 0 {
		return "-"
	}
	hundredths := (ppm + protocol.PPM/200) / (protocol.PPM / 100)
	return fmt.Sprintf("%d.%02dx", hundredths/100, hundredths%100)
}

// powerText prints what jobs draw and, if there is one, the budget that they are under, both
// in watts: "12.3/50 kW", or "-" when neither is known.
func powerText(draw int64, budget *int64) string {
	most := draw
	if budget != nil {
		most = max(draw, *budget)
	}
	text, unit := thousands, " kW"
	if most < 10_000 {
		text, unit = decimal, " W"
	}
	switch {
	case budget != nil:
		return text(draw) + "/" + text(*budget) + unit
	case draw == 0:
		return "-"
	}
	return text(draw) + unit
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// thousands prints a thousandth of a number, to the tenth if it is not whole.
func thousands(n int64) string {
	text := decimal(n / 1000)
	if tenth := n % 1000 / 100; tenth > 0 {
		text += "." + decimal(tenth)
	}
	return text
}

// plain makes text of other people harmless for a terminal.
func plain(s string) string { return protocol.EscapeText(s) }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return plain(s)
}

// elapsed is how long a job has run, up to now if it still does.
func elapsed(job view.Job, now time.Time) string {
	if job.Started == 0 {
		return "0:00:00"
	}
	end := job.Ended
	if end == 0 {
		end = protocol.InstantOf(now)
	}
	return span(max(0, end.Sub(job.Started)))
}

// ending says how a job ended, or "" while it has not.
func ending(job view.Job) string {
	switch {
	case !job.State.Terminal():
		return ""
	case job.State != protocol.Completed && job.ExitCode == 0 && job.Signal == 0:
		return "" // it did not end by itself
	case job.Signal != 0:
		return fmt.Sprintf("signal %d", job.Signal)
	}
	return fmt.Sprintf("exit code %d", job.ExitCode)
}

// finePercent prints parts per million with two decimals, rounded up.
func finePercent(ppm int) string {
	hundredths := (ppm + 99) / 100
	return fmt.Sprintf("%d.%02d %%", hundredths/100, hundredths%100)
}
