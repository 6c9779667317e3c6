package batchscript

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

// Setting is an option as the command line gives it, or a file that is no script.
type Setting struct {
	Long  string // without the hyphens
	Value string
	Place problems.Place // where a file gives it; none: the command line
}

// spot is where an option was said.
type spot struct {
	place  problems.Place
	source int  // a later one beats an earlier one
	named  bool // the place names it already
	wrong  bool // the value is invalid, which has been reported
}

// spot is where the setting was said.
func (s Setting) spot() spot {
	if s.Place == (problems.Place{}) {
		return spot{place: problems.Place{File: commandLine}}
	}
	return spot{place: s.Place, named: true}
}

// wrongAt notes a problem with an option that was said there; the key is the option.
func (r *report) wrongAt(at spot, long, format string, args ...any) {
	if !at.named {
		at.place.Key = "--" + long
	}
	r.wrong(at.place, format, args...)
}

// directive is one line of options, cut into words.
type directive struct {
	place  problems.Place
	words  []string
	source int // fromSlurm, fromVariable or fromOwn
}

// section are the directives of a component, or those of all components.
type section struct {
	name       string // of the component; empty: of all
	place      problems.Place
	slurm, own []directive
	other      problems.Place // of the first line for another batch system; empty: there is none
}

// directives are those of the section, the weakest first.
func (s *section) directives() []directive { return append(slices.Clip(s.slurm), s.own...) }

// The marks of directives. The later one beats the earlier.
const (
	slurmMark = "#SBATCH"
	ownMark   = "#SWITCHYARD"
)

// componentWord begins the directives of a component: #SWITCHYARD component NAME.
const componentWord = "component"

// collect finds the directives before the first command: those of all components, and
// then those of each. Those after the first command have no effect, which is worth a
// notice, as they rarely are there on purpose.
func collect(script Script, r *report) []section {
	sections := []section{{}}
	commands := false
	number := 0
	for line := range strings.Lines(string(script.Data)) {
		number++
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		if text != "" && text[0] != '#' {
			commands = true
		}
		mark, rest := cutMark(line)
		place := problems.Place{File: script.Name, Line: number}
		if mark == "" {
			if of := &sections[0]; of.other == (problems.Place{}) && !commands && isForeign(line) {
				of.other = place
			}
			continue
		}
		if commands {
			r.notice(place, "%s after the first command has no effect; move it before the first command", mark)
			continue
		}
		words, err := split(rest)
		if err != nil {
			r.wrong(place, "%s", err)
			continue
		}
		if mark == ownMark && len(words) > 0 && words[0] == componentWord {
			sections = append(sections, begin(place, words, r))
			words = words[min(2, len(words)):]
		}
		to := &sections[len(sections)-1]
		if mark == slurmMark {
			to.slurm = append(to.slurm, directive{place: place, words: words, source: fromSlurm})
		} else {
			to.own = append(to.own, directive{place: place, words: words, source: fromOwn})
		}
	}
	return sections
}

// begin makes the section that a directive begins.
func begin(place problems.Place, words []string, r *report) section {
	s := section{place: place}
	if len(words) > 1 {
		s.name = words[1]
	}
	if err := CheckName(s.name); err != nil {
		r.wrong(place, "%s: %s", componentWord, err)
	}
	return s
}

// MaxComponents is the most components of an application.
const MaxComponents = 1000

// maxComponent bounds a component's name, in bytes.
const maxComponent = 64

// CheckName returns what is wrong with a component's name, which is the key of its run history.
func CheckName(name string) error {
	invalid := func(c rune) bool { return !strings.ContainsRune(nameLetters, c) }
	if name == "" || len(name) > maxComponent || strings.ContainsFunc(name, invalid) {
		return fmt.Errorf("invalid component name %.80q; use 1 to %d letters, digits, dots, hyphens and underscores",
			name, maxComponent)
	}
	return nil
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

func cutMark(line string) (mark, rest string) {
	for _, m := range []string{slurmMark, ownMark} {
		after, found := strings.CutPrefix(line, m)
		if found && (after == "" || after[0] == ' ' || after[0] == '\t') {
			return m, after
		}
	}
	return "", ""
}

// follow applies directives to the options.
func (c catalog) follow(directives []directive, w *jobOptions, r *report) {
	for _, d := range directives {
		c.followOne(d, w, r)
	}
}

// followOne applies the words of one directive to the options.
func (c catalog) followOne(d directive, w *jobOptions, r *report) {
	words, slurm := d.words, d.source != fromOwn
	w.source = w.scope + d.source
	if slurm && len(words) > 0 && (words[0] == "hetjob" || words[0] == "packjob") {
		r.wrong(d.place, "heterogeneous jobs are not supported; make each part a component that begins with %s component NAME", ownMark)
		return
	}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		option, value, attached, problem := c.find(word)
		if problem != "" {
			r.wrong(d.place, "%s", problem)
			if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
				words = words[1:] // most likely the unknown option's value
			}
			continue
		}
		if option.Value != "" && !attached && !option.Maybe {
			if len(words) == 0 {
				r.wrong(d.place, "--%s needs a value: --%s=%s", option.Long, option.Long, option.Value)
				continue
			}
			value, words = words[0], words[1:]
		}
		v := option.verdict
		if slurm {
			v = option.inSlurm
		}
		apply(option, v, value, spot{place: d.place}, w, r)
	}
}

