package batchscript_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestResources: what sbatch's options ask for beside CPUs and memory, as a site is asked for it.
func TestResources(t *testing.T) {
	t.Parallel()
	of := func(name, kind string, count int, per protocol.Per) protocol.Resource {
		return protocol.Resource{Name: name, Type: kind, Count: count, Per: per}
	}
	list := func(all ...protocol.Resource) []protocol.Resource { return all }
	for options, want := range map[string]protocol.Request{
		"--gres=gpu":               {CPUs: 1, Resources: list(of("gpu", "", 1, protocol.PerNode))},
		"--gres=gpu:2":             {CPUs: 1, Resources: list(of("gpu", "", 2, protocol.PerNode))},
		"--gres=gpu:a100":          {CPUs: 1, Resources: list(of("gpu", "a100", 1, protocol.PerNode))},
		"--gres=gpu:a100:2,nic:1":  {CPUs: 1, Resources: list(of("gpu", "a100", 2, protocol.PerNode), of("nic", "", 1, protocol.PerNode))},
		"--gres=gpu:2 --gres=none": {CPUs: 1},
		"-G 4":                     {CPUs: 1, Resources: list(of("gpu", "", 4, protocol.PerJob))},
		"-G a100:1,v100:2":         {CPUs: 1, Resources: list(of("gpu", "a100", 1, protocol.PerJob), of("gpu", "v100", 2, protocol.PerJob))},
		"-G 4 -G 2":                {CPUs: 1, Resources: list(of("gpu", "", 2, protocol.PerJob))},
		"--gpus-per-node=a100:2":   {CPUs: 1, Layout: protocol.Layout{GPUsPerNode: true}, Resources: list(of("gpu", "a100", 2, protocol.PerNode))},
		"-n 3 --gpus-per-task=1":   {CPUs: 3, Layout: protocol.Layout{Tasks: 3}, Resources: list(of("gpu", "", 1, protocol.PerTask))},
		"-G 1 --cpus-per-gpu=4":    {CPUs: 4, Layout: protocol.Layout{CPUsPerTask: 4, CPUsPerGPU: 4}, Resources: list(of("gpu", "", 1, protocol.PerJob))},
		"-n2 --gpus-per-task=2 --cpus-per-gpu=3": {
			CPUs: 12, Layout: protocol.Layout{Tasks: 2, CPUsPerTask: 6, CPUsPerGPU: 3}, Resources: list(of("gpu", "", 2, protocol.PerTask)),
		},
		"-N2 --gres=gpu:2 --cpus-per-gpu=3": {
			CPUs: 12, Nodes: 2, Layout: protocol.Layout{MaxNodes: 2, CPUsPerTask: 6, CPUsPerGPU: 3}, Resources: list(of("gpu", "", 2, protocol.PerNode)),
		},
		"-N2 --ntasks-per-node=2 --gres=gpu:2 --cpus-per-gpu=3": {
			CPUs: 12, Nodes: 2, Layout: protocol.Layout{MaxNodes: 2, TasksPerNode: 2, CPUsPerTask: 3, CPUsPerGPU: 3}, Resources: list(of("gpu", "", 2, protocol.PerNode)),
		},
		"-N1 -G 2 --mem-per-gpu=8G": {CPUs: 1, Nodes: 1, MemoryMB: 16384, Layout: protocol.Layout{MaxNodes: 1, MemoryPerGPU: 8192}, Resources: list(of("gpu", "", 2, protocol.PerJob))},
		"-N2 --gpus-per-task=1 --mem-per-gpu=8G --ntasks-per-node=3": {
			CPUs: 6, Nodes: 2, MemoryMB: 3 * 8192, Layout: protocol.Layout{MaxNodes: 2, TasksPerNode: 3, MemoryPerGPU: 8192}, Resources: list(of("gpu", "", 1, protocol.PerTask)),
		},
		"-n4 -N2 --mem-per-cpu=2G": {
			CPUs: 4, Nodes: 2, MemoryMB: 4096, Layout: protocol.Layout{Tasks: 4, MaxNodes: 2, MemoryPerCPU: 2048},
		},
		"-n4 --mem-per-cpu=2G": {CPUs: 4, MemoryMB: 8192, Layout: protocol.Layout{Tasks: 4, MemoryPerCPU: 2048}},
		"-C skylake":           {CPUs: 1, Features: "skylake"},
		"-C 'ib&(a|b)'":        {CPUs: 1, Features: "ib&(a|b)"},
		"--exclusive":          {CPUs: 1, Exclusive: true},
	} {
		job, _ := read(t, script("#SBATCH "+options))
		got := job.Spec.Request
		got.WallTime = 0
		if !got.Equal(want) {
			t.Errorf("%q: got %+v, want %+v", options, got, want)
		}
		if err := got.CheckExtras(); err != nil {
			t.Errorf("%q: %v", options, err)
		}
	}
}

