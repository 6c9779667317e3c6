package settings

import (
	"fmt"
	"strings"
)

// keyLines finds the line of every key and table of a TOML text, because the
// parser does not tell. The text is known to be TOML; of any other, the result is
// useless but harmless. The elements of an array of tables are counted from
// first(its key).
// Keys within inline tables and lists are left out: they share their line with
// what they belong to, or nearly.
func keyLines(text string, first func(array string) int) map[string]int {
	s := &scanner{
		text: strings.TrimPrefix(text, "\uFEFF"), line: 1,
		first: first, lines: map[string]int{}, arrays: map[string]int{},
	}
	for s.skip(" \t\r\n"); s.text != ""; s.skip(" \t\r\n") {
		switch s.text[0] {
		case '#':
			s.skipLine()
		case '[':
			s.header()
		default:
			s.note(s.table, s.key("="))
			s.value()
		}
	}
	return s.lines
}

// scanner walks through a TOML text.
type scanner struct {
	text   string // what is left
	line   int    // of its beginning
	table  string // the table that keys belong to now
	first  func(array string) int
	lines  map[string]int
	arrays map[string]int // elements of the arrays of tables so far
}

// next moves on by n bytes.
func (s *scanner) next(n int) {
	n = min(n, len(s.text))
	s.line += strings.Count(s.text[:n], "\n")
	s.text = s.text[n:]
}

func (s *scanner) skip(chars string) {
	s.next(len(s.text) - len(strings.TrimLeft(s.text, chars)))
}

func (s *scanner) skipLine() { s.next(len(s.text) - len(after(s.text, "\n"))) }

// after is what follows the mark, or nothing.
func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}

// header reads [table] or [[table]].
func (s *scanner) header() {
	array := strings.HasPrefix(s.text, "[[")
	s.skip("[")
	names := s.key("]")
	s.table = ""
	for i, name := range names {
		s.table = Join(s.table, name)
		if array && i == len(names)-1 {
			s.note(s.table, nil) // the first of its tables stands for all
			s.arrays[s.table]++
		}
		if n := s.arrays[s.table]; n > 0 {
			s.table = fmt.Sprintf("%s[%d]", s.table, s.first(s.table)+n-1)
		}
	}
	s.note(s.table, nil)
	s.skipLine()
}

// note remembers that the key stands here, if it did not before.
func (s *scanner) note(table string, names []string) {
	for _, name := range names {
		table = Join(table, name)
	}
	if _, ok := s.lines[table]; !ok {
		s.lines[table] = s.line
	}
}

// key reads a dotted key and the end that follows it.
func (s *scanner) key(end string) (names []string) {
	for s.text != "" {
		s.skip(" \t.")
		switch {
		case strings.HasPrefix(s.text, end):
			s.next(len(end))
			return names
		case s.text == "" || s.text[0] == '\n' || s.text[0] == '\r':
			return names
		case s.text[0] == '"' || s.text[0] == '\'':
			name := s.text
			s.quoted()
			name = name[1 : len(name)-len(s.text)]
			names = append(names, strings.TrimRight(name, `"'`))
		default:
			n := strings.IndexAny(s.text, " \t\r\n."+end)
			if n < 0 {
				n = len(s.text)
			}
			names = append(names, s.text[:n])
			s.next(n)
		}
	}
	return names
}

// value passes over the rest of a key's line, or lines.
func (s *scanner) value() {
	for depth := 0; s.text != ""; {
		switch s.text[0] {
		case '\n':
			if depth <= 0 {
				return
			}
		case '#':
			s.skipLine()
			if depth <= 0 {
				return
			}
			continue
		case '"', '\'':
			s.quoted()
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		s.next(1)
	}
}

// quoted passes over a string of any of the four kinds.
func (s *scanner) quoted() {
	quote := s.text[:1]
	long := strings.HasPrefix(s.text, strings.Repeat(quote, 3))
	end := quote
	if long {
		end = strings.Repeat(quote, 3)
	}
	s.next(len(end))
	for s.text != "" && !strings.HasPrefix(s.text, end) {
		switch {
		case quote == `"` && s.text[0] == '\\':
			s.next(2)
		case !long && s.text[0] == '\n':
			return
		default:
			s.next(1)
		}
	}
	s.next(len(end))
	if long { // up to two quotes may stand before the end
		s.skip(quote)
	}
}
