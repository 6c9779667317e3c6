package reproduce

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
)

// Style is how a report is printed.
type Style int

// The styles.
const (
	Markdown Style = iota // as in docs/reproduction.md
	Plain                 // columns that line up, for a terminal
)

// Write prints the report for people, without series and details.
func (r *Report) Write(w io.Writer, style Style) error {
	var b strings.Builder
	heading := "## "
	if style == Plain {
		heading = ""
	}
	fmt.Fprintf(&b, "%s%s: %s\n\n", heading, r.Name, r.Title)
	fmt.Fprintf(&b, "Beside %s.%s\n", r.Paper, r.setting())
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "%s\n", note)
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.Detail {
			continue
		}
		if t.Title != "" {
			fmt.Fprintf(&b, "\n%s\n", t.Title)
		}
		b.WriteString("\n")
		writeGrid(&b, t.Grid(), style)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// setting says what the numbers are means of.
func (r *Report) setting() string {
	text := ""
	if n := len(r.Seeds); n == 1 {
		text = " One seed."
	} else if n > 1 {
		text = fmt.Sprintf(" Means of %d seeds, ± half the 95 %% interval.", n)
	}
	if r.Waits != "" {
		text += " Waits: " + r.Waits + "."
	}
	if r.Prices != "" {
		text += " Prices: " + r.Prices + "."
	}
	return text
}

// Grid is the table as text: titles first. A column for which the paper has values is
// followed by these.
func (t *Table) Grid() [][]string {
	paper := make([]bool, len(t.Columns))
	for _, row := range t.Rows {
		for c := range row.Cells {
			paper[c] = paper[c] || row.Cells[c].Paper != nil
		}
	}
	titles := []string{t.Stub}
	for c, column := range t.Columns {
		title := column.Title
		if column.Unit != "" {
			title += ", " + column.Unit
		}
		titles = append(titles, title)
		if paper[c] {
			titles = append(titles, cmp.Or(t.Beside, "paper"))
		}
	}
	all := [][]string{titles}
	for _, row := range t.Rows {
		line := []string{row.Label}
		for c, cell := range row.Cells {
			line = append(line, cell.text(t.Columns[c].Digits))
			if paper[c] {
				line = append(line, cell.paperText(t.Columns[c].Digits))
			}
		}
		all = append(all, line)
	}
	return all
}

// text is our value, with its interval.
func (c Cell) text(digits int) string {
	if c.Ours == nil {
		return "–"
	}
	text := number(c.Ours.Mean, digits)
	if c.Ours.CI95 != nil {
		text += " ± " + number(*c.Ours.CI95, digits)
	}
	return text
}

func (c Cell) paperText(digits int) string {
	if c.Paper == nil {
		return ""
	}
	return c.Bound.Sign() + number(*c.Paper, digits)
}

// number has commas between thousands.
func number(x float64, digits int) string {
	text := strconv.FormatFloat(x, 'f', digits, 64)
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}

// writeGrid prints lines of cells, the first being titles.
func writeGrid(b *strings.Builder, all [][]string, style Style) {
	if style == Plain {
		t := console.NewTable(all[0][0])
		for _, title := range all[0][1:] {
			t.Titles = append(t.Titles, " "+title)
		}
		t.Rows = all[1:]
		b.WriteString(t.Text("", true))
		return
	}
	for n, line := range all {
		b.WriteString("| " + strings.Join(line, " | ") + " |\n")
		if n == 0 {
			b.WriteString("|---" + strings.Repeat("|---:", len(line)-1) + "|\n")
		}
	}
}
