package workload

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// GridTrace is a trace in the Grid Workload Format of the Grid Workloads
// Archive (Iosup and others, Future Generation Computer Systems 24, 2008;
// http://gwa.ewi.tudelft.nl/grid-workload-format/), as its file gives it.
type GridTrace struct {
	Comments []string // in order, each without its leading "#" and its line end
	Records  []GridRecord
	Report   Report
}

// GridRecord is one job of a [GridTrace], in the 29 fields of the format. The
// first eleven are numbers, [Unknown] where not known; the others are words,
// "-1" where not known. Submissions are often seconds since the Unix epoch.
type GridRecord struct {
	ID        int64             // 1 JobID
	Submit    protocol.Instant  // 2 SubmitTime, ms
	Wait      protocol.Duration // 3 WaitTime
	Run       protocol.Duration // 4 RunTime, wall clock
	CPUs      int               // 5 NProcs, allocated
	CPUTime   protocol.Duration // 6 AverageCPUTimeUsed
	Memory    int64             // 7 UsedMemory, KB a CPU
	ReqCPUs   int               // 8 ReqNProcs
	ReqTime   protocol.Duration // 9 ReqTime
	ReqMemory int64             // 10 ReqMemory, KB a CPU
	Status    int               // 11 Status: as [Record.Status]
	Words     [gwfWords]string  // 12 UserID to 29 ProjectID; see [GridWord]
}

// GridWord names a field of [GridRecord.Words].
type GridWord int

// The words of a record, in the order of the format's fields 12 to 29.
const (
	GridUser            GridWord = iota // UserID
	GridGroup                           // GroupID
	GridApp                             // ExecutableID
	GridQueue                           // QueueID
	GridPartition                       // PartitionID
	GridOrigSite                        // OrigSiteID, where the job was submitted
	GridLastRunSite                     // LastRunSiteID, where it ran last
	GridStructure                       // JobStructure: UNITARY, or a kind of composite job
	GridStructureParams                 // JobStructureParams, such as the bag that a task belongs to
	GridUsedNetwork                     // UsedNetwork, KB/s
	GridUsedDisk                        // UsedLocalDiskSpace, MB
	GridUsedResources                   // UsedResources, a list
	GridReqPlatform                     // ReqPlatform: architecture, operating system, version
	GridReqNetwork                      // ReqNetwork
	GridReqDisk                         // ReqLocalDiskSpace
	GridReqResources                    // ReqResources, a list
	GridVO                              // VOID, the virtual organisation
	GridProject                         // ProjectID
)

const (
	gwfNumbers = 11
	gwfWords   = 18
	gwfFields  = gwfNumbers + gwfWords
	gwfUnknown = "-1"
)

// Word returns a word of the record; "" if it is not known.
func (r *GridRecord) Word(w GridWord) string {
	if r.Words[w] == gwfUnknown {
		return ""
	}
	return r.Words[w]
}

// ReadGWF reads a trace in the Grid Workload Format, packed by gzip or not. A
// line with a tab in it is cut at tabs, where an empty field is one not known
// and a tab may end the line; any other line at spaces. Malformed lines are
// treated as in [ReadSWF]; the records keep the order of the file.
func ReadGWF(r io.Reader, o ReadOptions) (*GridTrace, error) {
	p := gwfParser{trace: &GridTrace{}}
	if err := swfEach(r, o, &p.trace.Report, p.line, func() int { return len(p.trace.Records) }); err != nil {
		return nil, err
	}
	return p.trace, nil
}

// gwfParser turns lines into records.
type gwfParser struct {
	trace  *GridTrace
	fields [][]byte // of the line being read
}

func (p *gwfParser) line(line []byte, _ int) (fault lineFault) {
	text := bytes.TrimLeft(line, " \t")
	if text[0] == '#' {
		p.trace.Comments = append(p.trace.Comments, string(text[1:]))
		return lineFault{}
	}
	return p.record(line)
}

func (p *gwfParser) record(line []byte) (fault lineFault) {
	p.cut(line)
	if len(p.fields) != gwfFields {
		return lineFault{text: fmt.Sprintf("%d fields where a record has %d: %s", len(p.fields), gwfFields, problems.Quote(line))}
	}
	var v [gwfNumbers]int64
	for n := range v {
		value, negative, text := swfNumber(p.fields[n], swfFieldKind(n))
		if text != "" {
			return fieldFault(n+1, gwfFieldName(n), text)
		}
		if negative {
			p.trace.Report.Negative++
		}
		v[n] = value
	}
	record := GridRecord{
		ID: v[0], Submit: protocol.Instant(v[1]),
		Wait: protocol.Duration(v[2]), Run: protocol.Duration(v[3]),
		CPUs: int(v[4]), CPUTime: protocol.Duration(v[5]), Memory: v[6],
		ReqCPUs: int(v[7]), ReqTime: protocol.Duration(v[8]), ReqMemory: v[9], Status: int(v[10]),
	}
	for n := range record.Words {
		word := p.fields[gwfNumbers+n]
		if slices.ContainsFunc(word, gwfControl) {
			return fieldFault(gwfNumbers+n+1, gwfFieldName(gwfNumbers+n), problems.Quote(word)+" has control characters")
		}
		record.Words[n] = string(word)
	}
	p.trace.Records = append(p.trace.Records, record)
	return lineFault{}
}

