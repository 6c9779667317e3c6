package batchscript

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// changeable is an option of jobs that can be given another value before the job has started.
type changeable struct {
	long string
	help string // empty: that of the option
	none bool   // an empty value takes the option back
	to   func(w *jobOptions, c *protocol.Change) error
}

func changeables() []changeable {
	return []changeable{
		{"time", "time limit; users lower it, root and administrators also raise it", false, changeTime},
		{"time-min", "", true, func(w *jobOptions, c *protocol.Change) error { c.MinTime = &w.spec.MinTime; return nil }},
		{"job-name", "job name", false, func(w *jobOptions, c *protocol.Change) error { c.Name = &w.spec.Name; return nil }},
		{"comment", "", true, func(w *jobOptions, c *protocol.Change) error { c.Comment = &w.spec.Comment; return nil }},
		{"sites", "sites where the job may run; empty: all", true, func(w *jobOptions, c *protocol.Change) error {
			c.Sites, c.Anywhere = w.spec.Sites, len(w.spec.Sites) == 0
			return nil
		}},
		{"nice", "take the number off the job's priority, 100 without a number; users raise it, root and administrators also lower it", false, func(w *jobOptions, c *protocol.Change) error { c.Nice = &w.spec.Nice; return nil }},
		{"priority", "priority of the job, or -1 for the one that is worked out; users lower it, root and administrators also raise it", false, func(w *jobOptions, c *protocol.Change) error { c.Priority = &w.conditions.Priority; return nil }},
		{"begin", "do not start the job before; empty: start it at once", true, func(w *jobOptions, c *protocol.Change) error { c.Begin = &w.conditions.Begin; return nil }},
		{"deadline", "cancel the job if it cannot end by then; empty: never", true, func(w *jobOptions, c *protocol.Change) error { c.Deadline = &w.conditions.Deadline; return nil }},
		{"dependency", "do not start the job before others have started or ended, as in submit; empty: wait for none", true, changeDependency},
		{"account", "", true, func(w *jobOptions, c *protocol.Change) error { c.Account = &w.spec.Account; return nil }},
		{"partition", "", true, func(w *jobOptions, c *protocol.Change) error { c.Partition = &w.spec.Partition; return nil }},
		{"qos", "", true, func(w *jobOptions, c *protocol.Change) error { c.QOS = &w.spec.QOS; return nil }},
	}
}

func changeTime(w *jobOptions, c *protocol.Change) error {
	if len(w.limits) != 1 {
		return errors.New("several time limits are of a job with several CPU counts, of which none can be changed")
	}
	c.WallTime = &w.limits[0]
	return nil
}

func changeDependency(w *jobOptions, c *protocol.Change) error {
	if c.Dependency = w.conditions.Dependency; c.Dependency == nil {
		c.Dependency = &protocol.Dependency{}
	}
	return nil
}

// Changeable lists the options that can be given another value before a job has started.
func Changeable() (options []Option) {
	all := Options()
	for _, one := range changeables() {
		i := slices.IndexFunc(all, func(o Option) bool { return o.Long == one.long })
		option := all[i]
		option.Help = cmp.Or(one.help, option.Help)
		options = append(options, option)
	}
	return append(options, Option{
		Long: throttle, Value: "number", Help: "of an array: the most elements that are placed or run at once; 0: any number",
	})
}

// throttle is the option for what of an array stands behind a percent sign.
const throttle = "throttle"

// computed is the priority that stands for the one which is worked out, as in Slurm.
const computed = "-1"

// ReadChange reads what of a job is to be changed. Instants are by the clock of this host, which shows now.
func ReadChange(settings []Setting, now time.Time) (protocol.Change, error) {
	var c protocol.Change
	var failed []error
	for _, s := range settings {
		if err := readChange(&c, s, now); err != nil {
			failed = append(failed, fmt.Errorf("--%s: %w", s.Long, err))
		}
	}
	return c, errors.Join(failed...)
}

func readChange(c *protocol.Change, s Setting, now time.Time) error {
	switch {
	case s.Long == throttle:
		n, err := strconv.Atoi(s.Value)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not a whole number from 0 on", s.Value)
		}
		c.Throttle = &n
		return nil
	case s.Long == "priority" && s.Value == computed:
		c.Priority = new(int64)
		return nil
	case s.Long == "priority" && s.Value == "0":
		return errors.New("a job with the priority 0 is held; use switchyard hold")
	}
	all := changeables()
	i := slices.IndexFunc(all, func(one changeable) bool { return one.long == s.Long })
	if i < 0 {
		return errors.New("it cannot be changed")
	}
	w := jobOptions{spots: map[string]spot{}, now: now}
	if s.Value != "" || !all[i].none {
		options := Options()
		k := slices.IndexFunc(options, func(o Option) bool { return o.Long == s.Long })
		if err := options[k].set(&w, s.Value); err != nil {
			return err
		}
	}
	return all[i].to(&w, c)
}
