package process

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
)

// defaultPath is the PATH of a job whose environment has none.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// environment is the environment of a job: what was submitted, and over it the
// names that Switchyard and Slurm give each job and, for a guest, those of the
// account.
func environment(record jobRecord) []string {
	given := ours(record)
	hidden := map[string]bool{}
	for _, v := range given {
		name, _, _ := strings.Cut(v, "=")
		hidden[name] = true
	}
	env, path := []string{}, false
	for _, v := range record.Submission.Payload.Env {
		name, _, ok := strings.Cut(v, "=")
		if ok && name != "" && !hidden[name] {
			env = append(env, v)
			path = path || name == "PATH"
		}
	}
	if !path {
		env = append(env, "PATH="+defaultPath)
	}
	return append(env, given...)
}

func ours(record jobRecord) []string {
	sub := record.Submission
	id, cpus := sub.Tag.Job.String(), strconv.Itoa(max(1, sub.Spec.CPUs))
	nodes := strconv.Itoa(max(1, sub.Spec.Nodes))
	env := []string{
		"SWITCHYARD_JOB_ID=" + id,
		"SWITCHYARD_JOB_NAME=" + sub.Spec.Name,
		"SWITCHYARD_ORIGIN_SITE=" + string(sub.Origin),
		"SWITCHYARD_EXEC_SITE=" + string(record.Site),
		"SWITCHYARD_EPOCH=" + strconv.FormatUint(uint64(sub.Tag.Epoch), 10),
		"SLURM_JOB_ID=" + id,
		"SLURM_JOBID=" + id,
		"SLURM_JOB_NAME=" + sub.Spec.Name,
		"SLURM_NTASKS=" + cpus,
		"SLURM_NPROCS=" + cpus,
		"SLURM_CPUS_ON_NODE=" + cpus,
		"SLURM_JOB_CPUS_PER_NODE=" + cpus,
		"SLURM_JOB_NUM_NODES=" + nodes,
		"SLURM_NNODES=" + nodes,
		"SLURM_SUBMIT_DIR=" + sub.Payload.WorkDir,
	}
	if !sub.Guest {
		return env
	}
	return append(env,
		"HOME="+record.Account.Home,
		"USER="+record.Account.Name,
		"LOGNAME="+record.Account.Name,
		"SHELL="+record.Account.Shell,
	)
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
}

func planOf(dir string, record jobRecord, shim int) plan {
	sub := record.Submission
	p := plan{
		Parent: shim,
		Script: filepath.Join(dir, scriptFile),
		Args:   sub.Payload.Args,
		Env:    environment(record),
		Dir:    sub.Payload.WorkDir,
	}
	if p.Dir == "" {
		p.Dir = record.Account.Home
	}
	if sub.Guest {
		p.Dir = filepath.Join(dir, workDir)
	}
	p.Stdout, p.Stderr = outputs(dir, sub)
	return p
}

// outputs is where a job's output goes: a guest's to files in its folder.
func outputs(dir string, sub localsched.Submission) (stdout, stderr string) {
	if !sub.Guest {
		return sub.Payload.Stdout, sub.Payload.Stderr
	}
	stdout = filepath.Join(dir, outFile)
	if sub.Payload.Stdout == sub.Payload.Stderr {
		return stdout, stdout
	}
	return stdout, filepath.Join(dir, errFile)
}