// find reads one word: "--long", "--long=value", "-s" or "-svalue".
func (c catalog) find(word string) (option Option, value string, attached bool, problem string) {
	var known bool
	if name, long := strings.CutPrefix(word, "--"); long {
		name, value, attached = strings.Cut(name, "=")
		option, known = c.long[name]
		switch {
		case !known:
			return Option{}, "", false, fmt.Sprintf("unknown option --%s; %s", name, c.hint(name))
		case attached && option.Value == "":
			return Option{}, "", false, fmt.Sprintf("option --%s takes no value; write --%s", name, name)
		}
		return option, value, attached, ""
	}
	if len(word) < 2 || word[0] != '-' {
		return Option{}, "", false, fmt.Sprintf(
			"%q is not an option; options start with a hyphen, and values with spaces need quotes", word)
	}
	option, known = c.short[word[1:2]]
	if !known {
		return Option{}, "", false, fmt.Sprintf("unknown option -%s; see switchyard submit --help",
			strings.ToValidUTF8(word[1:2], "?"))
	}
	if option.Value == "" && len(word) > 2 {
		return Option{}, "", false, fmt.Sprintf("option -%s takes no value", option.Short)
	}
	return option, word[2:], len(word) > 2, ""
}

// apply does what becomes of an option that was said.
func apply(option Option, v verdict, value string, at spot, w *jobOptions, r *report) {
	switch {
	case v.Fate == Refused:
		w.refuse(option.Long, at, v)
		return
	case v.Fate == Noticed:
		r.notice(at.place, "--%s has no effect: %s", option.Long, v.why)
		return
	case option.whole && w.whole != "":
		r.wrongAt(at, option.Long, "it applies to the whole application; write it %s", w.whole)
		return
	}
	err := option.set(w, value)
	if refused, ok := errors.AsType[*refusalError](err); ok {
		w.refuse(option.Long, at, verdict(*refused))
		return
	}
	w.allow(option.Long)
	at.wrong, at.source = err != nil, w.source
	w.spots[option.Long] = at
	if at.wrong {
		r.wrongAt(at, option.Long, "%s", err)
	}
}

// override applies settings to the options.
func (c catalog) override(settings []Setting, w *jobOptions, r *report) {
	for _, setting := range settings {
		at := setting.spot()
		option, known := c.long[setting.Long]
		if !known {
			r.wrong(at.place, "unknown option --%s; %s", setting.Long, c.hint(setting.Long))
			continue
		}
		w.source = fromFile
		if setting.Place == (problems.Place{}) {
			w.source = fromCommandLine
		}
		apply(option, option.verdict, setting.Value, at, w, r)
	}
}

// The sources of options, the weakest first.
const (
	fromSlurm    = iota // #SBATCH
	fromVariable        // of the environment, which stands for #SBATCH
	fromOwn             // #SWITCHYARD
	ofComponent         // what is added to these three in the directives of a component
)

// The sources that beat directives.
const (
	fromFile = 2*ofComponent + iota
	fromCommandLine
)

const commandLine = "command line"

// isForeign says whether a line is a directive of another batch system that sbatch follows.
func isForeign(line string) bool {
	return slices.ContainsFunc([]string{pbsMark, "#BSUB"}, func(mark string) bool {
		rest, found := strings.CutPrefix(line, mark)
		return found && rest != "" && (rest[0] == ' ' || rest[0] == '\t')
	})
}

// followAll follows what is said for all components of a script: its directives, and the
// variables of the environment, which beat #SBATCH.
func (c catalog) followAll(of section, env []string, w *jobOptions, r *report) {
	c.follow(of.slurm, w, r)
	c.follow(c.variables(env), w, r)
	c.follow(of.own, w, r)
	if of.other != (problems.Place{}) {
		w.refused = append(w.refused, refusal{
			pbsMark,
			spot{place: of.other, named: true},
			"sbatch would apply this line of another batch system; write it as #SBATCH, or add --ignore-pbs",
		})
	}
}

// defaultName is the name of a job that got none: the script's file name.
func defaultName(script Script) string {
	switch {
	case script.Stdin:
		return "switchyard"
	case script.Wrapped:
		return "wrap"
	}
	return filepath.Base(script.Name)
}
