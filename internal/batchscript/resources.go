package batchscript

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// resources are the options for what a job uses beside CPUs and memory, and for the nodes that
// it may have.
func resources() []Option {
	const kinds = "[type:]count[,…]"
	return []Option{
		{
			Long: "gres", Value: "name[:type][:count][,…]", Help: "resources on each node, for example gpu:a100:2", Slurm: true, Vars: []string{"SBATCH_GRES"},
			set:  func(w *jobOptions, value string) (err error) { w.gres, err = ParseResources(value); return err },
			Note: "per node, as named by the sites (`switchyard sites --json`)",
		},
		{
			Long: "gpus", Short: "G", Value: kinds, Help: "GPUs of the whole job", set: gpus(protocol.PerJob), Slurm: true, Vars: []string{"SBATCH_GPUS"},
		},
		{
			Long: "gpus-per-node", Value: kinds, Help: "GPUs on each node, as --gres=gpu:…", set: gpus(protocol.PerNode),
			Slurm: true, Vars: []string{"SBATCH_GPUS_PER_NODE"},
		},
		{
			Long: "gpus-per-task", Value: kinds, Help: "GPUs of each task", set: gpus(protocol.PerTask),
			Slurm: true, Vars: []string{"SBATCH_GPUS_PER_TASK"},
		},
		{
			Long: "cpus-per-gpu", Value: "count", Help: "CPUs for each GPU, instead of --cpus-per-task", Slurm: true, Vars: []string{"SBATCH_CPUS_PER_GPU"},
			set:  counter(func(w *jobOptions) *int { return &w.cpusPerGPU }),
			Note: "refused where the options do not say how many GPUs go with a task",
		},
		{
			Long: "mem-per-gpu", Value: "size[K|M|G|T|P]", Help: "memory for each GPU", set: setMemoryPerGPU, Slurm: true, Vars: []string{"SBATCH_MEM_PER_GPU"},
			Note: "refused where the options do not say how many GPUs are on a node",
		},
		{
			Long: "licenses", Short: "L", Value: "name[:count][,…]", Help: "licenses that the job uses while it runs", set: setLicenses, Slurm: true,
			Note: "as named by the sites (`switchyard sites --json`)",
		},
		{
			Long: "constraint", Short: "C", Value: "features", Help: "features that the nodes must have, for example 'skylake|icelake'",
			set: setConstraint, Slurm: true, Vars: []string{"SBATCH_CONSTRAINT"},
			Note: "features as named by the sites (`switchyard sites --json`)",
		},
		{
			Long: "exclusive", Value: "user", Maybe: true, Help: "whole nodes, shared with no other job", set: setExclusive,
			Slurm: true, Vars: []string{"SBATCH_EXCLUSIVE"}, partly: true, Note: "with a value (`user`, `mcs`, `topo`) it is refused",
		},
	}
}

// gpus takes a list of GPUs by type. It replaces an earlier one with the same meaning.
func gpus(per protocol.Per) func(*jobOptions, string) error {
	return func(w *jobOptions, value string) error {
		list, err := parseList(value, typeOf, func(text string) (protocol.Resource, error) {
			kind, count, typed := strings.Cut(text, ":")
			if !typed {
				kind, count = "", text
			}
			return newResource(protocol.GPU, kind, count, per)
		})
		if err != nil {
			return err
		}
		w.gpus = append(slices.DeleteFunc(slices.Clone(w.gpus), func(r protocol.Resource) bool { return r.Per == per }), list...)
		return nil
	}
}

