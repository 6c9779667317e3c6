package report

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// CSV writes lines of comma-separated values. An error of its writer is returned by
// [CSV.Flush], and nothing is written after it.
type CSV struct {
	out  *bufio.Writer
	line []byte
}

// NewCSV writes the titles.
func NewCSV(w io.Writer, titles ...string) *CSV {
	c := &CSV{out: bufio.NewWriterSize(w, 1<<16)}
	for _, title := range titles {
		c.Text(title)
	}
	c.End()
	return c
}

// Text adds a cell of text.
func (c *CSV) Text(text string) {
	if strings.ContainsAny(text, ",\"") {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	c.line = append(append(c.line, text...), ',')
}

// Seconds adds a cell of milliseconds in seconds, with a fraction only where there is one.
func (c *CSV) Seconds(ms int64) {
	if ms%1000 == 0 {
		c.line = append(strconv.AppendInt(c.line, ms/1000, 10), ',')
		return
	}
	c.line = append(strconv.AppendFloat(c.line, float64(ms)/1000, 'f', -1, 64), ',')
}

// Number adds a cell of a number with the given number of decimals.
func (c *CSV) Number(x float64, decimals int) {
	c.line = append(strconv.AppendFloat(c.line, x, 'f', decimals, 64), ',')
}

// End ends a line, which has at least one cell.
func (c *CSV) End() {
	c.line[len(c.line)-1] = '\n'
	_, _ = c.out.Write(c.line) // the writer keeps its error for Flush
	c.line = c.line[:0]
}

// Flush writes what is left.
func (c *CSV) Flush() error { return c.out.Flush() }