// TestResourcesThatCannotBe: each with the line, the option and what to do.
func TestResourcesThatCannotBe(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"--gres=gpu:a100:2:3":             `job.sh:2: --gres: "gpu:a100:2:3" is not name, name:count, name:type or name:type:count`,
		"--gres=gpu:a100:x":               `job.sh:2: --gres: "x" is not a whole number from 1 to 1000000`,
		"--gres=gpu:1,gpu:2":              "job.sh:2: --gres: names gpu twice; write gpu:3",
		"--gres=,gpu":                     `job.sh:2: --gres: ",gpu": a name or type is missing`,
		"-G all":                          `job.sh:2: --gpus: "all" is not a whole number from 1 to 1000000`,
		"--gres=gpu:1 --gpus-per-node=2":  "job.sh:2: --gres: the job counts its GPUs by --gres and --gpus-per-node; use one of them",
		"-n4 -G4 --gpus-per-task=1":       "job.sh:2: --gpus: the job counts its GPUs by --gpus and --gpus-per-task; use one of them",
		"--cpus-per-gpu=2":                "job.sh:2: --cpus-per-gpu: the job asks for no GPUs; name --gpus-per-task or --gres=gpu, too",
		"-G2 -c2 --cpus-per-gpu=2":        "job.sh:2: --cpus-per-gpu: the job names --cpus-per-task, too; use one of the two",
		"-n2 -G3 --cpus-per-gpu=2":        "job.sh:2: --cpus-per-gpu: how many GPUs go with a task is not known; use --gpus-per-task or --cpus-per-task",
		"-G16 --cpus-per-gpu=4":           "job.sh:2: --cpus-per-gpu: how many GPUs go with a task is not known; use --gpus-per-task or --cpus-per-task",
		"-G8 --mem-per-gpu=1G":            "job.sh:2: --mem-per-gpu: how many GPUs are on a node is not known; use --gpus-per-node or --mem",
		"--mem-per-gpu=1G":                "job.sh:2: --mem-per-gpu: the job asks for no GPUs; name --gpus-per-node or --gres=gpu, too",
		"-G1 --mem=1G --mem-per-gpu=1G":   "job.sh:2: --mem-per-gpu: contradicts --mem (job.sh:2); use one of the two",
		"-C 'a&'":                         `job.sh:2: --constraint: "a&": ends where a feature is expected`,
		"-C [a&b|c&d]":                    `job.sh:2: --constraint: "[a&b|c&d]": brackets with both & and | are not supported; write parentheses without brackets`,
		"-n1 --signal=USR1 --container=i": "job.sh:2: --signal: it would reach the container command and not the script; leave out one of --signal and --container",
		"--time=1 --signal=B:USR1":        "job.sh:2: --signal: comes 0:01:00 before the limit of 0:01:00; name a shorter time, as USR1@30",
		"--exclusive=user":                "job.sh:2: --exclusive: nodes cannot be kept for one user or group; write --exclusive without a value",
	} {
		if got := problemsOf(t, script("#SBATCH "+options)); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", options, got, want)
		}
	}
}
