package accounting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Sums are those of jobs by some of their properties.
type Sums struct {
	by    []string
	lines map[view.UsageLine]*sum // by their properties and currency
}

type sum struct {
	jobs                 int64
	cpu, used, mJ, micro int128.Number
}

// property copies one property of a job into a line.
type property func(to *view.UsageLine, job *view.Job)

func properties() map[string]property {
	return map[string]property{
		"user":    func(to *view.UsageLine, job *view.Job) { to.User = job.User },
		"account": func(to *view.UsageLine, job *view.Job) { to.Account = strings.ToLower(job.Account) }, // case does not count
		"site":    func(to *view.UsageLine, job *view.Job) { to.Site = job.Site },
		"origin":  func(to *view.UsageLine, job *view.Job) { to.Origin = job.Origin },
		"month":   func(to *view.UsageLine, job *view.Job) { to.Month = MonthOf(job.Ended).String() },
		"state":   func(to *view.UsageLine, job *view.Job) { to.State = job.State.String() },
	}
}

// Properties lists the properties that jobs can be added up by.
func Properties() []string { return []string{"user", "account", "site", "origin", "month", "state"} }

// NewSums begins sums by properties, each of which is named once. An error says which is unknown or named
// twice.
func NewSums(by []string) (*Sums, error) {
	for i, name := range by {
		if !slices.Contains(Properties(), name) {
			return nil, fmt.Errorf("jobs cannot be added up by %.40q; use %s", name, strings.Join(Properties(), ", "))
		}
		if slices.Contains(by[:i], name) {
			return nil, fmt.Errorf("%s is named twice", name)
		}
	}
	return &Sums{by: slices.Clone(by), lines: map[view.UsageLine]*sum{}}, nil
}

// Add adds a job that has ended.
func (s *Sums) Add(job *view.Job) {
	var key view.UsageLine
	all := properties()
	for _, name := range s.by {
		all[name](&key, job)
	}
	cost, currency := job.Billed()
	key.Currency = currency
	line := s.lines[key]
	if line == nil {
		line = &sum{}
		s.lines[key] = line
	}
	if job.Array != nil { // elements that were never placed
		line.jobs += int64(job.Array.Elements.Len())
	} else {
		line.jobs++
	}
	line.cpu = line.cpu.Plus(int128.Product(int64(job.CPUs), int64(job.RunTime())))
	line.used = line.used.Plus(int128.Whole(int64(job.Usage.CPU)))
	line.mJ = line.mJ.Plus(int128.Whole(job.UsedEnergy()))
	line.micro = line.micro.Plus(int128.Whole(int64(cost)))
}

// Usage returns the sums, in the order of the properties and then of the currencies. A sum beyond
// what 64 bits hold stays at the most that they do.
func (s *Sums) Usage() view.Usage {
	out := view.Usage{By: s.by, Lines: make([]view.UsageLine, 0, len(s.lines))}
	for line, sum := range s.lines {
		line.Jobs = sum.jobs
		line.CPUTime, line.UsedCPU = protocol.Duration(sum.cpu.Down()), protocol.Duration(sum.used.Down())
		line.Energy, line.Cost = sum.mJ.Down(), protocol.Micro(sum.micro.Down())
		out.Lines = append(out.Lines, line)
	}
	slices.SortFunc(out.Lines, func(a, b view.UsageLine) int {
		for _, name := range s.by {
			if c := strings.Compare(PropertyOf(&a, name), PropertyOf(&b, name)); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.Currency, b.Currency)
	})
	return out
}

// PropertyOf is the value of a property of a line.
func PropertyOf(line *view.UsageLine, name string) string {
	switch name {
	case "user":
		return line.User
	case "account":
		return line.Account
	case "site":
		return string(line.Site)
	case "origin":
		return string(line.Origin)
	case "month":
		return line.Month
	case "state":
		return line.State
	}
	return ""
}
