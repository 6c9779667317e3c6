package papers

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Page is a page in Markdown whose marked blocks are made from exhibits; the prose between them is left as it is:
//
//	<!-- sim reproduce NAME FLAGS @COMMIT -->   what the exhibit prints; the commit that made it is written with it
//	<!-- claims [PAPER] -->                     a paper's claims, computed from the tables on the page
//	<!-- source -->                             the command and the commits
//	<!-- end -->                                ends each of them
type Page struct {
	parts  []part
	claims []PaperClaims
}

// part is prose, or a block if it has a marker.
type part struct {
	text string
	*marker
}

// marker is what begins a block.
type marker struct {
	line  int
	kind  string // of the markers
	words string

	exhibit string
	options reproduce.Options // of an exhibit
	commit  string            // that made it; empty: not made
}

// The kinds of markers.
const (
	exhibitKind = "sim reproduce"
	claimsKind  = "claims"
	sourceKind  = "source"
	endMarker   = "<!-- end -->"
)

// PaperClaims are what a paper says that exhibits can judge.
type PaperClaims struct {
	Paper  string // as [MC]
	Claims []reproduce.Claim
}

var markerLine = regexp.MustCompile(`^<!-- (sim reproduce|claims|source)(?: ([^@]*?))?(?: @([0-9a-f]{7,40}))? -->$`)

// CheckCommit says what is wrong with the name of a commit on a page, if anything.
func CheckCommit(commit string) error {
	if !commitName.MatchString(commit) {
		return fmt.Errorf("the program's commit is %q, and a page names commits by 7 to 40 hexadecimal digits; build the program with make build, without uncommitted changes", commit)
	}
	return nil
}

var commitName = regexp.MustCompile("^[0-9a-f]{7,40}$")

// ReadPage reads a page. An error says which line is wrong: a marker of an unknown exhibit or paper, an unknown
// flag, a duplicate block, a missing end.
func ReadPage(text string) (*Page, error) { return readPage(text, Claims()) }

func readPage(text string, claims []PaperClaims) (*Page, error) {
	p := &Page{claims: claims}
	var block *marker
	var b strings.Builder
	end := func(m *marker) {
		p.parts = append(p.parts, part{b.String(), m})
		b.Reset()
	}
	seen := map[string]bool{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimRight(line, "\n")
		found := markerLine.FindStringSubmatch(bare)
		switch {
		case block != nil && bare == endMarker:
			end(block)
			block = nil
		case block != nil && found != nil:
			return nil, fmt.Errorf("line %d: a block begins in that of line %d; end it with %s", n, block.line, endMarker)
		case found != nil:
			end(nil)
			block = &marker{line: n, kind: found[1], words: found[2], commit: found[3]}
			if err := block.read(claims); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			what := strings.TrimSpace(block.kind + " " + block.key())
			if seen[what] {
				return nil, fmt.Errorf("line %d: a second block of %s", n, what)
			}
			seen[what] = true
		case strings.HasPrefix(bare, "<!--"):
			return nil, fmt.Errorf("line %d: %q is no marker; use <!-- sim reproduce NAME FLAGS -->, <!-- claims [PAPER] -->, <!-- source --> and %s", n, bare, endMarker)
		default:
			b.WriteString(line)
		}
	}
	if block != nil {
		return nil, fmt.Errorf("line %d: the block has no end; write %s", block.line, endMarker)
	}
	end(nil)
	return p, nil
}

// key is what may be on a page once.
func (m *marker) key() string {
	if m.kind == exhibitKind {
		return m.exhibit
	}
	return m.words
}

