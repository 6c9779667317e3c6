package workload_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestCleanBlueHorizon checks the counts of facts/workload-models.md, section
// D. They come out with the header's TimeZone (eight hours behind UTC, all
// year) and without the records whose run time is 0; in UTC or with daylight
// saving time they do not.
func TestCleanBlueHorizon(t *testing.T) {
	t.Parallel()
	trace := readShared(t, "SDSC-BLUE-2000-4.2-cln.swf.gz")
	at := func(month time.Month) protocol.Instant {
		instant, err := trace.Header.At(time.Date(2002, month, 1, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		return instant
	}
	for _, tc := range []struct {
		name     string
		from, to time.Month
		zeroRuns bool
		want     int
	}{
		{"March to August", time.March, time.September, true, 33_609},
		{"August", time.August, time.September, true, 6_352},
		{"March to August with run time 0", time.March, time.September, false, 33_613},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			jobs, c := workload.Clean(trace, workload.CleanOptions{
				From: at(tc.from), To: at(tc.to), Queues: []int{0}, ZeroRuns: tc.zeroRuns,
			})
			if len(jobs) != tc.want || c.Jobs != tc.want {
				t.Errorf("%d jobs, want %d: %s", len(jobs), tc.want, c)
			}
			left := c.NoSubmit + c.Window + c.Queue + c.Status + c.NoRun + c.ZeroRun + c.NoCPUs + c.Repeated
			if c.Records != 243_306 || c.Dropped() != left {
				t.Errorf("the counts do not add up: %s", c)
			}
			if jobs[0].Submit < 0 || jobs[0].Submit > protocol.Instant(protocol.Day) {
				t.Errorf("the first job comes at %d ms, want the window's beginning", jobs[0].Submit)
			}
		})
	}
}

// TestCleanReferenceTraces makes jobs of the traces that have reference
// schedules: all of their records, with ids and times as they are.
func TestCleanReferenceTraces(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"5K_sample_clean.swf.gz":    4_961,
		"lublin_256_est.swf.gz":     10_000,
		"lublin_256_perfect.swf.gz": 10_000,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace := readShared(t, name)
			jobs, c := workload.Clean(trace, workload.CleanOptions{})
			if len(jobs) != want || c.Dropped() != 0 {
				t.Fatalf("%s; want all %d", c, want)
			}
			for i, job := range jobs {
				if r := trace.Records[i]; job.ID != r.ID || job.Submit != r.Submit || job.CPUs != r.CPUs {
					t.Fatalf("job %+v of record %+v", job, r)
				}
			}
		})
	}
}

