package papers_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/papers"
)

// root is the repository's.
var root = filepath.Join("..", "..", "..")

// reproduction is the page.
func reproduction(t *testing.T) (page *papers.Page, text string) {
	t.Helper()
	read, err := os.ReadFile(filepath.Join(root, "docs", "reproduction.md"))
	if err != nil {
		t.Fatal(err)
	}
	page, err = papers.ReadPage(string(read))
	if err != nil {
		t.Fatalf("docs/reproduction.md: %v", err)
	}
	return page, string(read)
}

func TestReproductionHasEveryExhibitOnce(t *testing.T) {
	t.Parallel()
	page, text := reproduction(t)
	if page.Text() != text {
		t.Error("what is read is not what is written")
	}
	count := map[string]int{}
	for _, b := range page.Blocks() {
		count[b.Exhibit]++
		if (b.Text == "") != (b.Commit == "") {
			t.Errorf("%s has a commit without a text, or a text without a commit; make it again with make reproduce", b.Exhibit)
		}
	}
	for _, e := range papers.Exhibits() {
		if count[e.Name] != 1 {
			t.Errorf("docs/reproduction.md has %d blocks of %s, want one: <!-- sim reproduce %s -->", count[e.Name], e.Name, e.Name)
		}
	}
	for _, c := range papers.Claims() {
		if !strings.Contains(text, "<!-- claims "+c.Paper+" -->") {
			t.Errorf("docs/reproduction.md has no block of the claims of %s", c.Paper)
		}
	}
	for _, found := range regexp.MustCompile(`\((figures/[^)]*)\)`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join(root, "docs", filepath.FromSlash(found[1]))); err != nil {
			t.Error(err)
		}
	}
}

// The claims and the source follow from the exhibits on the page.
func TestReproductionClaimsFollowFromItsTables(t *testing.T) {
	t.Parallel()
	page, text := reproduction(t)
	if err := page.Refresh(); err != nil {
		t.Fatal(err)
	}
	if page.Text() != text {
		t.Error("the claims or the source on docs/reproduction.md are not those of its tables; make one exhibit again with make reproduce NAMES=is-fig1")
	}
}

// quick are exhibits that take a second or two of CPU time, and need no logs.
var quick = []string{"bg-fig1", "bg-fig5", "is-fig1", "is-fig2", "is-fig3", "is-gamma", "is-cost"}

func TestReproductionHasWhatQuickExhibitsPrint(t *testing.T) {
	t.Parallel()
	page, _ := reproduction(t)
	for _, b := range page.Blocks() {
		if !slices.Contains(quick, b.Exhibit) || b.Text == "" {
			continue
		}
		t.Run(b.Exhibit, func(t *testing.T) {
			t.Parallel()
			if got := made(t, b); got != b.Text {
				t.Errorf("docs/reproduction.md has of %s\n%s\nnow it is\n%s", b.Exhibit, b.Text, got)
			}
		})
	}
}

