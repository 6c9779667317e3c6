package partition

import (
	"cmp"
	"slices"
	"strconv"
)

// Class is the partitions of one size.
type Class struct {
	Nodes       int `json:"nodes"`
	Torus       int `json:"torus"`
	Mesh        int `json:"mesh"`
	Diagnostics int `json:"diagnostics"`
	Fewest      int `json:"fewest_conflicts"` // of a partition for jobs, with others for jobs
	Most        int `json:"most_conflicts"`
}

// Classes counts the partitions of each size, from the smallest up.
func (l *Layout) Classes() []Class {
	bySize := map[int]*Class{}
	for i := range l.Partitions {
		one := &l.Partitions[i]
		c := bySize[one.Nodes]
		if c == nil {
			c = &Class{Nodes: one.Nodes, Fewest: len(l.Partitions)}
			bySize[one.Nodes] = c
		}
		switch one.Kind {
		case Diagnostics:
			c.Diagnostics++
			continue
		case Torus:
			c.Torus++
		case Mesh:
			c.Mesh++
		}
		n := l.conflictsOf(i)
		c.Fewest, c.Most = min(c.Fewest, n), max(c.Most, n)
	}
	classes := make([]Class, 0, len(bySize))
	for _, c := range bySize {
		c.Fewest = min(c.Fewest, c.Most)
		classes = append(classes, *c)
	}
	slices.SortFunc(classes, func(a, b Class) int { return cmp.Compare(a.Nodes, b.Nodes) })
	return classes
}

// conflictsOf counts the partitions for jobs that cannot run beside one.
func (l *Layout) conflictsOf(i int) (n int) {
	for _, other := range l.Conflicts(i) {
		if l.Partitions[other].Kind != Diagnostics {
			n++
		}
	}
	return n
}

// ConflictsText is how many partitions for jobs cannot run beside one, from the fewest to the most.
func (c *Class) ConflictsText() string {
	switch {
	case c.Torus+c.Mesh == 0:
		return "-"
	case c.Fewest == c.Most:
		return strconv.Itoa(c.Most)
	}
	return strconv.Itoa(c.Fewest) + " to " + strconv.Itoa(c.Most)
}
