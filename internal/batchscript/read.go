package batchscript

import (
	"bytes"
	"cmp"
	"path/filepath"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Script is a batch script as it was found.
type Script struct {
	Name    string // its path, for messages and the job's name
	Stdin   bool   // it was piped in
	Wrapped bool   // it was made of a command by [Wrap]
	Data    []byte
}

func (s Script) place() problems.Place { return problems.Place{File: s.Name} }

// Origin is where and by whom the job is submitted.
type Origin struct {
	User string
	Host string    // short host name, for %N
	Dir  string    // the current directory, absolute
	Env  []string  // NAME=value
	Bare bool      // Env stands for options only: jobs get no variables but those that have values in --export
	Now  time.Time // in the zone of the user; zero: in a simulation

	Shell      *protocol.Shell // with all limits; nil: jobs take nothing over
	OutputStem string          // of the default names of output files, before the ID; empty: switchyard
}

// Batch is what is to be submitted: one job, or an application of several components.
type Batch struct {
	Name        string                // of the application; empty: the job is on its own
	Jobs        []Job                 // at least one
	Application *protocol.Application // what is wanted of all jobs together; nil: nothing is
}

// Job is what a script and its options ask for: of the grid, and of the command that submits it.
// Arguments are set by the caller, variables are sorted, paths are absolute, and those of files
// have %j, %A, %a of an array, and %% left for the peer.
type Job struct {
	protocol.Job

	StageIn []string // paths and patterns of what goes with the job, to be found in its working directory

	NoData   bool // it was said what files travel, or that none do
	NoReturn bool // it was said what files go with the job, and not whether any come back
	Wait     bool // wait for the job's end
	Parsable bool // print the id alone
	TestOnly bool // only ask for quotes
	Quiet    bool // say nothing that is not an error

	UnderSlurm []string   // notices that hold if a Slurm runs it
	Elsewhere  []string   // notices that hold if another site runs it
	Uses       []Variable // of its environment
}

// Read makes a job, or an application, out of a script and the command line's settings, in
// their order. The notices are for people, one a line. The error is an [*Error] that lists
// every problem.
func Read(script Script, settings []Setting, from Origin) (batch Batch, notices []string, err error) {
	var r report
	options := newCatalog()
	all := draft{script: script, options: jobOptions{spots: map[string]spot{}, now: from.Now}}
	var sections []section
	if checkScript(script, &r) {
		sections = collect(script, &r)
		options.followAll(sections[0], from.Env, &all.options, &r)
		sections = sections[1:]
	}
	if n := len(sections); n > MaxComponents {
		r.wrong(script.place(), "there are %d components; at most %d are allowed", n, MaxComponents)
	}
	p := plan{drafts: []draft{all}}
	if len(sections) > 0 {
		p = options.plan(all, sections, settings, &r)
	} else {
		options.override(settings, &p.drafts[0].options, &r)
	}
	batch = p.batch(from, &r)
	return batch.unless(r)
}

// unless is the batch, if nothing is wrong.
func (b Batch) unless(r report) (Batch, []string, error) {
	if err := r.err(); err != nil {
		return Batch{}, r.notices, err
	}
	return b, r.notices, nil
}

// checkScript says whether the text is a batch script at all.
func checkScript(script Script, r *report) bool {
	data := script.Data
	switch {
	case len(data) == 0:
		r.wrong(script.place(), "the batch script is empty")
	case len(data) > protocol.MaxScript:
		r.wrong(script.place(), "the batch script has %d bytes, the limit is %d; keep data in files of their own",
			len(data), protocol.MaxScript)
	case len(bytes.TrimSpace(data)) == 0:
		r.wrong(script.place(), "the batch script contains only white space")
	case bytes.IndexByte(data, 0) >= 0:
		r.wrong(script.place(), "the batch script contains NUL bytes: it is a program or data; submit a script that runs it")
	case !bytes.HasPrefix(data, []byte("#!")):
		r.wrong(script.place(), "this does not look like a batch script. The first line must start with #! followed by "+
			"the path to an interpreter, for instance: #!/bin/sh")
	case bytes.Contains(data, []byte("\r\n")):
		r.wrong(script.place(), "the batch script contains DOS line breaks (\\r\\n); "+
			"convert it with dos2unix, or with: sed -i 's/\\r$//' %s", script.Name)
	default:
		return true
	}
	return false
}

// job draws the conclusions of what was asked for.
func (w *jobOptions) job(script Script, from Origin, r *report) Job {
	job := Job{
		Job:    protocol.Job{Spec: w.spec, Payload: &protocol.Payload{Script: script.Data, WorkDir: inside(from.Dir, w.dir)}},
		NoData: w.noData(), NoReturn: w.noReturn(), Wait: w.wait, Parsable: w.parsable, TestOnly: w.testOnly, Quiet: w.quiet,
	}
	if job.Spec.Name == "" {
		job.Spec.Name = defaultName(script)
		if err := protocol.CheckText(job.Spec.Name); err != nil {
			r.wrong(problems.Place{File: protocol.EscapeText(script.Name)}, "the job would have the script's name: %s; choose one with --job-name", err)
		}
	}
	w.shape(&job, script, r)
	job.Component.Behavior = w.behaves(job.Spec.CPUs, script, r)
	w.hand(&job, script, from, r)
	files := job.Payload
	job.Array = w.array
	files.Stdout = w.file(script, w.stdout, w.defaultOutput(from), job, from, r)
	files.Stderr = files.Stdout
	if w.stderr != "" {
		files.Stderr = w.file(script, w.stderr, "", job, from, r)
	}
	if w.stdin != "" {
		files.Input = w.file(script, w.stdin, "", job, from, r)
	}
	if files.Input == "/dev/null" { // what every job reads
		files.Input = ""
	}
	job.StageIn = w.stageIn
	w.stage(files, script, r)
	files.AppendOutput, files.LimitSignal, files.Shell = w.appendOutput, w.limitSignal, w.shell(from.Shell)
	w.checkSignal(&job, script, r)
	w.otherNumber(script, r)
	job.UnderSlurm, job.Elsewhere = w.slurmCalls(script)
	job.Uses = variablesUsed(script, job.Payload.Env)
	job.Mail, job.Conditions, job.NoRequeue = w.mailFor(script, r), w.conditionsOf(), w.noRequeue
	return job
}

func (w *jobOptions) file(script Script, given, otherwise string, job Job, from Origin, r *report) string {
	if given == "" {
		given = otherwise
	}
	name, err := pattern(given, job.Spec.Name, from, job.Array != nil)
	if err != nil {
		r.wrong(script.place(), "%s", err)
		return ""
	}
	return inside(literal(job.Payload.WorkDir), name)
}

// defaultOutput is the name of the output's file if the user gives none.
func (w *jobOptions) defaultOutput(from Origin) string {
	stem := cmp.Or(from.OutputStem, "switchyard")
	if w.array != nil {
		return stem + "-%A_%a.out"
	}
	return stem + "-%j.out"
}

func inside(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
