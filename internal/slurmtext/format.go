package slurmtext

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Column is a field of one of Slurm's lists.
type Column[R any] struct {
	Letter byte   // in -o and --sort; 0: none
	Name   string // in -O and in formats of sacct, in any case
	Title  string // of squeue and sinfo
	Value  func(*R) string
	Order  func(*R) int64 // by which it is sorted; nil: by its value as text
	Whole  bool           // longer values are printed whole: in squeue and sinfo those to the right
	Titled bool           // so is its title
	Kept   bool           // its values are never cut: a part of an ID may be another one
	Merges bool           // of sinfo: sites with different values are still in one row
	Width  int            // in sacct: the default width; below 0: to the left
	Mark   bool           // of sacct: the last character of a value that is cut is +
}

// maxFieldWidth is the width of the widest field that a format can ask for.
const maxFieldWidth = 1 << 16

// Format is a line of columns.
type Format[R any] struct {
	prefix string
	cells  []cell[R]
}

// cell is a column, and the text after it.
type cell[R any] struct {
	column *Column[R] // nil: only the text
	width  int        // 0: as wide as the value
	right  bool
	suffix string
}

// ParseLetters reads a format as -o of squeue and sinfo takes it, such as "%.18i %j": a percent sign, a point for values to
// the right, a width, and the letter of a column; %all are all of them. A letter of no column is printed as it stands, and is
// among the unknown.
func ParseLetters[R any](columns []Column[R], format string) (f Format[R], unknown []string) {
	all := strings.EqualFold(format, "%all")
	if all {
		format = "%" + strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", ""), "|%")
	}
	tokens := strings.Split(format, "%")
	f.prefix = tokens[0]
	for _, token := range tokens[1:] {
		if token == "" {
			continue
		}
		rest, right := strings.CutPrefix(token, ".")
		width, rest := leadingWidth(rest)
		letter, size := utf8.DecodeRuneInString(rest)
		column := (*Column[R])(nil)
		if size == 1 {
			column = findColumn(columns, func(c *Column[R]) bool { return c.Letter == rest[0] })
		}
		switch {
		case column != nil:
			f.cells = append(f.cells, cell[R]{column, width, right, rest[size:]})
		case all: // a letter that no column has
		default:
			f.cells = append(f.cells, cell[R]{suffix: "%" + token})
			if size == 0 {
				unknown = append(unknown, "")
			} else {
				unknown = append(unknown, string(letter))
			}
		}
	}
	return f, unknown
}

// ParseNames reads a format as -O of squeue and sinfo takes it, such as "JobID:8,Name:.10+": names of columns, each with a
// colon, a point for values to the right, a width and a text that follows.
func ParseNames[R any](columns []Column[R], format string) (f Format[R], unknown []string) {
	for token := range strings.SplitSeq(format, ",") {
		if token == "" {
			continue
		}
		const usual = 20
		one := cell[R]{width: usual}
		name, size, sized := strings.Cut(token, ":")
		if sized {
			size, one.right = strings.CutPrefix(size, ".")
			one.width, one.suffix = leadingWidth(size)
		}
		one.column = findColumn(columns, func(c *Column[R]) bool { return strings.EqualFold(c.Name, name) })
		if one.column == nil {
			unknown = append(unknown, name)
		}
		f.cells = append(f.cells, one)
	}
	return f, unknown
}

func leadingWidth(s string) (width int, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	if digits := s[:len(s)-len(rest)]; digits != "" {
		n, err := strconv.Atoi(digits)
		if err != nil || n > maxFieldWidth {
			n = maxFieldWidth
		}
		width = n
	}
	return width, rest
}

func findColumn[R any](columns []Column[R], fits func(*Column[R]) bool) *Column[R] {
	if i := slices.IndexFunc(columns, func(c Column[R]) bool { return fits(&c) }); i >= 0 {
		return &columns[i]
	}
	return nil
}

// Header is the line of the titles.
func (f Format[R]) Header() string {
	return f.fill(func(c *Column[R], right bool) (string, bool) { return c.Title, c.Titled && right })
}

// Line is the line of a row.
func (f Format[R]) Line(row *R) string {
	return f.fill(func(c *Column[R], right bool) (string, bool) {
		return protocol.EscapeText(c.Value(row)), c.Kept || c.Whole && right
	})
}

func (f Format[R]) fill(value func(c *Column[R], right bool) (text string, whole bool)) string {
	var out strings.Builder
	out.WriteString(f.prefix)
	for _, one := range f.cells {
		if one.column != nil {
			text, whole := value(one.column, one.right)
			out.WriteString(pad(text, one.width, one.right, whole))
		}
		out.WriteString(one.suffix)
	}
	return out.String()
}

// pad fills a text up to a width, or cuts it.
func pad(text string, width int, right, whole bool) string {
	length := utf8.RuneCountInString(text)
	if width > 0 && length > width && !whole {
		return string([]rune(text)[:width])
	}
	gap := strings.Repeat(" ", max(0, width-length))
	if right {
		return gap + text
	}
	return text + gap
}

// Widen has the first column be as wide as a value, if it is narrower.
func (f Format[R]) Widen(value string) {
	if len(f.cells) > 0 {
		f.cells[0].width = max(f.cells[0].width, utf8.RuneCountInString(value))
	}
}

// Columns are those of the format, in their order.
func (f Format[R]) Columns() (columns []*Column[R]) {
	for _, one := range f.cells {
		if one.column != nil {
			columns = append(columns, one.column)
		}
	}
	return columns
}

// Sort sorts rows as --sort of squeue and sinfo does: by letters of columns, each with - before it for the largest first.
// Unknown are letters that no column has.
func Sort[R any](columns []Column[R], rows []*R, by string) (unknown []string) {
	type key struct {
		column *Column[R]
		down   bool
	}
	var keys []key
	down := false
	for _, letter := range by {
		switch letter {
		case '-':
			down = true
		case '+', ',', ' ', '#':
		default:
			column := findColumn(columns, func(c *Column[R]) bool { return rune(c.Letter) == letter })
			if column == nil {
				unknown = append(unknown, string(letter))
			} else {
				keys = append(keys, key{column, down})
			}
			down = false
		}
	}
	slices.SortStableFunc(rows, func(x, y *R) int {
		for _, by := range keys {
			order := by.column.compare(x, y)
			if by.down {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
	return unknown
}

func (c *Column[R]) compare(x, y *R) int {
	if c.Order != nil {
		return cmp.Compare(c.Order(x), c.Order(y))
	}
	return cmp.Compare(c.Value(x), c.Value(y))
}
