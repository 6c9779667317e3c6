package workload_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const goodLine = "1 10 20 30 4 5.25 6 7 80 9 1 11 12 13 14 15 16 17"

func goodRecord() workload.Record {
	const s = protocol.Second
	return workload.Record{
		ID: 1, Submit: 10_000, Wait: 20 * s, Run: 30 * s, CPUs: 4, CPUTime: 5250, Memory: 6,
		ReqCPUs: 7, ReqTime: 80 * s, ReqMemory: 9, Status: 1, User: 11, Group: 12, App: 13,
		Queue: 14, Partition: 15, After: 16, Think: 17 * s, Extra: workload.Unknown,
	}
}

func read(text string, lenient bool) (*workload.Trace, error) {
	return workload.ReadSWF(strings.NewReader(text), workload.ReadOptions{Name: "trace.swf", Lenient: lenient})
}

// anyRecord draws a record as a reader can yield it.
func anyRecord(t *rapid.T) workload.Record {
	ms := rapid.OneOf(rapid.Just(int64(-1)), rapid.Int64Range(0, 99_999), rapid.Int64Range(0, 1e13))
	span := func(name string) protocol.Duration { return protocol.Duration(ms.Draw(t, name)) }
	whole := rapid.OneOf(rapid.Just(-1), rapid.IntRange(0, 30), rapid.IntRange(0, 1<<31-1))
	return workload.Record{
		ID: int64(whole.Draw(t, "id")), Submit: protocol.Instant(span("submit")), Wait: span("wait"),
		Run: span("run"), CPUs: whole.Draw(t, "cpus"), CPUTime: span("cpu time"),
		Memory: int64(whole.Draw(t, "memory")), ReqCPUs: whole.Draw(t, "requested cpus"),
		ReqTime: span("requested time"), ReqMemory: int64(whole.Draw(t, "requested memory")),
		Status: whole.Draw(t, "status"), User: whole.Draw(t, "user"), Group: whole.Draw(t, "group"),
		App: whole.Draw(t, "executable"), Queue: whole.Draw(t, "queue"),
		Partition: whole.Draw(t, "partition"), After: int64(whole.Draw(t, "after")),
		Think: span("think"), Extra: whole.Draw(t, "extra"),
	}
}

func bySubmit(a, b workload.Record) int { return int(a.Submit - b.Submit) }

// TestSWFRoundTrip writes any records and comments and reads the same back.
func TestSWFRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := &workload.Trace{
			Header:  rapid.SliceOf(rapid.StringMatching(`[ ;:\ta-zA-Z0-9]{0,30}`)).Draw(t, "header"),
			Records: rapid.SliceOfN(rapid.Custom(anyRecord), 0, 20).Draw(t, "records"),
		}
		slices.SortStableFunc(want.Records, bySubmit)
		var out, again bytes.Buffer
		if err := workload.WriteSWF(&out, want); err != nil {
			t.Fatal(err)
		}
		got, err := workload.ReadSWF(bytes.NewReader(out.Bytes()), workload.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Header, want.Header) || !slices.Equal(got.Records, want.Records) {
			t.Fatalf("not the same:\n%+v\n%+v", want, got)
		}
		if err := workload.WriteSWF(&again, got); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Fatalf("written again: %v\n%s\n%s", err, out.Bytes(), again.Bytes())
		}
	})
}

// TestReadSWFRecord reads every field of a line in each of the forms that the
// whole of a file may have.
func TestReadSWFRecord(t *testing.T) {
	t.Parallel()
	packed := func(parts ...string) string {
		var b bytes.Buffer
		for _, part := range parts {
			z := gzip.NewWriter(&b)
			_, _ = io.WriteString(z, part)
			_ = z.Close()
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"plain":                goodLine + "\n",
		"no final newline":     goodLine,
		"CRLF":                 "; x\r\n\r\n" + goodLine + "\r\n",
		"tabs and many spaces": "\t " + strings.ReplaceAll(goodLine, " ", " \t ") + "  \n",
		"byte order mark":      "\xef\xbb\xbf" + goodLine + "\n",
		"gzip":                 packed(goodLine + "\n"),
		"gzip in pieces":       packed(goodLine[:20], goodLine[20:]),
		"gzip with a mark":     packed("\xef\xbb\xbf" + goodLine),
		"fractions of zeros":   strings.ReplaceAll(goodLine, "13 14", "13.0 14.") + "\n",
		"leading zeros":        "0000000000000000001" + goodLine[1:] + "\n",
		"empty lines":          "\n \n\t\n" + goodLine + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
				trace, err := workload.ReadSWF(r, workload.ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(trace.Records, []workload.Record{goodRecord()}) {
					t.Errorf("read %+v", trace.Records)
				}
			}
		})
	}
}

