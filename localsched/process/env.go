package process

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/localsched/tasks"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// defaultPath is the PATH of a job whose environment has none.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// environment is the environment of a job: what was submitted, and over it what
// every job is given and what Slurm would say of it.
func environment(dir string, record jobRecord, where placeRecord, closed, times []string) []string {
	job := record.Job
	given := slices.Concat(job.Given(dir, max(job.Submission.Spec.CPUs, where.NodeCPUs)), asSlurm(job, where.NodeCPUs), times, where.gpuVariables(closed))
	given = append(given, tasks.FileVariable+"="+filepath.Join(dir, stepsFile))
	if where.Place != "" {
		given = append(given, "SWITCHYARD_PARTITION="+where.Place)
	}
	if record.Socket != "" {
		given = append(given, "SWITCHYARD_SOCKET="+record.Socket)
	}
	return withCommands(spool.Over(job.Submission.Payload.Env, given), record.Commands)
}

// withCommands is an environment with a PATH that ends in a directory, if there is one: what a job finds before it is
// what it has found without.
func withCommands(env []string, dir string) []string {
	const variable = "PATH="
	isPath := func(v string) bool { return strings.HasPrefix(v, variable) }
	if !slices.ContainsFunc(env, isPath) {
		env = append(env, variable+defaultPath)
	}
	if dir == "" {
		return env
	}
	for i, v := range env {
		if isPath(v) && !slices.Contains(filepath.SplitList(strings.TrimPrefix(v, variable)), dir) {
			env[i] = v + string(filepath.ListSeparator) + dir
		}
	}
	return env
}

// asSlurm is what scripts that are made for Slurm look for: what sbatch sets, and of what a
// job must have asked for only what it did. Its nodes are all this machine. A job that has its node for
// itself has all CPUs of that.
func asSlurm(job spool.Job, nodeCPUs int) []string {
	r, id := &job.Submission.Spec.Request, job.Submission.Tag.Job.String()
	spread := r.Spread()
	cpus := make([]int, len(spread))
	for i, n := range spread {
		cpus[i] = max(n*r.CPUsPerTask(), nodeCPUs)
	}
	nodes := strconv.Itoa(len(spread))
	env := []string{
		"SLURM_JOB_ID=" + id,
		"SLURM_JOBID=" + id,
		"SLURM_JOB_NUM_NODES=" + nodes,
		"SLURM_NNODES=" + nodes,
		"SLURM_TASKS_PER_NODE=" + tasks.PerNode(spread),
		"SLURM_JOB_CPUS_PER_NODE=" + tasks.PerNode(cpus),
		"SLURM_CPUS_ON_NODE=" + strconv.Itoa(cpus[0]),
	}
	if r.StatesTasks() {
		all := strconv.Itoa(r.Tasks())
		env = append(env, "SLURM_NTASKS="+all, "SLURM_NPROCS="+all)
	}
	switch l := r.Layout; {
	case l.MemoryPerCPU > 0:
		env = append(env, "SLURM_MEM_PER_CPU="+strconv.FormatInt(l.MemoryPerCPU, 10))
	case l.MemoryPerGPU > 0:
		env = append(env, "SLURM_MEM_PER_GPU="+strconv.FormatInt(l.MemoryPerGPU, 10))
	case r.MemoryMB > 0:
		env = append(env, "SLURM_MEM_PER_NODE="+strconv.FormatInt(r.MemoryMB, 10))
	}
	if n := r.Layout.TasksPerNode; n > 0 {
		env = append(env, "SLURM_NTASKS_PER_NODE="+strconv.Itoa(n))
	}
	if n := r.Layout.CPUsPerGPU; n > 0 {
		env = append(env, "SLURM_CPUS_PER_GPU="+strconv.Itoa(n))
	} else if n := r.Layout.CPUsPerTask; n > 0 {
		env = append(env, "SLURM_CPUS_PER_TASK="+strconv.Itoa(n))
	}
	return slices.Concat(env, asBatchStep(job, len(spread)))
}

// asBatchStep is what Slurm says of where and as whom a batch script runs. Several nodes of a job are all this
// machine, and have no names of their own.
func asBatchStep(job spool.Job, nodes int) []string {
	env := []string{
		"SLURM_CLUSTER_NAME=" + string(job.Site),
		"SLURM_JOB_USER=" + job.Account.Name,
		"SLURM_JOB_UID=" + strconv.FormatUint(uint64(job.Account.UID), 10),
		"SLURM_JOB_GID=" + strconv.FormatUint(uint64(job.Account.GID), 10),
		"SLURM_NODEID=0", "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_GTIDS=0",
	}
	of := job.Submission.Spec.Association
	partition := of.Partitions()[0] // the job runs in one, of which this machine has none
	for _, one := range []struct{ name, value string }{{"ACCOUNT", of.Account}, {"PARTITION", partition}, {"QOS", of.QOS}} {
		if one.value != "" {
			env = append(env, "SLURM_JOB_"+one.name+"="+one.value)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return env
	}
	host, _, _ = strings.Cut(host, ".")
	env = append(env, "SLURMD_NODENAME="+host)
	if nodes == 1 {
		env = append(env, "SLURM_JOB_NODELIST="+host, "SLURM_NODELIST="+host, "SLURM_TOPOLOGY_ADDR="+host, "SLURM_TOPOLOGY_ADDR_PATTERN=node")
	}
	return env
}

// plan is the input of the second stage of a shim.
type plan struct {
	Parent  int      `json:"parent"`  // the shim's pid
	Command []string `json:"command"` // the script and its arguments, perhaps behind a container command
	Script  string   `json:"script"`
	Env     []string `json:"env"`
	Dir     string   `json:"dir"`
	Stdin   string   `json:"stdin,omitempty"`  // empty: nothing
	Stdout  string   `json:"stdout"`           // empty: nowhere
	Stderr  string   `json:"stderr"`           // empty: nowhere; equal to stdout: both in one
	Append  bool     `json:"append,omitempty"` // to stdout and stderr
	Umask   int      `json:"umask"`
	Limit   int64    `json:"limit"` // bytes that may be written to a file; 0: any number

	Limits []protocol.ResourceLimit `json:"limits,omitempty"` // soft ones, of the shell of the submission

	StartBy protocol.Instant `json:"start_by_ms,omitempty"` // as in [localsched.Submission]
}

func planOf(dir string, record jobRecord, where placeRecord, closed, times []string) plan {
	job := record.Job
	out := job.Outputs(dir)
	return plan{
		Parent:  os.Getpid(),
		Command: job.Command(dir),
		Script:  filepath.Join(dir, spool.ScriptFile),
		Env:     environment(dir, record, where, closed, times),
		Dir:     job.WorkDir(dir),
		Stdin:   job.Submission.Payload.Input,
		Stdout:  out.Stdout,
		Stderr:  out.Stderr,
		Append:  out.Append,
		Umask:   job.Submission.Payload.JobUmask(),
		Limit:   job.FileLimit(),
		Limits:  job.Submission.Payload.LimitsAt(job.Submission.Guest),

		StartBy: job.Submission.StartBy,
	}
}
