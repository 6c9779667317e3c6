package gate

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
)

// Config is what [Open] needs.
type Config struct {
	// Dir holds the records. It is made if need be, and must be on a disk of this
	// machine. One gate at a time uses it.
	Dir       string
	Machine   engine.Machine       // a model of the machine that the batch system has
	Budget    engine.Budget        // until [Gate.SetBudget] brings another
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

func checkBudget(b engine.Budget) error {
	if err := b.Check(); err != nil {
		return fmt.Errorf("the power budget: %w", err)
	}
	return nil
}
