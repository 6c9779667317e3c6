package archtest_test

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// privateWords are words that only this project used in their sense, and what replaces them.
var privateWords = map[string]string{
	`told`:               "reported, stated, returned",
	`foreseen|foresees?`: "predicted",
	`learnt`:             "measured; run history",
	`folders?`:           "directory",
	`shun(?:s|ned)?`:     "exclude",
	`appetite`:           "power demand",
	`reckon(?:s|ed)?`:    "calculate",
	`likewise`:           "also",
	`anew`:               "again",
	`licences?`:          "license",
	`utilisation`:        "utilization",
	`behaviours?`:        "behavior",
	`wish(?:es)?`:        "option, objective, limit",
	`nobody`:             "no user, no partner",
	`everybody`:          "all users, all partners",
	`dear(?:er|est)?`:    "expensive, on-peak",
	`in its stead`:       "the fallback policy",
	`makes no sense`:     "invalid, unexpected",
	`is there twice`:     "duplicate",
	`foresight`:          "prediction",
	`rav(?:e[ds]?|ing)`:  "invalid output",
	`bury|buried`:        "tombstone",
	`rumours?`:           "gossip",
	`hungr(?:y|iest)`:    "power demand",
	`own users?`:         "local user",
	`in force`:           "active, current",
	`mend(?:s|ed)?`:      "fix",
	`odd`:                "unexpected, invalid",
	`by chance`:          "random, sampled",
	`of before`:          "previous, earlier",
	`so many`:            "the number of",
	`the usual`:          "the default",
	`everyone`:           "all users, all partners",
	`centres?`:           "center",
}

// oldComments lists the packages whose comments still have private words. Entries are only removed.
var oldComments = []string{
	"cmd/switchyard",
	"internal/appassign",
	"internal/predict/wait",
	"internal/reproduce",
	"internal/sim",
	"peer",
	"peer/lives",
	"peer/witness",
}

// TestWords checks that no private word comes back in a page, in a string of the program, or in a comment
// of a package that oldComments does not list.
func TestWords(t *testing.T) {
	t.Parallel()
	all := slices.Sorted(maps.Keys(privateWords))
	text := regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
	account := regexp.MustCompile("[\"`]nobody|account nobody|for root, nobody") // the user of Unix
	oldKey := regexp.MustCompile(`^"(?:cost\.licence|component\.behaviour|component\.licences)"$`)
	target := regexp.MustCompile(`\]\([^)]*\)`) // decisions keep their file names
	old := map[string]bool{}                    // the packages that have a private word in a comment
	check := func(place, s string) {
		for _, at := range text.FindAllStringIndex(s, -1) {
			word := s[at[0]:at[1]]
			if word == "nobody" && account.MatchString(s) || oldKey.MatchString(s) {
				continue
			}
			t.Errorf("%s has the private word %q; see privateWords for another", place, word)
		}
	}
	repository := repositoryTexts(t)
	unchecked := []string{"testdata", "decisions", "archtest"}
	for _, page := range repository.pages {
		if within(page.path, unchecked...) || path.Base(page.path) == "CHANGELOG.md" {
			continue
		}
		for i, line := range page.lines {
			place := root + "/" + page.path + ":" + strconv.Itoa(i+1)
			check(place, target.ReplaceAllString(line, "]"))
		}
	}
	for _, file := range repository.files {
		if file.tree == nil || within(file.path, unchecked...) || strings.HasSuffix(file.path, ".pb.go") {
			continue
		}
		unit := path.Dir(file.path)
		for _, group := range file.tree.Comments {
			for _, comment := range group.List {
				word := text.FindString(comment.Text)
				if old[unit] = old[unit] || word != ""; word == "" || slices.Contains(oldComments, unit) {
					continue
				}
				t.Errorf("%s: a comment has the private word %q; see privateWords for another",
					repository.positions.Position(comment.Pos()), word)
			}
		}
		ast.Inspect(file.tree, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				check(repository.positions.Position(lit.Pos()).String(), lit.Value)
			}
			return true
		})
	}
	for _, unit := range oldComments {
		if !old[unit] {
			t.Errorf("oldComments lists %s, whose comments have no private word any more; take it out", unit)
		}
	}
}
