package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Lublin is the workload model of Lublin and Feitelson, "The workload on parallel
// supercomputers: modeling the characteristics of rigid jobs" (1999, JPDC 2003),
// with the parameters and the rules of the authors' program. [Lublin99] and
// [LublinTypeless] have its defaults.
type Lublin struct {
	Classes   []LublinClass // batch and interactive jobs, or one for all
	MaxLogRun float64       // run times are of at most e^MaxLogRun s
	MaxLogGap float64       // and times between arrivals in the rush hours of at most e^MaxLogGap s
	StartHour int           // of the day at which the workload begins, 0 to 23

	// Load divides the times between arrivals; 0 is 1. The reference changes Gap
	// instead, which changes their spread as well.
	Load float64
	// LeastRun is what jobs run at least: shorter times are drawn again.
	LeastRun protocol.Duration
	// Limit is what jobs may run: longer times are cut to it, as a batch system
	// does. 0: there is none.
	Limit protocol.Duration
}

// LublinClass is one class of jobs: its sizes, its run times and its own stream
// of arrivals. In brackets are the names of the reference.
type LublinClass struct {
	Name string

	// Sizes. A job is serial with the probability Serial. The logarithm to base 2
	// of another's size is uniform from Low to Medium with the probability Lower,
	// else from Medium to High; it is rounded with the probability PowerOfTwo (of
	// all jobs), so that the size is a power of two.
	Serial, PowerOfTwo float64
	Low, Medium, High  float64 // [ULow, UMed, UHi]
	Lower              float64 // [UProb]

	// Run times. The natural logarithm of the seconds is from Short with the
	// probability Slope · size + Short0 cut to 0 to 1, else from Long.
	Short, Long   Gamma   // [a1, b1; a2, b2]
	Slope, Short0 float64 // [pa, pb]

	// Arrivals. Gap is of the natural logarithm of the seconds between arrivals in
	// the rush hours, Rush what its shape is multiplied with to hold for the whole
	// day, Daily of the half-hours of the day at which jobs arrive.
	Gap   Gamma   // [aarr, barr]
	Rush  float64 // [ARAR]
	Daily Gamma   // [anum, bnum]
}

// Lublin99 returns the model with its batch and interactive jobs.
func Lublin99() Lublin {
	return lublinOf(LublinClass{
		Name: "batch", Serial: 0.2927, PowerOfTwo: 0.6686, Low: 1.2, Medium: 5, High: 7, Lower: 0.875,
		Short: Gamma{6.57, 0.823}, Long: Gamma{639.1, 0.0156}, Slope: -0.003, Short0: 0.6986,
		Gap: Gamma{6.0415, 0.8531}, Rush: 1.0519, Daily: Gamma{6.1271, 5.2740},
	}, LublinClass{
		Name: "interactive", Serial: 0.1541, PowerOfTwo: 0.625, Low: 1, Medium: 3, High: 5.5, Lower: 0.705,
		Short: Gamma{3.8351, 0.6605}, Long: Gamma{7.073, 0.6856}, Slope: -0.0118, Short0: 0.9156,
		Gap: Gamma{6.5510, 0.6621}, Rush: 0.9797, Daily: Gamma{8.9186, 3.6680},
	})
}

// LublinTypeless returns the model that does not tell classes of jobs.
func LublinTypeless() Lublin {
	return lublinOf(LublinClass{
		Name: "job", Serial: 0.244, PowerOfTwo: 0.576, Low: 0.8, Medium: 4.5, High: 7, Lower: 0.86,
		Short: Gamma{4.2, 0.94}, Long: Gamma{312, 0.03}, Slope: -0.0054, Short0: 0.78,
		Gap: Gamma{10.2303, 0.4871}, Rush: 1.0225, Daily: Gamma{8.1737, 3.9631},
	})
}

// lublinOf is a model with the reference's bounds of times.
func lublinOf(classes ...LublinClass) Lublin {
	return Lublin{Classes: classes, MaxLogRun: 12, MaxLogGap: 13}
}

// lublinMedium is how far the reference sets Medium below High.
const lublinMedium = 2.5

// For returns the model for a machine of cpus CPUs: High is the logarithm of
// its size and Medium 2.5 less, but not below Low.
func (l Lublin) For(cpus int) Lublin {
	l.Classes = slices.Clone(l.Classes)
	for i := range l.Classes {
		c := &l.Classes[i]
		c.High = math.Log2(float64(cpus))
		c.Low = min(c.Low, c.High)
		c.Medium = max(c.High-lublinMedium, c.Low)
	}
	return l
}

