package powergate

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
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
		return fmt.Errorf("the gate's directory %q is not an absolute path", c.Dir)
	case c.Machine == nil:
		return errors.New("the gate has no model of the machine")
	case c.Scheduler == nil:
		return errors.New("the gate has no batch system behind it")
	}
	return rulesOf(c.Budget).Check()
}

// rulesOf are the gate's own choice among the jobs that wait, within a budget with rates, which
// the engine needs: where there is no budget and what CPUs draw is not stated, they are made up.
func rulesOf(b engine.Budget) driver.Rules {
	if unrated(b) {
		b.Rates.Busy = 1
	}
	return driver.Rules{Policy: engine.EASY(), Budget: b}
}

// unrated reports whether there is no budget and what CPUs draw is not known.
func unrated(b engine.Budget) bool { return !driver.Rules{Budget: b}.Budgeted() }
