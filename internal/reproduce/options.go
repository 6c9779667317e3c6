package reproduce

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Size says how big the experiments are, and what they are made of.
type Size struct {
	Data        string // directory of the traces and prices
	Machines    string // directory of the machines and classes of [IS]
	Experiments string // directory of the experiments of [SS] on a real log
	Seeds       int    // the number of seeds, counted from 1; each samples another workload
	Stated      bool   // Seeds was asked for, so that [SS] has as many, instead of those that its experiments state
	Workers     int    // simulations at once; 0: one for each CPU
}

// Check says what is wrong with the size.
func (s *Size) Check() error {
	var problems []error
	if s.Seeds < 1 || s.Seeds > MaxSeeds {
		problems = append(problems, fmt.Errorf("seeds: %d is not from 1 to %d", s.Seeds, MaxSeeds))
	}
	if s.Workers < 0 {
		problems = append(problems, fmt.Errorf("workers: %d is negative", s.Workers))
	}
	return errors.Join(problems...)
}

// Crew is how many simulations run at once.
func (s *Size) Crew() int {
	if s.Workers > 0 {
		return s.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// SeedNumbers are the seeds of the workloads.
func (s *Size) SeedNumbers() []uint64 {
	seeds := make([]uint64, s.Seeds)
	for i := range seeds {
		seeds[i] = uint64(i) + 1
	}
	return seeds
}

// Options say how big the experiments are and what the sites know.
type Options struct {
	Size

	Jobs int // measured jobs of a workload; 0: as many as the paper's

	Waits    waitpredict.Method // where the waits of quotes come from
	Forecast string             // of prices that are not published yet, see [forecast.Named]; or [priceforecast.Known]
	Authors  []Choice           // of the authors' released code that all portals make
}

// Default is the paper's set-up, with the forecaster that is measured best.
func Default() Options {
	return Options{Size: Size{Data: "../shared/data", Machines: "examples/iss", Experiments: "examples/experiments", Seeds: 5}, Waits: waitpredict.Adaptive, Forecast: forecast.NewAuto().Name()}
}

// Flags defines the options that change what exhibits show, with their values as the defaults.
func (o *Options) Flags(set *flag.FlagSet) {
	set.Var((*seeds)(&o.Size), seedsFlag, "`number` of seeds, with a workload each; without it the experiments of the superscheduler paper have theirs")
	set.IntVar(&o.Jobs, "jobs", o.Jobs, "number of measured jobs, or of records of a log (0: as in the paper)")
	set.StringVar((*string)(&o.Waits), "waits", string(o.Waits), "prediction of the quoted waits ("+methodNames()+")")
	set.StringVar(&o.Forecast, "forecast", o.Forecast,
		"forecast of prices that are not published yet (auto, blend, yesterday, mean, flat, sarima or an order such as (1,0,1)(1,0,1)24; known: the actual prices)")
	set.Var((*choices)(&o.Authors), "authors", "choices of the authors' released code: "+choiceNames())
}

// Args are the flags of the options that are not the defaults.
func (o *Options) Args() []string {
	usual, own := flag.NewFlagSet("", flag.ContinueOnError), flag.NewFlagSet("", flag.ContinueOnError)
	standard, copied := Default(), *o
	standard.Flags(usual)
	copied.Flags(own)
	var args []string
	own.VisitAll(func(f *flag.Flag) {
		if value := f.Value.String(); value != usual.Lookup(f.Name).Value.String() || f.Name == seedsFlag && o.Stated {
			args = append(args, "--"+f.Name, value)
		}
	})
	return args
}

const seedsFlag = "seeds"

// seeds are the flag of [Size.Seeds].
type seeds Size

func (s *seeds) String() string { return strconv.Itoa(s.Seeds) }

func (s *seeds) Set(text string) (err error) {
	s.Stated = true
	s.Seeds, err = strconv.Atoi(text)
	return err
}

// choices are a flag whose values have commas between them.
type choices []Choice

func (c *choices) String() string {
	var names []string
	for _, one := range *c {
		names = append(names, string(one))
	}
	return strings.Join(names, ",")
}

func (c *choices) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		*c = append(*c, Choice(name))
	}
	return nil
}

// MaxSeeds bounds the seeds of one call.
const MaxSeeds = 100

// Check says what is wrong with the options, before anything is read.
func (o *Options) Check() error {
	problems := []error{o.Size.Check()}
	if o.Jobs < 0 || o.Jobs > 0 && o.Jobs < fewestJobs {
		problems = append(problems, fmt.Errorf("jobs: %d; give %d or more, or 0 for the paper's", o.Jobs, fewestJobs))
	}
	if !slices.Contains(waitpredict.Methods(), o.Waits) {
		problems = append(problems, fmt.Errorf("waits: %q is none of %s", string(o.Waits), methodNames()))
	}
	if _, err := forecast.Named(o.Forecast); err != nil && o.Forecast != priceforecast.Known {
		problems = append(problems, fmt.Errorf("forecast: %w", err))
	}
	for _, c := range o.Authors {
		if !slices.Contains(Choices(), c) {
			problems = append(problems, fmt.Errorf("authors: %q is none of %s", string(c), choiceNames()))
		}
	}
	return errors.Join(problems...)
}

// fewestJobs is the smallest workload: fewer have no estimates by the model of Tsafrir.
const fewestJobs = 200

func methodNames() string {
	var names []string
	for _, m := range waitpredict.Methods() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// The sizes of the XSEDE workload [MC] Table II: the history is the authors' 500 jobs
// for each of the eight systems. A smaller workload has less of it, in proportion.
const (
	xsedeJobs    = 10_000
	xsedeHistory = 4_000
)

func (o *Options) xsedeSize() (jobs, history int) {
	if o.Jobs == 0 {
		return xsedeJobs, xsedeHistory
	}
	return o.Jobs, o.Jobs * xsedeHistory / xsedeJobs
}

// How [MC] runs the portal.
const (
	cycle     = protocol.Minute // facts/mcmf-experiments.md section 5
	xsedeMaxQ = 2               // [MC 5.7.3]
	usual     = 250_000         // w of [MC] Table IV, in parts per million
)
