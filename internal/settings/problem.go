package settings

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Problem is an error or a warning about one place of a file.
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

// Problems is an error: all that is wrong, in the order of the files, lines and
// keys.
type Problems []Problem //nolint:errname // it is a list of them

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Place is where a key was set.
type Place struct {
	File string
	Line int
}

// String prints "file:line" for a comment: in one line.
func (p Place) String() string {
	oneLine := func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}
	return strings.Map(oneLine, fmt.Sprintf("%s:%d", p.File, p.Line))
}

// Places are where the keys were set that are set. A key here is dotted, and an
// element of a list has its number: "partner[0].url". The empty key stands for
// the first file.
type Places map[string]Place

// Find returns the place of the key, or of the table or list that it belongs to.
func (p Places) Find(key string) Place {
	for ; key != ""; key = parentKey(key) {
		if at, ok := p[key]; ok {
			return at
		}
	}
	return p[""]
}

// Join is the dotted key of a name in a table; the empty table is the top.
func Join(table, name string) string {
	if table == "" || name == "" {
		return table + name
	}
	return table + "." + name
}

// parentKey cuts the last name or number off: "a.b" and "a[0]" give "a".
func parentKey(key string) string {
	return key[:max(0, strings.LastIndexAny(key, ".["))]
}
