package archtest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The marks around the walks in docs/architecture.md.
const (
	walksStart = "<!-- walks -->"
	walksEnd   = "<!-- /walks -->"
)

var (
	// step is one of a walk: a room, the functions in it that are passed, and what they do.
	step = regexp.MustCompile("^\\* `([^`]+)`: ((?:`[^`]+`, )*`[^`]+`)\\. ")
	// change is a change of what walks from one form into another, by its number.
	change = regexp.MustCompile(`(?:\(|; )(\d+): `)
	// changes is how many of them a walk says that it has.
	changes = regexp.MustCompile(`changes its form (\d+) times`)
)

// CheckWalks compares the walks in a markdown page with the code: each step names a room and
// functions, as f or T.f, that are there, and a walk has as many changes of form as it says. It
// returns what differs, in the order of the page.
func CheckWalks(m *Module, page string) ([]string, error) {
	_, rest, ok := strings.Cut(page, walksStart)
	text, _, closed := strings.Cut(rest, walksEnd)
	if !ok || !closed {
		return nil, errors.New("the page has no walks between " + walksStart + " and " + walksEnd)
	}
	walks := strings.Split(text, "\n### ")[1:]
	if len(walks) == 0 {
		return nil, errors.New("there is no walk; each begins with a heading ###")
	}
	var found []string
	for _, walk := range walks {
		title, body, _ := strings.Cut(walk, "\n")
		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "* ") {
				found = append(found, m.checkStep(title, line)...)
			}
		}
		found = append(found, checkChanges(title, body)...)
	}
	return found, nil
}

func (m *Module) checkStep(walk, line string) (found []string) {
	parts := step.FindStringSubmatch(line)
	if parts == nil {
		return []string{fmt.Sprintf("%s: %.60q is no step: it must begin as * `room`: `f`, `T.g`. ", walk, line)}
	}
	room := parts[1]
	i := slices.IndexFunc(m.Packages, func(p *Package) bool { return p.Folder == room })
	if i < 0 {
		return []string{fmt.Sprintf("%s: there is no room %s", walk, room)}
	}
	for name := range strings.SplitSeq(parts[2], ", ") {
		if name = strings.Trim(name, "`"); !slices.Contains(m.Packages[i].Functions, name) {
			found = append(found, fmt.Sprintf("%s: %s has no function %s", walk, room, name))
		}
	}
	return found
}

// checkChanges says what is wrong with the numbers of a walk's changes.
func checkChanges(walk, body string) []string {
	numbers := change.FindAllStringSubmatch(body, -1)
	for i, number := range numbers {
		if number[1] != strconv.Itoa(i+1) {
			return []string{fmt.Sprintf("%s: change %d of the form has the number %s", walk, i+1, number[1])}
		}
	}
	said := changes.FindStringSubmatch(body)
	switch {
	case said == nil:
		return []string{walk + ": it does not say how often what walks changes its form"}
	case said[1] != strconv.Itoa(len(numbers)):
		return []string{fmt.Sprintf("%s: it changes its form %d times, and says %s", walk, len(numbers), said[1])}
	}
	return nil
}
