package workload_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func readSacct(text string, lenient bool) (*workload.Trace, error) {
	return workload.ReadSacct(strings.NewReader(text), workload.ReadOptions{Name: "jobs.txt", Lenient: lenient})
}

// TestReadSacct reads steps, arrays, heterogeneous jobs, jobs cancelled before
// their start, and jobs that still run.
func TestReadSacct(t *testing.T) {
	t.Parallel()
	trace, err := readSacct(string(excerpt(t, "hand-written.sacct")), false)
	if err != nil {
		t.Fatal(err)
	}
	const s, m = protocol.Second, protocol.Minute
	type row struct {
		id             int64
		submit         protocol.Instant
		wait, run, req protocol.Duration
		cpus, reqCPUs  int
		status         int
		user, part     int
	}
	want := []row{
		{1, 0, 2 * s, 600 * s, 15 * m, 4, 4, 1, 1, 1},
		{5, 127_000, -1, -1, -1, -1, 1, 5, 1, 2},
		{2, 187_000, 1200 * s, 3620 * s, 60 * m, 16, 16, 0, 2, 1},
		{3, 187_000, 1200 * s, 1 * s, -1, 16, 16, 0, 2, 1},
		{4, 187_000, -1, -1, 60 * m, -1, 16, -1, 2, 1},
		{6, 1_987_000, 0, -1, 1440 * m, 32, 32, -1, 3, 2},
		{7, 2_047_000, 30 * s, 30 * s, 5 * m, 8, 8, 0, 3, 1},
		{8, 2_047_000, 30 * s, 30 * s, 5 * m, 2, 2, 0, 3, 3},
		{9, 2_107_000, -1, -1, 5 * m, -1, 4, 5, 1, 1},
	}
	var got []row
	for _, r := range trace.Records {
		got = append(got, row{
			r.ID, r.Submit, r.Wait, r.Run, r.ReqTime, r.CPUs, r.ReqCPUs, r.Status, r.User, r.Partition,
		})
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if r := trace.Report; r.Steps != 3 || r.Unfinished != 2 || r.SubmitBack != 1 || r.Lines != 13 {
		t.Errorf("report %+v", r)
	}
	if names := trace.Header.Names("Partition"); names[2] != "long" || names[3] != "gpu" {
		t.Errorf("partitions %v", names)
	}
	if begin, _ := trace.Header.Int("UnixStartTime"); begin != 1_795_225_013 {
		t.Errorf("begins at %d", begin)
	}
	var out bytes.Buffer
	if err := workload.WriteSWF(&out, trace); err != nil {
		t.Fatal(err)
	}
	if again := readTrace(t, "written", out.Bytes()); !slices.Equal(again.Records, trace.Records) {
		t.Error("as SWF it reads back differently")
	}
}

// TestReadSacctForms reads one job in the forms that sacct can be told to print.
func TestReadSacctForms(t *testing.T) {
	t.Parallel()
	head := strings.ReplaceAll(workload.SacctFormat, ",", "|")
	line := "12|2026-11-21T01:36:53|2026-11-21T01:36:55|2026-11-21T01:46:55|600|4|4|15|COMPLETED|batch|ada"
	zoned := strings.NewReplacer("01:36:53", "02:36:53+0100", "01:36:55", "01:36:55Z", "01:46:55", "00:46:55-01:00")
	for name, text := range map[string]string{
		"as asked for":        head + "\n" + line + "\n",
		"without a head":      line + "\n",
		"ended by separators": head + "|\r\n" + line + "|\r\n",
		"both":                line + "|\n",
		"with zones":          head + "\n" + zoned.Replace(line) + "\n",
		"columns in another order": "State|User|JobID|JobName|Submit|Start|ElapsedRaw|ReqCPUS|alloccpus|Timelimitraw\n" +
			"COMPLETED|ada|12|a name|2026-11-21T01:36:53|2026-11-21T01:36:55|600|4|4|15\n",
		"raw ids": "JobIDRaw|" + head + "\n12|9_3" + line[2:] + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace, err := readSacct(text, false)
			if err != nil {
				t.Fatal(err)
			}
			want := workload.UnknownRecord()
			want.ID, want.Submit, want.Wait, want.Run = 12, 0, 2*protocol.Second, 600*protocol.Second
			want.CPUs, want.ReqCPUs, want.ReqTime, want.Status, want.User = 4, 4, 15*protocol.Minute, 1, 1
			if strings.Contains(text, "batch") {
				want.Partition = 1
			}
			if !slices.Equal(trace.Records, []workload.Record{want}) {
				t.Errorf("read %+v", trace.Records)
			}
			if begin, _ := trace.Header.Int("UnixStartTime"); begin != 1_795_225_013 {
				t.Errorf("begins at %d", begin)
			}
		})
	}
}

