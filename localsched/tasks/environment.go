package tasks

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// environment is that of a task: srun's, and over it what Slurm says of the step and the task.
func (s *Step) environment(t task) []string {
	used := slices.DeleteFunc(slices.Clone(s.Place.Tasks), func(n int) bool { return n == 0 })
	var ranks []string
	for _, other := range s.tasks() {
		if other.node == t.node {
			ranks = append(ranks, strconv.Itoa(other.rank))
		}
	}
	nodes, tasks, number, perNode := strconv.Itoa(len(used)), strconv.Itoa(s.count()), strconv.Itoa(s.Number), PerNode(used)
	given := []string{
		"SLURM_NNODES=" + nodes, "SLURM_STEP_NUM_NODES=" + nodes,
		"SLURM_NTASKS=" + tasks, "SLURM_NPROCS=" + tasks, "SLURM_STEP_NUM_TASKS=" + tasks,
		"SLURM_STEP_ID=" + number, "SLURM_STEPID=" + number,
		"SLURM_TASKS_PER_NODE=" + perNode, "SLURM_STEP_TASKS_PER_NODE=" + perNode,
		"SLURM_PROCID=" + strconv.Itoa(t.rank), "SLURM_NODEID=" + strconv.Itoa(t.node), "SLURM_LOCALID=" + strconv.Itoa(t.local),
		"SLURM_GTIDS=" + strings.Join(ranks, ","),
		"SLURM_LAUNCH_NODE_IPADDR=127.0.0.1",
	}
	if len(used) == 1 {
		given = append(given, "SLURM_STEP_NODELIST="+s.Allocation.Host)
	}
	if s.CPUsPerTask > 0 {
		given = append(given, "SLURM_CPUS_PER_TASK="+strconv.Itoa(s.CPUsPerTask))
	}
	env := slices.DeleteFunc(slices.Clone(s.Env), func(v string) bool {
		return strings.HasPrefix(v, "SLURM_TASK_PID=") // that of the batch script, which is not the task's
	})
	return With(env, given...)
}

// With is an environment with some variables, NAME=value, instead of those that have their names.
func With(env []string, given ...string) []string {
	replaced := map[string]bool{}
	for _, v := range given {
		name, _, _ := strings.Cut(v, "=")
		replaced[name] = true
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return replaced[name]
	})
	return append(env, given...)
}

func lookup(env []string, name string) string {
	for _, v := range env {
		if value, found := strings.CutPrefix(v, name+"="); found {
			return value
		}
	}
	return ""
}

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
