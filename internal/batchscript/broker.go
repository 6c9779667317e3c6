package batchscript

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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
			Help: "what to choose sites by, instead of weights (the site's usual weights)", set: setObjective,
		},
		{Long: "max-cost", Value: "amount", whole: true, Help: `most that it may cost in all, as "10.50 CHF" (any)`, set: setMaxCost},
		{Long: "max-time", Value: "time", whole: true, Help: "most time from now until all results are back, as 2h (any)", set: setMaxTime},
		{
			Long: "start-tolerance", Value: "time", whole: true,
			Help: "how much later than the instant of its group a component that starts together with others may start (30s)", set: setStartTolerance,
		},
		{
			Long: "start-missed", Value: "retry|fail", whole: true,
			Help: "what becomes of a group of which a component did not start by then (retry)", set: setStartMissed,
		},
		{Long: "alpha", Value: "weight", Help: "weight of what machines and licences cost", set: setWeight(alpha)},
		{Long: "beta", Value: "weight", whole: true, Help: "weight of what waiting costs", set: setWeight(beta)},
		{Long: "gamma", Value: "weight", Help: "weight of what energy costs", set: setWeight(gamma)},
		{Long: "delta", Value: "weight", Help: "weight of what moving data costs", set: setWeight(delta)},
		{Long: "waiting", Value: "curve", whole: true, Help: "what waiting costs, by the name of one of the site's curves (its usual one)", set: setWaiting},
		{
			Long: "estimate", Value: "time[,time]", Help: "how long it is likely to run; one, or one for each count of --cpus",
			set: times(func(w *wishes) *[]protocol.Duration { return &w.estimates }),
		},
		{
			Long: "licenses", Short: "L", Value: "name[:count][,…]", Help: "licences that it uses while it runs", set: setLicences, Slurm: true,
			inSlurm: verdict{Refused, "in #SBATCH it means licences of one cluster", "write #SWITCHYARD --licenses where sites of the grid have them, or add --ignore=licenses"},
		},
		{
			Long: "qos", Short: "q", Value: "class", Help: "class of service, by its name at the sites (the usual one)", set: setPriority, Slurm: true,
			inSlurm: verdict{Fate: Noticed, why: "in #SBATCH it means one cluster; #SWITCHYARD --qos means the grid"}, Vars: []string{"SBATCH_QOS"},
		},
	}
}

// behaviour are the options that tell the Γ model what a job does.
func behaviour() []Option {
	return []Option{
		{
			Long: "operations", Value: "number", Help: "operations of all CPUs together, as 3.2e12",
			set: millions(func(w *wishes) *int64 { return &w.behaviour.Mflop }),
		},
		{
			Long: "accesses", Value: "number", Help: "accesses of all CPUs to main memory, in 64-bit words (as few as it takes)",
			set: millions(func(w *wishes) *int64 { return &w.behaviour.Mwords }),
		},
		{
			Long: "sent", Value: "number", Help: "64-bit words that each CPU sends (0)",
			set: number(func(w *wishes) *int64 { return &w.behaviour.Sent }),
		},
		{
			Long: "messages", Value: "number", Help: "messages that each CPU sends (0)",
			set: number(func(w *wishes) *int64 { return &w.behaviour.Messages }),
		},
		{
			Long: "scaling", Value: "kind[@cpus]",
			Help: "how these change with the CPUs: constant, surface or all-to-all, from that many CPUs on (constant)", set: setScaling,
		},
	}
}

