package workload

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sacctColumn is a column of sacct's output that is read.
type sacctColumn int

const (
	sacctJobID sacctColumn = iota
	sacctSubmit
	sacctStart
	sacctEnd
	sacctElapsed
	sacctAllocCPUs
	sacctReqCPUs
	sacctLimit
	sacctState
	sacctPartition
	sacctUser
	sacctRawID
	sacctColumns
)

// SacctFormat is the list of columns for sacct's option -o.
const SacctFormat = "JobID,Submit,Start,End,ElapsedRaw,AllocCPUS,ReqCPUS,TimelimitRaw,State,Partition,User"

// ReadSacct reads what `sacct -P -o` prints with the columns of [SacctFormat],
// packed by gzip or not, so that a Slurm site can bring its own workload. The
// columns may stand in any order below a line with their names, and others
// between them; JobIDRaw is used if it is there. Without that line (sacct -n)
// they stand as in SacctFormat.
//
// Steps of jobs (123.batch) are left out and counted. Elements of arrays (123_4)
// and of heterogeneous jobs (123+1) are jobs; if any are there without
// JobIDRaw, or an id comes twice, the jobs are numbered from 1 in the order of
// the lines and [Trace.Names] has their ids. A job that has not ended has no run
// time and is counted as unfinished; one that ended before it got CPUs has none
// either. A limit of UNLIMITED or Partition_Limit is unknown.
//
// Times are ISO 8601 with an offset (SLURM_TIME_FORMAT with %z) or, on all
// lines, without; these are taken as UTC, so an hour comes twice or is missing
// where the site's clock changes. They count from the first submission, which
// the header gives as UnixStartTime. A job that ends before it starts is
// malformed, unless the clock was put back by an hour meanwhile. Users and
// partitions are numbered as in [GridTrace.Trace]. Malformed lines are treated
// as in [ReadSWF].
func ReadSacct(r io.Reader, o ReadOptions) (*Trace, error) {
	p := sacctParser{trace: &Trace{}, file: o.file()}
	err := swfEach(r, o, &p.trace.Report, p.line, func() int { return len(p.trace.Records) })
	if err = cmp.Or(p.fatal, err); err != nil {
		return nil, err
	}
	p.finish()
	return p.trace, nil
}

// sacctParser turns lines into records.
type sacctParser struct {
	trace      *Trace
	file       string
	fatal      error             // the columns are not there: no line can be read
	at         [sacctColumns]int // where a column stands, from 0; −1: absent
	count      int               // of columns; 0: the first line is still to come
	cells      [][]byte          // of the line being read
	zoned      bool              // the first time had an offset
	timed      bool              // there was a first time
	counters   bool              // the ids of the file do not do as job numbers
	seen       map[string]int    // how often an id came
	names      []string          // of the records' jobs
	users      []string
	partitions []string
}

func (p *sacctParser) line(line []byte, number int) (fault lineFault) {
	if p.fatal != nil {
		return lineFault{}
	}
	p.cells = p.cells[:0]
	for cell := range bytes.SplitSeq(line, []byte{'|'}) {
		p.cells = append(p.cells, bytes.TrimSpace(cell))
	}
	if p.count == 0 && p.head(number) {
		return lineFault{}
	}
	return p.job(line)
}

// head finds the columns on the first line, and tells whether it was a line of
// names.
func (p *sacctParser) head(number int) bool {
	for c := range p.at {
		p.at[c] = -1
	}
	p.seen = map[string]int{}
	named := false
	for i, cell := range p.cells {
		c := slices.IndexFunc(sacctNames(), func(name string) bool { return strings.EqualFold(name, string(cell)) })
		if c >= 0 {
			named = true
			p.at[c] = i
		}
	}
	if !named {
		for i := range strings.Split(SacctFormat, ",") {
			p.at[i] = i
		}
		p.count = int(sacctRawID)
		return false
	}
	p.count = len(p.cells)
	if missing := p.missing(); missing != "" {
		p.fatal = fmt.Errorf("%s:%d: no column %s: run sacct -P -o %s",
			p.file, number, missing, SacctFormat)
	}
	return true
}

// missing names the first column that is needed and absent.
func (p *sacctParser) missing() string {
	for _, c := range []sacctColumn{sacctJobID, sacctSubmit, sacctStart, sacctElapsed, sacctState} {
		if p.at[c] < 0 {
			return sacctNames()[c]
		}
	}
	if p.at[sacctAllocCPUs] < 0 && p.at[sacctReqCPUs] < 0 {
		return sacctNames()[sacctAllocCPUs]
	}
	return ""
}

