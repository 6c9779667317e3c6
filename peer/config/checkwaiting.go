package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Curves checks the tables of what waiting costs, and makes the curves. The holidays are
// those of the site.
func (r *Charging) Curves(table string, list []WaitingCost, holidays []string) {
	if len(list) > 0 {
		r.needsCurrency("[[waiting_cost]]")
	}
	calendar := cost.Calendar{Zone: r.Zone}
	for _, text := range holidays {
		if holiday, err := cost.ParseHoliday(text); err == nil { // else reported with the costs
			calendar.Holidays = append(calendar.Holidays, holiday)
		}
	}
	parts := map[string]cost.WaitingPart{}
	seen := map[string]bool{}
	for i := range list {
		w, key := &list[i], fmt.Sprintf("%s[%d]", table, i)
		r.checkCostName(key+".name", w.Name, seen[w.Name])
		seen[w.Name] = true
		r.OneOf(key+".kind", w.Kind, SalaryWaiting, StepsWaiting, SumWaiting)
		r.checkWaitingKeys(key, w)
		r.price(key+".rate", w.Rate)
		w.curve = &cost.WaitingCost{Currency: r.Currency}
		switch w.Kind {
		case SalaryWaiting:
			parts[w.Name] = r.salary(key, w, calendar)
		case StepsWaiting:
			parts[w.Name] = r.steps(key, w, calendar.Zone)
		}
		if part, simple := parts[w.Name]; simple {
			w.curve.Parts = []cost.WaitingPart{part}
		}
	}
	for i := range list {
		if list[i].Kind == SumWaiting {
			r.sum(fmt.Sprintf("%s[%d]", table, i), &list[i], parts)
		}
	}
}

// checkWaitingKeys reports keys that are for another kind.
func (r *Charging) checkWaitingKeys(key string, w *WaitingCost) {
	for _, one := range []struct {
		name string
		of   []string
	}{
		{"rate", []string{SalaryWaiting, StepsWaiting}},
		{"days", []string{SalaryWaiting}},
		{"hours", []string{SalaryWaiting}},
		{"holidays", []string{SalaryWaiting}},
		{"steps", []string{StepsWaiting}},
		{"parts", []string{SumWaiting}},
	} {
		if k := settings.Join(key, one.name); r.Set(k) && !slices.Contains(one.of, w.Kind) {
			r.Problem(k, "is for kind = %q; remove it, or choose that", one.of[0])
		}
	}
}

// salary is paid in working hours.
func (r *Charging) salary(key string, w *WaitingCost, calendar cost.Calendar) cost.WaitingPart {
	if w.Rate == 0 {
		r.Problem(key+".rate", "is missing; set the cost of one working hour of waiting")
	}
	if r.NoZone {
		r.Warn(key, "uses UTC because [prices] time_zone is unset; set it to the time zone of this site, or to \"UTC\"")
	}
	days, hours := usualDays, usualHours
	if w.Days != "" {
		days = w.Days
	}
	if w.Hours != "" {
		hours = w.Hours
	}
	working := cost.Period{Name: w.Name, PerHour: protocol.Micro(w.Rate)}
	r.times(key, &working, "", days, hours)
	calendar.Holidays = slices.Concat(calendar.Holidays, r.holidays(key+".holidays", w.Holidays))
	return cost.Salary{Curve: cost.NewCurve(calendar, 0, []cost.Period{working})}
}

func (r *Charging) steps(key string, w *WaitingCost, zone *time.Location) cost.WaitingPart {
	if len(w.Steps) == 0 {
		r.Problem(key+".steps", "is missing; set the hourly cost by start time, such as { \"2026-12-01\" = 500.0 } or { \"3d\" = 80.0 }")
	}
	made := cost.Steps{Before: protocol.Micro(w.Rate)}
	for _, when := range slices.Sorted(maps.Keys(w.Steps)) {
		at := settings.Join(key+".steps", when)
		step, err := parseStep(when, zone)
		if err != nil {
			r.Problem(at, "%v", err)
			continue
		}
		step.PerHour = r.price(at, w.Steps[when])
		same := func(other cost.Step) bool { return other.At == step.At && other.After == step.After }
		if slices.ContainsFunc(made.Steps, same) {
			r.Problem(at, "duplicate time: another step has the same time in another form; keep one")
		}
		made.Steps = append(made.Steps, step)
	}
	return made
}

// parseStep reads when a step is: a day or a minute by the clock of the zone, or a duration
// since the submission.
func parseStep(when string, zone *time.Location) (cost.Step, error) {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, when, zone); err == nil {
			return cost.Step{At: protocol.InstantOf(at)}, nil
		}
	}
	after, err := settings.ParseDuration(when)
	if err != nil {
		return cost.Step{}, errors.New("is not a valid time; write a day, a day and a time, or a time since the submission, as \"2026-12-01\", \"2026-12-01 08:00\" or \"3d\"")
	}
	return cost.Step{After: after}, nil
}

func (r *Charging) sum(key string, w *WaitingCost, parts map[string]cost.WaitingPart) {
	if len(w.Parts) == 0 {
		r.Problem(key+".parts", "is missing; list the waiting costs to add up")
	}
	for i, name := range w.Parts {
		part, has := parts[name]
		switch {
		case !has:
			r.OneOf(fmt.Sprintf("%s.parts[%d]", key, i), name, slices.Sorted(maps.Keys(parts))...)
		case slices.Contains(w.Parts[:i], name):
			r.Problem(fmt.Sprintf("%s.parts[%d]", key, i), "duplicate name %q; keep one", name)
		default:
			w.curve.Parts = append(w.curve.Parts, part)
		}
	}
}

// Weights checks the table of the weights, and fills in those of the objective that no file
// sets.
func (r *Charging) Weights(table string, w *DefaultWeights, curves []WaitingCost) {
	objective, known := cost.Objective(w.Objective).Weights()
	if !known {
		r.OneOf(table+".objective", w.Objective, ObjectiveNames()...)
	}
	for name, one := range map[string]struct {
		weight *Factor
		from   int
	}{
		"compute_weight": {&w.ComputeWeight, objective.Alpha}, "wait_weight": {&w.WaitWeight, objective.Beta},
		"energy_weight": {&w.EnergyWeight, objective.Gamma}, "data_weight": {&w.DataWeight, objective.Delta},
	} {
		if !r.Set(settings.Join(table, name)) {
			*one.weight = Factor(one.from)
		}
	}
	if known && w.ComputeWeight+w.WaitWeight+w.EnergyWeight+w.DataWeight == 0 {
		r.Problem(table, "has no weight above 0, so all decisions would cost the same; set a weight, or set only objective")
	}
	names := make([]string, len(curves))
	for i := range names {
		names[i] = curves[i].Name
	}
	switch {
	case w.WaitingCost == "" && len(names) > 0:
		r.Warn(table+".waiting_cost", "is not set: an hour of waiting costs one of the currency unless users name a curve, such as %s", strconv.Quote(names[0]))
	case w.WaitingCost != "" && len(names) == 0:
		r.Problem(table+".waiting_cost", "unknown waiting cost %q; there is no [[waiting_cost]]; add one, or remove the key", w.WaitingCost)
	case w.WaitingCost != "":
		r.OneOf(table+".waiting_cost", w.WaitingCost, names...)
	}
}

// ObjectiveNames lists the values of [DefaultWeights.Objective].
func ObjectiveNames() (names []string) {
	for _, one := range cost.Objectives() {
		names = append(names, string(one))
	}
	return names
}
