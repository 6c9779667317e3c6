package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// SizeClass is a range of job sizes, and how many of a workload's jobs have one
// of them.
type SizeClass struct {
	Min, Max int // CPUs, both included
	Jobs     int
}

// MergeRule says with which neighbour a class of too few jobs is merged. [SS 3.1]
// says "the smaller of its neighboring classes".
type MergeRule int

const (
	// MergeDown takes "smaller" as of smaller jobs: from the smallest size
	// upwards, a class of too few jobs joins the one below it, and the first class
	// takes the one above until it has enough. So each class begins at a popular
	// size, as all classes of Tables 2 to 4 do, and the log of Blue Horizon gives
	// Table 4's classes.
	MergeDown MergeRule = iota
	// MergeFewest takes "smaller" as of fewer jobs: again and again the class with
	// the fewest jobs joins the neighbour with fewer, in both choices the lower of
	// equals.
	MergeFewest
)

// SizeClasses groups jobs by their CPUs as [SS 3.1] does. At first there is a
// class for each number of nodes of the machine. Classes with less than the
// fraction least of the jobs are merged by the rule until there are none, or
// only one class. What remains covers all sizes of the machine without gaps.
func SizeClasses(jobs []Job, m Machine, least float64, rule MergeRule) ([]SizeClass, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("machine.%w", err)
	}
	if !(least >= 0 && least <= 1) {
		return nil, fmt.Errorf("least share of a class: %v is not a fraction from 0 to 1", least)
	}
	if len(jobs) == 0 {
		return nil, errors.New("no jobs to group by size")
	}
	counts := make(map[int]int)
	for _, j := range jobs {
		if j.CPUs < 1 || j.CPUs > m.CPUs() {
			return nil, fmt.Errorf("job %d: %d CPUs, the machine has 1 to %d", j.ID, j.CPUs, m.CPUs())
		}
		counts[m.NodesOf(j.CPUs)]++
	}
	classes := nodeClasses(counts, m)
	few := func(c SizeClass) bool { return float64(c.Jobs) < least*float64(len(jobs)) }
	switch rule {
	case MergeDown:
		return mergeDown(classes, few), nil
	case MergeFewest:
		return mergeFewest(classes, few), nil
	}
	return nil, fmt.Errorf("merge rule %d is not known", rule)
}

// nodeClasses returns the classes of single node counts. A run of counts that
// no job has is one empty class from the start: merging would make it that
// first, and a machine may have 100,000 nodes.
func nodeClasses(counts map[int]int, m Machine) []SizeClass {
	var classes []SizeClass
	last := 0 // nodes
	add := func(nodes, jobs int) {
		if nodes > last {
			classes = append(classes, SizeClass{Min: last*m.CPUsPerNode + 1, Max: nodes * m.CPUsPerNode, Jobs: jobs})
			last = nodes
		}
	}
	used := make([]int, 0, len(counts))
	for nodes := range counts {
		used = append(used, nodes)
	}
	slices.Sort(used)
	for _, nodes := range used {
		add(nodes-1, 0)
		add(nodes, counts[nodes])
	}
	add(m.Nodes, 0)
	return classes
}

// mergeDown merges in place, from the smallest sizes upwards.
func mergeDown(classes []SizeClass, few func(SizeClass) bool) []SizeClass {
	merged := classes[:1]
	for _, c := range classes[1:] {
		below := &merged[len(merged)-1]
		if few(c) || few(*below) {
			below.Max = c.Max
			below.Jobs += c.Jobs
			continue
		}
		merged = append(merged, c)
	}
	return merged
}

// mergeFewest merges in place, the class with the fewest jobs first.
func mergeFewest(classes []SizeClass, few func(SizeClass) bool) []SizeClass {
	for len(classes) > 1 {
		i := fewestJobs(classes)
		if !few(classes[i]) {
			break
		}
		if i > 0 && (i+1 == len(classes) || classes[i-1].Jobs <= classes[i+1].Jobs) {
			i--
		}
		classes[i].Max = classes[i+1].Max
		classes[i].Jobs += classes[i+1].Jobs
		classes = slices.Delete(classes, i+1, i+2)
	}
	return classes
}

// fewestJobs is the index of the class with the fewest jobs, the first of
// equals.
func fewestJobs(classes []SizeClass) int {
	best := 0
	for i, c := range classes {
		if c.Jobs < classes[best].Jobs {
			best = i
		}
	}
	return best
}

// classOf is the index of the class that holds jobs of cpus CPUs, or the
// number of classes if none does.
func classOf(classes []SizeClass, cpus int) int {
	i, _ := slices.BinarySearchFunc(classes, cpus, func(c SizeClass, want int) int { return cmp.Compare(c.Max, want) })
	return i
}
