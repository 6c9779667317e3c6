package batchscript

import (
	"bytes"
	"math"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// MaxScript is the longest script, in bytes.
const MaxScript = 4 << 20

// Script is a batch script as it was found.
type Script struct {
	Name  string // its path, for messages and the job's name
	Stdin bool   // it was piped in
	Data  []byte
}

// Origin is where and by whom the job is submitted.
type Origin struct {
	User string
	Host string   // short host name, for %N
	Dir  string   // the current directory, absolute
	Env  []string // NAME=value
}

// Job is what a script and its options ask for.
type Job struct {
	Name     string
	CPUs     int
	Nodes    int   // 0: any
	MemoryMB int64 // per node; 0: any
	WallTime protocol.Duration
	Sites    []protocol.SiteName // empty: anywhere
	Requeue  bool
	Power    int   // in parts per million of what sites state; 0: as much as that
	Data     int64 // bytes that travel when the job runs elsewhere

	Script  []byte
	Env     []string // NAME=value, sorted
	WorkDir string   // absolute
	Stdout  string   // absolute, with %j, %A and %% left for the peer
	Stderr  string   // likewise; equal to Stdout: both in one file

	Wait     bool // wait for the job's end
	Parsable bool // print the id alone
	TestOnly bool // only ask for quotes
}

// Read makes a job out of a script and the command line's settings, in their
// order. The notices are for people, one a line. The error is an [*Error] that
// lists every problem.
func Read(script Script, settings []Setting, from Origin) (job Job, notices []string, err error) {
	var r report
	var w wishes
	options := newCatalog()
	if checkScript(script, &r) {
		slurm, own := collect(script, &r)
		for _, d := range append(slurm, own...) {
			options.follow(d, &w, &r)
		}
	}
	options.override(settings, &w, &r)
	job = w.job(script, from, &r)
	if err := r.err(); err != nil {
		return Job{}, r.notices, err
	}
	return job, r.notices, nil
}

// checkScript says whether the text is a batch script at all.
func checkScript(script Script, r *report) bool {
	data := script.Data
	switch {
	case len(data) == 0:
		r.wrong(script.Name, "the batch script is empty")
	case len(data) > MaxScript:
		r.wrong(script.Name, "the batch script has %d bytes, the limit is %d; keep data in files of their own",
			len(data), MaxScript)
	case len(bytes.TrimSpace(data)) == 0:
		r.wrong(script.Name, "the batch script contains only white space")
	case bytes.IndexByte(data, 0) >= 0:
		r.wrong(script.Name, "the batch script contains NUL bytes: it is a program or data; submit a script that runs it")
	case !bytes.HasPrefix(data, []byte("#!")):
		r.wrong(script.Name, "this does not look like a batch script. The first line must start with #! followed by "+
			"the path to an interpreter, for instance: #!/bin/sh")
	case bytes.Contains(data, []byte("\r\n")):
		r.wrong(script.Name, "the batch script contains DOS line breaks (\\r\\n); "+
			"convert it with dos2unix, or with: sed -i 's/\\r$//' %s", script.Name)
	default:
		return true
	}
	return false
}

// job draws the conclusions of what was asked for.
func (w *wishes) job(script Script, from Origin, r *report) Job {
	job := Job{
		Name: w.name, WallTime: w.limit, Sites: w.sites, Requeue: w.requeue,
		Power: w.powerPPM, Data: w.dataMB << bytesPerMB,
		Script: script.Data, WorkDir: inside(from.Dir, w.dir),
		Wait: w.wait, Parsable: w.parsable, TestOnly: w.testOnly,
	}
	if job.Name == "" {
		job.Name = defaultName(script)
	}
	if job.WallTime == 0 {
		job.WallTime = DefaultWallTime
	}
	job.CPUs, job.Nodes = w.size()
	if job.CPUs > math.MaxInt32 {
		r.wrong(script.Name, "the job asks for %d CPUs in all, more than any site can have", job.CPUs)
	}
	job.MemoryMB = w.memory(job.CPUs, job.Nodes)
	var err error
	if job.Env, err = environment(w.export, from.Env); err != nil {
		r.wrong(script.Name, "%s", err)
	}
	job.Stdout = w.file(script, w.stdout, "switchyard-%j.out", job, from, r)
	job.Stderr = job.Stdout
	if w.stderr != "" {
		job.Stderr = w.file(script, w.stderr, "", job, from, r)
	}
	return job
}

// size is the number of CPUs and of nodes, as sbatch counts them.
func (w *wishes) size() (cpus, nodes int) {
	tasks, nodes := w.tasks, w.nodes
	if tasks == 0 {
		tasks = max(1, nodes) * max(1, w.tasksPerNode)
	} else if w.tasksPerNode > 0 {
		nodes = max(nodes, (tasks+w.tasksPerNode-1)/w.tasksPerNode)
	}
	// A node of the job has at least one of its tasks.
	return max(tasks, nodes) * max(1, w.cpusPerTask), nodes
}

// memory is what a node must have: for all CPUs of the job when it may run on
// one node.
func (w *wishes) memory(cpus, nodes int) int64 {
	if w.cpuMemoryMB == 0 {
		return w.memoryMB
	}
	perNode := (cpus + max(1, nodes) - 1) / max(1, nodes)
	if w.cpuMemoryMB > maxMemoryMB/int64(perNode) {
		return maxMemoryMB
	}
	return w.cpuMemoryMB * int64(perNode)
}

// maxMemoryMB is more than any node has, and far from overflow.
const maxMemoryMB = 1 << 50

func (w *wishes) file(script Script, given, otherwise string, job Job, from Origin, r *report) string {
	if given == "" {
		given = otherwise
	}
	name, err := pattern(given, job.Name, from)
	if err != nil {
		r.wrong(script.Name, "%s", err)
		return ""
	}
	return inside(literal(job.WorkDir), name)
}

func inside(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
