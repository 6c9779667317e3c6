package bluegene

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// Options say how big the experiments are.
type Options struct {
	Data    string // folder of the traces
	Seeds   int    // seeds 1 to so many, each of which draws other powers, and another half year
	Workers int    // simulations at once; 0: one for each CPU
}

// Check says what is wrong with the options and with the names of exhibits, before
// anything is read.
func (o *Options) Check(names []string) error {
	_, err := chosen(names)
	return errors.Join(o.check(), err)
}

func (o *Options) check() error {
	var problems []error
	if o.Seeds < 1 || o.Seeds > reproduce.MaxSeeds {
		problems = append(problems, fmt.Errorf("seeds: %d is not from 1 to %d", o.Seeds, reproduce.MaxSeeds))
	}
	if o.Workers < 0 {
		problems = append(problems, fmt.Errorf("workers: %d is negative", o.Workers))
	}
	return errors.Join(problems...)
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o *Options) seeds() []uint64 {
	seeds := make([]uint64, o.Seeds)
	for i := range seeds {
		seeds[i] = uint64(i) + 1
	}
	return seeds
}

// All stands for every exhibit.
const All = "bg"

// chosen are the exhibits of the names.
func chosen(names []string) ([]exhibit, error) {
	var found []exhibit
	all := exhibits()
	for _, name := range names {
		if name == All {
			return all, nil
		}
		i := slices.IndexFunc(all, func(e exhibit) bool { return e.name == name })
		if i < 0 {
			return nil, fmt.Errorf("nothing is called %q; choose from %s", name, strings.Join(Names(), ", "))
		}
		if !slices.ContainsFunc(found, func(e exhibit) bool { return e.name == name }) {
			found = append(found, all[i])
		}
	}
	return found, nil
}

// Names lists what [Run] takes: the exhibits, and [All].
func Names() []string {
	var names []string
	for _, e := range exhibits() {
		names = append(names, e.name)
	}
	return append(names, All)
}

// Exhibits lists all exhibits, in the paper's order; then what the paper has not.
func Exhibits() []reproduce.Exhibit {
	var all []reproduce.Exhibit
	for _, e := range exhibits() {
		all = append(all, reproduce.Exhibit{Name: e.name, Title: e.title, Paper: e.paper})
	}
	return all
}
