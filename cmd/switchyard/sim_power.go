package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/schedule"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// powerFlags say what the jobs of sim schedule draw and may draw.
type powerFlags struct {
	perRack, idleRack string // kW
	perCPU, idleCPU   string // W
	budgetKW          string
	budget            string // in percent of the mean
	onPeak            string
	zone, start       string
	ratio             string
	mode              string
	window            int
	bound             string
	seed              uint64
}

// bothModes is the mode that compares the modes.
const bothModes = "both"

func modeNames() []string {
	var names []string
	for _, mode := range engine.Modes() {
		names = append(names, string(mode))
	}
	return append(names, bothModes)
}

func (f *powerFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.perRack, "power", "", "power draw of jobs, in kW per rack of 1024 nodes; of a range, such as 20-33, each job's is sampled")
	flags.StringVar(&f.idleRack, "idle-power", "13", "with --power: draw of allocated nodes that a job does not use, in kW per rack")
	flags.StringVar(&f.perCPU, "watts-per-cpu", "", "in place of --power: W per processor, or a range, such as 20-33.5")
	flags.StringVar(&f.idleCPU, "idle-watts-per-cpu", "0", "with --watts-per-cpu: W of an allocated processor that a job does not use")
	flags.StringVar(&f.budgetKW, "budget-kw", "", "on-peak power budget of all jobs, in kW")
	flags.StringVar(&f.budget, "budget", "", "power budget in percent of the mean draw without a budget, such as 50%")
	flags.StringVar(&f.onPeak, "on-peak", budget.Always, "on-peak hours, such as 09:00-23:00 or \"mon-fri 07:00-20:00\"")
	flags.StringVar(&f.zone, "time-zone", "", "time zone of the on-peak hours, such as America/Chicago (default: that of the trace)")
	flags.StringVar(&f.start, "start", "", "local time at the start of the trace, such as \"2009-01-05 00:00\" (default: from the header of the trace)")
	flags.StringVar(&f.ratio, "price-ratio", "3", "on-peak price of a MWh; the off-peak price is 1")
	choice(cmd, &f.mode, "mode", string(engine.Window), "selection of jobs under the budget", modeNames()...)
	flags.IntVar(&f.window, "window", engine.DefaultWindow, "pending jobs that the mode window considers")
	flags.StringVar(&f.bound, "bound", "1d", "wait after which a job gets a reservation off-peak; 0 means never")
	flags.Uint64Var(&f.seed, "seed", 1, "random seed of the power draws")
}

// powerPlan is what the flags say.
type powerPlan struct {
	schedule.Power

	clock schedule.Clock
}

// plan reads the flags. It is nil when none of them is given.
func (f *powerFlags) plan(cmd *cobra.Command, perNode int, racks bool) (*powerPlan, error) {
	if f.perRack == "" && f.perCPU == "" {
		return nil, f.idle(cmd)
	}
	p := &powerPlan{clock: schedule.Clock{Start: f.start}}
	p.Window, p.Seed = f.window, f.seed
	for _, read := range []func() error{
		func() error { return f.readRates(cmd, p, perNode, racks) },
		func() error { return f.unbudgeted(cmd) },
		func() error { return f.readBudget(p) },
		func() error { return f.readHours(cmd, p) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return p, p.Check()
}

// idle refuses flags that have no effect without --power.
func (*powerFlags) idle(cmd *cobra.Command) error {
	return without(cmd, "requires --power or --watts-per-cpu",
		"idle-power", "idle-watts-per-cpu", "budget-kw", "budget", "on-peak", "time-zone", "start", "price-ratio", "mode", "window", "bound", "seed", "curves")
}

// without refuses flags that have no effect, and says why.
func without(cmd *cobra.Command, why string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return usage("--%s %s", name, why)
		}
	}
	return nil
}

