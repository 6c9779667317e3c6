package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/papers"
)

// again runs sim reproduce.
func again(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{stdout: &stdout, stderr: &stderr}
	cmd := a.simReproduceCommand()
	cmd.RunE = a.simulating(cmd.RunE)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	code := a.exitCode(cmd.ExecuteContext(t.Context()))
	return result{code, stdout.String(), stderr.String()}
}

// flatPrices is a folder with the prices of XSEDE for ten days, the same all the time.
func flatPrices(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	directory := filepath.Join(dir, "prices", "xsede-2014-06")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, area := range []string{"Indiana", "Louisiana", "Pittsburgh", "San_Diego", "Tennessee", "Texas"} {
		text := "\"price\"\n" + strings.Repeat(fmt.Sprintf("%d\n", 30+i), 240)
		if err := os.WriteFile(filepath.Join(directory, area+".csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSimReproducePrints(t *testing.T) {
	t.Parallel()
	args := []string{"fig5", "table6", "--data", flatPrices(t), "--jobs", "200", "--seeds", "2", "--waits", "plan"}
	markdown := again(t, args...)
	if markdown.code != 0 || markdown.stderr != "" {
		t.Fatalf("exit %d: %s", markdown.code, markdown.stderr)
	}
	for _, want := range []string{"## fig5: ", "## table6: ", "| CPU hours |", "| small, < 512 |", "Means of 2 seeds", "Waits: plan"} {
		if !strings.Contains(markdown.stdout, want) {
			t.Errorf("no %q in\n%s", want, markdown.stdout)
		}
	}
	plain := again(t, append(args, "--plain")...)
	if plain.code != 0 || strings.Contains(plain.stdout, "|") || !strings.Contains(plain.stdout, "small, < 512  ") {
		t.Errorf("exit %d, plain:\n%s", plain.code, plain.stdout)
	}
	asJSON := again(t, append(args, "--json")...)
	var reports []reproduce.Report
	if err := json.Unmarshal([]byte(asJSON.stdout), &reports); err != nil {
		t.Fatal(err)
	}
	if len(reports) != 2 || len(reports[0].Tables[0].Rows[0].Cells[0].Ours.Values) != 2 {
		t.Errorf("%d reports: %s", len(reports), asJSON.stdout)
	}
}

// The exhibits of two papers in one call, and the page with both.
func TestSimReproduceDrawsAPage(t *testing.T) {
	t.Parallel()
	path, dir := filepath.Join(t.TempDir(), "page.html"), filepath.Join(t.TempDir(), "figures")
	r := again(t, "bg-fig5", "fig5", "--data", flatPrices(t), "--seeds", "1", "--waits", "plan", "--jobs", "200", "--html", path, "--out", dir)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fig5: ", "bg-fig5: ", "utilization, PB-50", "switchyard sim reproduce bg-fig5 fig5 --jobs 200 --seeds 1 --waits plan"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if !strings.Contains(r.stdout, "## fig5: ") || !strings.Contains(r.stdout, "## bg-fig5: ") {
		t.Errorf("one is not printed:\n%s", r.stdout)
	}
	if figures, _ := filepath.Glob(filepath.Join(dir, "bg-fig5-*.svg")); len(figures) != 2 {
		t.Errorf("the folder has the figures %q, want two of bg-fig5", figures)
	}
	whole := again(t, "bg-fig5", "--seeds", "1", "--html", "-")
	if whole.code != 0 || !strings.HasPrefix(whole.stdout, "<!DOCTYPE html>") || strings.Contains(whole.stdout, "## bg-fig5") {
		t.Errorf("exit %d: %.200s", whole.code, whole.stdout)
	}
}

func TestSimReproduceLists(t *testing.T) {
	t.Parallel()
	r := again(t, "--list")
	if r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	exhibits := papers.Exhibits()
	for _, e := range exhibits {
		if !strings.Contains(r.stdout, e.Name) || !strings.Contains(r.stdout, e.Title) {
			t.Errorf("%s is not in\n%s", e.Name, r.stdout)
		}
	}
	r = again(t, "--list", "--json")
	var all []reproduce.Exhibit
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil || len(all) != len(exhibits) {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

func TestSimReproduceSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := flatPrices(t)
	if err := os.Remove(filepath.Join(dir, "prices", "xsede-2014-06", "Texas.csv")); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"a page and a size":    {[]string{"--page", "docs/reproduction.md", "--seeds", "1"}, exitUsage, "sizes stand in the markers of the page"},
		"a page and no commit": {[]string{"--page", "docs/reproduction.md"}, exitUsage, "build the program with make build"},
		"no such table":        {[]string{"table99"}, exitUsage, `nothing is called "table99"`},
		"nor figure":           {[]string{"bg-fig2", "bg-fig9"}, exitUsage, `nothing is called "bg-fig9"; choose from`},
		"no seeds here":        {[]string{"bg-fig2", "--seeds", "0"}, exitUsage, "seeds: 0"},
		"no such log":          {[]string{"bg-real", "--data", dir}, exitNotFound, "ANL-Intrepid-2009-1"},
		"no folder":            {[]string{"bg-fig5", "--html", filepath.Join(dir, "none", "x.html")}, exitFailed, "--html"},
		"no seeds":             {[]string{"fig5", "--seeds", "0"}, exitUsage, "seeds: 0"},
		"no such waits":        {[]string{"fig5", "--waits", "stars"}, exitUsage, `waits: "stars" is none of plan`},
		"no such order":        {[]string{"fig5", "--forecast", "tea"}, exitUsage, `no forecaster is called "tea"`},
		"missing data":         {[]string{"fig5", "--data", dir, "--jobs", "200"}, exitNotFound, filepath.Join("xsede-2014-06", "Texas.csv")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := again(t, test.args...)
			if r.code != test.code || !strings.Contains(r.stderr, test.want) {
				t.Errorf("exit %d, want %d: %s, want %q", r.code, test.code, r.stderr, test.want)
			}
		})
	}
}