// TestCleanRule goes through the rule for CPUs, run time and estimate, and the
// reasons to leave a record out.
func TestCleanRule(t *testing.T) {
	t.Parallel()
	const s = protocol.Second
	record := func(change func(*workload.Record)) workload.Record {
		r := workload.UnknownRecord()
		r.ID, r.Submit, r.Run, r.CPUs, r.ReqTime, r.Queue, r.Status = 7, 50_000, 100*s, 4, 300*s, 1, 1
		change(&r)
		return r
	}
	job := workload.Job{ID: 7, User: -1, Submit: 50_000, Run: 100 * s, Estimate: 300 * s, CPUs: 4}
	with := func(change func(*workload.Job)) *workload.Job {
		j := job
		change(&j)
		return &j
	}
	for _, tc := range []struct {
		name    string
		record  workload.Record
		options workload.CleanOptions
		want    *workload.Job
		count   workload.Cleaning
	}{
		{"as it is", record(func(*workload.Record) {}), workload.CleanOptions{}, &job, workload.Cleaning{}},
		{
			"perfect estimate", record(func(*workload.Record) {}),
			workload.CleanOptions{Perfect: true},
			with(func(j *workload.Job) { j.Estimate = j.Run }),
			workload.Cleaning{},
		},
		{
			"run time above the request", record(func(r *workload.Record) { r.ReqTime = 60 * s }),
			workload.CleanOptions{},
			with(func(j *workload.Job) { j.Run, j.Estimate = 60*s, 100*s }),
			workload.Cleaning{Cut: 1, Raised: 1},
		},
		{
			"the same with perfect estimates", record(func(r *workload.Record) { r.ReqTime = 60 * s }),
			workload.CleanOptions{Perfect: true},
			with(func(j *workload.Job) { j.Run, j.Estimate = 60*s, 60*s }),
			workload.Cleaning{Cut: 1},
		},
		{
			"the same, kept", record(func(r *workload.Record) { r.ReqTime = 60 * s }),
			workload.CleanOptions{KeepOverruns: true},
			with(func(j *workload.Job) { j.Estimate = 100 * s }),
			workload.Cleaning{Kept: 1, Raised: 1},
		},
		{
			"kept, with perfect estimates", record(func(r *workload.Record) { r.ReqTime = 60 * s }),
			workload.CleanOptions{KeepOverruns: true, Perfect: true},
			with(func(j *workload.Job) { j.Estimate = 100 * s }),
			workload.Cleaning{Kept: 1},
		},
		{
			"no request", record(func(r *workload.Record) { r.ReqTime = -1 }),
			workload.CleanOptions{},
			with(func(j *workload.Job) { j.Estimate = 100 * s }),
			workload.Cleaning{Assumed: 1},
		},
		{
			"run time 0", record(func(r *workload.Record) { r.Run = 0 }),
			workload.CleanOptions{},
			with(func(j *workload.Job) { j.Run = s }),
			workload.Cleaning{Lengthened: 1},
		},
		{
			"run time 0 left out", record(func(r *workload.Record) { r.Run = 0 }),
			workload.CleanOptions{ZeroRuns: true},
			nil,
			workload.Cleaning{ZeroRun: 1},
		},
		{
			"requested CPUs", record(func(r *workload.Record) { r.CPUs, r.ReqCPUs = -1, 9 }),
			workload.CleanOptions{},
			with(func(j *workload.Job) { j.CPUs = 9 }),
			workload.Cleaning{},
		},
		{
			"no CPUs", record(func(r *workload.Record) { r.CPUs = 0 }),
			workload.CleanOptions{},
			nil,
			workload.Cleaning{NoCPUs: 1},
		},
		{
			"no run time", record(func(r *workload.Record) { r.Run = -1 }),
			workload.CleanOptions{},
			nil,
			workload.Cleaning{NoRun: 1},
		},
		{
			"no submit time", record(func(r *workload.Record) { r.Submit = -1 }),
			workload.CleanOptions{},
			nil,
			workload.Cleaning{NoSubmit: 1},
		},
		{
			"no number", record(func(r *workload.Record) { r.ID = -1 }),
			workload.CleanOptions{},
			nil,
			workload.Cleaning{Repeated: 1},
		},
		{
			"queue", record(func(*workload.Record) {}),
			workload.CleanOptions{Queues: []int{0, 1}},
			nil,
			workload.Cleaning{Queue: 1},
		},
		{
			"status", record(func(*workload.Record) {}),
			workload.CleanOptions{Statuses: []int{1}},
			nil,
			workload.Cleaning{Status: 1},
		},
		{
			"at the window's beginning", record(func(*workload.Record) {}),
			workload.CleanOptions{From: 50_000, To: 50_001},
			with(func(j *workload.Job) { j.Submit = 0 }),
			workload.Cleaning{},
		},
		{
			"at the window's end", record(func(*workload.Record) {}),
			workload.CleanOptions{To: 50_000},
			nil,
			workload.Cleaning{Window: 1},
		},
		{
			"a window that ends before the trace", record(func(*workload.Record) {}),
			workload.CleanOptions{From: -90_000, To: -1},
			nil,
			workload.Cleaning{Window: 1},
		},
		{
			"a window that begins before the trace", record(func(*workload.Record) {}),
			workload.CleanOptions{From: -90_000, To: 50_001},
			with(func(j *workload.Job) { j.Submit = 140_000 }),
			workload.Cleaning{},
		},
		{
			"before the window", record(func(*workload.Record) {}),
			workload.CleanOptions{From: 50_001},
			nil,
			workload.Cleaning{Window: 1},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			trace := &workload.Trace{Records: []workload.Record{tc.record}}
			jobs, c := workload.Clean(trace, tc.options)
			tc.count.Records = 1
			if tc.want != nil {
				tc.count.Jobs = 1
				if !slices.Equal(jobs, []workload.Job{*tc.want}) {
					t.Errorf("jobs %+v\nwant  %+v", jobs, *tc.want)
				}
			}
			over := 0.0
			if tc.count.Cut+tc.count.Kept > 0 {
				over = 0.4 // 40 of 100 s
			}
			if got := c.Overran(); got != over {
				t.Errorf("%g of the work is beyond the request, want %g", got, over)
			}
			c.Work, c.Overrun = 0, 0
			if c != tc.count {
				t.Errorf("counts %+v\nwant   %+v", c, tc.count)
			}
			tc.count.Kept = 0 // what runs as recorded is as it is
			if asIs := tc.count == (workload.Cleaning{Records: 1, Jobs: 1}); c.AsIs() != asIs {
				t.Errorf("as it is: %t, with the counts %+v", c.AsIs(), c)
			}
		})
	}
}

