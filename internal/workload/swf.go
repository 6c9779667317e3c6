package workload

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Unknown stands in every field of a [Record] that its trace does not tell: the
// −1 of the Standard Workload Format.
const Unknown = -1

// Trace is a workload as its file gives it: the records of a log, or of a
// model's output, before anything is left out or assumed.
type Trace struct {
	Header  Header
	Records []Record // by submit time
	Report  Report

	// Names are what the file calls the jobs, where it does not number them so that
	// the numbers could be taken: that of job number n is Names[n-1].
	Names []string
}

// JobName is what the file calls the job of a number.
func (t *Trace) JobName(id int64) string {
	if id >= 1 && id <= int64(len(t.Names)) {
		return t.Names[id-1]
	}
	return strconv.FormatInt(id, 10)
}

// Record is one job of a trace, in the fields of the Standard Workload Format
// 2.2 (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html). A field that
// is not known is [Unknown]. Seconds of the file are milliseconds here, so a
// time finer than that is rounded.
type Record struct {
	ID        int64             // 1: job number
	Submit    protocol.Instant  // 2: since the beginning of the trace
	Wait      protocol.Duration // 3: from the submission to the start
	Run       protocol.Duration // 4: wall-clock time; 0: less than half a second
	CPUs      int               // 5: allocated
	CPUTime   protocol.Duration // 6: average over the CPUs
	Memory    int64             // 7: used, KB a CPU
	ReqCPUs   int               // 8: requested
	ReqTime   protocol.Duration // 9: requested, normally wall-clock time
	ReqMemory int64             // 10: requested, KB a CPU
	Status    int               // 11: see the Status constants
	User      int               // 12
	Group     int               // 13
	App       int               // 14: executable
	Queue     int               // 15: 0 is an interactive one, by convention
	Partition int               // 16
	After     int64             // 17: the job that this one waits for
	Think     protocol.Duration // 18: from the end of that job to this one's submission
	Extra     int               // 19: not in the standard; some traces have the site of submission here
}

// The values of [Record.Status].
const (
	StatusFailed      = 0
	StatusCompleted   = 1
	StatusPartial     = 2 // one piece of a job that was checkpointed, to be continued
	StatusPartialEnd  = 3 // the last piece, completed
	StatusPartialFail = 4 // the last piece, failed
	StatusCancelled   = 5
)

// UnknownRecord returns a record of which nothing is known.
func UnknownRecord() Record {
	return Record{
		ID: Unknown, Submit: Unknown, Wait: Unknown, Run: Unknown, CPUs: Unknown, CPUTime: Unknown,
		Memory: Unknown, ReqCPUs: Unknown, ReqTime: Unknown, ReqMemory: Unknown, Status: Unknown,
		User: Unknown, Group: Unknown, App: Unknown, Queue: Unknown, Partition: Unknown,
		After: Unknown, Think: Unknown, Extra: Unknown,
	}
}

// Report tells what a reader met that its records do not show.
type Report struct {
	Lines      int           `json:"lines"`             // of the file, comments and empty ones too
	Skipped    int           `json:"malformed"`         // lines left out by a lenient reading
	Problems   problems.List `json:"-"`                 // what was wrong with the first of them
	Columns    int           `json:"columns_ignored"`   // of each line, behind those of the format
	Several    int           `json:"several_preceding"` // records that wait for several jobs, taken as waiting for none
	IDsBack    int           `json:"ids_back"`          // records whose job number is not above the one before
	SubmitBack int           `json:"submit_back"`       // records submitted before one that stands above them; they are sorted
	Negative   int           `json:"negative"`          // values below zero other than −1, taken as unknown
	Steps      int           `json:"steps"`             // lines of sacct for steps of jobs, left out
	Unfinished int           `json:"unfinished"`        // lines of sacct for jobs without an end, which have no run time
}

// String lists the counts of irregular records that are not zero; a trace without any
// has an empty text.
func (r Report) String() string {
	var parts []string
	if r.Skipped > 0 {
		part := fmt.Sprintf("malformed lines left out: %d", r.Skipped)
		if len(r.Problems) > 0 {
			first := r.Problems[0]
			part += fmt.Sprintf(", the first is line %d: %s", first.Line, problems.Problem{Place: problems.Place{Key: first.Key}, Text: first.Text})
		}
		parts = append(parts, part)
	}
	for _, one := range []struct {
		count int
		text  string
	}{
		{r.Columns, "columns ignored, which the format has not"},
		{r.Several, "records that wait for several jobs, taken as waiting for none"},
		{r.Steps, "lines for steps of jobs left out"},
		{r.Unfinished, "jobs without an end, which have no run time"},
		{r.Negative, "negative values taken as unknown"},
		{r.SubmitBack, "records sorted, which came after later submissions"},
		{r.IDsBack, "job numbers not above the one before"},
	} {
		if one.count > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", one.text, one.count))
		}
	}
	return strings.Join(parts, "; ")
}