// TestReadSWFNumbers reads the run time and the job number from many spellings.
func TestReadSWFNumbers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		spelling string
		run      protocol.Duration
		negative int
		problem  string
	}{
		{spelling: "0", run: 0},
		{spelling: "-1", run: -1},
		{spelling: "-1.0", run: -1},
		{spelling: "-0", run: 0},
		{spelling: "1.5", run: 1500},
		{spelling: ".25", run: 250},
		{spelling: "3.", run: 3000},
		{spelling: "0.0004", run: 0},
		{spelling: "0.0005", run: 1},
		{spelling: "0.9999", run: 1000},
		{spelling: "2.00049", run: 2000},
		{spelling: "123456789", run: 123_456_789_000},
		{spelling: "1234567890", run: 1_234_567_890_000},
		{spelling: "10000000000", run: 10_000_000_000_000},
		{spelling: "-2", run: -1, negative: 1},
		{spelling: "-0.5", run: -1, negative: 1},
		{spelling: "-1.5", run: -1, negative: 1},
		{spelling: "10000000001", problem: "is too large: at most 10000000000"},
		{spelling: "99999999999999999999999999", problem: "is too large"},
		{spelling: "12x", problem: `"12x" is not a number`},
		{spelling: "-", problem: "is not a number"},
		{spelling: "--1", problem: "is not a number"},
		{spelling: "-1-", problem: "is not a number"},
		{spelling: ".", problem: "is not a number"},
		{spelling: "1.2.3", problem: "is not a number"},
		{spelling: "1e3", problem: "is not a number"},
		{spelling: "+1", problem: "is not a number"},
		{spelling: "0x1", problem: "is not a number"},
		{spelling: "nan", problem: "is not a number"},
		{spelling: "1\x002", problem: `"1\x002" is not a number`},
		{spelling: strings.Repeat("7", 50) + "z", problem: `"` + strings.Repeat("7", 40) + `"… is not a number`},
	} {
		t.Run(tc.spelling, func(t *testing.T) {
			t.Parallel()
			trace, err := read("; x\n1 10 20 "+tc.spelling+" 4 5 6 7 80 9 1 11 12 13 14 15 16 17\n", false)
			if tc.problem != "" {
				problemstest.Check(t, err, problemstest.At("trace.swf", 2, "field 4 (run time)", tc.problem))
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := trace.Records[0].Run; got != tc.run || trace.Report.Negative != tc.negative {
				t.Errorf("run %d, %d negative; want %d, %d", got, trace.Report.Negative, tc.run, tc.negative)
			}
		})
	}
}