// TestCleanNumbersOnce leaves out all but the first record of a number, also
// when the numbers do not rise.
func TestCleanNumbersOnce(t *testing.T) {
	t.Parallel()
	trace := &workload.Trace{}
	for _, id := range []int64{5, 9, 2, 9, 12, 5, 12, 3} {
		r := workload.UnknownRecord()
		r.ID, r.Submit, r.Run, r.CPUs = id, 0, protocol.Second, 1
		trace.Records = append(trace.Records, r)
	}
	jobs, c := workload.Clean(trace, workload.CleanOptions{})
	var ids []int64
	for _, job := range jobs {
		ids = append(ids, job.ID)
	}
	if !slices.Equal(ids, []int64{5, 9, 2, 12, 3}) || c.Repeated != 3 {
		t.Errorf("kept %v, %d repeated", ids, c.Repeated)
	}
	if text := c.String(); !strings.Contains(text, "5 jobs of 8 records; 3 left out for a job number") {
		t.Errorf("said %q", text)
	}
}

// TestCleanTellsOverrunsOnce: what is cut and what its estimate is, in one clause
// with the share of jobs and of work.
func TestCleanTellsOverrunsOnce(t *testing.T) {
	t.Parallel()
	trace := &workload.Trace{}
	for i, run := range []protocol.Duration{100, 300, 50, 50} { // s, 100 of them requested; 2 CPUs the second, 1 the others
		r := workload.UnknownRecord()
		r.ID, r.Submit, r.Run, r.ReqTime, r.CPUs = int64(i), 0, run*protocol.Second, 100*protocol.Second, 1
		if i == 1 {
			r.CPUs = 2
		}
		trace.Records = append(trace.Records, r)
	}
	for want, o := range map[string]workload.CleanOptions{
		"4 jobs of 4 records; 1 (25.0 %) that ran longer than requested: cut to the request, without 50.0 % of the work, " +
			"and planned with the recorded run time (--keep-overruns or keep_overruns = true keeps it)": {},
		"4 jobs of 4 records; 1 (25.0 %) that ran longer than requested: cut to the request, without 50.0 % of the work" +
			" (--keep-overruns or keep_overruns = true keeps it)": {Perfect: true},
		"4 jobs of 4 records; 1 (25.0 %) that ran longer than requested: not cut, with 50.0 % of the work beyond the requests, " +
			"and planned with the recorded run time": {KeepOverruns: true},
	} {
		if _, c := workload.Clean(trace, o); c.String() != want {
			t.Errorf("told  %s\nwant  %s", c, want)
		}
	}
}

// TestCleanMakesJobs checks what Job promises, whatever the records hold, and
// that every record is accounted for.
func TestCleanMakesJobs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		trace := &workload.Trace{Records: rapid.SliceOfN(rapid.Custom(anyRecord), 0, 40).Draw(t, "records")}
		options := workload.CleanOptions{
			Perfect:  rapid.Bool().Draw(t, "perfect"),
			From:     protocol.Instant(rapid.Int64Range(0, 20_000).Draw(t, "from")),
			To:       protocol.Instant(rapid.Int64Range(-1, 50_000).Draw(t, "to")),
			ZeroRuns: rapid.Bool().Draw(t, "zero"),

			KeepOverruns: rapid.Bool().Draw(t, "keep"),
		}
		jobs, c := workload.Clean(trace, options)
		left := c.NoSubmit + c.Window + c.Queue + c.Status + c.NoRun + c.ZeroRun + c.NoCPUs + c.Repeated
		if c.Records != len(trace.Records) || c.Jobs != len(jobs) || c.Jobs+left != c.Records {
			t.Fatalf("the counts do not add up: %+v", c)
		}
		for _, n := range c.LeftOut() {
			left -= n
		}
		if left != 0 {
			t.Fatalf("%v is not what was left out: %+v", c.LeftOut(), c)
		}
		ids := map[int64]bool{}
		work := 0.0
		for _, job := range jobs {
			if job.Run < protocol.Second || job.Estimate < job.Run || job.CPUs < 1 || job.Submit < 0 || ids[job.ID] {
				t.Fatalf("job %+v, id seen: %v", job, ids[job.ID])
			}
			if options.Perfect && job.Estimate != job.Run {
				t.Fatalf("estimate of %+v is not perfect", job)
			}
			ids[job.ID] = true
			work += float64(job.Work())
		}
		if over := c.Overran(); over < 0 || over > 1 || options.KeepOverruns && work < c.Work || !options.KeepOverruns && c.Kept > 0 {
			t.Fatalf("%g of the work is beyond the requests, %g of %g is kept: %+v", over, work, c.Work, c)
		}
	})
}
