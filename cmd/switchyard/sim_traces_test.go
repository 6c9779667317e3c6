package main

import (
	"fmt"
	"strings"
	"testing"
)

// aleaTrace is in the dialect of the simulator Alea, with its header further in
// than the standard has it.
const aleaTrace = ";   UnixStartTime: 1735689600\n;\tMaxProcs: 4\n; 20: required_properties\n" +
	"1 0 -1 5 1 5 1024 1 9 1024 1 0 0 -1 0 -1 -1 -1 40 5 all:excl:2x4\n" +
	"2 3 -1 5 4 5 1024 4 9 1024 1 1 0 -1 0 -1 -1 -1 0 5 normal\n"

// TestSimReadsAlea takes a trace with columns of its own as it is, and says what
// is not read of it.
func TestSimReadsAlea(t *testing.T) {
	t.Parallel()
	trace := tempFile(t, "alea.swf", aleaTrace)
	got := simulate(t, "schedule", "--trace", trace, "--starts", "-")
	if got.code != 0 || got.stdout != "job_id,start\n1,0\n2,5\n" ||
		got.stderr != "switchyard: "+trace+": columns ignored, which the format has not: 3\n" {
		t.Errorf("got %+v", got)
	}
	plan := tempFile(t, "alea.toml", "[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 4\nnodes = 4\n[[workload]]\nsite = \"a\"\ntrace = '"+trace+
		"'\nfrom = \"2025-01-01 00:00:02\"\n")
	got = simulate(t, "run", plan, "--scheme", "local", "--starts", "-")
	if got.code != 0 || got.stdout != "job_id,start,end,origin,site\n2,1,6,a,a\n" {
		t.Errorf("from the second job on: %+v", got)
	}
}

// TestSimAdvisesOnMalformedTraces: to leave lines out is no advice when none is
// left, and UTF-16 is told as such.
func TestSimAdvisesOnMalformedTraces(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"some lines":  {malformed, "--lenient; in an experiment, with lenient = true"},
		"all lines":   {"a b c\nd e f\n", "all lines are invalid; check the format of the trace (swf, gwf, sacct)"},
		"wide letter": {"\xff\xfe1\x00 \x000\x00", "iconv -f UTF-16 -t UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := simulate(t, "schedule", "--trace", tempFile(t, "bad.swf", tc.text), "--procs", "4")
			if got.code != 1 || !strings.Contains(got.stderr, tc.want) {
				t.Errorf("got %+v, want %q", got, tc.want)
			}
			if strings.Contains(got.stderr, "--lenient") != (name == "some lines") {
				t.Errorf("the advice is %s", got.stderr)
			}
		})
	}
}

// TestSimNamesSacctJobs has what Slurm calls the jobs in the files of starts.
func TestSimNamesSacctJobs(t *testing.T) {
	t.Parallel()
	jobs := func(ids ...string) string {
		const rest = "|2026-11-21T01:36:53|2026-11-21T01:36:55|2026-11-21T01:46:55|600|4|4|15|COMPLETED|batch|ada\n"
		return tempFile(t, "jobs.txt", strings.Join(ids, rest)+rest)
	}
	trace := jobs("700_1", "700_[2,3]", "812")
	if got := good(t, simulate(t, "schedule", "--trace", trace, "--procs", "4", "--starts", "-")); got !=
		"job_id,start\n700_1,0\n\"700_[2,3]\",600\n812,1200\n" {
		t.Errorf("got %s", got)
	}
	plan := "scheme = \"local\"\n[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 4\nnodes = 4\n[[site]]\nname = \"b\"\n\n[site.localsched]\ncpus = 4\nnodes = 4\n" +
		"[[workload]]\nsite = \"a\"\ntrace = '" + trace + "'\n"
	run := func(more string) string {
		return good(t, simulate(t, "run", tempFile(t, "plan.toml", plan+more), "--starts", "-"))
	}
	if got := run(""); !strings.HasPrefix(got, "job_id,start,end,origin,site\n700_1,0,600,a,a\n\"700_[2,3]\",") {
		t.Errorf("got %s", got)
	}
	if got := run("[[workload]]\nsite = \"a\"\ntrace = '" + jobs("9_1") + "'\n"); !strings.HasPrefix(got, "job_id,start,end,origin,site\n1,0,600,a,a\n2,") {
		t.Errorf("of two traces at a site they are numbers: %s", got)
	}
}

