package workload

import (
	"errors"
	"fmt"
	"math"
)

// Machine is a parallel machine of equal nodes, as in [SS] Table 1. A node runs
// one job at a time.
type Machine struct {
	Name        string `json:"name"          toml:"name"`
	Nodes       int    `json:"nodes"         toml:"nodes"`
	CPUsPerNode int    `json:"cpus_per_node" toml:"cpus_per_node"`
	MHz         int    `json:"mhz"           toml:"mhz"`
}

// CPUs is how many the machine has.
func (m Machine) CPUs() int { return m.Nodes * m.CPUsPerNode }

// NodesOf is how many nodes a job of that many CPUs holds.
func (m Machine) NodesOf(cpus int) int { return (cpus + m.CPUsPerNode - 1) / m.CPUsPerNode }

// maxCPUs bounds machines from files, so that CPUs times time stays in an int64.
const maxCPUs = 1 << 30

// Validate reports the first field that no machine can have.
func (m Machine) Validate() error {
	switch {
	case m.Nodes < 1:
		return fmt.Errorf("nodes: %d, a machine has at least 1", m.Nodes)
	case m.CPUsPerNode < 1:
		return fmt.Errorf("cpus_per_node: %d, a node has at least 1", m.CPUsPerNode)
	case m.Nodes > maxCPUs/m.CPUsPerNode:
		return fmt.Errorf("nodes: %d of %d CPUs are more than %d CPUs", m.Nodes, m.CPUsPerNode, maxCPUs)
	case m.MHz < 1:
		return fmt.Errorf("mhz: %d is not a clock rate; write 1 if it does not matter", m.MHz)
	}
	return nil
}

// Class is what a model says of the jobs of Min to Max CPUs: one stream of
// arrivals, and how long its jobs run.
type Class struct {
	Min     int         `json:"min_cpus"      toml:"min_cpus"`
	Max     int         `json:"max_cpus"      toml:"max_cpus"`
	Share   float64     `json:"share"         toml:"share"`         // of the model's jobs; follows from the arrivals, and is kept to compare
	Arrival HyperErlang `json:"inter_arrival" toml:"inter_arrival"` // between the class's submits
	Service HyperErlang `json:"service"       toml:"service"`       // on the model's machine
}

// Model is a statistical model of a machine's jobs [SS 3.1].
type Model struct {
	Machine Machine `json:"machine" toml:"machine"`
	Classes []Class `json:"classes" toml:"classes"` // by size, without overlap
}

// On is the machine that the model is of.
func (m Model) On() Machine { return m.Machine }

// shareTolerance is how far printed shares may be from a sum of 1: each class
// of a printed table is rounded.
const shareTolerance = 0.01

// Validate reports the first thing that is wrong, by its place in a file.
func (m Model) Validate() error {
	if err := m.Machine.Validate(); err != nil {
		return fmt.Errorf("machine.%w", err)
	}
	if len(m.Classes) == 0 {
		return errors.New("classes: a model has at least one")
	}
	below, shares := 0, 0.0
	for i, c := range m.Classes {
		if err := c.validate(below, m.Machine.CPUs()); err != nil {
			return fmt.Errorf("classes[%d].%w", i, err)
		}
		below = c.Max
		shares += c.Share
	}
	if math.Abs(shares-1) > shareTolerance {
		return fmt.Errorf("classes: the shares sum to %.4g, not to 1", shares)
	}
	return nil
}

// validate checks a class above one that ends at below, on a machine of cpus
// CPUs.
func (c Class) validate(below, cpus int) error {
	switch {
	case c.Min <= below:
		return fmt.Errorf("min_cpus: %d must be above %d, where the class before it ends", c.Min, below)
	case c.Max < c.Min:
		return fmt.Errorf("max_cpus: %d is less than min_cpus, %d", c.Max, c.Min)
	case c.Max > cpus:
		return fmt.Errorf("max_cpus: %d is more than the machine's %d CPUs", c.Max, cpus)
	case !(c.Share >= 0 && c.Share <= 1):
		return fmt.Errorf("share: %v is not a fraction from 0 to 1", c.Share)
	}
	if err := c.Arrival.Validate(); err != nil {
		return fmt.Errorf("inter_arrival.%w", err)
	}
	if err := c.Service.Validate(); err != nil {
		return fmt.Errorf("service.%w", err)
	}
	return nil
}

// widest is the index of the class with the largest Max − Min, the first of
// equals.
func (m Model) widest() int {
	best := 0
	for i, c := range m.Classes {
		if c.Max-c.Min > m.Classes[best].Max-m.Classes[best].Min {
			best = i
		}
	}
	return best
}
