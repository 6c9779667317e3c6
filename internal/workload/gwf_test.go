package workload_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func readGWF(text string, lenient bool) (*workload.GridTrace, error) {
	return workload.ReadGWF(strings.NewReader(text), workload.ReadOptions{Name: "grid.gwf", Lenient: lenient})
}

func excerpt(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// TestReadGWF reads lines cut by tabs, by spaces, and ended by a tab.
func TestReadGWF(t *testing.T) {
	t.Parallel()
	trace, err := readGWF(string(excerpt(t, "hand-written.gwf")), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Records) != 5 || len(trace.Comments) != 4 || trace.Report.Lines != 9 {
		t.Fatalf("%d records, %d comments, %+v", len(trace.Records), len(trace.Comments), trace.Report)
	}
	second := trace.Records[1]
	if second.ID != 2 || second.Submit != 1_136_070_690_000 || second.CPUs != 4 || second.CPUTime != 4250 ||
		second.Word(workload.GridOrigSite) != "G1/site2" || second.Word(workload.GridStructureParams) != "B7" ||
		second.Word(workload.GridReqPlatform) != "x86_64,Linux,-1" || second.Word(workload.GridProject) != "P1" {
		t.Errorf("second record %+v", second)
	}
	third, fourth := trace.Records[2], trace.Records[3]
	if third.ReqMemory != 524_288 || third.Word(workload.GridOrigSite) != "" ||
		third.Word(workload.GridLastRunSite) != "G1/site1/c1" {
		t.Errorf("third record %+v", third)
	}
	if fourth.Run != workload.Unknown || fourth.Status != workload.StatusCancelled ||
		fourth.Word(workload.GridUsedNetwork) != "12.5" || fourth.Word(workload.GridProject) != "P2" {
		t.Errorf("fourth record %+v", fourth)
	}
}

// TestGridTraceTrace converts to the shared fields.
func TestGridTraceTrace(t *testing.T) {
	t.Parallel()
	grid, err := readGWF(string(excerpt(t, "hand-written.gwf")), false)
	if err != nil {
		t.Fatal(err)
	}
	trace := grid.Trace()
	var ids []int64
	var submits []protocol.Instant
	var users, sites, queues, partitions []int
	for _, r := range trace.Records {
		ids, submits = append(ids, r.ID), append(submits, r.Submit)
		users, sites = append(users, r.User), append(sites, r.Extra)
		queues, partitions = append(queues, r.Queue), append(partitions, r.Partition)
	}
	for _, check := range []struct {
		what string
		ok   bool
	}{
		{"ids", slices.Equal(ids, []int64{1, 2, 3, 5, 4})},
		{"submits", slices.Equal(submits, []protocol.Instant{0, 666_000, 666_000, 971_000, 977_000})},
		{"users", slices.Equal(users, []int{1, 1, 2, 3, 3})},
		{"sites", slices.Equal(sites, []int{1, 2, 3, 4, 1})},
		{"queues", slices.Equal(queues, []int{1, 1, 2, 1, 1})},
		{"partitions", slices.Equal(partitions, []int{-1, -1, -1, -1, -1})},
		{"order", trace.Report.SubmitBack == 1},
	} {
		if !check.ok {
			t.Errorf("wrong %s: ids %v submits %v users %v sites %v queues %v partitions %v", check.what,
				ids, submits, users, sites, queues, partitions)
		}
	}
	if begin, ok := trace.Header.Int("UnixStartTime"); begin != 1_136_070_024 || !ok {
		t.Errorf("begins at %d", begin)
	}
	parts := workload.Split(trace, workload.SplitExtra)
	var names []string
	for _, part := range parts {
		names = append(names, part.Name)
	}
	if !slices.Equal(names, []string{"G1/site1", "G1/site2", "G1/site1/c1", "G1/site3"}) {
		t.Errorf("sites %q", names)
	}
	if jobs, c := workload.Clean(trace, workload.CleanOptions{}); len(jobs) != 4 || c.NoRun != 1 {
		t.Errorf("cleaned: %s", c)
	}
}

// TestGridTraceNumbers keeps ids that are numbers as they are.
func TestGridTraceNumbers(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("7 ", 11) + "42 " + strings.Repeat("-1 ", 4) + "3 3 " + strings.Repeat("-1 ", 11) + "\n"
	grid, err := readGWF(line, false)
	if err != nil {
		t.Fatal(err)
	}
	trace := grid.Trace()
	if r := trace.Records[0]; r.User != 42 || r.Extra != 3 || r.Group != workload.Unknown {
		t.Errorf("record %+v", r)
	}
	if names := trace.Header.Names("User"); len(names) != 0 {
		t.Errorf("names for numbers: %v", names)
	}
}

// TestReadGWFMalformed says which line and field is wrong.
func TestReadGWFMalformed(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("1\t", 28) + "1"
	for name, tc := range map[string]struct{ line, field, word string }{
		"too few fields":  {"1 2 3", "", "3 fields where a record has 29: \"1 2 3\""},
		"too many fields": {good + "\t1", "", "30 fields where a record has 29"},
		"not a number":    {strings.Replace(good, "1\t1\t1\t1\t", "1\t1\t1\t12x\t", 1), "field 4 (RunTime)", "\"12x\" is not a number"},
		"a fraction":      {strings.Replace(good, "1\t1\t1\t1\t1", "1\t1\t1\t1\t1.5", 1), "field 5 (NProcs)", "\"1.5\" is not a whole number"},
		"control bytes":   {good[:len(good)-5] + "a\x00b\t1\t1", "field 27 (ReqResources)", "\"a\\x00b\" has control characters"},
		"column names":    {"JobID" + good[1:], "field 1 (JobID)", "\"JobID\" is not a number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "# comment\n" + tc.line + "\n" + good + "\n"
			_, err := readGWF(text, false)
			problemstest.Check(t, err, problemstest.At("grid.gwf", 2, tc.field, tc.word))
			trace, err := readGWF(text, true)
			if err != nil || len(trace.Records) != 1 || trace.Report.Skipped != 1 {
				t.Errorf("lenient: %v, %+v", err, trace)
			}
		})
	}
}

