package slurmtext

import (
	"fmt"
	"strings"
)

// Argument says whether an option has a value.
type Argument uint8

// The values of Argument.
const (
	NoValue Argument = iota
	WithValue
	MaybeValue // only as --long=value or directly after the letter
)

// Flag is an option of a command of Slurm.
type Flag struct {
	Long     string
	Letter   byte   // 0: none
	Also     string // other long names, separated by blanks
	Argument Argument
	Selects  bool   // its value says which jobs or nodes are meant, so that an empty one is refused
	Refused  string // why it is not carried; empty: it is
	Noticed  string // why it has no effect, which is said; empty: it has
	Moot     string // why what it asks for is so anyway
}

// Given is an option of a command line.
type Given struct {
	Flag  *Flag
	Value string
	Typed string // as it was typed, for messages: "-o", "--format"
	empty bool   // a value was given, and it was empty
}

// SelectsNothing says whether the option says which jobs or nodes are meant by a list without an element, as a script does
// whose variable is empty. That could mean none or all.
func (g *Given) SelectsNothing() bool {
	return g.Flag.Selects && (g.empty || g.Value != "" && strings.Trim(g.Value, ", ") == "")
}

// UsageError is a command line that getopt_long(3) rejects, in its words.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// Parse splits a command line as getopt_long(3) does: long options may be abbreviated, letters joined, and a value
// joined to its option or the next word. With inOrder the first word that is no option ends them, as in sbatch(1).
func Parse(flags []Flag, args []string, inOrder bool) (given []Given, rest []string, err error) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			return given, append(rest, args...), nil
		case strings.HasPrefix(word, "--"):
			var one Given
			if one, args, err = parseLong(flags, word, args); err != nil {
				return nil, nil, err
			}
			given = append(given, one)
		case strings.HasPrefix(word, "-") && word != "-":
			var some []Given
			if some, args, err = parseLetters(flags, word[1:], args); err != nil {
				return nil, nil, err
			}
			given = append(given, some...)
		case inOrder:
			return given, append([]string{word}, args...), nil
		default:
			rest = append(rest, word)
		}
	}
	return given, rest, nil
}

func parseLong(flags []Flag, word string, args []string) (Given, []string, error) {
	name, value, hasValue := strings.Cut(word[2:], "=")
	flag, candidates := findLong(flags, name)
	switch {
	case flag == nil && len(candidates) == 0:
		return Given{}, nil, UsageError(fmt.Sprintf("unrecognized option '--%s'", name))
	case flag == nil:
		return Given{}, nil, UsageError(fmt.Sprintf("option '--%s' is ambiguous; possibilities: '--%s'", name, strings.Join(candidates, "' '--")))
	case hasValue && flag.Argument == NoValue:
		return Given{}, nil, UsageError(fmt.Sprintf("option '--%s' doesn't allow an argument", flag.Long))
	case !hasValue && flag.Argument == WithValue && len(args) == 0:
		return Given{}, nil, UsageError(fmt.Sprintf("option '--%s' requires an argument", flag.Long))
	case !hasValue && flag.Argument == WithValue:
		value, args = args[0], args[1:]
	}
	given := hasValue || flag.Argument == WithValue
	return Given{Flag: flag, Value: value, Typed: "--" + name, empty: given && value == ""}, args, nil
}

// findLong finds the option of a name or of its beginning. Several candidates are of different options.
func findLong(flags []Flag, name string) (found *Flag, candidates []string) {
	same := true
	for i := range flags {
		for _, long := range append([]string{flags[i].Long}, strings.Fields(flags[i].Also)...) {
			switch {
			case long == name:
				return &flags[i], nil
			case strings.HasPrefix(long, name):
				same = same && (found == nil || found == &flags[i])
				found = &flags[i]
				candidates = append(candidates, long)
			}
		}
	}
	if found == nil || !same {
		return nil, candidates
	}
	return found, nil
}

// parseLetters reads what follows one hyphen: letters, of which the last may have a value.
func parseLetters(flags []Flag, letters string, args []string) (given []Given, rest []string, err error) {
	for i := range len(letters) {
		flag := findLetter(flags, letters[i])
		if flag == nil {
			return nil, nil, UsageError(fmt.Sprintf("invalid option -- '%c'", letters[i]))
		}
		one := Given{Flag: flag, Typed: "-" + letters[i:i+1]}
		if flag.Argument == NoValue {
			given = append(given, one)
			continue
		}
		one.Value = letters[i+1:]
		if one.Value == "" && flag.Argument == WithValue {
			if len(args) == 0 {
				return nil, nil, UsageError(fmt.Sprintf("option requires an argument -- '%c'", letters[i]))
			}
			one.Value, args = args[0], args[1:]
			one.empty = one.Value == ""
		}
		return append(given, one), args, nil
	}
	return given, args, nil
}

func findLetter(flags []Flag, letter byte) *Flag {
	for i := range flags {
		if flags[i].Letter == letter {
			return &flags[i]
		}
	}
	return nil
}
