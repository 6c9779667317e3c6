package protocol

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Features is what a job's constraint asks of nodes, in the grammar of sbatch(1): names of features
// joined by "&" and "|", which are read from left to right, and parentheses; "[a|b]", where all
// nodes must have the same one; and "a*2&b*1", in brackets or not, where that number of nodes must have
// a feature. The zero Features asks for nothing.
type Features struct {
	alternatives []Constraint
	counted      []FeatureCount
}

// Alternatives are the constraints of which all nodes of the job must meet the same one.
func (f *Features) Alternatives() []Constraint {
	if len(f.alternatives) == 0 {
		return []Constraint{{}}
	}
	return f.alternatives
}

// Counted are the features that a number of nodes must have.
func (f *Features) Counted() []FeatureCount { return f.counted }

// FeatureCount is a number of nodes with a feature.
type FeatureCount struct {
	Name  string
	Count int
}

// Constraint is an expression of features that one node meets or does not. The zero Constraint
// is met by all nodes.
type Constraint struct {
	name  string       // of a leaf
	op    byte         // '&' or '|' between the parts of others
	parts []Constraint // two or more
}

// Admits says whether the nodes of the group meet the constraint.
func (c Constraint) Admits(g *NodeGroup) bool {
	switch {
	case c.name != "":
		return g.Has(c.name)
	case c.op == '|':
		return c.parts[0].Admits(g) || c.parts[1].Admits(g)
	case c.op == '&':
		return c.parts[0].Admits(g) && c.parts[1].Admits(g)
	}
	return true
}

// ParseFeatures reads a constraint. An empty one asks for nothing.
func ParseFeatures(s string) (Features, error) {
	if s == "" {
		return Features{}, nil
	}
	if len(s) > MaxConstraint {
		return Features{}, fmt.Errorf("has %d bytes; use at most %d", len(s), MaxConstraint)
	}
	p := featureParser{text: s}
	if err := p.parse(); err != nil {
		return Features{}, fmt.Errorf("%.80q: %w", s, err)
	}
	return p.found, nil
}

// maxFeatureCount is more nodes than any site has.
const maxFeatureCount = 1_000_000

// featureParser reads an expression from left to right.
type featureParser struct {
	text  string
	at    int
	depth int
	found Features
}

func (p *featureParser) parse() error {
	whole, err := p.expression()
	switch {
	case err != nil:
		return err
	case p.at < len(p.text):
		return p.unexpected(`"&" or "|"`)
	case len(p.found.alternatives) == 0:
		p.found.alternatives = []Constraint{whole}
		return nil
	case whole.op != 0 || whole.name != "":
		return errors.New("brackets with | cannot be joined with other features; write them alone")
	}
	return nil
}

// expression reads terms joined by operators.
func (p *featureParser) expression() (Constraint, error) {
	left, err := p.term()
	for err == nil && p.at < len(p.text) && (p.text[p.at] == '&' || p.text[p.at] == '|') {
		op := p.text[p.at]
		p.at++
		var right Constraint
		right, err = p.term()
		left = join(left, op, right)
	}
	return left, err
}

// join joins two constraints. One that all nodes meet, such as a count, is left out.
func join(left Constraint, op byte, right Constraint) Constraint {
	switch {
	case left.op == 0 && left.name == "":
		return right
	case right.op == 0 && right.name == "":
		return left
	}
	return Constraint{op: op, parts: []Constraint{left, right}}
}

// term reads a name with or without a count, or an expression in parentheses or brackets.
func (p *featureParser) term() (Constraint, error) {
	if p.at < len(p.text) {
		switch p.text[p.at] {
		case '(':
			return p.enclosed(')')
		case '[':
			return p.bracket()
		}
	}
	name := p.name()
	if err := checkWord("", name); err != nil {
		if name == "" {
			return Constraint{}, p.unexpected("a feature")
		}
		return Constraint{}, err
	}
	if p.at < len(p.text) && p.text[p.at] == '*' {
		return Constraint{}, p.count(name)
	}
	return Constraint{name: name}, nil
}

func (p *featureParser) name() string {
	rest := p.text[p.at:]
	if end := strings.IndexAny(rest, "&|()[]*"); end >= 0 {
		rest = rest[:end]
	}
	p.at += len(rest)
	return rest
}

func (p *featureParser) count(name string) error {
	p.at++
	digits := p.name()
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > maxFeatureCount {
		return fmt.Errorf("%s*%s: the number of nodes must be from 1 to %d", name, digits, maxFeatureCount)
	}
	p.found.counted = append(p.found.counted, FeatureCount{name, n})
	return nil
}

func (p *featureParser) enclosed(end byte) (Constraint, error) {
	if p.depth++; p.depth > MaxConstraintDepth {
		return Constraint{}, fmt.Errorf("parentheses are nested more than %d deep", MaxConstraintDepth)
	}
	p.at++
	inside, err := p.expression()
	if err != nil {
		return inside, err
	}
	if p.at >= len(p.text) || p.text[p.at] != end {
		return inside, p.unexpected(strconv.Quote(string(end)))
	}
	p.at++
	p.depth--
	return inside, nil
}

// bracket reads "[a|b]" or "[a*2&b*1]".
func (p *featureParser) bracket() (Constraint, error) {
	if p.found.alternatives != nil {
		return Constraint{}, errors.New("has brackets twice")
	}
	inside, err := p.enclosed(']')
	switch {
	case err != nil:
		return inside, err
	case inside.mixed():
		return inside, errors.New("brackets with both & and | are not supported; write parentheses without brackets")
	case inside.op != '|':
		return inside, nil
	}
	p.found.alternatives = inside.choices(nil)
	return Constraint{}, nil
}

// mixed says whether both operators are in the constraint.
func (c Constraint) mixed() bool {
	for _, part := range c.parts {
		if part.op != 0 && part.op != c.op || part.mixed() {
			return true
		}
	}
	return false
}

// choices are the parts of an expression of |.
func (c Constraint) choices(list []Constraint) []Constraint {
	if c.op != '|' {
		return append(list, c)
	}
	return c.parts[1].choices(c.parts[0].choices(list))
}

func (p *featureParser) unexpected(want string) error {
	if p.at >= len(p.text) {
		return fmt.Errorf("ends where %s is expected", want)
	}
	return fmt.Errorf("has %q at byte %d, where %s is expected", p.text[p.at], p.at+1, want)
}