// setCPUs takes counts of CPUs that rise. Options about tasks that were said before
// count no more.
func setCPUs(w *wishes, value string) error {
	var counts []int
	for text := range strings.SplitSeq(value, ",") {
		n, err := ParseCount(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		if len(counts) > 0 && n <= counts[len(counts)-1] {
			return fmt.Errorf("%d comes after %d; name each count once, from the smallest up", n, counts[len(counts)-1])
		}
		counts = append(counts, n)
	}
	if len(counts) > protocol.MaxShapes {
		return fmt.Errorf("names %d counts; use at most %d", len(counts), protocol.MaxShapes)
	}
	w.cpus = counts
	return nil
}

// times takes one duration or several.
func times(field func(*wishes) *[]protocol.Duration) func(*wishes, string) error {
	return func(w *wishes, value string) error {
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

func setMaxTime(w *wishes, value string) (err error) {
	w.maxTime, err = ParseTime(value)
	return err
}

func setStartTolerance(w *wishes, value string) (err error) {
	w.startTolerance, err = ParseTime(value)
	return err
}

func setStartMissed(w *wishes, value string) error {
	if value != protocol.RetryMissed && value != protocol.FailMissed {
		return fmt.Errorf("%.40q is unknown; use %s or %s", value, protocol.RetryMissed, protocol.FailMissed)
	}
	w.startMissed = value
	return nil
}

func setMaxCost(w *wishes, value string) error {
	most, err := ParseMoney(value)
	if err != nil {
		return err
	}
	w.maxCost = &most
	return nil
}

func setWaiting(w *wishes, value string) error {
	w.waiting = value
	return label("a curve's name", value, protocol.MaxName)
}

func setPriority(w *wishes, value string) error {
	w.spec.QOS = value
	return label("a class of service", value, protocol.MaxPriority)
}

// label checks a name that sites know.
func label(what, value string, most int) error {
	if value == "" || len(value) > most || strings.ContainsFunc(value, unicode.IsSpace) {
		return fmt.Errorf("%.80q is not %s; write a word of at most %d bytes", value, what, most)
	}
	if err := protocol.CheckText(value); err != nil {
		return fmt.Errorf("%+.80q is not %s: %w", value, what, err)
	}
	return nil
}

// setLicences takes the list of sbatch(1): "name", "name:count", separated by commas.
func setLicences(w *wishes, value string) error {
	var list []protocol.License
	for text := range strings.SplitSeq(value, ",") {
		one, err := parseLicence(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b protocol.License) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(list); i++ {
		if list[i].Name == list[i-1].Name {
			return fmt.Errorf("names the licence %s twice; write %s:%d once", list[i].Name, list[i].Name, list[i].Count+list[i-1].Count)
		}
	}
	if len(list) > protocol.MaxLicences {
		return fmt.Errorf("names %d licences; use at most %d", len(list), protocol.MaxLicences)
	}
	w.spec.Licenses = list
	return nil
}

func parseLicence(text string) (one protocol.License, err error) {
	name, count, counted := strings.Cut(text, ":")
	one = protocol.License{Name: name, Count: 1}
	if counted {
		if one.Count, err = ParseCount(count); err != nil {
			return one, fmt.Errorf("the count of the licence %s: %w", name, err)
		}
	}
	return one, label("a licence", name, protocol.MaxName)
}

// number takes a number of things.
func number(field func(*wishes) *int64) func(*wishes, string) error {
	return func(w *wishes, value string) (err error) {
		*field(w), err = parseQuantity(value, 1)
		return err
	}
}

// millions takes a number of things and keeps it in millions, rounded up.
func millions(field func(*wishes) *int64) func(*wishes, string) error {
	return func(w *wishes, value string) (err error) {
		*field(w), err = parseQuantity(value, 1_000_000)
		return err
	}
}

// setScaling takes a kind of scaling, and the count of CPUs that what is sent is stated
// for.
func setScaling(w *wishes, value string) error {
	kind, count, counted := strings.Cut(value, "@")
	w.behaviour.CPUs = 0
	if counted {
		n, err := ParseCount(count)
		if err != nil {
			return err
		}
		w.behaviour.CPUs = n
	}
	switch protocol.Scaling(kind) {
	case protocol.Surface, protocol.Multicast:
		w.behaviour.Scaling = protocol.Scaling(kind)
	case "constant":
		w.behaviour.Scaling = protocol.Constant
	case protocol.Constant:
		return errors.New("no kind is named; use constant, surface or all-to-all")
	default:
		return fmt.Errorf("%q is unknown; use constant, surface or all-to-all", kind)
	}
	return nil
}
