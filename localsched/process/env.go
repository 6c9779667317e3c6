package process

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
)

// defaultPath is the PATH of a job whose environment has none.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// environment is the environment of a job: what was submitted, and over it what
// every job is given and what Slurm would say of it.
func environment(dir string, job spool.Job, place string) []string {
	given := append(job.Given(dir), asSlurm(job)...)
	if place != "" {
		given = append(given, "SWITCHYARD_PARTITION="+place)
	}
	env := spool.Over(job.Submission.Payload.Env, given)
	if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "PATH=") }) {
		env = append(env, "PATH="+defaultPath)
	}
	return env
}

// asSlurm is what scripts that are made for Slurm look for.
func asSlurm(job spool.Job) []string {
	spec := job.Submission.Spec
	id, cpus, nodes := job.Submission.Tag.Job.String(), strconv.Itoa(max(1, spec.CPUs)), strconv.Itoa(max(1, spec.Nodes))
	return []string{
		"SLURM_JOB_ID=" + id,
		"SLURM_JOBID=" + id,
		"SLURM_NTASKS=" + cpus,
		"SLURM_NPROCS=" + cpus,
		"SLURM_CPUS_ON_NODE=" + cpus,
		"SLURM_JOB_CPUS_PER_NODE=" + cpus,
		"SLURM_JOB_NUM_NODES=" + nodes,
		"SLURM_NNODES=" + nodes,
	}
}

// plan is what the second stage of a shim is told.
type plan struct {
	Parent int      `json:"parent"` // the shim's pid
	Script string   `json:"script"`
	Args   []string `json:"args"`
	Env    []string `json:"env"`
	Dir    string   `json:"dir"`
	Stdout string   `json:"stdout"` // empty: nowhere
	Stderr string   `json:"stderr"` // empty: nowhere; equal to stdout: both in one
	Limit  int64    `json:"limit"`  // bytes that may be written to a file; 0: any number
}

func planOf(dir string, job spool.Job, place string, shim int) plan {
	out := job.Outputs(dir)
	return plan{
		Parent: shim,
		Script: filepath.Join(dir, spool.ScriptFile),
		Args:   job.Submission.Payload.Args,
		Env:    environment(dir, job, place),
		Dir:    job.WorkFolder(dir),
		Stdout: out.Stdout,
		Stderr: out.Stderr,
		Limit:  job.FileLimit(),
	}
}