// TestGWFRoundTrip writes any records and comments and reads the same back.
func TestGWFRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := &workload.GridTrace{
			Comments: rapid.SliceOf(rapid.StringMatching(`[ #a-zA-Z0-9]{0,20}`)).Draw(t, "comments"),
			Records:  rapid.SliceOfN(rapid.Custom(anyGridRecord), 0, 10).Draw(t, "records"),
		}
		var out bytes.Buffer
		if err := workload.WriteGWF(&out, want); err != nil {
			t.Fatal(err)
		}
		got, err := workload.ReadGWF(&out, workload.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Comments, want.Comments) || !slices.Equal(got.Records, want.Records) {
			t.Fatalf("not the same:\n%+v\n%+v", want, got)
		}
	})
}

// TestWriteGWFWords keeps words inside their fields.
func TestWriteGWFWords(t *testing.T) {
	t.Parallel()
	record := workload.GridRecord{ID: 1}
	record.Words[workload.GridUser] = "a\tb\nc"
	record.Words[workload.GridProject] = " \r"
	var out bytes.Buffer
	if err := workload.WriteGWF(&out, &workload.GridTrace{Records: []workload.GridRecord{record}}); err != nil {
		t.Fatal(err)
	}
	got, err := workload.ReadGWF(&out, workload.ReadOptions{})
	if err != nil || got.Records[0].Word(workload.GridUser) != "a b c" || got.Records[0].Word(workload.GridProject) != "" {
		t.Errorf("%v, %q", err, got.Records[0].Words)
	}
}

func anyGridRecord(t *rapid.T) workload.GridRecord {
	r := anyRecord(t)
	g := workload.GridRecord{
		ID: r.ID, Submit: r.Submit, Wait: r.Wait, Run: r.Run, CPUs: r.CPUs, CPUTime: r.CPUTime,
		Memory: r.Memory, ReqCPUs: r.ReqCPUs, ReqTime: r.ReqTime, ReqMemory: r.ReqMemory, Status: r.Status,
	}
	for i := range g.Words {
		g.Words[i] = rapid.StringMatching(`-1|[A-Z#][0-9]{0,3}|[a-z]+(/| )[a-z]+`).Draw(t, "word")
	}
	return g
}

func FuzzReadGWF(f *testing.F) {
	f.Add(excerpt(f, "hand-written.gwf"), false)
	f.Add([]byte(strings.Repeat("1.5 ", 29)+"\n# x\r\n2\t"), true)
	f.Fuzz(func(t *testing.T, data []byte, lenient bool) {
		trace, err := workload.ReadGWF(bytes.NewReader(data), workload.ReadOptions{Lenient: lenient})
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err = workload.WriteGWF(&out, trace); err != nil {
			t.Fatal(err)
		}
		again, err := workload.ReadGWF(bytes.NewReader(out.Bytes()), workload.ReadOptions{})
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, out.Bytes())
		}
		if !slices.Equal(again.Records, trace.Records) || !slices.Equal(again.Comments, trace.Comments) {
			t.Fatalf("not the same:\n%+v\n%+v", trace, again)
		}
		converted := trace.Trace()
		if len(converted.Records) != len(trace.Records) {
			t.Fatalf("%d of %d records converted", len(converted.Records), len(trace.Records))
		}
		workload.Clean(converted, workload.CleanOptions{})
	})
}
