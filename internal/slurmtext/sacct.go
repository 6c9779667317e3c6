package slurmtext

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// The formats of sacct(1) by default, for --brief and for --long.
const (
	AccountingFormat = "jobid,jobname,partition,account,alloccpus,state,exitcode"
	BriefFormat      = "jobid,state,exitcode"
	LongFormat       = "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,averss," +
		"maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,alloccpus,elapsed,state,exitcode,avecpufreq," +
		"reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,maxdiskread,maxdiskreadnode,maxdiskreadtask,avediskread,maxdiskwrite," +
		"maxdiskwritenode,maxdiskwritetask,avediskwrite,reqtres,alloctres,tresusageinave,tresusageinmax,tresusageinmaxnode,tresusageinmaxtask," +
		"tresusageinmin,tresusageinminnode,tresusageinmintask,tresusageintot,tresusageoutmax,tresusageoutmaxnode,tresusageoutmaxtask," +
		"tresusageoutave,tresusageouttot"
)

// Record is a line of sacct: a job, or its batch step, which is all of it that runs.
type Record struct {
	Job

	Batch     bool   // the step
	Canceller string // the number of the user who has cancelled the job; empty: none is known
}

// AccountingColumns are the fields of sacct. Those of which nothing is known are empty, as in Slurm without the plugin
// that measures them.
func AccountingColumns() []Column[Record] {
	columns := slices.Concat(accountingNames(), accountingTimes(), accountingUse(), accountingUnused())
	slices.SortFunc(columns, func(x, y Column[Record]) int {
		return strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name))
	})
	return columns
}

// ofJob is a text of jobs that their steps do not have.
func ofJob(value func(*Record) string) func(*Record) string {
	return func(r *Record) string {
		if r.Batch {
			return ""
		}
		return value(r)
	}
}

func either(value, step func(*Record) string) func(*Record) string {
	return func(r *Record) string {
		if r.Batch {
			return step(r)
		}
		return value(r)
	}
}

func fixed(text string) func(*Record) string { return func(*Record) string { return text } }

func accountingNames() []Column[Record] {
	id := func(of func(*Record) string) func(*Record) string {
		return either(of, func(r *Record) string { return of(r) + ".batch" })
	}
	number := func(n func(*Record) uint32) func(*Record) string {
		return ofJob(func(r *Record) string { return strconv.FormatUint(uint64(n(r)), 10) })
	}
	// IDs of Switchyard are longer than Slurm's: they are never cut.
	return []Column[Record]{
		{Name: "JobID", Width: -12, Value: id(func(r *Record) string { return r.Label() }), Whole: true},
		{Name: "JobIDRaw", Width: -12, Value: id(func(r *Record) string { return r.rawID().String() }), Whole: true},
		{Name: "JobName", Width: 10, Mark: true, Value: either(func(r *Record) string { return r.Name }, fixed("batch"))},
		{Name: "Partition", Width: 10, Mark: true, Value: ofJob(func(r *Record) string { return r.Partitions() })},
		{Name: "Account", Width: 10, Mark: true, Value: func(r *Record) string { return r.Account }},
		{Name: "QOS", Width: 10, Mark: true, Value: ofJob(func(r *Record) string { return r.QOS })},
		{Name: "User", Width: 9, Mark: true, Value: ofJob(func(r *Record) string { return r.User })},
		{Name: "UID", Width: 6, Whole: true, Value: number(func(r *Record) uint32 { return r.UID })},
		{Name: "Group", Width: 9, Mark: true, Value: ofJob(func(r *Record) string { return r.Group })},
		{Name: "GID", Width: 6, Whole: true, Value: number(func(r *Record) uint32 { return r.GID })},
		{Name: "Cluster", Width: 10, Mark: true, Value: func(r *Record) string { return r.Cluster }},
		{Name: "NodeList", Width: 15, Mark: true, Value: func(r *Record) string { return cmp.Or(r.nodeList(), unassigned) }},
		{Name: "State", Width: 10, Mark: true, Value: (*Record).state},
		{Name: "ExitCode", Width: 8, Mark: true, Value: either(func(r *Record) string {
			code, signal := r.jobExit()
			return fmt.Sprintf("%d:%d", code, signal)
		}, func(r *Record) string { return r.exit() })},
		{Name: "DerivedExitCode", Width: 15, Mark: true, Value: ofJob(fixed("0:0"))},
		{Name: "Comment", Width: 14, Mark: true, Value: ofJob(func(r *Record) string { return r.Comment })},
		{Name: "Reason", Width: 22, Mark: true, Value: ofJob((*Record).reason)},
		{Name: "WorkDir", Width: 20, Mark: true, Value: ofJob(func(r *Record) string { return r.WorkDir })},
		{Name: "Constraints", Width: 19, Mark: true, Value: ofJob(func(r *Record) string { return r.Features })},
		{Name: "Container", Width: 19, Mark: true, Value: ofJob(func(r *Record) string { return r.Container })},
		{Name: "StdOut", Width: 20, Mark: true, Value: ofJob(func(r *Record) string { return r.inName(r.Stdout) })},
		{Name: "StdErr", Width: 20, Mark: true, Value: ofJob(func(r *Record) string { return r.inName(r.Stderr) })},
		{Name: "StdIn", Width: 20, Mark: true, Value: ofJob(fixed("/dev/null"))},
	}
}