func (m *marker) read(claims []PaperClaims) error {
	switch m.kind {
	case claimsKind:
		if !slices.ContainsFunc(claims, func(c PaperClaims) bool { return c.Paper == m.words }) {
			return fmt.Errorf("%q is no paper with claims", m.words)
		}
	case exhibitKind:
		name, flags, _ := strings.Cut(m.words, " ")
		if !slices.ContainsFunc(Exhibits(), func(e reproduce.Exhibit) bool { return e.Name == name }) {
			return fmt.Errorf("no exhibit is called %q; sim reproduce --list lists them", name)
		}
		m.exhibit, m.options = name, reproduce.Default()
		set := flag.NewFlagSet(name, flag.ContinueOnError)
		set.SetOutput(io.Discard)
		m.options.Flags(set)
		if err := set.Parse(strings.Fields(flags)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if set.NArg() > 0 {
			return fmt.Errorf("%s: %q is no flag", name, set.Arg(0))
		}
		_, err := Choose(m.options, []string{name})
		return err
	}
	return nil
}

// text is the marker as it stands on the page.
func (m *marker) text() string {
	text := "<!-- " + m.kind
	if m.words != "" {
		text += " " + m.words
	}
	if m.commit != "" {
		text += " @" + m.commit
	}
	return text + " -->\n"
}

// Block is an exhibit on the page.
type Block struct {
	Exhibit string
	Flags   []string
	Commit  string // that made it; empty: not made
	Text    string // as it stands on the page
}

// Blocks lists the exhibits, as they follow each other.
func (p *Page) Blocks() []Block {
	var all []Block
	for _, one := range p.parts {
		if one.marker != nil && one.kind == exhibitKind {
			all = append(all, Block{one.exhibit, one.options.Args(), one.commit, one.text})
		}
	}
	return all
}

// Text is the page.
func (p *Page) Text() string {
	var b strings.Builder
	for _, one := range p.parts {
		if one.marker == nil {
			b.WriteString(one.text)
			continue
		}
		b.WriteString(one.marker.text() + one.text + endMarker + "\n")
	}
	return b.String()
}

// Make makes the exhibits of the names again, or all without names, with the data, machines, experiments and workers of a size, and
// writes their blocks. Exhibits of a paper with the same flags are made together, so that they share simulations; after each of these
// groups save receives its figures that the page shows. Commit is the one of the program. With one commit a page becomes
// the same bytes each time.
func (p *Page) Make(
	ctx context.Context, where reproduce.Size, names []string, commit string,
	progress func() (step func(done, of int), end func()), save func([]report.Figure) error,
) error {
	groups, err := p.groups(names)
	if err != nil {
		return err
	}
	for _, group := range groups {
		figures, err := p.makeGroup(ctx, group, where, commit, progress)
		if err != nil {
			return err
		}
		if err = save(figures); err != nil {
			return err
		}
	}
	return nil
}

// groups are the blocks of exhibits, those of a paper with the same flags together.
func (p *Page) groups(names []string) (groups [][]*part, err error) {
	left := slices.Clone(names)
	at, all := map[string]int{}, All()
	for i := range p.parts {
		one := &p.parts[i]
		if one.marker == nil || one.kind != exhibitKind || len(names) > 0 && !slices.Contains(names, one.exhibit) {
			continue
		}
		left = slices.DeleteFunc(left, func(name string) bool { return name == one.exhibit })
		of := all[paperOf(all, one.exhibit)].Name + " " + strings.Join(one.options.Args(), " ")
		if _, known := at[of]; !known {
			at[of] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[of]] = append(groups[at[of]], one)
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("the page has no block of %s", strings.Join(left, ", "))
	}
	return groups, nil
}

func (p *Page) makeGroup(
	ctx context.Context, group []*part, where reproduce.Size, commit string, progress func() (step func(done, of int), end func()),
) ([]report.Figure, error) {
	options := group[0].options
	options.Data, options.Machines, options.Experiments, options.Workers = where.Data, where.Machines, where.Experiments, where.Workers
	var names []string
	for _, one := range group {
		names = append(names, one.exhibit)
	}
	chosen, err := Choose(options, names)
	if err != nil {
		return nil, err
	}
	reports, err := chosen.Run(ctx, progress)
	if err != nil {
		return nil, err
	}
	page := p.Text()
	var figures []report.Figure
	for i := range reports {
		r := &reports[i]
		one := group[slices.Index(names, r.Name)]
		one.commit = commit
		if one.text, err = text(r); err != nil {
			return nil, err
		}
		drawn, err := r.Drawn()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		for i := range drawn {
			if strings.Contains(page, "("+FigurePath(drawn[i].Name)+")") {
				figures = append(figures, drawn[i])
			}
		}
	}
	return figures, nil
}

// FigurePath is where the page looks for a figure, beside itself.
func FigurePath(name string) string { return "figures/" + name + ".svg" }

// text is what a block has of an exhibit.
func text(r *reproduce.Report) (string, error) {
	var b bytes.Buffer
	err := r.Write(&b, reproduce.Markdown)
	return strings.TrimSpace(b.String()) + "\n", err
}

// Carry writes the blocks that a commit has made on another reading of this page into that: its prose may have changed
// since. An error names what is not there any more.
func (p *Page) Carry(to *Page, commit string) error {
	made := map[string]*part{}
	for i := range p.parts {
		if one := &p.parts[i]; one.marker != nil && one.kind == exhibitKind && one.commit == commit {
			made[one.words] = one
		}
	}
	for i := range to.parts {
		one := &to.parts[i]
		if one.marker == nil || one.kind != exhibitKind || made[one.words] == nil {
			continue
		}
		one.text, one.commit = made[one.words].text, commit
		delete(made, one.words)
	}
	if len(made) > 0 {
		return fmt.Errorf("the page has no block of %s any more", strings.Join(slices.Sorted(maps.Keys(made)), ", "))
	}
	return nil
}

// Refresh computes the claims and the source from the exhibits' blocks.
func (p *Page) Refresh() error {
	var printed reproduce.Printed
	for _, b := range p.Blocks() {
		printed.Add(b.Exhibit, b.Text)
	}
	var problems []error
	for i := range p.parts {
		one := &p.parts[i]
		switch {
		case one.marker == nil:
		case one.kind == claimsKind:
			k := slices.IndexFunc(p.claims, func(c PaperClaims) bool { return c.Paper == one.words })
			text, err := p.claims[k].text(&printed)
			one.text = text
			problems = append(problems, err)
		case one.kind == sourceKind:
			one.text = p.source()
		}
	}
	return errors.Join(problems...)
}

// text is a paper's claims as a table, and how many are borne out.
func (c *PaperClaims) text(printed *reproduce.Printed) (string, error) {
	var lines strings.Builder
	counts := map[reproduce.Verdict]int{}
	var problems []error
	for i := range c.Claims {
		one := &c.Claims[i]
		ours, verdict, err := one.Judge(printed)
		problems = append(problems, err)
		counts[verdict]++
		fmt.Fprintf(&lines, "| %s | %s | %s | %s | %s |\n", one.Says, one.Paper, ours, verdict, one.Why)
	}
	var counted []string
	for _, verdict := range reproduce.Verdicts() {
		if counts[verdict] > 0 {
			counted = append(counted, fmt.Sprintf("%d %s", counts[verdict], verdict))
		}
	}
	return fmt.Sprintf("Of %s of %s: %s.\n\n| %s says | its value | ours | | why |\n|---|---|---|---|---|\n%s",
		protocol.Count(len(c.Claims), "claim"), c.Paper, strings.Join(counted, ", "), c.Paper, lines.String()), errors.Join(problems...)
}

// source says what made the page.
func (p *Page) source() string {
	var commits, missing []string
	by := map[string][]string{}
	for _, b := range p.Blocks() {
		if b.Commit == "" {
			missing = append(missing, b.Exhibit)
			continue
		}
		if by[b.Commit] == nil {
			commits = append(commits, b.Commit)
		}
		by[b.Commit] = append(by[b.Commit], b.Exhibit)
	}
	lines := []string{"`switchyard sim reproduce --page docs/reproduction.md` makes all tables, figures and lists of claims on this page."}
	for _, commit := range commits {
		line := "Commit " + commit + " made them."
		if len(commits) > 1 {
			line = "Commit " + commit + " made " + strings.Join(by[commit], ", ") + "."
		}
		lines = append(lines, line)
	}
	if missing != nil {
		lines = append(lines, "Not made: "+strings.Join(missing, ", ")+".")
	}
	return strings.Join(lines, "\n") + "\n"
}
