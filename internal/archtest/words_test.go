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
	"unicode"
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

// oldPackages lists the packages whose comments and identifiers still have private words. Entries are
// only removed.
var oldPackages = []string{}

// splitWords puts a space between the words of an identifier: a new one begins at a capital that follows
// a small letter, and at the last of several capitals if a small letter follows (JobID, HTTPServer).
func splitWords(name string) string {
	var words strings.Builder
	letters := []rune(name)
	for i, c := range letters {
		if i > 0 && unicode.IsUpper(c) &&
			(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			words.WriteByte(' ')
		}
		words.WriteRune(c)
	}
	return strings.ReplaceAll(words.String(), "_", " ")
}

// TestWords checks that no private word comes back in a page, in a string of the program, in an identifier
// of a test, or in the name of a Go file, a comment or an identifier of a package that oldPackages does not list.
func TestWords(t *testing.T) {
	t.Parallel()
	all := slices.Sorted(maps.Keys(privateWords))
	text := regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
	account := regexp.MustCompile("[\"`]nobody|account nobody|for root, nobody") // the user of Unix
	oldKey := regexp.MustCompile(`^"(?:cost\.licence|component\.behaviour|component\.licences)"$`)
	target := regexp.MustCompile(`\]\([^)]*\)`) // decisions keep their file names
	old := map[string]bool{}                    // the packages that have a private word in their code
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
		code := func(at token.Pos, what, s string) {
			word := text.FindString(s)
			if old[unit] = old[unit] || word != ""; word == "" || slices.Contains(oldPackages, unit) {
				return
			}
			t.Errorf("%s: %s has the private word %q; see privateWords for another",
				repository.positions.Position(at), what, word)
		}
		code(file.tree.Package, "the name of the file", strings.TrimSuffix(path.Base(file.path), ".go"))
		for _, group := range file.tree.Comments {
			for _, comment := range group.List {
				code(comment.Pos(), "a comment", comment.Text)
			}
		}
		ast.Inspect(file.tree, func(n ast.Node) bool {
			if n, ok := n.(*ast.BasicLit); ok && n.Kind == token.STRING {
				check(repository.positions.Position(n.Pos()).String(), n.Value)
			}
			return true
		})
		eachDeclaredName(file.tree, func(n *ast.Ident) { code(n.Pos(), n.Name, splitWords(n.Name)) })
	}
	for _, file := range repository.files {
		if file.test == nil || within(file.path, unchecked...) {
			continue
		}
		eachDeclaredName(file.test, func(n *ast.Ident) {
			if word := text.FindString(splitWords(n.Name)); word != "" {
				t.Errorf("%s: %s has the private word %q; see privateWords for another",
					repository.positions.Position(n.Pos()), n.Name, word)
			}
		})
	}
	for _, unit := range oldPackages {
		if !old[unit] {
			t.Errorf("oldPackages lists %s, which has no private word any more; take it out", unit)
		}
	}
}

// eachDeclaredName passes the identifiers of a file but for those after a dot, which are checked where they are declared.
func eachDeclaredName(file *ast.File, visit func(*ast.Ident)) {
	selected := map[*ast.Ident]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			selected[n.Sel] = true
		case *ast.Ident:
			if !selected[n] {
				visit(n)
			}
		}
		return true
	})
}

func TestSplitWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"toldOf": "told Of", "keysTold": "keys Told", "JobID": "Job ID", "HTTPTold": "HTTP Told", "folder_2": "folder 2",
		"candidate": "candidate", "inForce": "in Force",
	} {
		if got := splitWords(name); got != want {
			t.Errorf("splitWords(%q) = %q, want %q", name, got, want)
		}
	}
}