// TestReadSWFMalformed says which line and field is wrong, and counts the same
// lines when lenient.
func TestReadSWFMalformed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("1 ", 40_000)
	for name, tc := range map[string]struct{ line, field, word string }{
		"too few fields":     {"1 2 3", "", "3 fields where a record has 18, or 19 with a site: \"1 2 3\""},
		"fraction of a CPU":  {strings.Replace(goodLine, " 4 ", " 4.5 ", 1), "field 5 (allocated processors)", "\"4.5\" is not a whole number"},
		"too many CPUs":      {strings.Replace(goodLine, " 4 ", " 2147483648 ", 1), "field 5 (allocated processors)", "\"2147483648\" is too large: at most 2147483647"},
		"job number too big": {"9007199254740993" + goodLine[1:], "field 1 (job number)", "\"9007199254740993\" is too large"},
		"a word":             {strings.Replace(goodLine, " 15 ", " lcg ", 1), "field 16 (partition)", "\"lcg\" is not a number"},
		"NUL bytes":          {"\x00\x00\x00", "field 1 (job number)", "\"\\x00\\x00\\x00\" is not a number"},
		"overlong":           {long, "", "line longer than 65536 bytes, beginning with \"1 1 1"},
		"overlong by far":    {strings.Repeat(long, 8), "", "line longer than 65536 bytes, beginning with \"1 1 1"},
		"overlong comment":   {";" + strings.Repeat(long, 8), "", "line longer than 65536 bytes, beginning with \";1 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "; comment\n" + tc.line + "\n" + goodLine + "\n"
			_, err := read(text, false)
			if _, ok := errors.AsType[*workload.MalformedError](err); !ok {
				t.Errorf("error of type %T", err)
			}
			problemstest.Check(t, err, problemstest.At("trace.swf", 2, tc.field, tc.word))
			trace, err := read(text, true)
			if err != nil {
				t.Fatal(err)
			}
			report := trace.Report
			if !slices.Equal(trace.Records, []workload.Record{goodRecord()}) || report.Skipped != 1 ||
				report.Lines != 3 || len(report.Problems) != 1 || report.Problems[0].Line != 2 {
				t.Errorf("lenient: %+v, records %+v", report, trace.Records)
			}
		})
	}
}

// The dialects of the simulator Alea (https://github.com/aleasimulator) have
// columns behind the standard's: GPUs, a soft limit and properties; or nodes, a
// queue and what was asked for; or a graph and the number in it.
func aleaNG() string {
	return "; JOB FIELDS MEANING:\n;  0: job_id\n; 20: required_properties\n" +
		goodLine + " 40 3609 all:excl:2x4\n" + "2" + goodLine[1:] + " 0 60 all\n"
}

func aleaNodes() string {
	return goodLine + " {1241,1241,1241} q_1d 1:ppn=64:x86_64:cl_zewura#excl\n" +
		"2" + goodLine[1:] + " {1129} q_2w 1:ppn=12\n"
}

func aleaGraph() string {
	return "id\tsubmit\twait\truntime\tcpus\tcputimeused\tusedmem\tcpusreq\twalltime\tmemreq\tstatus\tuser\tgroup\t" +
		"application\tqueue\tpartition\tprecjob\tthinktime\tDAG_name\tTask_ID\n" +
		goodLine + " DAG-1 1\n" + "2 10 20 30 4 5.25 6 7 80 9 1 11 12 13 14 15 4&5&6 17 DAG-1 2\n"
}

// TestReadSWFColumns ignores what stands behind the fields of the standard, and
// tells of how many columns; the 19th is no site then.
func TestReadSWFColumns(t *testing.T) {
	t.Parallel()
	second := goodRecord()
	second.ID = 2
	for name, tc := range map[string]struct {
		text             string
		columns, several int
	}{
		"AleaNG":               {aleaNG(), 3, 0},
		"Alea with node lists": {aleaNodes(), 3, 0},
		"Alea with graphs":     {aleaGraph(), 2, 1},
		"a word":               {goodLine + " batch\n2" + goodLine[1:] + " long\n", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace, err := read(tc.text, false)
			if err != nil {
				t.Fatal(err)
			}
			want := []workload.Record{goodRecord(), second}
			if tc.several > 0 {
				want[1].After = workload.Unknown
			}
			if !slices.Equal(trace.Records, want) {
				t.Errorf("read %+v", trace.Records)
			}
			if trace.Report.Columns != tc.columns || trace.Report.Several != tc.several {
				t.Errorf("report %+v", trace.Report)
			}
		})
	}
	if trace, err := read(goodLine+"\n"+goodLine+" 18\n", false); err != nil || trace.Report.Columns != 0 ||
		trace.Records[0].Extra != workload.Unknown || trace.Records[1].Extra != 18 {
		t.Errorf("a site is not a column to ignore: %v, %+v", err, trace)
	}
}

