package batchscript

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/quantity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// conditions are the options about when the job may start.
func conditions() []Option {
	const instants = "HH:MM[:SS], YYYY-MM-DD[THH:MM[:SS]], now+COUNT and seconds, minutes, hours, days or weeks, today, tomorrow, midnight, noon"
	return []Option{
		{
			Long: "hold", Short: "H", Help: "submit the job held: it does not start until switchyard release",
			set: func(w *jobOptions, _ string) error { w.conditions.Hold = protocol.HeldByUser; return nil }, Slurm: true,
		},
		{
			Long: "begin", Short: "b", Value: "time", Help: "do not start the job before: " + instants + " (default: at once)",
			set: instant(func(w *jobOptions) *protocol.Instant { return &w.conditions.Begin }), Slurm: true,
		},
		{
			Long: "deadline", Value: "time", Help: "cancel the job if it cannot end by then (default: none)",
			set: instant(func(w *jobOptions) *protocol.Instant { return &w.conditions.Deadline }), Slurm: true,
			Note: "a job that has not started in time to end by then, by its time limit, ends as CANCELLED with the reason `DeadLine`; one that has started runs on",
		},
		{
			Long: "dependency", Short: "d", Value: "jobs",
			Help: "do not start the job before others have started or ended: after:ID[+minutes], afterany:ID, afterok:ID, afternotok:ID, aftercorr:ARRAY (of an array: each element after that of the same index), several with : between them, or singleton; with commas all are needed, with ? one",
			set:  setDependency, Slurm: true, Note: "jobs and arrays of any origin can be named",
		},
		{
			Long: "nice", Value: "number", Maybe: true, Help: "take the number off the job's priority (default: 0; 100 without a number)",
			set: setNice, Slurm: true, Note: "counts in the grid queue, in local queues with the policy multifactor, and in Slurm; only root and administrators may give less than 0",
		},
		{
			Long: "priority", Value: "number|TOP", Help: "give the job this priority; only root and administrators (default: by use, age and size; 0: as --hold)",
			set: setPriority, Slurm: true, Note: "counts at the site where the job is submitted, in the grid queue and in a local queue with the policy multifactor",
		},
		{
			Long: "kill-on-invalid-dep", Value: "yes|no", Help: "cancel the job when what it depends on can never come (default: no, it stays pending)",
			set: setKillOnInvalid, Slurm: true,
		},
	}
}

// setDependency takes what of other jobs the job waits for.
func setDependency(w *jobOptions, value string) (err error) {
	w.conditions.Dependency, err = protocol.ParseDependency(value)
	return err
}

// usualNice is what --nice without a number takes off, as in Slurm.
const usualNice = 100

// setNice takes a whole number, or none.
func setNice(w *jobOptions, value string) (err error) {
	w.spec.Nice = usualNice
	if value == "" {
		return nil
	}
	if w.spec.Nice, err = strconv.ParseInt(value, 10, 64); err != nil || protocol.CheckNice(w.spec.Nice) != nil {
		return fmt.Errorf("%q is not a whole number from %d to %d", value, -protocol.MaxNice, protocol.MaxNice)
	}
	return nil
}

// setPriority takes a positive number or TOP. 0 holds the job.
func setPriority(w *jobOptions, value string) error {
	priority, err := parsePriority(value)
	if err == nil && priority == 0 {
		w.conditions.Hold = protocol.HeldByUser
	}
	w.conditions.Priority = priority
	return err
}

func parsePriority(value string) (int64, error) {
	if strings.EqualFold(value, "top") {
		return protocol.MaxPriority, nil
	}
	priority, err := strconv.ParseInt(value, 10, 64)
	if err != nil || priority < 0 || priority > protocol.MaxPriority {
		return 0, fmt.Errorf("%q is not a whole number from 0 to %d, or TOP", value, int64(protocol.MaxPriority))
	}
	return priority, nil
}

func setKillOnInvalid(w *jobOptions, value string) error {
	switch strings.ToLower(value) {
	case "yes":
		w.killInvalid = true
	case "no":
		w.killInvalid = false
	default:
		return fmt.Errorf("invalid value %q; use yes or no", value)
	}
	return nil
}

// conditionsOf are those of the job.
func (w *jobOptions) conditionsOf() protocol.Conditions {
	c := w.conditions
	if c.Dependency != nil {
		d := *c.Dependency
		d.KillInvalid = w.killInvalid
		c.Dependency = &d
	}
	return c
}

// instant takes an instant as Slurm writes it, at which the clock of this host shows that time.
func instant(field func(*jobOptions) *protocol.Instant) func(*jobOptions, string) error {
	return func(w *jobOptions, value string) error {
		if w.now.IsZero() {
			return errors.New("it is not supported in simulations")
		}
		at, err := quantity.ParseInstant(value, w.now, quantity.Ahead)
		if err != nil {
			return fmt.Errorf("%q %w", value, err)
		}
		*field(w) = at
		return nil
	}
}
