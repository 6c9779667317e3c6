package batchscript

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Setting is an option as the command line gives it.
type Setting struct {
	Long  string // without the hyphens
	Value string
}

// directive is one line of options, cut into words.
type directive struct {
	place string
	words []string
}

// The marks of directives. The later one beats the earlier.
const (
	slurmMark = "#SBATCH"
	ownMark   = "#SWITCHYARD"
)

// collect finds the directives before the first command. Those after it have
// no effect, which is worth a notice, as they rarely are there on purpose.
func collect(script Script, r *report) (slurm, own []directive) {
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
		if mark == "" {
			continue
		}
		place := fmt.Sprintf("%s:%d", script.Name, number)
		if commands {
			r.notice(place, "%s after the first command has no effect; move it up", mark)
			continue
		}
		words, err := split(rest)
		if err != nil {
			r.wrong(place, "%s", err)
			continue
		}
		if mark == slurmMark {
			slurm = append(slurm, directive{place, words})
		} else {
			own = append(own, directive{place, words})
		}
	}
	return slurm, own
}

func cutMark(line string) (mark, rest string) {
	for _, m := range []string{slurmMark, ownMark} {
		after, found := strings.CutPrefix(line, m)
		if found && (after == "" || after[0] == ' ' || after[0] == '\t') {
			return m, after
		}
	}
	return "", ""
}

// follow applies a directive's words to the wishes.
func (c catalog) follow(d directive, w *wishes, r *report) {
	words := d.words
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
		apply(option, value, d.place, w, r)
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
			return Option{}, "", false, fmt.Sprintf("the option --%s is unknown; %s", name, c.hint(name))
		case attached && option.Value == "":
			return Option{}, "", false, fmt.Sprintf("the option --%s takes no value; write --%s alone", name, name)
		}
		return option, value, attached, ""
	}
	if len(word) < 2 || word[0] != '-' {
		return Option{}, "", false, fmt.Sprintf(
			"%q is no option; options begin with a hyphen, and values with spaces need quotes", word)
	}
	option, known = c.short[word[1:2]]
	if !known {
		return Option{}, "", false, fmt.Sprintf("the option -%s is unknown; see switchyard submit --help for the options",
			strings.ToValidUTF8(word[1:2], "?"))
	}
	if option.Value == "" && len(word) > 2 {
		return Option{}, "", false, fmt.Sprintf("the option -%s takes no value; write it alone", option.Short)
	}
	return option, word[2:], len(word) > 2, ""
}

func apply(option Option, value, place string, w *wishes, r *report) {
	if option.refused != "" {
		r.wrong(place, "--%s: %s", option.Long, option.refused)
		return
	}
	switch err := option.set(w, value); {
	case errors.Is(err, errIgnored):
		r.notice(place, "--%s is ignored", option.Long)
	case err != nil:
		r.wrong(place, "%s", err)
	}
}

// override applies the command line's settings to the wishes.
func (c catalog) override(settings []Setting, w *wishes, r *report) {
	for _, setting := range settings {
		option, known := c.long[setting.Long]
		if !known {
			r.wrong(commandLine, "the option --%s is unknown; %s", setting.Long, c.hint(setting.Long))
			continue
		}
		apply(option, setting.Value, commandLine, w, r)
	}
}

const commandLine = "command line"

// defaultName is the name of a job that got none: the script's file name.
func defaultName(script Script) string {
	if script.Stdin {
		return "switchyard"
	}
	return filepath.Base(script.Name)
}
