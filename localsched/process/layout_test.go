package process_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestLayoutInTheEnvironment: a job finds of its tasks what sbatch of Slurm 22.05 sets for the
// options that are named, and no more; the expected values are what it was seen to set, but
// for uneven tasks, which Slurm spreads by what is free. What the submitting environment had of
// another job is not there.
func TestLayoutInTheEnvironment(t *testing.T) {
	t.Parallel()
	type layout = protocol.Layout
	s := openSite(t, func(c *process.Config) { c.Capacity = protocol.Capacity{CPUs: 16, Nodes: 4, NodeCPUs: 4} })
	cases := map[string]struct {
		r    protocol.Request
		want string
	}{
		"": {
			protocol.Request{CPUs: 1},
			"CPUS_ON_NODE=1 JOB_CPUS_PER_NODE=1 JOB_NUM_NODES=1 NNODES=1 TASKS_PER_NODE=1",
		},
		"--cpus=3": {
			protocol.Request{CPUs: 3},
			"CPUS_ON_NODE=3 JOB_CPUS_PER_NODE=3 JOB_NUM_NODES=1 NNODES=1 NPROCS=3 NTASKS=3 TASKS_PER_NODE=3",
		},
		"-n4": {
			protocol.Request{CPUs: 4, Layout: layout{Tasks: 4}},
			"CPUS_ON_NODE=4 JOB_CPUS_PER_NODE=4 JOB_NUM_NODES=1 NNODES=1 NPROCS=4 NTASKS=4 TASKS_PER_NODE=4",
		},
		"-n2 -c2": {
			protocol.Request{CPUs: 4, Layout: layout{Tasks: 2, CPUsPerTask: 2}},
			"CPUS_ON_NODE=4 CPUS_PER_TASK=2 JOB_CPUS_PER_NODE=4 JOB_NUM_NODES=1 NNODES=1 NPROCS=2 NTASKS=2 TASKS_PER_NODE=2",
		},
		"-c4": {
			protocol.Request{CPUs: 4, Layout: layout{CPUsPerTask: 4}},
			"CPUS_ON_NODE=4 CPUS_PER_TASK=4 JOB_CPUS_PER_NODE=4 JOB_NUM_NODES=1 NNODES=1 TASKS_PER_NODE=1",
		},
		"-N2": {
			protocol.Request{CPUs: 2, Nodes: 2, Layout: layout{MaxNodes: 2}},
			"CPUS_ON_NODE=1 JOB_CPUS_PER_NODE=1(x2) JOB_NUM_NODES=2 NNODES=2 TASKS_PER_NODE=1(x2)",
		},
		"-N2 --ntasks-per-node=2 -c2": {
			protocol.Request{CPUs: 8, Nodes: 2, Layout: layout{TasksPerNode: 2, CPUsPerTask: 2, MaxNodes: 2}},
			"CPUS_ON_NODE=4 CPUS_PER_TASK=2 JOB_CPUS_PER_NODE=4(x2) JOB_NUM_NODES=2 NNODES=2 NPROCS=4 NTASKS=4 NTASKS_PER_NODE=2 TASKS_PER_NODE=2(x2)",
		},
		"-n4 --ntasks-per-node=2": {
			protocol.Request{CPUs: 4, Layout: layout{Tasks: 4, TasksPerNode: 2}},
			"CPUS_ON_NODE=2 JOB_CPUS_PER_NODE=2(x2) JOB_NUM_NODES=2 NNODES=2 NPROCS=4 NTASKS=4 NTASKS_PER_NODE=2 TASKS_PER_NODE=2(x2)",
		},
		"-n7 -N4": {
			protocol.Request{CPUs: 7, Nodes: 4, Layout: layout{Tasks: 7, MaxNodes: 4}},
			"CPUS_ON_NODE=2 JOB_CPUS_PER_NODE=2(x3),1 JOB_NUM_NODES=4 NNODES=4 NPROCS=7 NTASKS=7 TASKS_PER_NODE=2(x3),1",
		},
	}
	ofLayout := []string{
		"CPUS_ON_NODE", "CPUS_PER_TASK", "JOB_CPUS_PER_NODE", "JOB_NUM_NODES", "NNODES", "NPROCS", "NTASKS", "NTASKS_PER_NODE", "TASKS_PER_NODE",
	}
	tags := map[string]protocol.Tag{}
	for options, c := range cases {
		job := guest(t, "env")
		job.Payload.Env = []string{"SLURM_NTASKS=99", "SLURM_CPUS_PER_TASK=98", "SLURM_NTASKS_PER_NODE=97"}
		c.r.Job, c.r.WallTime = job.Spec.Job, job.Spec.WallTime
		job.Spec.Request = c.r
		tags[options] = s.submit(t, job)
	}
	for options, c := range cases {
		if end := s.awaitEnd(t, tags[options]); end.State != protocol.Completed {
			t.Fatalf("%s: %+v", options, end)
		}
		var got []string
		for line := range strings.Lines(s.read(t, tags[options], protocol.Stdout)) {
			variable, _ := strings.CutPrefix(strings.TrimSpace(line), "SLURM_")
			if name, _, _ := strings.Cut(variable, "="); slices.Contains(ofLayout, name) {
				got = append(got, variable)
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", options, text, c.want)
		}
	}
}

// TestBatchStepInTheEnvironment: a job finds where and as whom it runs under the names that Slurm has for it. Several
// nodes of a job are one machine, which is then no list of them.
func TestBatchStepInTheEnvironment(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Capacity = protocol.Capacity{CPUs: 16, Nodes: 4, NodeCPUs: 4} })
	const script = `env | grep -c "^SLURM_TASK_PID=$$\$"; env | sed -n 's/^SLURM_\(CLUSTER_NAME\|JOB_USER\|JOB_UID\|JOB_GID\|MEM_PER_NODE\|NODEID\|PROCID\|LOCALID\|GTIDS\|JOB_NODELIST\|NODELIST\)=/\1=/p; s/^SLURMD_/&/p' | sort; echo; uname -n; id -un; id -u; id -g`
	for _, nodes := range []int{1, 2} {
		job := guest(t, script)
		job.Spec.CPUs, job.Spec.Nodes, job.Spec.MemoryMB = 2, nodes, 100
		tag := s.submit(t, job)
		if end := s.awaitEnd(t, tag); end.State != protocol.Completed {
			t.Fatalf("%+v", end)
		}
		got, facts, _ := strings.Cut(s.read(t, tag, protocol.Stdout), "\n\n")
		who := strings.Fields(facts)
		host, _, _ := strings.Cut(who[0], ".")
		want := []string{
			"CLUSTER_NAME=" + string(s.config.Site), "GTIDS=0", "JOB_GID=" + who[3], "JOB_NODELIST=" + host, "JOB_UID=" + who[2], "JOB_USER=" + who[1], "LOCALID=0",
			"MEM_PER_NODE=100", "NODEID=0", "NODELIST=" + host, "PROCID=0", "SLURMD_NODENAME=" + host,
		}
		if nodes > 1 {
			want = slices.DeleteFunc(want, func(v string) bool { return strings.Contains(v, "NODELIST=") })
		}
		have := strings.Split(got, "\n")
		slices.Sort(want)
		slices.Sort(have[1:])
		if have[0] != "1" || !slices.Equal(have[1:], want) {
			t.Errorf("on %d nodes\ngot  %q\nwant %q", nodes, have, want)
		}
	}
}
