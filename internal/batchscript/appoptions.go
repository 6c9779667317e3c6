package batchscript

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// broker are the options by which the broker chooses among sites and counts of CPUs
// [IS 4.2].
func broker() []Option {
	return []Option{
		{
			Long: "objective", Value: "fastest|cheapest|green|balanced", whole: true,
			Help: "objective by which sites are chosen; replaces the weights (default: the weights of the site)", set: setObjective,
		},
		{Long: "max-cost", Value: "amount", whole: true, Help: `maximum total cost, for example "10.50 CHF" (default: no limit)`, set: setMaxCost},
		{Long: "max-time", Value: "time", whole: true, Help: "maximum time until all results are back, for example 2h (default: no limit)", set: setMaxTime},
		{
			Long: "start-tolerance", Value: "time", whole: true,
			Help: "how much later than its group a component may start (default: 30s)", set: setStartTolerance,
		},
		{
			Long: "start-missed", Value: "retry|fail", whole: true,
			Help: "whether a group is placed again or fails if a component misses its start (default: retry)", set: setStartMissed,
		},
		{Long: "compute-weight", Value: "weight", Help: "weight of the cost of CPUs and licenses", set: setWeight(computeWeight)},
		{Long: "wait-weight", Value: "weight", whole: true, Help: "weight of the waiting cost", set: setWeight(waitWeight)},
		{Long: "energy-weight", Value: "weight", Help: "weight of the energy cost", set: setWeight(energyWeight)},
		{Long: "data-weight", Value: "weight", Help: "weight of the data transfer cost", set: setWeight(dataWeight)},
		{Long: "waiting-cost", Value: "curve", whole: true, Help: "waiting cost, as the name of a curve of the site (default: the default curve of the site)", set: setWaitingCost},
		{
			Long: "estimate", Value: "time[,time]", Help: "estimated run time: one, or one for each count of --cpus",
			set: times(func(w *jobOptions) *[]protocol.Duration { return &w.estimates }),
		},
	}
}

// behavior are the options that describe a job to the Γ model.
func behavior() []Option {
	return []Option{
		{
			Long: "operations", Value: "number", Help: "floating point operations of all CPUs together, for example 3.2e12",
			set: millions(func(w *jobOptions) *int64 { return &w.behavior.Mflop }),
		},
		{
			Long: "memory-accesses", Value: "number", Help: "main memory accesses of all CPUs together, in 64-bit words (default: the minimum)",
			set: millions(func(w *jobOptions) *int64 { return &w.behavior.Mwords }),
		},
		{
			Long: "words-sent", Value: "number", Help: "64-bit words sent by each CPU (default: 0)",
			set: number(func(w *jobOptions) *int64 { return &w.behavior.Sent }),
		},
		{
			Long: "messages-sent", Value: "number", Help: "messages sent by each CPU (default: 0)",
			set: number(func(w *jobOptions) *int64 { return &w.behavior.Messages }),
		},
		{
			Long: "scaling", Value: "kind[@cpus]",
			Help: "scaling of words and messages with the CPU count: constant, surface or all-to-all, relative to that count (default: constant)", set: setScaling,
		},
	}
}

// setCPUs takes counts of CPUs that rise. Options about tasks that were said before
// count no more.
func setCPUs(w *jobOptions, value string) error {
	var counts []int
	for text := range strings.SplitSeq(value, ",") {
		n, err := ParseCount(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		if len(counts) > 0 && n <= counts[len(counts)-1] {
			return fmt.Errorf("%d after %d; list each count once, in ascending order", n, counts[len(counts)-1])
		}
		counts = append(counts, n)
	}
	if len(counts) > protocol.MaxShapes {
		return fmt.Errorf("%d counts; use at most %d", len(counts), protocol.MaxShapes)
	}
	w.cpus = counts
	return nil
}

// times takes one duration or several.
func times(field func(*jobOptions) *[]protocol.Duration) func(*jobOptions, string) error {
	return func(w *jobOptions, value string) error {
		var all []protocol.Duration
		for text := range strings.SplitSeq(value, ",") {
			d, err := ParseTime(strings.TrimSpace(text))
			if err != nil {
				return err
			}
			all = append(all, d)
		}
		*field(w) = all
		return nil
	}
}

func setMaxTime(w *jobOptions, value string) (err error) {
	w.maxTime, err = ParseTime(value)
	return err
}

func setStartTolerance(w *jobOptions, value string) (err error) {
	w.startTolerance, err = ParseTime(value)
	return err
}

func setStartMissed(w *jobOptions, value string) error {
	if value != protocol.RetryMissed && value != protocol.FailMissed {
		return fmt.Errorf("invalid value %.40q; use %s or %s", value, protocol.RetryMissed, protocol.FailMissed)
	}
	w.startMissed = value
	return nil
}

func setMaxCost(w *jobOptions, value string) error {
	most, err := ParseMoney(value)
	if err != nil {
		return err
	}
	w.maxCost = &most
	return nil
}

func setWaitingCost(w *jobOptions, value string) error {
	w.waiting = value
	return label("a curve name", value, protocol.MaxName)
}

// label checks a name that sites know.
func label(what, value string, most int) error {
	if value == "" || len(value) > most || strings.ContainsFunc(value, unicode.IsSpace) {
		return fmt.Errorf("%.80q is not %s; use one word of at most %d bytes", value, what, most)
	}
	if err := protocol.CheckText(value); err != nil {
		return fmt.Errorf("%+.80q is not %s: %w", value, what, err)
	}
	return nil
}

// number takes a number of things.
func number(field func(*jobOptions) *int64) func(*jobOptions, string) error {
	return func(w *jobOptions, value string) (err error) {
		*field(w), err = parseQuantity(value, 0)
		return err
	}
}

// millions takes a number of things and keeps it in millions, rounded up.
func millions(field func(*jobOptions) *int64) func(*jobOptions, string) error {
	return func(w *jobOptions, value string) (err error) {
		*field(w), err = parseQuantity(value, 6)
		return err
	}
}

// setScaling takes a kind of scaling, and the count of CPUs that what is sent is stated
// for.
func setScaling(w *jobOptions, value string) error {
	kind, count, counted := strings.Cut(value, "@")
	w.behavior.CPUs = 0
	if counted {
		n, err := ParseCount(count)
		if err != nil {
			return err
		}
		w.behavior.CPUs = n
	}
	switch protocol.Scaling(kind) {
	case protocol.Surface, protocol.Multicast:
		w.behavior.Scaling = protocol.Scaling(kind)
	case "constant":
		w.behavior.Scaling = protocol.Constant
	case protocol.Constant:
		return errors.New("missing value; use constant, surface or all-to-all")
	default:
		return fmt.Errorf("invalid value %q; use constant, surface or all-to-all", kind)
	}
	return nil
}