// TestReadSacctMalformed says which line and column is wrong.
func TestReadSacctMalformed(t *testing.T) {
	t.Parallel()
	head := strings.ReplaceAll(workload.SacctFormat, ",", "|")
	good := "12|2026-11-21T01:36:53|2026-11-21T01:36:55|2026-11-21T01:46:55|600|4|4|15|COMPLETED|batch|ada"
	for name, tc := range map[string]struct{ from, to, field, word string }{
		"id":        {"12|", "12x|", "field 1 (JobID)", `"12x" is not the id of a job`},
		"no submit": {"2026-11-21T01:36:53", "Unknown", "field 2 (Submit)", `"Unknown" is not a time`},
		"start":     {"2026-11-21T01:36:55", "yesterday", "field 3 (Start)", `"yesterday" is not a time like 2026-`},
		"zone":      {"2026-11-21T01:36:55", "2026-11-21T01:36:55Z", "field 3 (Start)", `"2026-11-21T01:36:55Z" must have a time zone if`},
		"elapsed":   {"600", "00:10:00", "field 5 (ElapsedRaw)", `"00:10:00" is not a number`},
		"limit":     {"15", "never", "field 8 (TimelimitRaw)", `"never" is not a number`},
		"CPUs":      {"|4|", "|4K|", "field 6 (AllocCPUS)", `"4K" is not a number`},
		"state":     {"COMPLETED", "DONE", "field 9 (State)", `"DONE" is not a state of Slurm`},
		"cells":     {"|batch", "", "", `10 cells where there are 11 columns: "12|`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := head + "\n1" + good + "\n" + strings.Replace(good, tc.from, tc.to, 1) + "\n"
			_, err := readSacct(text, false)
			problemstest.Check(t, err, problemstest.At("jobs.txt", 3, tc.field, tc.word))
			trace, err := readSacct(text, true)
			if err != nil || len(trace.Records) != 1 || trace.Report.Skipped != 1 {
				t.Errorf("lenient: %v, %+v", err, trace)
			}
		})
	}
	for head, missing := range map[string]string{
		"JobID|Submit|Start|State":            "ElapsedRaw",
		"JobID|Submit|Start|ElapsedRaw|State": "AllocCPUS",
	} {
		t.Run("without "+missing, func(t *testing.T) {
			t.Parallel()
			for _, lenient := range []bool{false, true} {
				_, err := readSacct(head+"\n1|2|3|4\n", lenient)
				if err == nil || !strings.HasPrefix(err.Error(), "jobs.txt:1: no column "+missing+": run sacct -P -o JobID,") {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

// TestReadSacctNames has the ids as sacct has them, wherever numbers cannot stand
// for them.
func TestReadSacctNames(t *testing.T) {
	t.Parallel()
	const rest = "|2026-11-21T01:36:53|2026-11-21T01:36:55|2026-11-21T01:46:55|600|4|4|15|COMPLETED|batch|ada\n"
	for name, tc := range map[string]struct {
		ids  []string // in the file
		want []string
	}{
		"numbers":      {[]string{"7", "9"}, []string{"7", "9"}},
		"arrays":       {[]string{"7_1", "7_2", "9"}, []string{"7_1", "7_2", "9"}},
		"parts":        {[]string{"7+0", "7+1"}, []string{"7+0", "7+1"}},
		"come again":   {[]string{"7", "7", "9", "7"}, []string{"7", "7#2", "9", "7#3"}},
		"with mistake": {[]string{"7", "8_x", "9"}, []string{"7", "9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace, err := readSacct(strings.Join(tc.ids, rest)+rest, true)
			if err != nil {
				t.Fatal(err)
			}
			jobs, _ := workload.Clean(trace, workload.CleanOptions{})
			var got []string
			for _, job := range jobs {
				got = append(got, trace.JobName(job.ID))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q", got)
			}
			for _, part := range workload.Split(trace, workload.SplitPartition) {
				if part.Trace.JobName(jobs[0].ID) != tc.want[0] {
					t.Error("a part of the trace has lost the names")
				}
			}
		})
	}
}

// TestReadSacctEndBeforeStart is told with its line, but for a clock that was put
// back by an hour: then the time elapsed fits.
func TestReadSacctEndBeforeStart(t *testing.T) {
	t.Parallel()
	line := func(start, end, elapsed string) string {
		return "12|2026-10-25T01:00:00|" + start + "|" + end + "|" + elapsed + "|4|4|15|COMPLETED|batch|ada\n"
	}
	const wrong = "jobs.txt:1: field 4 (End): the job ends at "
	for name, tc := range map[string]struct{ text, want string }{
		"in order":             {line("2026-10-25T02:50:00", "2026-10-25T02:50:00", "0"), ""},
		"before":               {line("2026-10-25T02:50:00", "2026-10-25T02:49:59", "10"), wrong + "2026-10-25T02:49:59, before it starts at 2026-10-25T02:50:00"},
		"clock put back":       {line("2026-10-25T02:50:00", "2026-10-25T02:10:00", "1200"), ""},
		"by more than an hour": {line("2026-10-25T02:50:00", "2026-10-25T01:49:00", "1200"), wrong},
		"not to be read":       {line("2026-10-25T02:50:00", "soon", "1200"), `jobs.txt:1: field 4 (End): "soon" is not a time`},
		"with zones": {strings.NewReplacer("01:00:00", "01:00:00Z", "02:50:00", "02:50:00Z", "02:10:00", "02:10:00Z").Replace(
			line("2026-10-25T02:50:00", "2026-10-25T02:10:00", "1200")), wrong},
		"never started": {"12|2026-10-25T01:00:00|2026-10-25T02:50:00|2026-10-25T02:10:00|0|0|4|15|CANCELLED|batch|ada\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace, err := readSacct(tc.text, false)
			if tc.want == "" {
				if err != nil || len(trace.Records) != 1 {
					t.Errorf("%v", err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// TestReadSacctNegativeWait takes the wait of a job that started before its
// submission as unknown, and counts it.
func TestReadSacctNegativeWait(t *testing.T) {
	t.Parallel()
	trace, err := readSacct("12|2026-11-21T01:36:53|2026-11-21T01:36:50|Unknown|6|4|4|15|COMPLETED|batch|ada", false)
	if err != nil {
		t.Fatal(err)
	}
	if r := trace.Records[0]; r.Wait != workload.Unknown || r.Run != 6*protocol.Second || trace.Report.Negative != 1 {
		t.Errorf("record %+v, report %+v", r, trace.Report)
	}
}

func FuzzReadSacct(f *testing.F) {
	f.Add(excerpt(f, "hand-written.sacct"), false)
	f.Add([]byte("JobIDRaw|JobID|Submit|Start|ElapsedRaw|ReqCPUS|State\n1|1_1|2026-11-21T01:36:53+0100|None|0|1|RUNNING"), true)
	f.Fuzz(func(t *testing.T, data []byte, lenient bool) {
		trace, err := workload.ReadSacct(bytes.NewReader(data), workload.ReadOptions{Lenient: lenient})
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
			t.Fatalf("cannot read it as SWF: %v", err)
		}
		if !slices.Equal(again.Records, trace.Records) {
			t.Fatalf("as SWF it reads back differently:\n%+v\n%+v", trace.Records, again.Records)
		}
	})
}