// TestSimKeepsOverruns wherever a trace is read, if it is asked to: the second job
// of the trace ran for 60 s and had asked for 9.
func TestSimKeepsOverruns(t *testing.T) {
	t.Parallel()
	trace := tempFile(t, "odd.swf", invalidTrace)
	site := "[[site]]\nname = \"a\"\n\n[site.localsched]\ncpus = 4\nnodes = 4\n"
	load := "[[workload]]\nsite = \"a\"\ntrace = '" + trace + "'\n"
	kept := tempFile(t, "kept.toml", site+load+"keep_overruns = true\n")
	cut := tempFile(t, "cut.toml", site+load)
	alone := tempFile(t, "alone.toml", site+"[[workload]]\nsite = \"a\"\nmodel = \"M1\"\nscale = true\nspan = \"1h\"\n")
	const reported = "1 (50.0 %) that ran longer than requested: not cut, with 78.5 % of the work beyond the requests"
	for name, c := range map[string]struct {
		args     []string
		want     string // on the standard output
		reported string // beside it, or on it
	}{
		"schedule, cut": {[]string{"schedule", "--trace", trace, "--json"}, `"mean_response_s": 7,`, "cut to the request"},
		"schedule":      {[]string{"schedule", "--trace", trace, "--keep-overruns", "--json"}, `"mean_response_s": 32.5,`, reported + ", and planned with the recorded run time\n"},
		"perfect": {
			[]string{"schedule", "--trace", trace, "--keep-overruns", "--perfect", "--json"}, `"mean_response_s": 32.5,`, reported + "\n",
		},
		"fit, cut": {[]string{"fit", "--method", "classes", "--trace", trace, "--cpus-per-node", "1", "--json"}, `"cut": 1`, ""},
		"fit":      {[]string{"fit", "--method", "classes", "--trace", trace, "--cpus-per-node", "1", "--keep-overruns"}, reported + ".\n", ""},
		"run, cut": {[]string{"run", cut, "--starts", "-"}, "2,5,14,a,a\n", "cut to the request"},
		"run":      {[]string{"run", kept, "--starts", "-"}, "2,5,65,a,a\n", reported},
		"join":     {[]string{"sweep", alone, "--seeds", "1", "--add-site", "b=4x1,trace=" + trace + ",keep_overruns=true,span=1h"}, "", reported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := simulate(t, c.args...)
			if got.code != 0 || !strings.Contains(got.stdout, c.want) || !strings.Contains(got.stderr, c.reported) {
				t.Errorf("got %+v\nwant %q and %q", got, c.want, c.reported)
			}
		})
	}
}

// TestSimGenerateKeepsOverruns of the log that a grid is made of: 400 jobs that ran
// for 60 s and had asked for 20.
func TestSimGenerateKeepsOverruns(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 400 {
		fmt.Fprintf(&log, "%d %d -1 60 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n", i+1, i)
	}
	args := []string{"generate", "--model", "nordugrid", "--trace", tempFile(t, "log.swf", log.String()), "--jobs", "400", "--unscaled", "--json"}
	for _, c := range []struct {
		flags          []string
		want, reported string
	}{
		{nil, `"mean_run_s": 20,`, "400 (100.0 %) that ran longer than requested: cut to the request, without 66.7 % of the work"},
		{[]string{"--keep-overruns"}, `"mean_run_s": 60,`, ""},
	} {
		got := simulate(t, append(args, c.flags...)...)
		if got.code != 0 || strings.Count(got.stdout, c.want) < 2 || !strings.Contains(got.stderr, c.reported) || (got.stderr == "") != (c.reported == "") {
			t.Errorf("%q: %+v", c.flags, got)
		}
	}
	if got := simulate(t, "generate", "--model", "lublin", "--keep-overruns"); got.code != exitUsage {
		t.Errorf("of a model: %+v", got)
	}
}
