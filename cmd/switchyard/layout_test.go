package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
)

// tasksIn is what an environment says of a job's tasks, by lines.
func tasksIn(env string) string {
	names := []string{"NTASKS", "NPROCS", "CPUS_PER_TASK", "NTASKS_PER_NODE", "JOB_NUM_NODES", "NNODES", "TASKS_PER_NODE", "JOB_CPUS_PER_NODE", "CPUS_ON_NODE"}
	var found []string
	for line := range strings.Lines(env) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "SLURM_"), "=")
		if strings.HasPrefix(line, "SLURM_") && slices.Contains(names, name) {
			found = append(found, strings.TrimSpace(strings.TrimPrefix(line, "SLURM_")))
		}
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

// TestLayoutTravels: a job finds the same of its tasks at home and at a partner, planned and
// charged for all their CPUs; what fits on no node of any site is refused.
func TestLayoutTravels(t *testing.T) {
	t.Parallel()
	table := "cpus = 8\nnodes = 2\nkill_grace = \"1s\"\non_stop = \"end\"\ncgroup = \"none\"\n"
	g := startPatientGrid(t, testbed.Machine{Name: "aurora", LocalSched: table}, testbed.Machine{Name: "borealis", LocalSched: table})
	here := g.Sites[0]
	for _, c := range []struct {
		options, size, env string
		cpus               int
	}{
		{
			"-N2 --ntasks-per-node=2 -c2", "8 CPUs on 2 nodes (4 tasks of 2 CPUs, 2 a node), 1:00:00",
			"CPUS_ON_NODE=4 CPUS_PER_TASK=2 JOB_CPUS_PER_NODE=4(x2) JOB_NUM_NODES=2 NNODES=2 NPROCS=4 NTASKS=4 NTASKS_PER_NODE=2 TASKS_PER_NODE=2(x2)", 8,
		},
		{
			"-n 2 -c 2", "4 CPUs (2 tasks of 2 CPUs), 1:00:00",
			"CPUS_ON_NODE=4 CPUS_PER_TASK=2 JOB_CPUS_PER_NODE=4 JOB_NUM_NODES=1 NNODES=1 NPROCS=2 NTASKS=2 TASKS_PER_NODE=2", 4,
		},
		{
			"--cpus=3", "3 CPUs, 1:00:00",
			"CPUS_ON_NODE=3 JOB_CPUS_PER_NODE=3 JOB_NUM_NODES=1 NNODES=1 NPROCS=3 NTASKS=3 TASKS_PER_NODE=3", 3,
		},
		{"--quiet", "1 CPU, 1:00:00", "CPUS_ON_NODE=1 JOB_CPUS_PER_NODE=1 JOB_NUM_NODES=1 NNODES=1 TASKS_PER_NODE=1", 1},
	} {
		for _, where := range []string{"aurora", "borealis"} {
			options := strings.Fields(strings.ReplaceAll(c.options, "--quiet", ""))
			id := g.submit(t, here, "#!/bin/sh\nenv\n", append(options, "--sites="+where)...)
			job := g.until(t, here, id, ended)
			if got := tasksIn(g.output(t, job)); got != c.env || job.CPUs != c.cpus || string(job.Site) != where {
				t.Errorf("%s at %s: %d CPUs\ngot  %s\nwant %s", c.options, where, job.CPUs, got, c.env)
			}
			if got := g.at(t, here, "", "status", id.String()); !strings.Contains(got.stdout, "Requests   "+c.size) {
				t.Errorf("status: %s\nwant %s", got.stdout, c.size)
			}
		}
	}
	got := g.at(t, here, "#!/bin/sh\n", "submit", "-c", "5")
	if want := "  borealis: needs 5 CPUs on one node, the largest has 4\n"; got.code != exitNoSite || !strings.Contains(got.stderr, want) {
		t.Errorf("a task larger than any node: %+v", got)
	}
}

// TestLayoutUnderSlurm: a script finds the same of its tasks from sbatch as from Switchyard, at
// home and at a partner.
func TestLayoutUnderSlurm(t *testing.T) {
	t.Parallel()
	c := startSlurms(t)
	g := startGrid(t, c.site("aurora", "siteA"), c.site("borealis", "siteB"))
	for i, options := range []string{"", "-n 2 -c 2", "-N2 --ntasks-per-node=1 -c2", "-N2 --ntasks-per-node=2", "-n4 --ntasks-per-node=2", "-c2"} {
		script := "#!/bin/sh\n#SBATCH " + options + "\n#SBATCH --time=5\nenv\n" +
			"scontrol show job $SLURM_JOB_ID | grep -q JobId=$SLURM_JOB_ID && echo Slurm knows its own number\n"
		file, out := filepath.Join(g.work, "job.sh"), filepath.Join(g.work, "plain"+string(rune('a'+i)))
		if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		if said, err := c.run(patience(t), "siteA", "sbatch", "--wait", "-D", g.work, "-o", out, file); err != nil {
			t.Fatalf("sbatch: %v\n%s", err, said)
		}
		plain, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, where := range []string{"aurora", "borealis"} {
			job := g.until(t, g.Sites[0], g.submit(t, g.Sites[0], script, "--sites="+where), ended)
			found := g.output(t, job)
			if got, want := tasksIn(found), tasksIn(string(plain)); got != want || want == "" {
				t.Errorf("%q at %s:\nSwitchyard %s\nsbatch     %s", options, where, got, want)
			}
			if !strings.Contains(found, "\nSWITCHYARD_JOB_ID="+job.ID.String()+"\n") || !strings.Contains(found, "\nSlurm knows its own number\n") {
				t.Errorf("the numbers of job %s at %s: %s", job.ID, where, found)
			}
		}
	}
}
