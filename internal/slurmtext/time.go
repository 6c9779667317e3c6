package slurmtext

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Clock prints instants as people at a place read them.
type Clock struct {
	Now   protocol.Instant
	Zone  *time.Location
	Style string // SLURM_TIME_FORMAT: empty or "standard", "relative", or a format of strftime(3)
}

// Time prints an instant; absent stands for one that is 0.
func (c *Clock) Time(at protocol.Instant, absent string) string {
	if at == 0 {
		return absent
	}
	local := at.Time().In(c.Zone)
	switch c.Style {
	case "", "standard":
		return local.Format("2006-01-02T15:04:05")
	case "relative":
		return strftime(relative(local, c.Now.Time().In(c.Zone)), local)
	}
	return strftime(c.Style, local)
}

// Heading is the line with the time above long lists, as ctime(3) prints it.
func (c *Clock) Heading() string { return strftime("%a %b %d %H:%M:%S %Y", c.Now.Time().In(c.Zone)) }

// relative is the format for a time near another one.
func relative(at, now time.Time) string {
	const perYear = 1000 // as Slurm counts, so that days of different years are far from each other
	switch days := perYear*(at.Year()-now.Year()) + at.YearDay() - now.YearDay(); {
	case days == -1:
		return "Ystday %H:%M"
	case days == 0:
		return "%H:%M:%S"
	case days == 1:
		return "Tomorr %H:%M"
	case days < -365 || days > 365:
		return "%-d %b %Y"
	case days < -1 || days > 6:
		return "%-d %b %H:%M"
	}
	return "%a %H:%M"
}

// strftime prints a time in a format of strftime(3) in the C locale. A conversion that is not known is printed as it
// stands.
func strftime(format string, t time.Time) string {
	layouts := map[byte]string{
		'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan", 'd': "02", 'e': "_2", 'H': "15", 'I': "03",
		'j': "002", 'm': "01", 'M': "04", 'p': "PM", 'S': "05", 'y': "06", 'Y': "2006", 'Z': "MST", 'z': "-0700",
		'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006",
		'r': "03:04:05 PM", 'x': "01/02/06", 'X': "15:04:05",
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(format, "%")
		out.WriteString(before)
		if !found || after == "" {
			if found {
				out.WriteByte('%')
			}
			return out.String()
		}
		conversion, bare := after[0], false
		if conversion == '-' && len(after) > 1 {
			conversion, bare = after[1], true
			after = after[1:]
		}
		var text string
		switch layout, ok := layouts[conversion]; {
		case ok:
			text = t.Format(layout)
		case conversion == 's':
			text = strconv.FormatInt(t.Unix(), 10)
		case conversion == 'n':
			text = "\n"
		case conversion == 't':
			text = "\t"
		case conversion == '%':
			text = "%"
		default:
			text = "%" + string(conversion)
		}
		if bare && len(text) > 1 {
			text = strings.TrimPrefix(text, "0")
		}
		out.WriteString(text)
		format = after[1:]
	}
}

// seconds are the whole seconds of a duration.
func seconds(d protocol.Duration) int64 { return int64(d / protocol.Second) }

// Span prints a duration as squeue does: 0:05, 1:00:00, 2-00:00:00.
func Span(d protocol.Duration) string {
	days, h, m, s := split(d)
	switch {
	case days > 0:
		return fmt.Sprintf("%d-%02d:%02d:%02d", days, h, m, s)
	case h > 0:
		return fmt.Sprintf("%d:%02d:%02d", h, m, s)
	}
	return fmt.Sprintf("%d:%02d", m, s)
}

// LongSpan prints a duration as scontrol and sacct do: 00:00:05, 2-00:00:00.
func LongSpan(d protocol.Duration) string {
	days, h, m, s := split(d)
	if days > 0 {
		return fmt.Sprintf("%d-%02d:%02d:%02d", days, h, m, s)
	}
	return fmt.Sprintf("%02d:%02d:%02d", h, m, s)
}

func split(d protocol.Duration) (days, hours, minutes, rest int64) {
	s := max(0, seconds(d))
	return s / 86400, s / 3600 % 24, s / 60 % 60, s % 60
}