// TestReadSWFUnevenColumns refuses lines that differ from the first record's:
// there columns were lost, or two lines are one.
func TestReadSWFUnevenColumns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ first, second, field, word string }{
		"more than the standard": {goodLine, goodLine + " 18 19", "", "20 fields where a record has 18, or 19 with a site"},
		"two lines in one":       {goodLine, goodLine + " " + goodLine, "", "36 fields where a record has 18"},
		"one less":               {goodLine + " 1 2 x", goodLine + " 1 2", "", "20 fields where the first record, on line 1, has 21: "},
		"one more":               {goodLine + " 1 2 x", goodLine + " 1 2 x y", "", "22 fields where the first record, on line 1, has 21: "},
		"as the standard":        {goodLine + " 1 2 x", goodLine + " 1", "", "19 fields where the first record, on line 1, has 21: "},
		"names below a record":   {goodLine, strings.Repeat("id ", 18), "field 1 (job number)", `"id" is not a number`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := tc.first + "\n" + tc.second + "\n"
			_, err := read(text, false)
			malformed, ok := errors.AsType[*workload.MalformedError](err)
			if !ok || malformed.Read != 1 {
				t.Errorf("error %v", err)
			}
			problemstest.Check(t, err, problemstest.At("trace.swf", 2, tc.field, tc.word))
			if trace, err := read(text, true); err != nil || len(trace.Records) != 1 || trace.Report.Skipped != 1 {
				t.Errorf("lenient: %v, %+v", err, trace)
			}
		})
	}
}

// TestReadUTF16 says what is wrong with text of the wrong encoding, once and to
// a lenient reader too, in whatever way it begins and is packed.
func TestReadUTF16(t *testing.T) {
	t.Parallel()
	wide := func(text string, low, high int) string {
		b := make([]byte, 2*len(text))
		for i := range text {
			b[2*i+low], b[2*i+high] = text[i], 0
		}
		return string(b)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, wide(goodLine, 0, 1))
	_ = z.Close()
	for name, text := range map[string]string{
		"little endian":             "\xff\xfe" + wide(goodLine, 0, 1),
		"big endian":                "\xfe\xff" + wide(goodLine, 1, 0),
		"little endian, no mark":    wide(goodLine, 0, 1),
		"big endian, no mark":       wide(goodLine, 1, 0),
		"little endian, and packed": packed.String(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := workload.ReadOptions{Name: "trace.txt", Lenient: true}
			_, swf := workload.ReadSWF(strings.NewReader(text), o)
			_, gwf := workload.ReadGWF(strings.NewReader(text), o)
			_, sacct := workload.ReadSacct(strings.NewReader(text), o)
			for i, err := range []error{swf, gwf, sacct} {
				if err == nil || !strings.HasPrefix(err.Error(), "trace.txt: the text is in UTF-16") ||
					!strings.Contains(err.Error(), "iconv -f UTF-16 -t UTF-8") {
					t.Errorf("case %d: error %v", i, err)
				}
			}
		})
	}
}

// TestReadSWFManyProblems lists twenty and counts the rest.
func TestReadSWFManyProblems(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x\n", 25)
	_, err := read(text, false)
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 21 || lines[20] != "trace.swf: and 5 more" || !strings.HasPrefix(lines[19], "trace.swf:20: ") {
		t.Errorf("%d lines:\n%s", len(lines), err)
	}
	trace, err := read(text, true)
	if err != nil || trace.Report.Skipped != 25 || len(trace.Report.Problems) != 20 {
		t.Errorf("lenient: %v, %+v", err, trace.Report)
	}
}

