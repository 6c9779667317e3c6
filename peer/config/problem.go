package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Problem is one thing that is wrong, or odd, in the configuration.
type Problem struct {
	File string // empty: no file was found
	Line int    // 0: not known, or of no single line
	Key  string // dotted, as "nats.listen" or "partner[south].url"; empty: of the whole file
	Text string // what is wrong; what is allowed, or the remedy
}

// String prints "file:line: key: text", without what is not known.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			b.WriteString(":" + strconv.Itoa(p.Line))
		}
		b.WriteString(": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	return b.String() + p.Text
}

// Problems is the error of [Load]: all that is wrong, in the order of the files,
// lines and keys.
type Problems []Problem //nolint:errname // it is a list of them

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// origin is where a key was set.
type origin struct {
	file string
	line int
}

// String prints "file:line" for a comment: in one line.
func (o origin) String() string {
	oneLine := func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}
	return strings.Map(oneLine, fmt.Sprintf("%s:%d", o.file, o.line))
}

// origins are the places of the keys that are set. A key here is dotted, and an
// element of an array has its number: "partner[0].url".
type origins map[string]origin

// find returns the place of the key or of the table that it belongs to.
func (o origins) find(key string) origin {
	for ; key != ""; key = parentKey(key) {
		if at, ok := o[key]; ok {
			return at
		}
	}
	return o[""]
}

// parentKey cuts the last name or number off: "a.b" and "a[0]" give "a".
func parentKey(key string) string {
	return key[:max(0, strings.LastIndexAny(key, ".["))]
}

// report gathers what is wrong with a configuration.
type report struct {
	config   *Config
	problems []Problem
	warnings []Problem
}

func newReport() *report {
	c := Default()
	c.origins = origins{}
	return &report{config: c}
}

// problem notes that something is wrong with a key. Only the first about a key
// counts: a key that could not be read is not also missing.
func (r *report) problem(key, format string, args ...any) {
	p := r.about(key, format, args...)
	same := func(other Problem) bool { return key != "" && other.Key == p.Key && other.File == p.File }
	if !slices.ContainsFunc(r.problems, same) {
		r.problems = append(r.problems, p)
	}
}

// warn notes that something about a key is odd.
func (r *report) warn(key, format string, args ...any) {
	r.warnings = append(r.warnings, r.about(key, format, args...))
}

func (r *report) about(key, format string, args ...any) Problem {
	at := r.config.origins.find(key)
	return Problem{File: at.file, Line: at.line, Key: key, Text: fmt.Sprintf(format, args...)}
}

// label is a key as people know it: with the name of the partner, if it has a
// good one, and without the numbers of elements of lists.
func (r *report) label(key string) string {
	rest, ok := strings.CutPrefix(key, "partner[")
	if !ok {
		key, _, _ = strings.Cut(key, "[")
		return key
	}
	number, rest, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(number)
	if err != nil || i >= len(r.config.Partners) {
		return key
	}
	if name := r.config.Partners[i].Name; name.Validate() == nil {
		return fmt.Sprintf("partner[%s]%s", name, rest)
	}
	return fmt.Sprintf("partner[%d]%s", i+1, rest)
}

// sorted names the keys for people and puts problems in order.
func (r *report) sorted(problems []Problem) []Problem {
	for i := range problems {
		problems[i].Key = r.label(problems[i].Key)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Key, b.Key))
	})
	return problems
}
