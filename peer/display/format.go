package display

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// shortStates are the states of jobs by the letters that Slurm has for them.
func shortStates() map[string]protocol.State {
	return map[string]protocol.State{
		"PD": protocol.Pending, "R": protocol.Running, "CD": protocol.Completed, "F": protocol.Failed,
		"CA": protocol.Cancelled, "TO": protocol.Timeout, "NF": protocol.NodeFail,
	}
}

// otherStates are states of Slurm that no job has here: tools ask for them among others.
const otherStates = " BF BOOT_FAIL CF CONFIGURING CG COMPLETING DL DEADLINE OOM OUT_OF_MEMORY PR PREEMPTED RD RESV_DEL_HOLD " +
	"RF REQUEUE_FED RH REQUEUE_HOLD RQ REQUEUED RS RESIZING RV REVOKED SE SPECIAL_EXIT SI SIGNALING SO STAGE_OUT ST STOPPED " +
	"S SUSPENDED "

// ParseState is the state of a name or of Slurm's letters for it, 0 for one of Slurm's that does not
// exist here.
func ParseState(name string) (state protocol.State, known bool) {
	name = strings.ToUpper(name)
	if state, known = shortStates()[name]; known {
		return state, true
	}
	if strings.Contains(otherStates, " "+name+" ") {
		return 0, true
	}
	state, err := protocol.ParseState(name)
	return state, err == nil
}

// StateNames lists the states that [ParseState] knows.
func StateNames() string {
	var names []string
	for _, state := range protocol.States() {
		names = append(names, state.String()+" ("+shortState(state)+")")
	}
	return strings.Join(names, ", ")
}

func shortState(state protocol.State) string {
	for letters, one := range shortStates() {
		if one == state {
			return letters
		}
	}
	return state.String()
}

// queueColumn is a column of --format.
type queueColumn struct {
	letter      string // or a name in braces, of a column that Slurm does not have
	title, what string
	cut         bool // to its width; else the width is the least
	value       func(*peer.JobView, time.Time) string
}

// columns are those of Slurm's that mean something here, and what Slurm does not have by name.
func columns() []queueColumn {
	id := func(job *peer.JobView, _ time.Time) string { return job.ID.String() }
	return []queueColumn{
		{"A", "JOBID", "job id", false, id},
		{"C", "CPUS", "CPUs", false, func(job *peer.JobView, _ time.Time) string { return strconv.Itoa(job.CPUs) }},
		{"D", "NODES", "nodes asked for", false, func(job *peer.JobView, _ time.Time) string { return strconv.Itoa(job.Nodes) }},
		{"e", "END_TIME", "end", false, func(job *peer.JobView, _ time.Time) string { return slurmTime(job.Ended) }},
		{"i", "JOBID", "job id", false, id},
		{"j", "NAME", "name", true, func(job *peer.JobView, _ time.Time) string { return console.Plain(job.Name) }},
		{"l", "TIME_LIMIT", "time limit", false, func(job *peer.JobView, _ time.Time) string { return console.Span(job.WallTime) }},
		{"L", "TIME_LEFT", "time left", false, timeLeft},
		{"m", "MIN_MEMORY", "memory of a node", false, func(job *peer.JobView, _ time.Time) string { return strconv.FormatInt(job.MemoryMB, 10) + "M" }},
		{"M", "TIME", "time used", false, func(job *peer.JobView, now time.Time) string { return elapsed(*job, now) }},
		{"N", "SITE", "site", true, func(job *peer.JobView, _ time.Time) string { return console.Plain(string(job.Site)) }},
		{"r", "REASON", "reason", true, func(job *peer.JobView, _ time.Time) string { return console.Plain(reasonOrNone(job)) }},
		{"R", "SITE(REASON)", "site, or why the job does not run", true, siteOrReason},
		{"S", "START_TIME", "start", false, func(job *peer.JobView, _ time.Time) string { return slurmTime(job.Started) }},
		{"t", "ST", "state in letters", false, func(job *peer.JobView, _ time.Time) string { return shortState(job.State) }},
		{"T", "STATE", "state", false, func(job *peer.JobView, _ time.Time) string { return job.State.String() }},
		{"u", "USER", "user", true, func(job *peer.JobView, _ time.Time) string { return console.Plain(job.User) }},
		{"V", "SUBMIT_TIME", "submission", false, func(job *peer.JobView, _ time.Time) string { return slurmTime(job.Submitted) }},
		{"{quoted}", "QUOTED", "quoted price", false, func(job *peer.JobView, _ time.Time) string { return quotedText(job) }},
		{"{billed}", "BILLED", "bill", false, func(job *peer.JobView, _ time.Time) string { return billedText(job) }},
	}
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
func quotedText(job *peer.JobView) string {
	if job.Quoted == nil {
		return "-"
	}
	return console.Amount(job.Quoted.Cost, job.Quoted.Currency)
}

// billedText is what a job that has ended was billed.
func billedText(job *peer.JobView) string {
	if job.Bill == nil || job.Bill.Open {
		return "-"
	}
	return console.Amount(job.Bill.Cost, job.Bill.Currency)
}

func timeLeft(job *peer.JobView, now time.Time) string {
	left := job.WallTime
	if job.Started != 0 {
		end := job.Ended
		if end == 0 {
			end = protocol.InstantOf(now)
		}
		left -= max(0, end.Sub(job.Started))
	}
	return console.Span(max(0, left))
}

func reasonOrNone(job *peer.JobView) string {
	if job.Reason == "" {
		return "None"
	}
	return job.Reason
}

func siteOrReason(job *peer.JobView, _ time.Time) string {
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
		return "", fmt.Errorf("--format ends within a column; write %%%% for a percent sign")
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
	return "", fmt.Errorf("--format: there is no column %%%s here; see switchyard queue --help for those that there are", unknown)
}

// Header is the line of the titles.
func (f Format) Header() string {
	return f.fill(func(c *queueColumn) string { return c.title })
}

// Line is the line of a job as of now.
func (f Format) Line(job *peer.JobView, now time.Time) string {
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