func sacctNames() []string {
	return append(strings.Split(SacctFormat, ","), "JobIDRaw")
}

// cell returns what stands in a column; nothing if it is absent.
func (p *sacctParser) cell(c sacctColumn) []byte {
	if p.at[c] < 0 {
		return nil
	}
	return p.cells[p.at[c]]
}

func (p *sacctParser) wrong(c sacctColumn, text string) lineFault {
	return fieldFault(p.at[c]+1, sacctNames()[c], text)
}

func (p *sacctParser) job(line []byte) (fault lineFault) {
	// sacct -p, unlike -P, ends its lines with a separator.
	if len(p.cells) == p.count+1 && len(p.cells[p.count]) == 0 {
		p.cells = p.cells[:p.count]
	}
	if len(p.cells) != p.count {
		return lineFault{text: fmt.Sprintf("%d cells where there are %d columns: %s", len(p.cells), p.count, problems.Quote(line))}
	}
	if bytes.IndexByte(p.cell(sacctJobID), '.') >= 0 {
		p.trace.Report.Steps++
		return lineFault{}
	}
	r := UnknownRecord()
	for _, set := range []func(*Record) lineFault{p.id, p.numbers, p.times, p.state} {
		if fault = set(&r); fault.text != "" {
			return fault
		}
	}
	p.trace.Records = append(p.trace.Records, r)
	p.name()
	p.users = append(p.users, string(p.cell(sacctUser)))
	p.partitions = append(p.partitions, string(p.cell(sacctPartition)))
	return lineFault{}
}

// id reads the job's number: the raw one, else the one before the index of an
// array's element or a heterogeneous job's part.
func (p *sacctParser) id(r *Record) (fault lineFault) {
	column := p.idColumn()
	id := p.cell(column)
	digits := id
	if i := bytes.IndexAny(id, "_+"); i >= 0 {
		digits = id[:i]
	}
	n, _, text := swfNumber(digits, swfWhole)
	if text != "" || n < 0 || len(bytes.Trim(id, "0123456789_+[],-%")) > 0 {
		return p.wrong(column, problems.Quote(id)+" is not the id of a job")
	}
	r.ID = n
	return lineFault{}
}

func (p *sacctParser) idColumn() sacctColumn {
	if len(p.cell(sacctRawID)) > 0 {
		return sacctRawID
	}
	return sacctJobID
}

// name notes the name of a record's job. A job ID that occurs again, as that of a
// requeued job does with sacct -D, gets a number: 123#2.
func (p *sacctParser) name() {
	name := string(p.cell(p.idColumn()))
	p.seen[name]++
	again := p.seen[name]
	p.counters = p.counters || again > 1 || strings.ContainsAny(name, "_+")
	if again > 1 {
		name += "#" + strconv.Itoa(again)
	}
	p.names = append(p.names, name)
}

// numbers reads the CPUs and the spans. Of a job that was never started sacct
// gives 0 CPUs.
func (p *sacctParser) numbers(r *Record) (fault lineFault) {
	var values [sacctColumns]int64
	for _, c := range []sacctColumn{sacctAllocCPUs, sacctReqCPUs, sacctElapsed, sacctLimit} {
		values[c] = Unknown
		cell := p.cell(c)
		if len(cell) == 0 || c == sacctLimit && sacctNoLimit(cell) {
			continue
		}
		value, _, text := swfNumber(cell, swfCPUs)
		if text != "" {
			return p.wrong(c, text)
		}
		values[c] = value
	}
	if values[sacctAllocCPUs] > 0 {
		r.CPUs = int(values[sacctAllocCPUs])
	}
	if values[sacctReqCPUs] > 0 {
		r.ReqCPUs = int(values[sacctReqCPUs])
	}
	if values[sacctElapsed] >= 0 {
		r.Run = protocol.Duration(values[sacctElapsed]) * protocol.Second
	}
	if values[sacctLimit] >= 0 {
		r.ReqTime = protocol.Duration(values[sacctLimit]) * protocol.Minute
	}
	return lineFault{}
}

func sacctNoLimit(cell []byte) bool {
	return strings.EqualFold(string(cell), "UNLIMITED") || strings.EqualFold(string(cell), "Partition_Limit")
}