// The bounds of a model's parameters: times stay far inside 64 bits.
const (
	lublinMaxLog  = 20   // of times in s
	lublinMaxLoad = 1000 // and its inverse
	lublinMaxSize = 30   // of the logarithm of sizes
)

// Validate reports the first parameter that no model can have.
func (l Lublin) Validate() error {
	switch {
	case len(l.Classes) == 0:
		return errors.New("classes: a model has at least one")
	case !(l.MaxLogRun > 0 && l.MaxLogRun <= lublinMaxLog):
		return fmt.Errorf("max_log_run: %v is not above 0 and at most %d", l.MaxLogRun, lublinMaxLog)
	case !(l.MaxLogGap > 0 && l.MaxLogGap <= lublinMaxLog):
		return fmt.Errorf("max_log_gap: %v is not above 0 and at most %d", l.MaxLogGap, lublinMaxLog)
	case l.StartHour < 0 || l.StartHour > 23:
		return fmt.Errorf("start_hour: %d is not an hour of the day, 0 to 23", l.StartHour)
	case l.Load != 0 && !(l.Load >= 1.0/lublinMaxLoad && l.Load <= lublinMaxLoad):
		return fmt.Errorf("load: %v is not from 1/%d to %d", l.Load, lublinMaxLoad, lublinMaxLoad)
	}
	if err := l.validateRuns(); err != nil {
		return err
	}
	for i := range l.Classes {
		if err := l.Classes[i].validate(); err != nil {
			return fmt.Errorf("classes[%d].%w", i, err)
		}
	}
	return nil
}

func (l Lublin) validateRuns() error {
	shortest := max(l.LeastRun, protocol.Second)
	switch {
	case l.LeastRun < 0:
		return fmt.Errorf("least_run: %d ms is negative", l.LeastRun)
	case l.Limit != 0 && l.Limit < shortest:
		return fmt.Errorf("limit: %d ms is less than the shortest run, %d ms", l.Limit, shortest)
	}
	return nil
}

func (c *LublinClass) validate() error {
	switch {
	case !(c.Serial >= 0 && c.PowerOfTwo >= 0 && c.Serial+c.PowerOfTwo <= 1):
		return fmt.Errorf("serial, power_of_two: %v and %v are not shares of the jobs", c.Serial, c.PowerOfTwo)
	case !(c.Low >= 0 && c.Low <= c.Medium && c.Medium <= c.High && c.High <= lublinMaxSize):
		return fmt.Errorf("low, medium, high: %v, %v, %v do not rise from 0 to at most %d",
			c.Low, c.Medium, c.High, lublinMaxSize)
	case !(c.Lower >= 0 && c.Lower <= 1):
		return fmt.Errorf("lower: %v is not a probability from 0 to 1", c.Lower)
	case !(math.Abs(c.Slope) <= 1 && math.Abs(c.Short0) <= 1000):
		return fmt.Errorf("slope, short0: %v and %v give no probability", c.Slope, c.Short0)
	case !(c.Rush > 0 && c.Rush <= 10):
		return fmt.Errorf("rush: %v is not above 0 and at most 10", c.Rush)
	}
	return c.validateGammas()
}

func (c *LublinClass) validateGammas() error {
	for _, g := range []struct {
		key string
		of  Gamma
	}{{"short", c.Short}, {"long", c.Long}, {"gap", c.Gap}, {"daily", c.Daily}} {
		if err := g.of.Validate(); err != nil {
			return fmt.Errorf("%s.%w", g.key, err)
		}
	}
	return nil
}

// Generate draws the model's first jobs from a seed, in the order of their
// submits (at one instant in the order of the classes) and numbered from 1.
// Times are whole seconds, estimates equal run times, the user is not known. Each
// class has its own random numbers for arrivals, run times and sizes, so that a
// change in one of them leaves the others as they are.
func (l Lublin) Generate(jobs int, seed uint64) ([]Job, error) {
	if jobs < 0 || jobs > maxModelJobs {
		return nil, fmt.Errorf("jobs: %d is not a count from 0 to %d", jobs, maxModelJobs)
	}
	source, err := l.open(seed)
	if err != nil {
		return nil, err
	}
	drawn := make([]Job, jobs)
	for i := range drawn {
		drawn[i] = source.next()
	}
	return drawn, nil
}