func accountingTimes() []Column[Record] {
	at := func(name string, t func(*Record) protocol.Instant) Column[Record] {
		return Column[Record]{Name: name, Width: 19, Value: func(r *Record) string { return r.Time(t(r), unknown) }}
	}
	start := func(r *Record) protocol.Instant { return r.Started }
	span := func(name string, d func(*Record) protocol.Duration, step bool) Column[Record] {
		value := func(r *Record) string { return LongSpan(d(r)) }
		if !step {
			value = ofJob(value)
		}
		return Column[Record]{Name: name, Width: 10, Value: value}
	}
	whole := func(name string, width int, n func(*Record) int64, step bool) Column[Record] {
		value := func(r *Record) string { return strconv.FormatInt(n(r), 10) }
		if !step {
			value = ofJob(value)
		}
		return Column[Record]{Name: name, Width: width, Whole: true, Value: value}
	}
	used := func(r *Record) protocol.Duration { return r.Used() }
	cpuTime := func(r *Record) protocol.Duration {
		return protocol.Duration(seconds(r.Used())) * protocol.Second * protocol.Duration(r.CPUs)
	}
	waited := func(r *Record) protocol.Duration { return r.waited() }
	return []Column[Record]{
		at("Submit", func(r *Record) protocol.Instant {
			if r.Batch {
				return r.Started
			}
			return r.Submitted
		}),
		at("Eligible", func(r *Record) protocol.Instant {
			if r.Batch {
				return r.Started
			}
			return r.Eligible()
		}),
		at("Start", start),
		at("End", func(r *Record) protocol.Instant { return r.Ended }),
		span("Elapsed", used, true),
		whole("ElapsedRaw", 10, func(r *Record) int64 { return seconds(used(r)) }, true),
		span("CPUTime", cpuTime, true),
		whole("CPUTimeRAW", 10, func(r *Record) int64 { return seconds(cpuTime(r)) }, true),
		span("Planned", waited, false),
		span("Reserved", waited, false),
		span("ResvCPU", func(r *Record) protocol.Duration { return waited(r) * protocol.Duration(r.CPUs) }, false),
		span("Suspended", func(*Record) protocol.Duration { return 0 }, true),
		{Name: "Timelimit", Width: 10, Mark: true, Value: ofJob(func(r *Record) string { return LongSpan(r.Limit()) })},
		whole("TimelimitRaw", 10, func(r *Record) int64 { return int64(r.Limit() / protocol.Minute) }, false),
	}
}

