package slurm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// parseResources reads the generic resources of a node as sinfo prints them, or those of a job
// as squeue does without its prefix: "gpu:a100:4(S:0-1),nic:1". The list is sorted, and what
// differs in its sockets alone is added up.
func parseResources(text string) (list []protocol.Resource, err error) {
	for word := range strings.SplitSeq(withoutSockets(nameOrNone(text)), ",") {
		if word == "" {
			continue
		}
		one, err := parseResource(word)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return sumResources(list, protocol.MaxResources), nil
}

// withoutSockets leaves out what stands in parentheses, which may hold commas.
func withoutSockets(text string) string {
	var out strings.Builder
	depth := 0
	for _, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case depth == 0:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// parseResource reads "name", "name:count", "name:type" or "name:type:count". A count that is
// missing is 1.
func parseResource(word string) (one protocol.Resource, err error) {
	parts := slices.DeleteFunc(strings.Split(word, ":"), func(part string) bool { return part == "no_consume" })
	one.Count = 1
	if last := len(parts) - 1; last > 0 && parts[last] != "" && parts[last][0] >= '0' && parts[last][0] <= '9' {
		if one.Count, err = parseAmount(parts[last]); err != nil {
			return protocol.Resource{}, fmt.Errorf("generic resource %q: %w", word, err)
		}
		parts = parts[:last]
	}
	one.Name = parts[0]
	if len(parts) > 1 {
		one.Type = strings.Join(parts[1:], ":")
	}
	return one, nil
}

// parseAmount reads a count with a unit of 1024 or none, such as "4G". What is more than a count of
// resources can be is the largest.
func parseAmount(text string) (int, error) {
	last := len(text) - 1
	unit := 1 + strings.IndexByte("KMGT", text[last]&^0x20)
	if unit > 0 {
		text = text[:last]
	}
	n, err := parseCount(text, 1<<50)
	if n > math.MaxInt32>>(10*unit) {
		return math.MaxInt32, err
	}
	return n << (10 * unit), err
}

// sumResources sorts resources and adds up those of one kind. What has no count, or a name that
// no job can ask for, is left out, and so are the last of more kinds than most.
func sumResources(list []protocol.Resource, most int) (sums []protocol.Resource) {
	slices.SortStableFunc(list, protocol.CompareResources)
	for _, one := range list {
		last := len(sums) - 1
		switch {
		case one.Count < 1 || !protocol.IsWord(one.Name) || one.Type != "" && !protocol.IsWord(one.Type):
		case last >= 0 && protocol.CompareResources(sums[last], one) == 0:
			sums[last].Count = min(sums[last].Count, math.MaxInt32-one.Count) + one.Count
		case last+1 < most:
			sums = append(sums, one)
		}
	}
	return sums
}

// parseFeatures reads the features of a node. What no job can ask for is left out.
func parseFeatures(text string) []string {
	names := strings.Split(nameOrNone(text), ",")
	names = slices.DeleteFunc(names, func(name string) bool { return !protocol.IsWord(name) })
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	return names[:min(len(names), protocol.MaxFeatures)]
}

// licenses asks for the licenses of the cluster.
func (c *commands) licenses(ctx context.Context) ([]protocol.Resource, error) {
	out, _, err := c.run(ctx, "", "scontrol", "show", "licenses", "-o")
	if err != nil {
		return nil, err
	}
	return parseLicenses(out)
}

// parseLicenses reads what scontrol show licenses -o prints.
func parseLicenses(out string) (list []protocol.Resource, err error) {
	for line := range strings.Lines(out) {
		words := parseWords(line)
		name, total := words["LicenseName"], words["Total"]
		if name == "" {
			continue // a cluster without licenses has a sentence
		}
		one := protocol.Resource{Name: protocol.License, Type: name}
		if one.Count, err = parseCount(total, math.MaxInt32); err != nil {
			return nil, fmt.Errorf("scontrol show licenses: license %s: %w", name, err)
		}
		list = append(list, one)
	}
	return sumResources(list, protocol.MaxShared), nil
}

// maxGroupBytes bounds the groups of nodes in a site's card, which has to fit in one message.
const maxGroupBytes = 32 << 10

// groupsOf puts nodes together that are alike. Of more groups than a site may state, or than fit in its
// card, the last ones are left out.
func groupsOf(nodes []*node) (groups []protocol.NodeGroup) {
	known, bytes := map[string]int{}, 0
	for _, n := range nodes {
		key := fmt.Sprint(n.cpus, n.memoryMB, n.resources, n.features)
		i, again := known[key]
		switch {
		case again:
			groups[i].Nodes++
		case len(groups) < protocol.MaxGroups && bytes+groupBytes(n) <= maxGroupBytes:
			bytes += groupBytes(n)
			known[key] = len(groups)
			groups = append(groups, protocol.NodeGroup{
				Nodes: 1, CPUs: n.cpus, MemoryMB: n.memoryMB, Resources: n.resources, Features: n.features,
			})
		}
	}
	return groups
}

// groupBytes is the most that a group of such nodes takes in a card.
func groupBytes(n *node) int {
	bytes := 50
	for _, one := range n.resources {
		bytes += 20 + len(one.Name) + len(one.Type)
	}
	for _, name := range n.features {
		bytes += 3 + len(name)
	}
	return bytes
}

// extras asks for resources, features and whole nodes.
func extras(r protocol.Request) (args []string) {
	values := map[string][]string{}
	for _, one := range r.Resources {
		option := resourceOption(one, r.Layout)
		value := one.String() // with its name
		if option != "--gres=" {
			value = strings.TrimPrefix(value, one.Name+":")
		}
		values[option] = append(values[option], value)
	}
	for _, option := range []string{"--gres=", "--gpus-per-node=", "--gpus=", "--gpus-per-task=", "--licenses="} {
		if len(values[option]) > 0 {
			args = append(args, option+strings.Join(values[option], ","))
		}
	}
	if len(values["--gpus-per-task="]) > 0 && r.Layout.Tasks == 0 && r.Nodes == 0 && !r.StatesTasks() {
		args = append(args, "--ntasks="+strconv.Itoa(r.Tasks())) // without which sbatch refuses
	}
	if r.Features != "" {
		args = append(args, "--constraint="+r.Features)
	}
	if r.Exclusive {
		args = append(args, "--exclusive")
	}
	return args
}

// resourceOption is the option of sbatch that asks for a resource.
func resourceOption(one protocol.Resource, l protocol.Layout) string {
	switch {
	case one.Per == protocol.PerNode && one.Name == protocol.GPU && l.GPUsPerNode:
		return "--gpus-per-node="
	case one.Per == protocol.PerNode:
		return "--gres="
	case one.Per == protocol.PerTask:
		return "--gpus-per-task="
	case one.Name == protocol.License:
		return "--licenses="
	}
	return "--gpus="
}

// inexpressible is which of the resources of a job no option of sbatch asks for; empty: none.
func inexpressible(r protocol.Request) string {
	for _, one := range r.Resources {
		switch {
		case one.Per == protocol.PerNode, one.Name == protocol.GPU, one.Per == protocol.PerJob && one.Name == protocol.License && one.Type != "":
		default:
			return fmt.Sprintf("Slurm counts %s by node alone, not by %s", one.Kind(), one.Per)
		}
	}
	return ""
}

// lacks is what of the resources and features that a job asks for the nodes of the partition
// never have; empty: nothing.
func (p *partition) lacks(r protocol.Request, m machine) string {
	if reason := inexpressible(r); reason != "" {
		return reason
	}
	has := protocol.Capacity{CPUs: r.CPUs, Nodes: r.LeastNodes(), Groups: m.byPartition[p.name], Shared: m.licenses, Exclusive: true}
	if reason := has.Fits(r); reason != "" {
		return fmt.Sprintf("partition %s: %s", p.name, reason)
	}
	return ""
}