// TestReadSWFBroken says where a file breaks off, to a lenient reader too.
func TestReadSWFBroken(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 5000 {
		fmt.Fprintf(z, "%d%s\n", i, goodLine[1:])
	}
	_ = z.Close()
	damaged := bytes.Clone(packed.Bytes())
	damaged[len(damaged)-6] ^= 0xff
	lost := errors.New("the disk is gone")
	for name, tc := range map[string]struct {
		from io.Reader
		want string
		is   error
	}{
		"cut short":        {bytes.NewReader(packed.Bytes()[:packed.Len()/2]), "cut short, fetch it again", io.ErrUnexpectedEOF},
		"only the magic":   {bytes.NewReader(packed.Bytes()[:2]), "after line 0: the compressed file is damaged", io.ErrUnexpectedEOF},
		"without its end":  {bytes.NewReader(packed.Bytes()[:packed.Len()-4]), "cut short, fetch it again", io.ErrUnexpectedEOF},
		"damaged":          {bytes.NewReader(damaged), "after line 5000: the compressed file is damaged", gzip.ErrChecksum},
		"rubbish behind":   {io.MultiReader(&packed, strings.NewReader("rubbish behind")), "damaged", gzip.ErrHeader},
		"a failing reader": {io.MultiReader(strings.NewReader(goodLine+"\n"), iotest.ErrReader(lost)), "trace.swf: after line 1: the disk", lost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := workload.ReadSWF(tc.from, workload.ReadOptions{Name: "trace.swf", Lenient: true})
			if !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// TestReadersAndWritersFail passes on what the file's reader or writer says.
func TestReadersAndWritersFail(t *testing.T) {
	t.Parallel()
	lost := errors.New("the disk is gone")
	broken := iotest.ErrReader(lost)
	_, swf := workload.ReadSWF(broken, workload.ReadOptions{})
	_, gwf := workload.ReadGWF(broken, workload.ReadOptions{})
	_, sacct := workload.ReadSacct(broken, workload.ReadOptions{})
	_, long := workload.ReadSWF(io.MultiReader(strings.NewReader(strings.Repeat("1", 300_000)), broken), workload.ReadOptions{})
	full := fullDisk{lost}
	many := workload.Trace{Header: make(workload.Header, 100_000), Records: make([]workload.Record, 100_000)}
	grid := workload.GridTrace{Comments: many.Header, Records: make([]workload.GridRecord, 100_000)}
	for i, err := range []error{
		swf, gwf, sacct, long,
		workload.WriteSWF(full, &many), workload.WriteSWF(full, &workload.Trace{Records: many.Records}),
		workload.WriteGWF(full, &grid), workload.WriteGWF(full, &workload.GridTrace{Records: grid.Records}),
	} {
		if !errors.Is(err, lost) {
			t.Errorf("case %d: error %v", i, err)
		}
	}
}

type fullDisk struct{ err error }

func (d fullDisk) Write([]byte) (int, error) { return 0, d.err }

// TestReadSWFEndsInLongLine counts a line above the bound that nothing ends.
func TestReadSWFEndsInLongLine(t *testing.T) {
	t.Parallel()
	trace, err := read(goodLine+"\n"+strings.Repeat("1", 300_000), true)
	if err != nil || trace.Report.Skipped != 1 || trace.Report.Lines != 2 || len(trace.Records) != 1 {
		t.Errorf("%v, %+v", err, trace)
	}
}

// TestReadSWFOrder sorts by submission, stably, and counts what was out of
// order.
func TestReadSWFOrder(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, r := range []struct{ id, submit int }{{1, 10}, {2, 30}, {3, 20}, {5, 20}, {4, 30}, {4, 40}} {
		fmt.Fprintf(&text, "%d %d%s\n", r.id, r.submit, strings.TrimPrefix(goodLine, "1 10"))
	}
	trace, err := read(text.String(), false)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, r := range trace.Records {
		ids = append(ids, r.ID)
	}
	if !slices.Equal(ids, []int64{1, 3, 5, 2, 4, 4}) || trace.Report.SubmitBack != 2 || trace.Report.IDsBack != 2 {
		t.Errorf("order %v, report %+v", ids, trace.Report)
	}
}

// TestReportTellsEachCount, and nothing of a trace without oddities.
func TestReportTellsEachCount(t *testing.T) {
	t.Parallel()
	if text := (workload.Report{Lines: 9}).String(); text != "" {
		t.Errorf("nothing is odd, and it tells %q", text)
	}
	problem := problems.Problem{Place: problems.Place{Line: 17, Key: "field 4 (run time)"}, Text: "no number"}
	for want, report := range map[string]workload.Report{
		"malformed lines left out: 3, the first is line 17: field 4 (run time): no number": {Skipped: 3, Problems: problems.List{problem}},
		"lines for steps of jobs left out: 2; job numbers not above the one before: 5":     {Steps: 2, IDsBack: 5},
		"jobs without an end, which have no run time: 1":                                   {Unfinished: 1},
		"negative values taken as unknown: 4":                                              {Negative: 4},
		"columns ignored, which the format has not: 3":                                     {Columns: 3},
		"records that wait for several jobs, taken as waiting for none: 7":                 {Several: 7},
		"records sorted, which came after later submissions: 6":                            {SubmitBack: 6},
	} {
		if text := report.String(); text != want {
			t.Errorf("%+v tells %q", report, text)
		}
	}
}

// TestHeader reads the forms of comments that the archive's headers have.
func TestHeader(t *testing.T) {
	t.Parallel()
	trace, err := read(`; Version: 2.2
;Computer:Big
; Information: http://www.pdc.kth.se/
;              http://www.cs.huji.ac.il/labs/parallel/workload/
; UnixStartTime: 956700003
; TimeZone: -28800
; MaxNodes: 144
; MaxProcs: 1152
; Queue:  0  interactive
; Queue: 1 express lane
; Queue: x
; Note: first
;
; Note: second
`+goodLine+`
; Note: late
`, false)
	if err != nil {
		t.Fatal(err)
	}
	h := trace.Header
	if got := h.Values("Note"); !slices.Equal(got, []string{"first", "second", "late"}) {
		t.Errorf("notes %q", got)
	}
	if got := h.Values("Information"); !slices.Equal(got, []string{"http://www.pdc.kth.se/"}) {
		t.Errorf("information %q", got)
	}
	if got, ok := h.Value("Computer"); got != "Big" || !ok {
		t.Errorf("computer %q, %v", got, ok)
	}
	if got, ok := h.Value("http"); ok {
		t.Errorf("the continuation is a key: %q", got)
	}
	if got, ok := h.CPUs(); got != 1152 || !ok {
		t.Errorf("CPUs %d, %v", got, ok)
	}
	if got := h.Names("Queue"); !maps.Equal(got, map[int]string{0: "interactive", 1: "express lane"}) {
		t.Errorf("queues %v", got)
	}
	// The log's own header: StartTime: Tue Apr 25 15:00:03 PDT 2000, which is
	// 14:00:03 by the standard time that TimeZone gives.
	if at, err := h.At(time.Date(2000, 4, 25, 14, 0, 3, 0, time.UTC)); at != 0 || err != nil {
		t.Errorf("the trace begins at %d, %v", at, err)
	}
	for _, bad := range []workload.Header{
		{}, {" UnixStartTime: soon"}, {" UnixStartTime: -5"}, {" UnixStartTime: 5", " TimeZone: 100000"},
	} {
		if _, err := bad.At(time.Unix(0, 0)); err == nil {
			t.Errorf("the header %q tells a time", bad)
		}
	}
	if n, ok := (workload.Header{" MaxProcs: -1", " MaxNodes: 9"}).CPUs(); n != 9 || !ok {
		t.Errorf("CPUs %d, %v", n, ok)
	}
	if _, ok := (workload.Header{" MaxProcs: many"}).CPUs(); ok {
		t.Error("a number of CPUs from words")
	}
	if got := h.With("a\nb"); len(got) != len(h)+2 || len(h) != 15 {
		t.Errorf("with two lines: %d of %d", len(got), len(h))
	}
}

// TestHeaderIndented reads the standard's keys however far they are indented; of
// others only those that do not look like a continued line.
func TestHeaderIndented(t *testing.T) {
	t.Parallel()
	h := workload.Header{
		"   UnixStartTime: 1735689600", "\tMaxProcs:  64", " Acknowledge: the owners", "      see: them", "     Note: indented",
	}
	if at, err := h.At(time.Unix(1735689660, 0)); err != nil || at != 60_000 {
		t.Errorf("the trace has %d, %v", at, err)
	}
	if cpus, ok := h.CPUs(); cpus != 64 || !ok {
		t.Errorf("CPUs %d, %v", cpus, ok)
	}
	if note, _ := h.Value("Note"); note != "indented" {
		t.Errorf("note %q", note)
	}
	if value, ok := h.Value("see"); ok {
		t.Errorf("a continued line is a key: %q", value)
	}
}

// TestSharedTraces reads every trace that is to be had, with the counts that
// their headers and README tell, and writes and reads it back.
func TestSharedTraces(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"5K_sample_clean.swf.gz":                4_961,
		"ANL-Intrepid-2009-1.first10000.swf.gz": 10_000,
		"CEA-Curie-2011-2.1-cln.swf.gz":         312_826,
		"KTH-SP2-1996-2.1-cln.swf.gz":           28_476,
		"LCG.swf.gz":                            188_041,
		"SDSC-BLUE-2000-4.2-cln.swf.gz":         243_306,
		"SDSC-Par-1996-3.1-cln.swf.gz":          32_135,
		"SDSC-SP2-1998-4.2-cln.swf.gz":          59_715,
		"SDSC-SP2-5K_sample.swf.gz":             4_961,
		"lublin_256_est.swf.gz":                 10_000,
		"lublin_256_perfect.swf.gz":             10_000,
		"xsede-sample-4100.swf.gz":              4_100,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace := readShared(t, name)
			r := trace.Report
			if len(trace.Records) != want || r.Skipped+r.SubmitBack+r.IDsBack+r.Negative != 0 {
				t.Fatalf("%d records, want %d; %+v", len(trace.Records), want, r)
			}
			var out bytes.Buffer
			if err := workload.WriteSWF(&out, trace); err != nil {
				t.Fatal(err)
			}
			again := readTrace(t, name, out.Bytes())
			if !slices.Equal(again.Records, trace.Records) || !slices.Equal(again.Header, trace.Header) {
				t.Error("writing and reading changed it")
			}
		})
	}
}

