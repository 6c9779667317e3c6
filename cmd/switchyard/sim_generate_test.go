package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// generate runs sim generate.
func generate(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{stdout: &stdout, stderr: &stderr}
	cmd := a.simGenerateCommand()
	cmd.RunE = a.simulating(cmd.RunE)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	code := a.exitCode(cmd.ExecuteContext(t.Context()))
	return result{code, stdout.String(), stderr.String()}
}

// smallLog is the log of a grid of two sites.
func smallLog(t *testing.T) string {
	t.Helper()
	trace := &workload.Trace{Header: workload.Header{" Acknowledge: Hui Li"}}
	for i := range 500 {
		r := workload.UnknownRecord()
		r.ID, r.Submit, r.CPUs, r.Partition, r.Run = int64(i+1), protocol.Instant(i)*60_000, 1, i%2+1, 1000
		if i%20 == 0 {
			r.Run = 3_000_000
		}
		trace.Records = append(trace.Records, r)
	}
	var text bytes.Buffer
	if err := workload.WriteSWF(&text, trace); err != nil {
		t.Fatal(err)
	}
	return tempFile(t, "log.swf", text.String())
}

func TestSimGenerateWritesATrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := smallLog(t)
	tests := map[string]struct {
		args       []string
		jobs       int
		partitions int
	}{
		"lublin":    {[]string{"--model", "lublin", "--cpus", "64", "--jobs", "600", "--max-estimate", "36h"}, 600, 1},
		"typeless":  {[]string{"--model", "lublin", "--typeless"}, 1000, 1},
		"xsede":     {[]string{"--model", "xsede", "--jobs", "3000", "--history", "1000"}, 4000, 8},
		"nordugrid": {[]string{"--model", "nordugrid", "--trace", log, "--jobs", "300"}, 300, 2},
		"intrepid":  {[]string{"--model", "intrepid"}, 52_287, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, name+".swf")
			shown := good(t, generate(t, append(test.args, "--seed", "5", "--out", path)...))
			if !strings.Contains(shown, "OFFERED") {
				t.Errorf("it shows %s", shown)
			}
			trace, err := experiment.ReadTrace(path, "", false)
			if err != nil {
				t.Fatal(err)
			}
			jobs, cleaning := workload.Clean(trace, workload.CleanOptions{})
			if len(jobs) != test.jobs || !cleaning.AsIs() {
				t.Errorf("%d jobs: %s", len(jobs), cleaning)
			}
			if parts := workload.Split(trace, workload.SplitPartition); len(parts) != test.partitions {
				t.Errorf("%d partitions, want %d", len(parts), test.partitions)
			}
			if note, _ := trace.Header.Value("Note"); !strings.HasSuffix(note, "--seed 5") {
				t.Errorf("the note is %q", note)
			}
			if who, _ := trace.Header.Value("Acknowledge"); name == "nordugrid" && who != "Hui Li" {
				t.Errorf("%q is acknowledged", who)
			}
			first, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if again := good(t, generate(t, append(test.args, "--seed", "5", "--out", "-")...)); again != string(first) {
				t.Error("one seed gives two files")
			}
		})
	}
}

func TestSimGenerateJSON(t *testing.T) {
	t.Parallel()
	var got experiment.Drawn
	text := good(t, generate(t, "--model", "xsede", "--jobs", "4000", "--history", "0", "--json"))
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Jobs != 4000 || got.History != 0 || len(got.Systems) != 8 || got.Run < 7*3600 || got.Run > 11*3600 {
		t.Errorf("got %+v", got)
	}
	s := got.Systems[0]
	if s.Name != "Blacklight" || s.System.Cores != 4096 || s.MilliwattsPerCore != 87_890 || s.Jobs < 200 || s.SystemLoad.Cores < 50 {
		t.Errorf("got %+v", s)
	}
	busy := good(t, generate(t, "--model", "lublin", "--load", "2", "--json"))
	plain := good(t, generate(t, "--model", "lublin", "--json"))
	var twice, once experiment.Drawn
	for text, to := range map[string]*experiment.Drawn{busy: &twice, plain: &once} {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			t.Fatal(err)
		}
	}
	if ratio := once.Span / twice.Span; ratio < 1.5 || ratio > 2.6 {
		t.Errorf("twice the load takes %.0f s of %.0f", twice.Span, once.Span)
	}
}