// readRates reads what CPUs draw.
func (f *powerFlags) readRates(cmd *cobra.Command, p *powerPlan, perNode int, racks bool) error {
	name, text, idleName, idle := "power", f.perRack, "idle-power", f.idleRack
	rack := int64(rackNodes * perNode) // CPUs that the numbers are of
	switch {
	case f.perRack != "" && f.perCPU != "":
		return usage("--power and --watts-per-cpu are mutually exclusive")
	case f.perCPU != "":
		name, text, idleName, idle, rack = "watts-per-cpu", f.perCPU, "idle-watts-per-cpu", f.idleCPU, 1
	case !racks:
		return usage("--power requires racks (--machine %s); use --watts-per-cpu", config.Partitioned)
	}
	if other := map[string]string{"power": "idle-watts-per-cpu", "watts-per-cpu": "idle-power"}[name]; cmd.Flags().Changed(other) {
		return usage("--%s has no effect with --%s; use --%s", other, name, idleName)
	}
	if err := p.ReadRates(schedule.Rates{Name: name, Text: text, IdleName: idleName, Idle: idle, CPUs: rack}); err != nil {
		return usage("%w", err)
	}
	return nil
}

// rackNodes is how many nodes a rack of Blue Gene/P has.
const rackNodes = 1024

// unbudgeted refuses flags that have no effect without a budget.
func (f *powerFlags) unbudgeted(cmd *cobra.Command) error {
	if f.budgetKW != "" || f.budget != "" {
		return nil
	}
	return without(cmd, "requires --budget or --budget-kw", "mode", "window", "bound")
}

// readBudget reads the budget and how it is kept.
func (f *powerFlags) readBudget(p *powerPlan) error {
	switch {
	case f.budgetKW != "" && f.budget != "":
		return usage("--budget-kw and --budget are mutually exclusive")
	case f.budgetKW != "":
		watts, ok := schedule.Thousandths(f.budgetKW)
		if p.Limit = watts * 1000; !ok || p.Limit <= 0 {
			return usage("--budget-kw: invalid value %s; use kilowatts above 0, such as 450", f.budgetKW)
		}
	case f.budget != "":
		text, percent := strings.CutSuffix(f.budget, "%")
		thousandths, ok := schedule.Thousandths(strings.TrimSpace(text))
		if p.Share = thousandths * 10; !ok || p.Share <= 0 || !percent {
			return usage("--budget: invalid value %s; use a percentage of the mean power, such as 50%%, or --budget-kw", f.budget)
		}
	}
	if err := chosen("mode", f.mode, modeNames()...); err != nil {
		return err
	}
	p.Modes = []engine.Mode{engine.Mode(f.mode)}
	if f.mode == bothModes {
		p.Modes = engine.Modes()
	}
	var err error
	if p.Bound, err = settings.ParseDuration(f.bound); err != nil {
		return usage("--bound %s %w", f.bound, err)
	}
	if f.window < 1 || f.window > engine.MaxWindow {
		return usage("--window: invalid value %d; use 1 to %d", f.window, engine.MaxWindow)
	}
	return nil
}

// readHours reads when it is on-peak, and what that costs.
func (f *powerFlags) readHours(cmd *cobra.Command, p *powerPlan) error {
	var err error
	if p.clock.Hours, err = budget.ParseHours(f.onPeak); err != nil {
		return usage("--on-peak: %w", err)
	}
	if f.zone != "" {
		zone, err := feeds.ParseZone(f.zone)
		if err != nil {
			return usage("--time-zone: %w", err)
		}
		p.clock.Zone = zone.Location
	}
	ratio, ok := schedule.Thousandths(f.ratio)
	if p.Ratio = protocol.Micro(ratio * 1000); !ok || p.Ratio <= 0 {
		return usage("--price-ratio: invalid value %s; use a number above 0, such as 3", f.ratio)
	}
	if cmd.Flags().Changed("on-peak") {
		return nil
	}
	p.Ratio = protocol.Unit // there is no off-peak
	return without(cmd, "requires --on-peak", "price-ratio", "time-zone", "start")
}
