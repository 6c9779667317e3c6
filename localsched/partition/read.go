package partition

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

// What a file may have at most. The bounds keep a wrong file from taking all memory.
const (
	maxBytes      = 16 << 20
	maxCards      = 100_000
	maxPartitions = 20_000
	maxPlaces     = 4_000_000 // cards of partitions, summed over the partitions
	maxNodes      = 100_000_000
	longestName   = 200
	maxProblems   = 1000 // that are reported
)

// maxForeignNames is how many lines that are no card and no partition are reported one by one.
const maxForeignNames = 10

// draft is a layout as it is written, before names are looked up.
type draft struct {
	problems.List

	file       string // its name
	cards      []cardLine
	partitions []partitionLine
	foreign    int // lines that are neither
}

// MalformedError says what is wrong with a file of partitions.
type MalformedError struct{ problems.FileError }

// wrong notes what is wrong with a line; 0: with the file as a whole.
func (d *draft) wrong(line int, format string, args ...any) {
	d.Add(problems.Place{File: d.file, Line: line}, format, args...)
}

// err is what was collected, or nil.
func (d *draft) err() error {
	if wrong := d.OfFile(maxProblems); wrong != nil {
		return &MalformedError{*wrong}
	}
	return nil
}

type cardLine struct {
	Card

	line int
}

type partitionLine struct {
	line                             int
	name                             string
	nodes                            int
	kind                             Kind
	cards, wires, parents, conflicts []string
}

// Parse reads a layout in the format of the package. The error is a
// [*MalformedError] with all that is wrong, or what the reader said. The name of the
// file is for the error only.
func Parse(r io.Reader, file string) (*Layout, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	d := draft{file: file}
	if len(text) > maxBytes {
		d.wrong(0, "it has more than %d MB; a layout has at most that", maxBytes>>20)
		return nil, d.err()
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		d.read(number, strings.TrimSpace(line))
	}
	if d.foreign > maxForeignNames {
		d.wrong(0, "%d more lines begin with neither card nor partition; it may be a file of another kind", d.foreign-maxForeignNames)
	}
	return d.layout()
}

// read takes one line.
func (d *draft) read(number int, line string) {
	if line == "" || strings.HasPrefix(line, "#") {
		return
	}
	if !utf8.ValidString(line) {
		d.wrong(number, "%s is not UTF-8; save the file as UTF-8", problems.Quote(line))
		return
	}
	fields := strings.Split(line, ",")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	switch fields[0] {
	case "card":
		d.readCard(number, fields)
	case "partition":
		d.readPartition(number, fields)
	default:
		if d.foreign++; d.foreign <= maxForeignNames {
			d.wrong(number, "a line begins with card, partition or #, not with %s", problems.Quote(fields[0]))
		}
	}
}

func (d *draft) readCard(number int, fields []string) {
	if len(fields) != 3 {
		d.wrong(number, "a card has 3 fields, not %d: card,NAME,NODES", len(fields))
		return
	}
	if d.checkName(number, fields[1]) {
		d.cards = append(d.cards, cardLine{Card{fields[1], d.count(number, fields[2])}, number})
	}
}

func (d *draft) readPartition(number int, fields []string) {
	if len(fields) < 5 || len(fields) > 8 {
		d.wrong(number, "a partition has 5 to 8 fields, not %d: "+
			"partition,NAME,NODES,torus|mesh|diagnostics,CARDS,WIRES,PARENTS,CONFLICTS", len(fields))
		return
	}
	if !d.checkName(number, fields[1]) {
		return
	}
	p := partitionLine{line: number, name: fields[1], nodes: d.count(number, fields[2]), kind: d.kind(number, fields[3])}
	lists := []*[]string{&p.cards, &p.wires, &p.parents, &p.conflicts}
	for i, field := range fields[4:] {
		*lists[i] = strings.Fields(field)
	}
	for _, wire := range p.wires {
		d.checkName(number, wire)
	}
	d.partitions = append(d.partitions, p)
}

// checkName reports whether a name will do.
func (d *draft) checkName(number int, name string) bool {
	unfit := func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }
	if name == "" || len(name) > longestName || strings.ContainsFunc(name, unfit) {
		d.wrong(number, "%s is no name; use 1 to %d printable characters without spaces and commas", problems.Quote(name), longestName)
		return false
	}
	return true
}

// count reads a number of nodes; 0: it is wrong, and that has been said.
func (d *draft) count(number int, field string) int {
	nodes, err := strconv.Atoi(field)
	if err != nil || nodes < 1 || nodes > maxNodes || strconv.Itoa(nodes) != field {
		d.wrong(number, "%s is no number of nodes; use a whole number from 1 to %d", problems.Quote(field), maxNodes)
		return 0
	}
	return nodes
}

func (d *draft) kind(number int, field string) Kind {
	for _, kind := range []Kind{Torus, Mesh, Diagnostics} {
		if kind.String() == field {
			return kind
		}
	}
	d.wrong(number, "%s is no type of partition; use torus, mesh or diagnostics", problems.Quote(field))
	return Diagnostics
}
