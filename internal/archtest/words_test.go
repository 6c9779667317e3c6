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

// cleanComments lists the packages whose comments have no private words either. Entries are only added.
var cleanComments = []string{
	"cmd/switchyard-shim",
	"examples/plugins/cheapest",
	"examples/plugins/corrected",
	"examples/plugins/widest",
	"internal/application",
	"internal/benchratio",
	"internal/budget",
	"internal/console",
	"internal/cost",
	"internal/decimal",
	"internal/experiment",
	"internal/fileguard",
	"internal/int128",
	"internal/localdisk",
	"internal/malformed",
	"internal/metrics",
	"internal/nodebench",
	"internal/oldnames",
	"internal/parallel",
	"internal/predict/forecast",
	"internal/predict/sarima",
	"internal/predict/wait/dbscan",
	"internal/priceforecast",
	"internal/reproduce/bluegene",
	"internal/reproduce/papers",
	"internal/schedule",
	"internal/sparse",
	"internal/testbed",
	"internal/testprogram",
	"internal/tokens",
	"internal/wallclock",
	"localsched",
	"localsched/cgroup",
	"localsched/changefeed",
	"localsched/driver",
	"localsched/live",
	"localsched/partition",
	"localsched/power",
	"localsched/powergate",
	"localsched/slurm",
	"localsched/spool",
	"localsched/virtual",
	"localsched/waitpredict",
	"peer/accounts",
	"peer/admission",
	"peer/answers",
	"peer/bus",
	"peer/compact",
	"peer/connlimit",
	"peer/daemon/localqueue",
	"peer/daemon/pricefeed",
	"peer/due",
	"peer/eligible",
	"peer/event",
	"peer/gossip",
	"peer/gridqueue",
	"peer/handoff",
	"peer/hosting",
	"peer/identity",
	"peer/intake",
	"peer/ledger",
	"peer/lineup",
	"peer/localrun",
	"peer/node",
	"peer/phase",
	"peer/quoting",
	"peer/rounds",
	"peer/row",
	"peer/statedir",
	"peer/step",
	"peer/store",
	"peer/tables",
	"plugins/conformance",
	"plugins/pluginhost",
	"plugins/policy",
	"plugins/policy/builtin",
	"plugins/policy/local",
	"plugins/policy/random",
	"plugins/policy/stable",
	"plugins/policy/tc",
	"plugins/price",
	"plugins/price/contract",
	"plugins/price/feeds",
	"plugins/price/filefeed",
	"plugins/price/priceformat",
	"plugins/pricetest",
	"plugins/sdk",
	"plugins/sdk/python",
	"plugins/skeleton",
	"plugins/standalone",
	"plugins/suite",
	"protocol/common/v1",
	"protocol/peer/v1",
	"protocol/policy/v1",
	"protocol/price/v1",
	"protocol/protocoltest",
	"protocol/wire",
}

// TestWords checks that no private word comes back in a page, in a string of the program, or in a comment
// of the packages of cleanComments.
func TestWords(t *testing.T) {
	t.Parallel()
	all := slices.Sorted(maps.Keys(privateWords))
	text := regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
	account := regexp.MustCompile("[\"`]nobody|account nobody|for root, nobody") // the user of Unix
	oldKey := regexp.MustCompile(`^"(?:cost\.licence|component\.behaviour|component\.licences)"$`)
	target := regexp.MustCompile(`\]\([^)]*\)`) // decisions keep their file names
	commented := map[string]bool{}
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
		if unit := path.Dir(file.path); slices.Contains(cleanComments, unit) {
			commented[unit] = true
			for _, group := range file.tree.Comments {
				for _, comment := range group.List {
					if word := text.FindString(comment.Text); word != "" {
						t.Errorf("%s: a comment has the private word %q; see privateWords for another",
							repository.positions.Position(comment.Pos()), word)
					}
				}
			}
		}
		ast.Inspect(file.tree, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				check(repository.positions.Position(lit.Pos()).String(), lit.Value)
			}
			return true
		})
	}
	for _, unit := range cleanComments {
		if !commented[unit] {
			t.Errorf("cleanComments lists %s, which is no package any more", unit)
		}
	}
}
