package gate

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
)

// Config is what [Open] needs.
type Config struct {
	// Dir holds the records. It is made if need be, and must be on a disk of this
	// machine. One gate at a time uses it.
	Dir       string
	Machine   engine.Machine       // a model of the machine that the batch system has
	Budget    engine.Budget        // until [Gate.SetBudget] brings another; zero: there is none, and what CPUs draw is not known
	Scheduler localsched.Scheduler // the batch system; it must be closed after the gate
	Clock     wallclock.Source     // nil: the machine's
	Log       *slog.Logger         // nil: no log
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	switch {
	case !filepath.IsAbs(c.Dir):
		return fmt.Errorf("the gate's folder %q is not an absolute path", c.Dir)
	case c.Machine == nil:
		return errors.New("the gate has no model of the machine")
	case c.Scheduler == nil:
		return errors.New("the gate has no batch system behind it")
	}
	return checkBudget(c.Budget)
}

// rated is a budget with rates, which the engine needs. Where there is no budget and what CPUs
// draw is not stated, it says so.
func rated(b engine.Budget) (with engine.Budget, unrated bool) {
	if len(b.Signal.Steps()) == 0 && b.Rates == (power.Rates{}) {
		b.Rates.Busy, unrated = 1, true
	}
	return b, unrated
}

func checkBudget(b engine.Budget) error {
	b, _ = rated(b)
	if err := b.Check(); err != nil {
		return fmt.Errorf("the power budget: %w", err)
	}
	return nil
}
