package protocol

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Application is what the user of some jobs wants of them together [IS 1, 4.2].
type Application struct {
	Name     string        `json:"name,omitempty"`
	Beta     int           `json:"wait_weight_ppm"`    // β
	MaxCost  Micro         `json:"max_cost_micro"`     // KMAX, in Currency; [Unlimited]: none
	MaxTime  Duration      `json:"max_time_ms"`        // TMAX, from the submission on; [Never]: none
	Waiting  string        `json:"waiting,omitempty"`  // a curve of the site's by its name; empty: the site's usual one
	Rates    []WaitingRate `json:"rates,omitempty"`    // the user's own k_w from the submission on, in Currency; none: by Waiting
	Currency string        `json:"currency,omitempty"` // of MaxCost and Rates; empty: the site's own

	StartTolerance Duration `json:"start_tolerance_ms,omitempty"` // how much later than its group a component may start; 0: [DefaultStartTolerance]
	StartMissed    string   `json:"start_missed,omitempty"`       // [RetryMissed] or [FailMissed]: what becomes of a group of which one did not; empty: RetryMissed
}

// Unlimited is the most that may be spent where there is no limit.
const Unlimited Micro = math.MaxInt64

// WaitingRate is what waiting for results costs from a time on until the next one's begins: a step of
// k_w [IS 4.2].
type WaitingRate struct {
	From    Duration `json:"from_ms"` // after the instant that all of them count from; 0 in the first one, and rising
	PerHour Micro    `json:"per_hour_micro"`
}

// What becomes of a group of which a member has missed its start.
const (
	RetryMissed = "retry" // it is placed again, if those that have started may run twice
	FailMissed  = "fail"  // it ends
)

// DefaultStartTolerance is how much later than its instant a member may start whose user does
// not say.
const DefaultStartTolerance = 30 * Second

// Bounds of what users may want.
const (
	maxWeight    = 1000 * PPM // of α, β, γ and δ
	maxRates     = 64         // of the user's own k_w
	maxTolerance = Day
	maxLabel     = 256 // bytes of the name of an application or a component
)

// Tolerance is how much later than its group a component may start.
func (a *Application) Tolerance() Duration {
	return cmp.Or(a.StartTolerance, DefaultStartTolerance)
}

// Unweighed says whether the user of an application of some jobs gives no weight at all.
func (a *Application) Unweighed(jobs []Job) bool {
	return a.Beta == 0 && !slices.ContainsFunc(jobs, func(one Job) bool {
		return one.Component.Alpha != 0 || one.Component.Gamma != 0 || one.Component.Delta != 0
	})
}

// Faults says what is wrong with an application of some jobs wherever it is submitted; nothing:
// a site may still not know its curve or its currency.
func (a *Application) Faults(jobs []Job) []string {
	faults := []string{a.labelFaults(), a.ownFaults(), a.startFaults(jobs), a.componentFaults(jobs)}
	return slices.DeleteFunc(faults, func(fault string) bool { return fault == "" })
}

// labelFaults says what is wrong with the names in it.
func (a *Application) labelFaults() string {
	err := cmp.Or(
		checkLabel("name", a.Name, maxLabel), checkLabel("waiting", a.Waiting, MaxName), checkLabel("currency", a.Currency, MaxCurrency),
	)
	if err != nil {
		return err.Error()
	}
	return ""
}

func (a *Application) ownFaults() string {
	switch {
	case a.Beta < 0 || a.Beta > maxWeight:
		return fmt.Sprintf("the weight β is %d; use 0 to %d parts per million", a.Beta, maxWeight)
	case a.MaxTime <= 0:
		return fmt.Sprintf("the time limit of the application is %s; give a positive one", a.MaxTime.Text())
	case len(a.Rates) > maxRates:
		return fmt.Sprintf("the application has %d rates of waiting; use at most %d", len(a.Rates), maxRates)
	case len(a.Rates) > 0 && a.Waiting != "":
		return "the application has rates of waiting of its own and names a curve of the site; choose one"
	}
	for i, rate := range a.Rates {
		if rate.PerHour < 0 || (i == 0 && rate.From != 0) || (i > 0 && rate.From <= a.Rates[i-1].From) {
			return "the rates of waiting must be 0 or more, begin at 0 and rise in time"
		}
	}
	return ""
}

// startFaults says what is wrong with what is wanted of starts.
func (a *Application) startFaults(jobs []Job) string {
	together := func(one Job) bool { return one.Component.Together != 0 }
	switch {
	case (a.StartTolerance != 0 || a.StartMissed != "") && !slices.ContainsFunc(jobs, together):
		return "start_tolerance and start_missed mean nothing where no components start together; leave them out, or name the group of those that do"
	case a.StartTolerance < 0 || a.StartTolerance > maxTolerance:
		return fmt.Sprintf("the tolerance of starts is %s; give one of at most %s", a.StartTolerance.Text(), maxTolerance.Text())
	case a.StartMissed != "" && a.StartMissed != RetryMissed && a.StartMissed != FailMissed:
		return fmt.Sprintf("%.40q is nothing that can be done when a start is missed; use %s or %s", a.StartMissed, RetryMissed, FailMissed)
	}
	return ""
}

func (a *Application) componentFaults(jobs []Job) string {
	groups, none := map[int]int{}, a.Unweighed(jobs)
	for i := range jobs {
		c := &jobs[i].Component
		switch {
		case min(c.Alpha, c.Gamma, c.Delta) < 0 || max(c.Alpha, c.Gamma, c.Delta) > maxWeight:
			return fmt.Sprintf("component %d has weights outside 0 to %d parts per million", i+1, maxWeight)
		case !none && c.Alpha+a.Beta+c.Gamma+c.Delta == 0:
			return fmt.Sprintf("component %d has no weight above 0, so that any place would do; give one", i+1)
		case c.Together < 0:
			return fmt.Sprintf("component %d names group %d; use 1 or more, or 0 for none", i+1, c.Together)
		}
		if c.Together > 0 {
			groups[c.Together]++
		}
	}
	for i := range jobs {
		if n := jobs[i].Component.Together; groups[n] == 1 {
			return fmt.Sprintf("component %d starts together with no other one; name its group in another component, or leave it out", i+1)
		}
	}
	return ""
}