// ParseResources reads the list of sbatch's --gres: "name", "name:count", "name:type" or
// "name:type:count", separated by commas, each on every node; "none" is none. It is sorted.
func ParseResources(value string) ([]protocol.Resource, error) {
	if strings.EqualFold(value, "none") {
		return nil, nil
	}
	return parseList(value, protocol.Resource.Kind, func(text string) (protocol.Resource, error) {
		parts := strings.Split(strings.TrimPrefix(text, "gres:"), ":")
		switch {
		case len(parts) == 1:
			return newResource(parts[0], "", "1", protocol.PerNode)
		case len(parts) == 2 && startsWithDigit(parts[1]):
			return newResource(parts[0], "", parts[1], protocol.PerNode)
		case len(parts) == 2:
			return newResource(parts[0], parts[1], "1", protocol.PerNode)
		case len(parts) == 3:
			return newResource(parts[0], parts[1], parts[2], protocol.PerNode)
		}
		return protocol.Resource{}, fmt.Errorf("%q is not name, name:count, name:type or name:type:count", text)
	})
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// parseList reads a list with commas and sorts it. In the list a kind is written as it is returned by kind.
func parseList(value string, kind func(protocol.Resource) string, parse func(string) (protocol.Resource, error)) ([]protocol.Resource, error) {
	var list []protocol.Resource
	for text := range strings.SplitSeq(value, ",") {
		one, err := parse(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	slices.SortFunc(list, protocol.CompareResources)
	for i := 1; i < len(list); i++ {
		if protocol.CompareResources(list[i-1], list[i]) == 0 {
			return nil, fmt.Errorf("names %s twice; write %s:%d", kind(list[i]), kind(list[i]), list[i-1].Count+list[i].Count)
		}
	}
	if err := (&protocol.Request{Resources: list}).CheckExtras(); err != nil {
		_, text := protocol.FieldPath(err)
		return nil, fmt.Errorf("%q: a name or type %s", value, text)
	}
	return list, nil
}

func newResource(name, kind, count string, per protocol.Per) (protocol.Resource, error) {
	n, err := ParseCount(count)
	return protocol.Resource{Name: name, Type: kind, Count: n, Per: per}, err
}

// setLicenses takes the list of sbatch(1), "name" or "name:count" with commas. It replaces an earlier one.
func setLicenses(w *jobOptions, value string) (err error) {
	w.licenses, err = parseList(value, typeOf, func(text string) (protocol.Resource, error) {
		name, count, counted := strings.Cut(text, ":")
		if !counted {
			count = "1"
		}
		return newResource(protocol.License, name, count, protocol.PerJob)
	})
	if err == nil && slices.ContainsFunc(w.licenses, func(one protocol.Resource) bool { return one.Type == "" }) {
		err = fmt.Errorf("%q has a license without a name", value)
	}
	return err
}

// typeOf is how the options name a kind that are for resources of one name.
func typeOf(r protocol.Resource) string { return cmp.Or(r.Type, r.Name) }

func setMemoryPerGPU(w *jobOptions, value string) (err error) {
	w.gpuMemoryMB, err = ParseMemory(value)
	return err
}

func setConstraint(w *jobOptions, value string) error {
	if _, err := protocol.ParseFeatures(value); err != nil {
		return err
	}
	w.spec.Features = value
	return nil
}

func setExclusive(w *jobOptions, value string) error {
	if value != "" {
		return &refusalError{why: "nodes cannot be kept for one user or group", do: "write --exclusive without a value"}
	}
	w.spec.Exclusive = true
	return nil
}

// resources are what the job asks for beside CPUs and memory, in one list. Slurm takes several counts of
// GPUs for conditions on the same ones; a job names one here.
func (w *jobOptions) resources(script Script, r *report) []protocol.Resource {
	all := slices.Concat(w.gres, w.gpus, w.licenses)
	slices.SortFunc(all, protocol.CompareResources)
	if counts := w.gpuOptions(); len(counts) > 1 {
		w.fault(r, script, strings.TrimPrefix(counts[0], "--"), "the job counts its GPUs by %s; use one of them", strings.Join(counts, " and "))
		return nil
	}
	if len(all) > protocol.MaxResources {
		w.fault(r, script, "gres", "the job names %d resources; name at most %d", len(all), protocol.MaxResources)
		return nil
	}
	return all
}

// gpuOptions are the options that count the job's GPUs.
func (w *jobOptions) gpuOptions() (options []string) {
	isGPU := func(one protocol.Resource) bool { return one.Name == protocol.GPU }
	if slices.ContainsFunc(w.gres, isGPU) {
		options = append(options, "--gres")
	}
	for _, one := range []struct {
		long string
		per  protocol.Per
	}{{"--gpus", protocol.PerJob}, {"--gpus-per-node", protocol.PerNode}, {"--gpus-per-task", protocol.PerTask}} {
		if slices.ContainsFunc(w.gpus, func(r protocol.Resource) bool { return r.Per == one.per }) {
			options = append(options, one.long)
		}
	}
	return options
}

// gpuCount is the sum of the job's GPUs of all types, and what it is of; 0: it asks for none.
func (w *jobOptions) gpuCount() (n int64, per protocol.Per) {
	for _, one := range slices.Concat(w.gres, w.gpus) {
		if one.Name == protocol.GPU {
			n += int64(one.Count)
			per = one.Per
		}
	}
	return n, per
}

// divideByGPU sets the CPUs of each task from those of each GPU, where it follows from the options how
// many GPUs go with a task.
func (w *jobOptions) divideByGPU(size *protocol.Request, script Script, r *report) {
	if w.cpusPerGPU == 0 {
		return
	}
	gpus, per := w.gpuCount()
	switch {
	case gpus == 0:
		w.fault(r, script, "cpus-per-gpu", "the job asks for no GPUs; name --gpus-per-task or --gres=gpu, too")
		return
	case w.cpusPerTask > 0:
		w.fault(r, script, "cpus-per-gpu", "the job names --cpus-per-task, too; use one of the two")
		return
	case per == protocol.PerTask:
	case per == protocol.PerNode && w.tasks == 0 && w.tasksPerNode > 0 && gpus%int64(w.tasksPerNode) == 0:
		gpus /= int64(w.tasksPerNode)
	case w.tasks+w.tasksPerNode <= 1 && (per == protocol.PerNode || gpus == 1 || w.maxNodes == 1): // a task on each node
	default:
		w.fault(r, script, "cpus-per-gpu", "how many GPUs go with a task is not known; use --gpus-per-task or --cpus-per-task")
		return
	}
	size.Layout.CPUsPerTask = int(min(gpus*int64(w.cpusPerGPU), math.MaxInt32))
}

// memoryByGPU is the memory of each node from that of each GPU, in MB; 0: not asked for.
func (w *jobOptions) memoryByGPU(size *protocol.Request, script Script, r *report) int64 {
	if w.gpuMemoryMB == 0 {
		return 0
	}
	gpus, per := w.gpuCount()
	switch {
	case gpus == 0:
		w.fault(r, script, "mem-per-gpu", "the job asks for no GPUs; name --gpus-per-node or --gres=gpu, too")
		return 0
	case per == protocol.PerNode, per == protocol.PerJob && (gpus == 1 || w.maxNodes == 1):
	case per == protocol.PerTask && w.tasksPerNode > 0:
		gpus *= int64(w.tasksPerNode)
	case per == protocol.PerTask && (tasksOf(*size) == 1 || w.maxNodes == 1):
		gpus *= int64(tasksOf(*size))
	default:
		w.fault(r, script, "mem-per-gpu", "how many GPUs are on a node is not known; use --gpus-per-node or --mem")
		return 0
	}
	if w.gpuMemoryMB > maxMemoryMB/gpus {
		return maxMemoryMB
	}
	return w.gpuMemoryMB * gpus
}