// TestExcerpts reads the excerpts of real and modelled traces that come with
// the source.
func TestExcerpts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ records, jobs int }{
		"lublin_256_est.swf":     {250, 250},
		"lublin_256_perfect.swf": {250, 250},
		"SDSC-BLUE-2002-08.swf":  {240, 240},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			trace := readTrace(t, name, data)
			jobs, c := workload.Clean(trace, workload.CleanOptions{})
			if len(trace.Records) != want.records || len(jobs) != want.jobs {
				t.Errorf("%d records, want %d; %s", len(trace.Records), want.records, c)
			}
		})
	}
}

func FuzzReadSWF(f *testing.F) {
	f.Add([]byte("; Version: 2.2\n"+goodLine+"\n"), false)
	f.Add([]byte(goodLine+" 4\r\n1 2\n-2 1.5 x"), true)
	f.Add([]byte("\x1f\x8b\x08\x00"), true)
	f.Add([]byte(aleaNG()), false)
	f.Add([]byte(aleaNodes()), false)
	f.Add([]byte(aleaGraph()), true)
	f.Fuzz(func(t *testing.T, data []byte, lenient bool) {
		trace, err := workload.ReadSWF(bytes.NewReader(data), workload.ReadOptions{Lenient: lenient})
		if err != nil {
			return
		}
		workload.Clean(trace, workload.CleanOptions{})
		var out bytes.Buffer
		if err = workload.WriteSWF(&out, trace); err != nil {
			t.Fatal(err)
		}
		again, err := workload.ReadSWF(&out, workload.ReadOptions{})
		if err != nil {
			t.Fatalf("cannot read what was written: %v", err)
		}
		if !slices.Equal(again.Records, trace.Records) || !slices.Equal(again.Header, trace.Header) {
			t.Fatalf("not the same:\n%+v\n%+v", trace, again)
		}
	})
}
