package appassign

import (
	"errors"
	"fmt"
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Unlimited is the [Problem.MaxCost] of those without a limit.
const Unlimited int64 = math.MaxInt64

// Problem is an application to place. Times run from now on; money is in one currency, in
// millionths. Amounts beyond ±2⁵⁰, or beyond ±2⁶⁰ over the number of components, count as
// that much, so that no sum overflows.
//
// A quote answers for its component alone. Those chosen at one site count in their order
// here: if the CPUs of the earlier ones and of one itself exceed what is free there, this
// one waits longer, by the earlier ones' CPU time over the CPUs of the site. What is just
// taken there counts as earlier.
type Problem struct {
	Components []Component
	Sites      []Site
	Late       func(end protocol.Duration) int64 // β·K_w; does not fall; nil: waiting costs nothing
	EachLate   bool                              // z has Late of every component's own end on top: the double term as printed
	MaxCost    int64                             // KMAX, of the sum of the costs; [Unlimited]: none
	MaxEnd     protocol.Duration                 // TMAX; [protocol.Never]: none
	Floor      protocol.Duration                 // the last end is not before this: that of components placed before
}

// Site is where components may go.
type Site struct {
	CPUs    int   // Zero means not known: no component waits for others there
	Free    int   // CPUs that are neither in use nor promised
	MaxJobs int   // components that it takes
	Taken   int   // CPUs of other jobs that have just been placed there, which quotes do not know of
	Work    int64 // CPU·ms of these
}

// Component is one of an application.
type Component struct {
	Choices  []Choice // one of them is taken
	Together int      // those of one number above 0 start when the last of them can
}

// Choice is a site and a number of CPUs for a component.
type Choice struct {
	Site     int // index in Problem.Sites
	CPUs     int
	Wait     protocol.Duration // until the site can start it
	Ready    protocol.Duration // until its data are there; this passes while it waits
	Run      protocol.Duration
	Back     protocol.Duration // of its results
	Weighted int64             // what it counts in z; may be negative
	Cost     int64             // what it counts against MaxCost; may be negative
}

// Options bound the search.
type Options struct {
	Nodes int // steps of the search, of some 50 ns each; 0: [DefaultNodes]
	// Gap is how far above the bound z may stay, in parts per million of it, once a
	// sixteenth of Nodes is spent; where z is the least, the end. What is proven before is
	// exact.
	Gap int
}

const (
	// DefaultNodes is [Options.Nodes] where none are given.
	DefaultNodes = 10_000_000
	// DefaultGap is an [Options.Gap] too small to matter to users: a hundredth.
	DefaultGap = protocol.PPM / 100
)

// nodes are the steps that may be taken.
func (o *Options) nodes() int {
	if o.Nodes <= 0 {
		return DefaultNodes
	}
	return o.Nodes
}

// Solution is an answer to a problem. All slices have an entry for each component.
type Solution struct {
	Chosen []int               // index in Component.Choices
	Waits  []protocol.Duration // for the site's CPUs: as quoted, and for the others chosen there
	Starts []protocol.Duration // with its data there, and those together with it ready
	Ends   []protocol.Duration // its results are back
	Z      int64
	Cost   int64             // the sum
	End    protocol.Duration // the last, or Floor
	Bound  int64             // no z is less
	Exact  bool              // the least z, and of these the first by the rule of ties
	Nodes  int               // steps that it took
	Pairs  int               // choices within the limits, of all components
}

// Gap is how far the least z may be below this one, in parts per million of it, rounded up.
func (s *Solution) Gap() int {
	miss, whole := float64(s.Z)-float64(s.Bound), math.Abs(float64(s.Z))
	if miss <= 0 {
		return 0
	}
	return int(min(math.Ceil(miss/max(whole, 1)*protocol.PPM), math.MaxInt32))
}

// check says all that makes the problem none.
func (p *Problem) check() error {
	var errs []error
	for k, c := range p.Components {
		for i, choice := range c.Choices {
			if choice.Site < 0 || choice.Site >= len(p.Sites) {
				errs = append(errs, fmt.Errorf("choice %d of component %d is site %d of %d", i, k, choice.Site, len(p.Sites)))
			}
			if choice.CPUs < 0 || min(choice.Wait, choice.Ready, choice.Run, choice.Back) < 0 {
				errs = append(errs, fmt.Errorf("choice %d of component %d has a negative time or number of CPUs: %+v", i, k, choice))
			}
		}
	}
	return errors.Join(errs...)
}