func accountingUse() []Column[Record] {
	number := func(name string, width int, n func(*Record) int) Column[Record] {
		return Column[Record]{Name: name, Width: width, Whole: true, Value: func(r *Record) string { return strconv.Itoa(n(r)) }}
	}
	cpus := func(r *Record) int { return r.CPUs }
	cpu := func(r *Record) string { return fractionalSpan(r.Usage.CPU) }
	resident := func(r *Record) string {
		if !r.Batch || r.Usage.MemoryMB == 0 {
			return ""
		}
		return Megabytes(r.Usage.MemoryMB, r.Unit)
	}
	energy := func(r *Record) string {
		if r.Usage.Energy == 0 {
			return ""
		}
		return strconv.FormatInt(r.Usage.Energy/1000, 10)
	}
	return []Column[Record]{
		number("AllocCPUS", 10, cpus), number("NCPUS", 10, cpus), number("ReqCPUS", 8, cpus),
		number("NNodes", 8, func(r *Record) int { return r.nodes() }),
		{Name: "AllocNodes", Width: 10, Mark: true, Value: func(r *Record) string {
			if r.Started == 0 {
				return "0"
			}
			return strconv.Itoa(r.nodes())
		}},
		{Name: "ReqNodes", Width: 8, Mark: true, Value: func(r *Record) string { return strconv.Itoa(r.nodes()) }},
		{Name: "NTasks", Width: 8, Whole: true, Value: either(fixed(""), fixed("1"))},
		{Name: "ReqMem", Width: 10, Mark: true, Value: ofJob(func(r *Record) string { return Megabytes(r.allMemory(), r.Unit) })},
		{Name: "ReqTRES", Width: 10, Mark: true, Value: ofJob(func(r *Record) string { return r.sortedTRES() })},
		{Name: "AllocTRES", Width: 10, Mark: true, Value: func(r *Record) string {
			if r.Started == 0 {
				return ""
			}
			return r.sortedTRES()
		}},
		{Name: "TotalCPU", Width: 10, Mark: true, Value: cpu},
		{Name: "MaxRSS", Width: 10, Mark: true, Value: resident},
		{Name: "AveRSS", Width: 10, Mark: true, Value: resident},
		{Name: "ConsumedEnergy", Width: 14, Mark: true, Value: energy},
		{Name: "ConsumedEnergyRaw", Width: 17, Whole: true, Value: energy},
		{Name: "Layout", Width: 9, Mark: true, Value: either(fixed(""), fixed("Unknown"))},
		{Name: "Restarts", Width: 8, Whole: true, Value: ofJob(func(r *Record) string { return strconv.Itoa(r.Restarts) })},
	}
}

// jobExit is how the job has ended: of one that was ended, its step's end is not the job's.
func (r *Record) jobExit() (code, signal int) {
	if r.State == protocol.Cancelled || r.State == protocol.Timeout {
		return 0, 0
	}
	return r.ExitCode, r.signal()
}

// reason is why the job waits. The accounting has no reasons of jobs that do not.
func (r *Record) reason() string {
	if r.State == protocol.Pending {
		return r.SlurmReason()
	}
	return "None"
}

// stateName is the state. A run that was ended so that its job starts again is not one of a job that was cancelled.
func (r *Record) stateName() string {
	if r.Earlier && r.State == protocol.Cancelled {
		return "REQUEUED"
	}
	return r.State.String()
}

// state is the state, as CANCELLED by 1000 of a job that a user has cancelled.
func (r *Record) state() string {
	if r.State == protocol.Cancelled && r.Canceller != "" && !r.Batch {
		return r.State.String() + " by " + r.Canceller
	}
	return r.stateName()
}