// made is the text of a block, made again.
func made(t *testing.T, b papers.Block) string {
	t.Helper()
	one, err := papers.ReadPage("<!-- sim reproduce " + strings.Join(append([]string{b.Exhibit}, b.Flags...), " ") + " -->\n<!-- end -->\n")
	if err != nil {
		t.Fatal(err)
	}
	where := reproduce.Size{Data: filepath.Join(root, "..", "shared", "data"), Machines: filepath.Join(root, "examples", "iss")}
	if err = one.Make(t.Context(), where, nil, "0123456789ab", unseen, func([]report.Figure) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return one.Blocks()[0].Text
}

// unseen is a progress that nobody looks at.
func unseen() (step func(done, of int), end func()) { return func(int, int) {}, func() {} }

// What is on the page was made by commits that led to this one.
func TestReproductionNamesCommits(t *testing.T) {
	t.Parallel()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	shallow, err := git("rev-parse", "--is-shallow-repository")
	if errors.Is(err, exec.ErrNotFound) || err != nil {
		t.Skipf("git does not know this checkout: %v", err)
	}
	if shallow == "true" {
		t.Skip("a shallow checkout does not have the commits")
	}
	page, _ := reproduction(t)
	seen := map[string]bool{}
	for _, b := range page.Blocks() {
		if b.Commit == "" || seen[b.Commit] {
			continue
		}
		seen[b.Commit] = true
		if _, err := git("merge-base", "--is-ancestor", b.Commit, "HEAD"); err != nil {
			t.Errorf("%s was made by %s, which did not lead to this commit: %v", b.Exhibit, b.Commit, err)
		}
	}
}

// What was made goes into the page as it is by then: prose that was edited meanwhile stays.
func TestCarry(t *testing.T) {
	t.Parallel()
	const block = "<!-- sim reproduce is-fig1%s -->\n%s<!-- end -->\n"
	read := func(text string) *papers.Page {
		page, err := papers.ReadPage(text)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	made := read("Old.\n" + fmt.Sprintf(block, " @0123456789ab", "table\n"))
	now := read("New.\n" + fmt.Sprintf(block, " @aaaaaaaaaaaa", "older\n"))
	if err := made.Carry(now, "0123456789ab"); err != nil || now.Text() != "New.\n"+fmt.Sprintf(block, " @0123456789ab", "table\n") {
		t.Errorf("%v:\n%s", err, now.Text())
	}
	if err := made.Carry(read("New.\n"), "0123456789ab"); err == nil || !strings.Contains(err.Error(), "no block of is-fig1 any more") {
		t.Error(err)
	}
}

func TestCheckCommit(t *testing.T) {
	t.Parallel()
	for commit, good := range map[string]bool{"0123456789ab": true, "unknown": false, "0123456789ab-dirty": false, "": false} {
		if err := papers.CheckCommit(commit); (err == nil) != good {
			t.Errorf("%q: %v", commit, err)
		}
	}
}

func TestReadPageSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const end = "<!-- end -->\n"
	for _, c := range []struct{ text, want string }{
		{"prose\n\n<!-- sim reproduce fig99 -->\n" + end, `line 3: no exhibit is called "fig99"`},
		{"<!-- sim reproduce is-fig1 --stars 1 -->\n" + end, "line 1: is-fig1: flag provided but not defined: -stars"},
		{"<!-- sim reproduce is-fig1 stars -->\n" + end, `line 1: is-fig1: "stars" is no flag`},
		{"<!-- sim reproduce fig5 --seeds 0 -->\n" + end, "line 1: seeds: 0"},
		{"<!-- sim reproduce fig5 -->\n", "line 1: the block has no end"},
		{"<!-- sim reproduce fig5 -->\n<!-- source -->\n", "line 2: a block begins in that of line 1"},
		{"<!-- sim reproduce fig5 -->\n" + end + "<!-- sim reproduce fig5 --seeds 1 -->\n" + end, "line 3: a second block of sim reproduce fig5"},
		{"<!-- claims [XY] -->\n" + end, `line 1: "[XY]" is no paper`},
		{"<!-- simreproduce fig5 -->\n" + end, "line 1: \"<!-- simreproduce fig5 -->\" is no marker"},
	} {
		if _, err := papers.ReadPage(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// A page keeps its prose, and what is made twice by one commit is the same.
func TestMakePage(t *testing.T) {
	t.Parallel()
	const text = "# Title\n\n<!-- source -->\n<!-- end -->\n\nBefore.\n\n<!-- sim reproduce is-fig1 --seeds 2 -->\nold\n<!-- end -->\n\n![k_e](figures/is-fig1-day-1.svg)\n\n" +
		"<!-- sim reproduce is-gamma -->\n<!-- end -->\n<!-- claims [IS] -->\n<!-- end -->\n"
	where := reproduce.Size{Machines: filepath.Join(root, "examples", "iss")}
	var texts [2]string
	for i := range texts {
		page, err := papers.ReadPage(text)
		if err != nil {
			t.Fatal(err)
		}
		var figures []string
		if err = page.Make(t.Context(), where, []string{"is-fig1"}, "0123456789ab", unseen, func(made []report.Figure) error {
			for i := range made {
				figures = append(figures, made[i].Name)
			}
			return nil
		}); err != nil || !slices.Equal(figures, []string{"is-fig1-day-1"}) {
			t.Errorf("figures %q, %v", figures, err)
		}
		if err = page.Refresh(); err == nil || !strings.Contains(err.Error(), "no exhibit is called is-fig2") {
			t.Errorf("%v: claims on exhibits that the page has not", err)
		}
		texts[i] = page.Text()
	}
	if texts[0] != texts[1] {
		t.Error("two pages differ")
	}
	for _, want := range []string{
		"Before.\n", "<!-- sim reproduce is-fig1 --seeds 2 @0123456789ab -->\n## is-fig1: ", "Commit 0123456789ab made them.", "Not made: is-gamma.", "<!-- sim reproduce is-gamma -->\n<!-- end -->\n",
	} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("no %q in\n%s", want, texts[0])
		}
	}
	if strings.Contains(texts[0], "old") {
		t.Error("the old text is still there")
	}
	page, err := papers.ReadPage(text)
	if err != nil {
		t.Fatal(err)
	}
	if err = page.Make(t.Context(), where, []string{"fig5"}, "0123456789ab", unseen, nil); err == nil || !strings.Contains(err.Error(), "the page has no block of fig5") {
		t.Error(err)
	}
}
