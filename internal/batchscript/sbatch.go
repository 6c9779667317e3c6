package batchscript

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Fate is what becomes of an option of sbatch(1).
type Fate int

// The fates.
const (
	Carried Fate = iota // it does what it does for sbatch
	Noticed             // it is a convenience, and left out with a notice
	Refused             // without it the job would be another one, so that it is not submitted
)

func (f Fate) String() string { return [...]string{"carried", "notice", "refused"}[f] }

// verdict is what becomes of an option in some place, and why it is not carried.
type verdict struct {
	Fate Fate
	why  string
	do   string // instead of a refused option; empty: to do without
}

// refusalError says that an option cannot be carried with this value.
type refusalError verdict

func (e *refusalError) Error() string { return e.why }

// refusal is an option that was said and is refused, unless it is to be left out.
type refusal struct {
	long string // or "#PBS"
	at   spot
	text string
}

// refuse keeps a refusal until all is read. Of one option the last counts.
func (w *jobOptions) refuse(long string, at spot, v verdict) {
	do := v.do
	if do == "" {
		do = "if the job does not need it, remove it or add --ignore=" + long
	}
	w.allow(long)
	w.refused = append(w.refused, refusal{long, at, v.why + "; " + do})
}

// allow forgets a refusal: the option was said again, as it can be carried.
func (w *jobOptions) allow(long string) {
	w.refused = slices.DeleteFunc(w.refused, func(one refusal) bool { return one.long == long })
}

// judge reports the options that are refused, and notes those that the user asked to leave out.
func (w *jobOptions) judge(r *report) {
	for _, one := range w.refused {
		switch {
		case !w.ignored[one.long]:
			r.wrongAt(one.at, one.long, "%s", one.text)
		case !one.at.named:
			r.notice(one.at.place, "--%s ignored because of --ignore", one.long)
		}
	}
}

// setIgnore takes the names of options that the job does without.
func setIgnore(w *jobOptions, value string) error {
	known := map[string]Option{}
	for _, option := range Options() {
		known[option.Long] = option
	}
	var names []string
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimPrefix(strings.TrimSpace(name), "--")
		option, ok := known[name]
		switch {
		case !ok:
			return fmt.Errorf("unknown option %q; list long names of sbatch options, separated by commas", name)
		case option.verdict.Fate != Refused && option.inSlurm.Fate != Refused && !option.partly:
			return fmt.Errorf("--%s is not refused; remove it instead", name)
		}
		names = append(names, name)
	}
	w.ignore(names...)
	return nil
}

// setIgnorePBS leaves lines for other batch systems out.
func setIgnorePBS(w *jobOptions, _ string) error {
	w.ignore(pbsMark)
	return nil
}

// ignore has the job do without what is refused.
func (w *jobOptions) ignore(names ...string) {
	if w.ignored == nil {
		w.ignored = map[string]bool{}
	}
	for _, name := range names {
		w.ignored[name] = true
	}
}

// pbsMark stands for lines of #PBS and #BSUB, which sbatch reads, too.
const pbsMark = "#PBS"

// setOpenMode takes what is done with output that is in the file already.
func setOpenMode(w *jobOptions, value string) error {
	switch value {
	case "truncate", "t":
		w.appendOutput = false
	case "append", "a":
		w.appendOutput = true
	default:
		return fmt.Errorf("invalid mode %q; use append or truncate", value)
	}
	return nil
}

// setPropagate takes what is done: limits stay where they are.
// setPropagate takes ALL, NONE, or names of limits, as AS,STACK; nothing is ALL.
func setPropagate(w *jobOptions, value string) error {
	all := protocol.ResourceLimits()
	names := strings.Split(strings.ToUpper(value), ",")
	switch {
	case value == "" || slices.Equal(names, []string{"ALL"}):
		w.propagate = all
		return nil
	case slices.Equal(names, []string{"NONE"}):
		w.propagate = []string{}
		return nil
	}
	w.propagate = nil
	for _, name := range names {
		name = strings.TrimPrefix(strings.TrimSpace(name), "RLIMIT_")
		if !slices.Contains(all, name) {
			return fmt.Errorf("%q is no limit; use ALL, NONE, or some of %s", name, strings.Join(all, ","))
		}
		w.propagate = append(w.propagate, name)
	}
	return nil
}

// shell is what the job takes over of the shell that submits it.
func (w *jobOptions) shell(from *protocol.Shell) *protocol.Shell {
	if from == nil {
		return nil
	}
	taken := *from
	if w.propagate != nil {
		taken.Limits = slices.DeleteFunc(slices.Clone(from.Limits), func(one protocol.ResourceLimit) bool { return !slices.Contains(w.propagate, one.Name) })
	}
	return &taken
}

// setWrap takes the command that the script was made of; see [Wrap].
func setArray(w *jobOptions, value string) error {
	array, err := protocol.ParseArray(value)
	w.array = &array
	return err
}

func setWrap(w *jobOptions, value string) error {
	switch {
	case w.source != fromCommandLine:
		return errors.New("it is allowed only on the command line")
	case strings.TrimSpace(value) == "":
		return errors.New("the command is empty")
	}
	return nil
}

// Wrap makes a script of a command for sh(1), as the option --wrap does.
func Wrap(command string) Script {
	return Script{Name: "wrap", Wrapped: true, Data: []byte("#!/bin/sh\n# Made by switchyard submit --wrap.\n\n" + command + "\n")}
}

// variables are the directives that stand in variables of the environment, in the order of
// the options. A flag stands there as nothing, yes or a number but 0.
func (c catalog) variables(env []string) (out []directive) {
	set := variables(env)
	for _, option := range c.all {
		for _, name := range option.Vars {
			value, ok := set[name]
			word := "--" + option.Long
			switch {
			case !ok:
				continue
			case option.Value == "" && !raised(value), option.Value != "" && !option.Maybe && value == "":
				continue
			case option.Value != "" && value != "":
				word += "=" + value
			}
			out = append(out, directive{place: problems.Place{File: "variable " + name}, words: []string{word}, source: fromVariable})
		}
	}
	return out
}

// raised says whether a variable's value sets a flag.
func raised(value string) bool {
	digits := strings.TrimLeft(value, "0")
	number := digits != "" && strings.Trim(digits, "0123456789") == ""
	return value == "" || strings.EqualFold(value, "yes") || number
}