// Header is the comment lines of a trace in order, each without its leading
// semicolon and its line end. In the standard they read " Key: value"; keys may
// repeat, and a line without a key continues the one above.
type Header []string

// Value returns the first value of a key, without the space around it.
func (h Header) Value(key string) (value string, ok bool) {
	for _, line := range h {
		if k, v, isKey := headerField(line); isKey && k == key {
			return v, true
		}
	}
	return "", false
}

// Values returns all values of a key in order.
func (h Header) Values(key string) []string {
	var values []string
	for _, line := range h {
		if k, v, ok := headerField(line); ok && k == key {
			values = append(values, v)
		}
	}
	return values
}

// Int returns the first value of a key whose value is a whole number.
func (h Header) Int(key string) (n int64, ok bool) {
	for _, value := range h.Values(key) {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return n, true
		}
	}
	return 0, false
}

// CPUs returns the size of the machine: MaxProcs, else MaxNodes, else false.
func (h Header) CPUs() (n int, ok bool) {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		if cpus, known := h.Int(key); known && cpus > 0 && cpus <= swfMaxCPUs {
			return int(cpus), true
		}
	}
	return 0, false
}

// Names returns the names that the header gives to numbers: of queues for the
// key "Queue", of partitions for "Partition", whose values read "number name".
func (h Header) Names(key string) map[int]string {
	names := map[int]string{}
	for _, value := range h.Values(key) {
		number, name, _ := strings.Cut(value, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		if _, known := names[n]; !known {
			names[n] = strings.TrimSpace(name)
		}
	}
	return names
}

// At converts what a clock at the site shows to the time of the trace. The
// clock is given in the fields of a time in UTC; it runs by the header's
// TimeZone, in seconds east of UTC, all year, and shows UTC where the header has
// none: the zones that TimeZoneString names need tables, which a pure room has
// not. It fails when the header does not say when the trace begins
// (UnixStartTime).
func (h Header) At(clock time.Time) (protocol.Instant, error) {
	begin, ok := h.Int("UnixStartTime")
	if !ok || begin < 0 || begin > swfMaxSeconds {
		return 0, fmt.Errorf("the time %s is not known in the trace: its header has no UnixStartTime",
			clock.Format(time.DateTime))
	}
	zone, _ := h.Int("TimeZone")
	if zone < -86400 || zone > 86400 {
		return 0, fmt.Errorf("the header's TimeZone %d is not within a day of UTC", zone)
	}
	return protocol.Instant((clock.Unix() - zone - begin) * 1000), nil
}

// With returns the header with more comments at its end. A comment of several
// lines becomes several.
func (h Header) With(comments ...string) Header {
	longer := append(Header{}, h...)
	for _, comment := range comments {
		for line := range strings.SplitSeq(comment, "\n") {
			longer = append(longer, strings.TrimRight(line, "\r"))
		}
	}
	return longer
}

// HeaderField formats a comment as the standard wants it.
func HeaderField(key, value string) string { return " " + key + ": " + value }

// headerField splits a comment line into key and value. A key follows the
// semicolon directly or after one space; text that stands deeper continues the
// line above, even with a colon in it ("http://…"), unless the standard has such
// a key.
func headerField(line string) (key, value string, ok bool) {
	text := strings.TrimLeft(line, " \t")
	key, value, found := strings.Cut(text, ":")
	if !found || key == "" {
		return "", "", false
	}
	if deep := text != strings.TrimPrefix(line, " "); deep && !swfHeaderKey(key) {
		return "", "", false
	}
	for i := range len(key) {
		if c := key[i] | 0x20; c < 'a' || c > 'z' {
			return "", "", false
		}
	}
	return key, strings.TrimSpace(value), true
}

// swfHeaderKey tells the keys of the standard.
func swfHeaderKey(key string) bool {
	switch key {
	case "Version", "Computer", "Installation", "Acknowledge", "Information", "Conversion", "MaxJobs", "MaxRecords",
		"Preemption", "UnixStartTime", "TimeZone", "TimeZoneString", "StartTime", "EndTime", "MaxNodes", "MaxProcs",
		"MaxRuntime", "MaxMemory", "AllowOveruse", "MaxQueues", "Queues", "Queue", "MaxPartitions", "Partitions",
		"Partition", "Note":
		return true
	}
	return false
}
