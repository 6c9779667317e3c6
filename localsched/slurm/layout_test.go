package slurm_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestLayoutIsThatOfSbatch: of its tasks a job finds the same environment as one that sbatch
// was given with the same options.
func TestLayoutIsThatOfSbatch(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	type layout = protocol.Layout
	cases := map[string]protocol.Request{
		"":                            {CPUs: 1},
		"-n 1":                        {CPUs: 1, Layout: layout{Tasks: 1}},
		"-n 3 -N 1":                   {CPUs: 3, Nodes: 1, Layout: layout{Tasks: 3, MaxNodes: 1}},
		"-n 2 -c 2":                   {CPUs: 4, Layout: layout{Tasks: 2, CPUsPerTask: 2}},
		"-c 4":                        {CPUs: 4, Layout: layout{CPUsPerTask: 4}},
		"-N 2":                        {CPUs: 2, Nodes: 2, Layout: layout{MaxNodes: 2}},
		"-N 2 -c 3":                   {CPUs: 6, Nodes: 2, Layout: layout{CPUsPerTask: 3, MaxNodes: 2}},
		"-n 2 -N 2":                   {CPUs: 2, Nodes: 2, Layout: layout{Tasks: 2, MaxNodes: 2}},
		"-n 2 -N 1-2":                 {CPUs: 2, Nodes: 1, Layout: layout{Tasks: 2, MaxNodes: 2}},
		"-N 2 --ntasks-per-node=2":    {CPUs: 4, Nodes: 2, Layout: layout{TasksPerNode: 2, MaxNodes: 2}},
		"-N2 --ntasks-per-node=2 -c2": {CPUs: 8, Nodes: 2, Layout: layout{TasksPerNode: 2, CPUsPerTask: 2, MaxNodes: 2}},
		"-n 4 --ntasks-per-node=2":    {CPUs: 4, Layout: layout{Tasks: 4, TasksPerNode: 2}},
		"--ntasks-per-node=3":         {CPUs: 3, Layout: layout{TasksPerNode: 3}},
		"-n 2 --mem-per-cpu=50":       {CPUs: 2, MemoryMB: 100, Layout: layout{Tasks: 2, MemoryPerCPU: 50}},
		"--mem=70":                    {CPUs: 1, MemoryMB: 70},
	}
	plain, script := homeDir(t), "env | grep ^SLURM_"
	if err := os.WriteFile(filepath.Join(plain, "script"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for options, r := range cases {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(plain, strings.ReplaceAll(options, " ", "_")+".out")
			s.cluster.must(t, "sbatch", slices.Concat([]string{"--wait", "--export=NONE", "-t1", "-D", plain, "-o", out},
				strings.Fields(options), []string{filepath.Join(plain, "script")})...)
			want, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			job := guest(script)
			r.Job, r.WallTime = job.Spec.Job, job.Spec.WallTime
			job.Spec.Request = r
			tag := job.Tag
			if _, err := s.Submit(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the job ends", func() bool { _, err := os.Stat(s.dir(tag, "end.json")); return err == nil })
			got := ofTasks(s.read(t, tag, protocol.Stdout), options)
			if want := ofTasks(string(want), options); !maps.Equal(got, want) {
				t.Errorf("Switchyard: %v\nsbatch:     %v", got, want)
			}
		})
	}
}

// ofTasks is what an environment says of tasks and, unless that depends on what is free, of
// their nodes.
func ofTasks(env, options string) map[string]string {
	names := []string{"NTASKS", "NPROCS", "CPUS_PER_TASK", "NTASKS_PER_NODE", "MEM_PER_CPU", "MEM_PER_NODE"}
	if strings.Contains(options, "-N") && !strings.Contains(options, "1-2") {
		names = append(names, "JOB_NUM_NODES", "NNODES", "TASKS_PER_NODE", "JOB_CPUS_PER_NODE", "CPUS_ON_NODE")
	}
	found := map[string]string{}
	for line := range strings.Lines(env) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if slices.Contains(names, strings.TrimPrefix(name, "SLURM_")) {
			found[name] = value
		}
	}
	return found
}

// TestLayoutsOfSbatch: sbatch is asked with the options that the job was given, and no others.
func TestLayoutsOfSbatch(t *testing.T) {
	t.Parallel()
	type layout = protocol.Layout
	for want, r := range map[string]protocol.Request{
		"":                               {CPUs: 1},
		"--ntasks=5":                     {CPUs: 5},
		"--ntasks=1":                     {CPUs: 1, Layout: layout{Tasks: 1}},
		"--cpus-per-task=4":              {CPUs: 4, Layout: layout{CPUsPerTask: 4}},
		"--cpus-per-gpu=2":               {CPUs: 4, Layout: layout{CPUsPerTask: 4, CPUsPerGPU: 2}},
		"--nodes=2":                      {CPUs: 2, Nodes: 2, Layout: layout{MaxNodes: 2}},
		"--ntasks=20 --nodes=2":          {CPUs: 20, Nodes: 2, Layout: layout{Tasks: 20, MaxNodes: 2}},
		"--ntasks=20 --nodes=3":          {CPUs: 20, Nodes: 2},
		"--ntasks=4 --nodes=2-3":         {CPUs: 4, Nodes: 2, Layout: layout{Tasks: 4, MaxNodes: 3}},
		"--ntasks=2 --nodes=1-2":         {CPUs: 2, Layout: layout{Tasks: 2, MaxNodes: 2}},
		"--ntasks=4 --ntasks-per-node=2": {CPUs: 4, Layout: layout{Tasks: 4, TasksPerNode: 2}},
		"--ntasks-per-node=2 --cpus-per-task=2 --nodes=2": {CPUs: 8, Nodes: 2, Layout: layout{TasksPerNode: 2, CPUsPerTask: 2, MaxNodes: 2}},
	} {
		if got := strings.Join(slurm.LayoutArgs(r, 8), " "); got != want {
			t.Errorf("%+v: got %q, want %q", r, got, want)
		}
	}
}
