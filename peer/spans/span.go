package spans

import "github.com/switchyard-hpc/switchyard/protocol"

// Name is the name of a span.
type Name string

// The names of spans.
const (
	Whole      Name = "job"
	GridQueue  Name = "grid queue"
	Round      Name = "round"
	HandOff    Name = "hand-off"
	Placement  Name = "placement"
	LocalQueue Name = "local queue"
	Run        Name = "run"
	Results    Name = "results"
)

// Span is one step of a job's way at one site.
type Span struct {
	Trace      protocol.TraceID
	ID         protocol.SpanID
	Parent     protocol.SpanID // zero: none
	Name       Name
	Start, End protocol.Instant // the end is no earlier than the start
	Failed     bool
	Remote     bool // its parent is of another site, or of a program
	Attributes []Attribute
	Moments    []Moment
}

// Attribute says one thing of a span. It has exactly one of its values.
type Attribute struct {
	Key    string
	Number *int64
	Text   *string
	Texts  []string
}

// Moment is something that happened within a span.
type Moment struct {
	Name string
	At   protocol.Instant
}

// The keys of attributes. They are part of what operators rely on, and are listed in docs/operations.md.
const (
	keyJob      = "switchyard.job.id"
	keyOrigin   = "switchyard.origin"
	keySite     = "switchyard.site"
	keyEpoch    = "switchyard.epoch"
	keyCPUs     = "switchyard.cpus"
	keyState    = "switchyard.state"
	keyExit     = "switchyard.exit_code"
	keySignal   = "switchyard.signal"
	keyRestarts = "switchyard.restarts"
	keyRound    = "switchyard.round"
	keyResult   = "switchyard.result"
	keyAsked    = "switchyard.partners.asked"
	keyAnswered = "switchyard.partners.answered"
	keySilent   = "switchyard.partners.silent"
	keyWait     = "switchyard.quoted_wait_ms"
)

func number[N ~int | ~int64 | ~uint32 | ~uint64](key string, value N) Attribute {
	return Attribute{Key: key, Number: new(int64(value))}
}

func text[S ~string](key string, value S) Attribute {
	return Attribute{Key: key, Text: new(string(value))}
}

// make makes a span of the job. It says whose it is.
func (j Job) make(name Name, which uint64, parent protocol.SpanID, from, to protocol.Instant, more ...Attribute) Span {
	return Span{
		Trace: j.Trace(), ID: j.span(name, which), Parent: parent, Name: name, Start: from, End: max(from, to),
		Attributes: append([]Attribute{number(keyJob, j.ID)}, more...),
	}
}