// cut splits a line into p.fields.
func (p *gwfParser) cut(line []byte) {
	p.fields = p.fields[:0]
	if !bytes.ContainsRune(line, '\t') {
		for i := swfSkip(line, 0); i < len(line); i = swfSkip(line, swfEnd(line, i)) {
			p.fields = append(p.fields, line[i:swfEnd(line, i)])
		}
		return
	}
	for field := range bytes.SplitSeq(line, []byte{'\t'}) {
		field = bytes.Trim(field, " ")
		if len(field) == 0 {
			field = []byte(gwfUnknown)
		}
		p.fields = append(p.fields, field)
	}
	if len(p.fields) == gwfFields+1 && bytes.HasSuffix(bytes.TrimRight(line, " "), []byte{'\t'}) {
		p.fields = p.fields[:gwfFields]
	}
}

// Trace converts to the fields that the Standard Workload Format shares.
// Submissions count from the first one, which the header gives as
// UnixStartTime. The site where a job was submitted, or if that is not known
// the one where it ran, is [Record.Extra]. Words become numbers: their own where
// all of a field are numbers, else from 1 in the order of their appearance with
// names in the header, under the keys User, Group, Executable, Queue, Partition
// and Site. The fields 19 to 29 are left out.
func (t *GridTrace) Trace() *Trace {
	trace := &Trace{Report: t.Report, Records: make([]Record, len(t.Records))}
	first := t.first()
	for i := range t.Records {
		g := &t.Records[i]
		r := UnknownRecord()
		r.ID, r.Wait, r.Run, r.CPUs, r.CPUTime, r.Memory = g.ID, g.Wait, g.Run, g.CPUs, g.CPUTime, g.Memory
		r.ReqCPUs, r.ReqTime, r.ReqMemory, r.Status = g.ReqCPUs, g.ReqTime, g.ReqMemory, g.Status
		if g.Submit >= 0 {
			r.Submit = g.Submit - first
		}
		trace.Records[i] = r
	}
	trace.Header = Header{}.With(t.Comments...).With(
		HeaderField("UnixStartTime", strconv.FormatInt(int64(first)/1000, 10)),
		HeaderField("Note", "converted from the Grid Workload Format"))
	trace.number("User", t.words(GridUser), func(r *Record, n int) { r.User = n })
	trace.number("Group", t.words(GridGroup), func(r *Record, n int) { r.Group = n })
	trace.number("Executable", t.words(GridApp), func(r *Record, n int) { r.App = n })
	trace.number("Queue", t.words(GridQueue), func(r *Record, n int) { r.Queue = n })
	trace.number("Partition", t.words(GridPartition), func(r *Record, n int) { r.Partition = n })
	trace.number("Site", t.sites(), func(r *Record, n int) { r.Extra = n })
	trace.sort()
	return trace
}

// first is the earliest submission, in whole seconds.
func (t *GridTrace) first() protocol.Instant {
	first := protocol.Instant(Unknown)
	for i := range t.Records {
		if s := t.Records[i].Submit; s >= 0 && (first < 0 || s < first) {
			first = s
		}
	}
	return max(first, 0) / 1000 * 1000
}

func (t *GridTrace) words(w GridWord) []string {
	words := make([]string, len(t.Records))
	for i := range t.Records {
		words[i] = t.Records[i].Word(w)
	}
	return words
}

func (t *GridTrace) sites() []string {
	sites := t.words(GridOrigSite)
	for i, ran := range t.words(GridLastRunSite) {
		if sites[i] == "" {
			sites[i] = ran
		}
	}
	return sites
}

// number sets a field of each record to the number of its word, and names the
// numbers in the header unless the words are numbers themselves. An empty word
// is not known.
func (t *Trace) number(key string, words []string, set func(*Record, int)) {
	if numbers, ok := swfWholeWords(words); ok {
		for i, n := range numbers {
			set(&t.Records[i], n)
		}
		return
	}
	known := map[string]int{}
	var names []string
	for i, word := range words {
		n, seen := known[word]
		switch {
		case word == "":
			n = Unknown
		case !seen:
			names = append(names, word)
			n = len(names)
			known[word] = n
		}
		set(&t.Records[i], n)
	}
	t.Header = t.Header.named(key, names)
}

// swfWholeWords converts words that are all numbers or empty.
func swfWholeWords(words []string) (numbers []int, ok bool) {
	numbers = make([]int, len(words))
	for i, word := range words {
		if word == "" {
			numbers[i] = Unknown
			continue
		}
		n, err := strconv.ParseUint(word, 10, 31)
		if err != nil {
			return nil, false
		}
		numbers[i] = int(n)
	}
	return numbers, true
}

func gwfControl(c byte) bool { return c < ' ' || c == 0x7f }

func gwfFieldName(n int) string {
	return [gwfFields]string{
		"JobID", "SubmitTime", "WaitTime", "RunTime", "NProcs", "AverageCPUTimeUsed", "UsedMemory",
		"ReqNProcs", "ReqTime", "ReqMemory", "Status", "UserID", "GroupID", "ExecutableID", "QueueID",
		"PartitionID", "OrigSiteID", "LastRunSiteID", "JobStructure", "JobStructureParams", "UsedNetwork",
		"UsedLocalDiskSpace", "UsedResources", "ReqPlatform", "ReqNetwork", "ReqLocalDiskSpace",
		"ReqResources", "VOID", "ProjectID",
	}[n]
}
