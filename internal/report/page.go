package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
)

// Page is one report. All its text is plain: nothing in it is read as HTML.
type Page struct {
	Title    string
	Lead     string // paragraphs, with an empty line between them
	Sections []Section
	Source   Source
}

// Section is a part of a page, shown in the order of its fields.
type Section struct {
	Title   string
	Text    string // paragraphs, with an empty line between them
	Figures []Figure
	Tables  []Table
}

// Source says how a page came about, so that anybody can make it again.
type Source struct {
	Command string // the command line
	Version string // of switchyard
	Inputs  []Input
}

// Input is a file that went into a page.
type Input struct {
	Name string
	Hash string // SHA-256 in hexadecimal digits
}

// NewInput names content by its SHA-256.
func NewInput(name string, content []byte) Input {
	sum := sha256.Sum256(content)
	return Input{Name: name, Hash: hex.EncodeToString(sum[:])}
}

var (
	//go:embed page.html
	pageTemplate string
	//go:embed page.css
	pageStyle string
)

// Style is the style sheet of pages, and of the figures on them.
func Style() string { return pageStyle + figureStyle }

// HTML is the page as one file that needs no other, no network and no script. Pages of
// the same content have the same bytes. Two figures of one name are an error, for
// links and files go by it.
func (p Page) HTML() ([]byte, error) {
	seen := map[string]bool{}
	for _, s := range p.Sections {
		for _, f := range s.Figures {
			if f.drawn == "" {
				return nil, fmt.Errorf("page %q, section %q: figure %q is not drawn", p.Title, s.Title, f.Name)
			}
			if seen[f.Name] {
				return nil, fmt.Errorf("page %q: two figures are named %q", p.Title, f.Name)
			}
			seen[f.Name] = true
		}
		for _, t := range s.tables() {
			if err := t.valid(); err != nil {
				return nil, fmt.Errorf("page %q, section %q: %w", p.Title, s.Title, err)
			}
		}
	}
	t, err := template.New("page").Funcs(template.FuncMap{
		"paragraphs": paragraphs,
		"numeric":    numeric,
		"cell":       cell,
		"inline":     Figure.HTML,
		"style":      func() template.CSS { return template.CSS(Style()) }, //nolint:gosec // our own
	}).Parse(pageTemplate)
	if err != nil {
		return nil, fmt.Errorf("the page's template: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("page %q: %w", p.Title, err)
	}
	return bytes.Map(printable, out.Bytes()), nil
}

// WriteDir writes the page, as index.html, and its figures into a directory, which it creates,
// and returns their paths.
func (p Page) WriteDir(dir string) (made []string, err error) {
	html, err := p.HTML()
	if err != nil {
		return nil, err
	}
	if err = os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a report is for all users
		return nil, err
	}
	write := func(name string, data []byte) error {
		path := filepath.Join(dir, name)
		made = append(made, path)
		return os.WriteFile(path, data, 0o666) //nolint:gosec // a report is for all users
	}
	if err = write("index.html", html); err != nil {
		return made, err
	}
	for _, section := range p.Sections {
		for _, figure := range section.Figures {
			if err = write(figure.Name+".svg", figure.SVG()); err != nil {
				return made, err
			}
		}
	}
	return made, nil
}

func (s Section) tables() []Table {
	all := append([]Table{}, s.Tables...)
	for _, f := range s.Figures {
		all = append(all, f.Table)
	}
	return all
}

func (t Table) valid() error {
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("table %q: row %d has %d cells, want %d", t.Title, i, len(row), len(t.Columns))
		}
	}
	return nil
}

func paragraphs(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// numeric says whether a cell is set as a number.
func numeric(cell string) bool {
	digit := strings.TrimLeft(cell, "<>≤≥ +-−")
	return cell == "–" || digit != "" && digit[0] >= '0' && digit[0] <= '9'
}

// cell is a cell that may be broken before its ±, and nowhere else: wide tables get
// narrower before one has to scroll for their last columns.
func cell(text string) string {
	mean, half, ok := strings.Cut(text, " ± ")
	if !ok {
		return text
	}
	return mean + " ±\u00a0" + half
}