func TestSimGenerateExitCodes(t *testing.T) {
	t.Parallel()
	log := smallLog(t)
	cases := map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"no model":        {nil, 2, "missing --model; use lublin, xsede, nordugrid, intrepid, or the file of a model"},
		"unknown":         {[]string{"--model", "cirne"}, 2, `--model: unknown value "cirne"; use lublin, xsede, nordugrid, intrepid`},
		"no log":          {[]string{"--model", "nordugrid"}, 2, "set --trace"},
		"lost log":        {[]string{"--model", "nordugrid", "--trace", "none.swf"}, 3, "none.swf: no such file"},
		"no such jobs":    {[]string{"--model", "nordugrid", "--trace", log}, 1, "log.swf: jobs: 126344 are not from 200 to the 500 of the log"},
		"other's flag":    {[]string{"--model", "xsede", "--cpus", "9"}, 2, "--cpus does not apply to --model xsede"},
		"trace for xsede": {[]string{"--model", "xsede", "--trace", log}, 2, "--trace does not apply to --model xsede"},
		"its own count":   {[]string{"--model", "intrepid", "--jobs", "9"}, 2, "--jobs does not apply to --model intrepid"},
		"no jobs":         {[]string{"--model", "xsede", "--jobs", "0"}, 2, "--jobs: invalid value 0"},
		"few jobs":        {[]string{"--model", "lublin", "--jobs", "20", "--max-estimate", "9h"}, 2, "draw more jobs"},
		"history":         {[]string{"--model", "xsede", "--history", "-1"}, 2, "history: -1 is negative"},
		"load":            {[]string{"--model", "xsede", "--load", "0"}, 2, "--load: invalid value 0"},
		"high load":       {[]string{"--model", "lublin", "--load", "1e9"}, 2, "load: 1e+09"},
		"no machine":      {[]string{"--model", "lublin", "--cpus", "0"}, 2, "the machine: nodes: 0"},
		"short estimates": {[]string{"--model", "lublin", "--max-estimate", "5m"}, 2, "max: 300000 ms is not in whole seconds from an hour"},
		"negative":        {[]string{"--model", "lublin", "--max-estimate", "-5h"}, 2, "max-estimate: -5h0m0s is negative"},
		"two outputs":     {[]string{"--model", "lublin", "--out", "-", "--json"}, 2, "only one of --json and --out -"},
		"over the log":    {[]string{"--model", "nordugrid", "--trace", log, "--out", log}, 2, "--out would overwrite"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := generate(t, test.args...)
			if got.code != test.code || got.stdout != "" || !strings.Contains(got.stderr, test.stderr) {
				t.Errorf("got %+v, want code %d and %q", got, test.code, test.stderr)
			}
		})
	}
}

// TestSimGenerateOfAFittedModel: a log, its model, and a trace of that with the log's load,
// in which its days of the week are the log's.
func TestSimGenerateOfAFittedModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model, drawn := filepath.Join(dir, "model.toml"), filepath.Join(dir, "drawn.swf")
	good(t, simulate(t, "fit", "--trace", lublin, "--cpus-per-node", "1", "--out", model))
	good(t, simulate(t, "generate", "--model", model, "--seed", "3", "--out", drawn))
	var fitted [2]experiment.FittedModel
	for i, trace := range []string{lublin, drawn} {
		if err := json.Unmarshal([]byte(good(t, simulate(t, "fit", "--trace", trace, "--cpus-per-node", "1", "--json"))), &fitted[i]); err != nil {
			t.Fatal(err)
		}
	}
	log, made := fitted[0].Measured, fitted[1].Measured
	if made.Jobs != log.Jobs || math.Abs(made.Load/log.Load-1) > 0.01 {
		t.Errorf("drew %+v of\n%+v", made, log)
	}
	for day, share := range log.Weekdays {
		if math.Abs(made.Weekdays[day]-share) > 0.02 {
			t.Errorf("day %d has %.3f of the jobs, in the log %.3f", day, made.Weekdays[day], share)
		}
	}
	for want, args := range map[string][]string{
		"--cpus does not apply to --model": {"--cpus", "4"},
		"jobs: 1000000 are wanted":         {"--jobs", "1000000"},
		"--span: invalid value 1ms":        {"--span", "1ms"},
	} {
		if got := simulate(t, append([]string{"generate", "--model", model}, args...)...); got.code == 0 || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := simulate(t, "generate", "--model", filepath.Join(dir, "missing.toml")); got.code != 3 {
		t.Errorf("a missing file: %+v", got)
	}
}