// sortedTRES are the trackable resources by their names, as the accounting has them; a step has no billing.
func (r *Record) sortedTRES() string {
	parts := strings.Split(r.tres(), ",")
	if r.Batch {
		parts = slices.DeleteFunc(parts, func(part string) bool { return strings.HasPrefix(part, "billing=") })
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// fractionalSpan prints a CPU time as sacct does: with milliseconds if it is short.
func fractionalSpan(d protocol.Duration) string {
	days, h, m, s := split(d)
	switch {
	case days > 0 || h > 0 || d%protocol.Second == 0:
		return LongSpan(d)
	default:
		return fmt.Sprintf("%02d:%02d.%03d", m, s, int64(d%protocol.Second))
	}
}

// unusedFields are fields that nothing is known of, with their widths.
const unusedFields = "AdminComment%15 AssocID%7 AveCPU%10 AveCPUFreq%10 AveDiskRead%14 AveDiskWrite%14 AvePages%10 AveVMSize%10 BlockID%16 " +
	"DBIndex%-21 Extra%14 FailedNode%8 Flags%19 Licenses%10 MaxDiskRead%12 MaxDiskReadNode%15 MaxDiskReadTask%15 " +
	"MaxDiskWrite%12 MaxDiskWriteNode%16 MaxDiskWriteTask%16 MaxPages%8 MaxPagesNode%12 MaxPagesTask%14 MaxRSSNode%10 " +
	"MaxRSSTask%10 MaxVMSize%10 MaxVMSizeNode%14 MaxVMSizeTask%14 McsLabel%12 MinCPU%10 MinCPUNode%10 MinCPUTask%10 " +
	"PlannedCPU%10 PlannedCPURAW%13 Priority%10 QOSRAW%6 QOSREQ%10 ReqCPUFreq%10 ReqCPUFreqGov%13 ReqCPUFreqMax%13 " +
	"ReqCPUFreqMin%13 Reservation%20 ReservationId%8 ResvCPURAW%10 SubmitLine%20 SystemComment%15 SystemCPU%10 " +
	"TRESUsageInAve%14 TRESUsageInMax%14 TRESUsageInMaxNode%18 TRESUsageInMaxTask%18 TRESUsageInMin%14 " +
	"TRESUsageInMinNode%18 TRESUsageInMinTask%18 TRESUsageInTot%14 TRESUsageOutAve%15 TRESUsageOutMax%15 " +
	"TRESUsageOutMaxNode%19 TRESUsageOutMaxTask%19 TRESUsageOutMin%15 TRESUsageOutMinNode%19 TRESUsageOutMinTask%19 " +
	"TRESUsageOutTot%15 UserCPU%10 WCKey%10 WCKeyID%10"

func accountingUnused() (columns []Column[Record]) {
	for field := range strings.FieldsSeq(unusedFields) {
		name, size, _ := strings.Cut(field, "%")
		width, _ := strconv.Atoi(size)
		columns = append(columns, Column[Record]{Name: name, Width: width, Value: fixed("")})
	}
	return columns
}

// Accounting is a format of sacct.
type Accounting struct {
	cells     []accountingCell
	delimiter string // between values that are not filled up; empty: they are filled up
	ending    bool   // the delimiter is also behind the last
}

type accountingCell struct {
	column *Column[Record]
	width  int
}

// ParseAccounting reads a format of sacct, such as "jobid%-10,jobname": names of columns, or their beginnings, each with a
// percent sign and a width, below 0 for values to the left; "all" are all columns. Unknown is the first name that no column has. With a
// delimiter values are as wide as they are, with ending there is one behind the last, too.
func ParseAccounting(format, delimiter string, ending bool) (f Accounting, unknown string) {
	f.delimiter, f.ending = delimiter, ending
	columns := AccountingColumns()
	for token := range strings.SplitSeq(format, ",") {
		name, size, sized := strings.Cut(strings.TrimSpace(token), "%")
		switch {
		case token == "":
			continue
		case strings.EqualFold(name, "all"):
			for i := range columns {
				f.cells = append(f.cells, accountingCell{&columns[i], columns[i].Width})
			}
			continue
		}
		fits := func(c *Column[Record]) bool { return strings.EqualFold(c.Name, name) }
		column := findColumn(columns, fits)
		if column == nil {
			column = findColumn(columns, func(c *Column[Record]) bool {
				return name != "" && len(name) < len(c.Name) && strings.EqualFold(c.Name[:len(name)], name)
			})
		}
		if column == nil {
			return f, name
		}
		one := accountingCell{column, column.Width}
		if width, err := strconv.Atoi(size); sized && err == nil && width != 0 {
			one.width = max(-maxFieldWidth, min(maxFieldWidth, width))
		}
		f.cells = append(f.cells, one)
	}
	return f, ""
}

// Has says whether the format has a column of a name.
func (f Accounting) Has(name string) bool {
	return slices.ContainsFunc(f.cells, func(c accountingCell) bool { return c.column.Name == name })
}

// Header is the titles, and under them, if values are filled up, a line.
func (f Accounting) Header() string {
	titles := f.fill(func(c accountingCell) string {
		if f.delimiter != "" {
			return c.column.Name
		}
		return string([]rune(c.column.Name)[:min(len(c.column.Name), max(c.width, -c.width))])
	})
	if f.delimiter != "" {
		return titles
	}
	return titles + "\n" + f.fill(func(c accountingCell) string {
		return strings.Repeat("-", max(c.width, -c.width))
	})
}

// Line is the line of a record.
func (f Accounting) Line(r *Record) string {
	return f.fill(func(c accountingCell) string { return protocol.EscapeText(c.column.Value(r)) })
}

func (f Accounting) fill(value func(accountingCell) string) string {
	var out strings.Builder
	for i, one := range f.cells {
		text := value(one)
		if f.delimiter == "" {
			out.WriteString(one.fit(text) + " ")
			continue
		}
		out.WriteString(text)
		if f.ending || i+1 < len(f.cells) {
			out.WriteString(f.delimiter)
		}
	}
	return out.String()
}

// fit fills a text up to the width of the column, or cuts it.
func (c accountingCell) fit(text string) string {
	width := max(c.width, -c.width)
	if length := utf8.RuneCountInString(text); length > width && !c.column.Whole {
		cut := string([]rune(text)[:width])
		if c.column.Mark {
			return string([]rune(text)[:width-1]) + "+"
		}
		return cut
	}
	return pad(text, width, c.width > 0, true)
}