// times reads the submission, since the epoch until finish makes it relative,
// and the wait.
func (p *sacctParser) times(r *Record) (fault lineFault) {
	submit, known, text := p.time(p.cell(sacctSubmit))
	if text == "" && !known {
		text = problems.Quote(p.cell(sacctSubmit)) + " is not a time"
	}
	if text != "" {
		return p.wrong(sacctSubmit, text)
	}
	r.Submit = submit
	start, known, text := p.time(p.cell(sacctStart))
	if text != "" {
		return p.wrong(sacctStart, text)
	}
	if !known || p.at[sacctAllocCPUs] >= 0 && r.CPUs == Unknown {
		r.Run = Unknown // it did not start: sacct gives 0 s, and the start of a cancelled one as its end
		return lineFault{}
	}
	if start < submit {
		p.trace.Report.Negative++
	} else {
		r.Wait = start.Sub(submit)
	}
	return p.ended(r, start)
}

// ended checks the end of a job that did start. It is not needed: the time
// elapsed leaves out when the job was suspended.
func (p *sacctParser) ended(r *Record, start protocol.Instant) (fault lineFault) {
	end, known, text := p.time(p.cell(sacctEnd))
	if text != "" {
		return p.wrong(sacctEnd, text)
	}
	putBack := !p.zoned && end.Add(protocol.Hour) == start.Add(r.Run)
	if known && end < start && !putBack {
		return p.wrong(sacctEnd, fmt.Sprintf("the job ends at %s, before it starts at %s", p.cell(sacctEnd), p.cell(sacctStart)))
	}
	return lineFault{}
}

// time reads a time, or one of the words that sacct prints where there is none.
func (p *sacctParser) time(cell []byte) (t protocol.Instant, known bool, problem string) {
	text := string(cell)
	switch strings.ToLower(text) {
	case "", "unknown", "none", "n/a":
		return 0, false, ""
	}
	parsed, err := time.Parse("2006-01-02T15:04:05", text)
	zoned := err != nil
	for _, layout := range []string{"2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07:00"} {
		if err != nil {
			parsed, err = time.Parse(layout, text)
		}
	}
	switch {
	case err != nil || parsed.Year() < 1970 || parsed.Year() > 2200:
		return 0, false, problems.Quote(cell) + " is not a time like 2026-11-21T01:36:53 or 2026-11-21T01:36:53+0100"
	case p.timed && zoned != p.zoned:
		return 0, false, problems.Quote(cell) + " must have a time zone if the times above have, and none if they have none"
	}
	p.timed, p.zoned = true, zoned
	return protocol.InstantOf(parsed), true, ""
}

// state reads how the job ended. Words may follow: "CANCELLED by 1001".
func (p *sacctParser) state(r *Record) (fault lineFault) {
	word, _, _ := strings.Cut(string(p.cell(sacctState)), " ")
	switch word {
	case "COMPLETED":
		r.Status = StatusCompleted
	case "CANCELLED":
		r.Status = StatusCancelled
	case "FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "BOOT_FAIL", "DEADLINE",
		"LAUNCH_FAILED", "RECONFIG_FAIL", "SPECIAL_EXIT":
		r.Status = StatusFailed
	case "PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESIZING", "REVOKED",
		"CONFIGURING", "COMPLETING", "STAGE_OUT", "STOPPED", "SIGNALING", "RESV_DEL_HOLD":
		r.Run = Unknown // what has elapsed of it is not its run time
		p.trace.Report.Unfinished++
	default:
		return p.wrong(sacctState, problems.Quote(p.cell(sacctState))+" is not a state of Slurm")
	}
	return lineFault{}
}

// finish makes a trace of the records.
func (p *sacctParser) finish() {
	t := p.trace
	var first protocol.Instant
	for i := range t.Records {
		if i == 0 || t.Records[i].Submit < first {
			first = t.Records[i].Submit
		}
	}
	first = first / 1000 * 1000 // as the header has it
	for i := range t.Records {
		t.Records[i].Submit -= first
		if p.counters {
			t.Records[i].ID = int64(i + 1)
		}
	}
	t.Header = Header{}.With(
		HeaderField("Version", "2.2"),
		HeaderField("MaxRecords", strconv.Itoa(len(t.Records))),
		HeaderField("UnixStartTime", strconv.FormatInt(int64(first)/1000, 10)),
		HeaderField("Note", "from the output of sacct of Slurm"))
	if !p.zoned {
		t.Header = t.Header.With(HeaderField("Note", "its times have no zone and are taken as UTC"))
	}
	if p.counters {
		t.Names = p.names
		t.Header = t.Header.With(HeaderField("Note", "its jobs are numbered by their lines, for their ids are no numbers or come twice"))
	}
	t.number("User", p.users, func(r *Record, n int) { r.User = n })
	t.number("Partition", p.partitions, func(r *Record, n int) { r.Partition = n })
	t.sort()
}
