package display

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// StateNames lists the states that [slurmtext.ParseState] reads.
func StateNames() string {
	var names []string
	for _, state := range protocol.States() {
		names = append(names, state.String()+" ("+slurmtext.StateLetters(state)+")")
	}
	return strings.Join(names, ", ")
}

// FormatColumns lists the columns for people.
func FormatColumns() string {
	var out strings.Builder
	out.WriteString("Columns of --format:")
	width := 80
	for i, c := range columns() {
		text := fmt.Sprintf(" %%%s %s", c.letter, c.what)
		if i+1 < len(columns()) {
			text += ","
		}
		if width += len(text); width > 78 {
			out.WriteString("\n ")
			width = 1 + len(text)
		}
		out.WriteString(text)
	}
	return out.String()
}

// slurmTime prints an instant in local time as Slurm does.
func slurmTime(t protocol.Instant) string {
	if t == 0 {
		return "N/A"
	}
	return t.Time().Local().Format("2006-01-02T15:04:05")
}

// quotedText is the price that a job was placed at.
func quotedText(job *view.Job) string {
	if job.Quoted == nil {
		return "-"
	}
	return console.Amount(job.Quoted.Cost, job.Quoted.Currency)
}

// billedText is what a job that has ended was billed.
func billedText(job *view.Job) string {
	if job.Bill == nil || job.Bill.Open {
		return "-"
	}
	return console.Amount(job.Bill.Cost, job.Bill.Currency)
}

func timeLeft(job *view.Job, now time.Time) string {
	left := job.Limit()
	if job.Started != 0 {
		end := job.Ended
		if end == 0 {
			end = protocol.InstantOf(now)
		}
		left -= max(0, end.Sub(job.Started))
	}
	return console.Span(max(0, left))
}

func reasonOrNone(job *view.Job) string {
	if job.Reason == "" {
		return "None"
	}
	return job.Reason
}

func siteOrReason(job *view.Job, _ time.Time) string {
	if job.State == protocol.Running || (job.State.Terminal() && job.Reason == "") {
		return console.Plain(string(job.Site))
	}
	return "(" + console.Plain(reasonOrNone(job)) + ")"
}

// maxWidth is the width of the widest column of a format.
const maxWidth = 1000

// Format is a format as squeue has it.
type Format []formatPart

// formatPart is a column, after some text.
type formatPart struct {
	text   string
	column *queueColumn // nil: there is only the text
	width  int          // 0: as wide as the value
	right  bool
}

// ParseFormat reads text with columns as %i, %18i and %.18i.
func ParseFormat(s string) (parts Format, err error) {
	var text strings.Builder
	for s != "" {
		before, after, found := strings.Cut(s, "%")
		text.WriteString(before)
		switch {
		case !found:
			return append(parts, formatPart{text: text.String()}), nil
		case strings.HasPrefix(after, "%"):
			text.WriteByte('%')
			s = after[1:]
			continue
		}
		part := formatPart{text: text.String()}
		if s, err = part.parse(after); err != nil {
			return nil, err
		}
		parts = append(parts, part)
		text.Reset()
	}
	return append(parts, formatPart{text: text.String()}), nil
}

// parse reads a column after its percent sign, and returns what follows it.
func (p *formatPart) parse(s string) (rest string, err error) {
	s, p.right = strings.CutPrefix(s, ".")
	rest = strings.TrimLeft(s, "0123456789")
	if digits := s[:len(s)-len(rest)]; digits != "" {
		if p.width, err = strconv.Atoi(digits); err != nil || p.width > maxWidth {
			return "", fmt.Errorf("--format: the width %s is too large", digits)
		}
	}
	if rest == "" {
		return "", errors.New("--format ends within a column; write %% for a percent sign")
	}
	for _, column := range columns() {
		if after, ok := strings.CutPrefix(rest, column.letter); ok {
			p.column = &column
			return after, nil
		}
	}
	unknown, _, named := strings.Cut(rest, "}")
	if named = named && rest[0] == '{'; named {
		unknown += "}"
	} else {
		letter, _ := utf8.DecodeRuneInString(rest)
		unknown = string(letter)
	}
	return "", fmt.Errorf("--format: unknown column %%%s; switchyard queue --help lists the columns", unknown)
}

// Header is the line of the titles.
func (f Format) Header() string {
	return f.fill(func(c *queueColumn) string { return c.title })
}

// Line is the line of a job as of now.
func (f Format) Line(job *view.Job, now time.Time) string {
	return f.fill(func(c *queueColumn) string { return c.value(job, now) })
}

func (f Format) fill(value func(*queueColumn) string) string {
	var out strings.Builder
	for i := range f {
		part := &f[i]
		out.WriteString(part.text)
		if part.column == nil {
			continue
		}
		cell := value(part.column)
		length := utf8.RuneCountInString(cell)
		if part.width > 0 && length > part.width && part.column.cut {
			cell, length = string([]rune(cell)[:part.width]), part.width
		}
		gap := strings.Repeat(" ", max(0, part.width-length))
		if part.right {
			out.WriteString(gap + cell)
		} else {
			out.WriteString(cell + gap)
		}
	}
	return strings.TrimRight(out.String(), " ")
}
