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
	folder := filepath.Join(dir, "prices", "xsede-2014-06")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, area := range []string{"Indiana", "Louisiana", "Pittsburgh", "San_Diego", "Tennessee", "Texas"} {
		text := "\"price\"\n" + strings.Repeat(fmt.Sprintf("%d\n", 30+i), 240)
		if err := os.WriteFile(filepath.Join(folder, area+".csv"), []byte(text), 0o600); err != nil {
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

func TestSimReproduceLists(t *testing.T) {
	t.Parallel()
	r := again(t, "--list")
	if r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	for _, e := range reproduce.Exhibits() {
		if !strings.Contains(r.stdout, e.Name) || !strings.Contains(r.stdout, e.Title) {
			t.Errorf("%s is not in\n%s", e.Name, r.stdout)
		}
	}
	r = again(t, "--list", "--json")
	var all []reproduce.Exhibit
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil || len(all) != len(reproduce.Exhibits()) {
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
		"no such table": {[]string{"table99"}, exitUsage, `nothing is called "table99"`},
		"no seeds":      {[]string{"fig5", "--seeds", "0"}, exitUsage, "seeds: 0"},
		"no such waits": {[]string{"fig5", "--waits", "stars"}, exitUsage, `waits: "stars" is none of plan`},
		"no such order": {[]string{"fig5", "--forecast", "tea"}, exitUsage, `no forecaster is called "tea"`},
		"missing data":  {[]string{"fig5", "--data", dir, "--jobs", "200"}, exitNotFound, filepath.Join("xsede-2014-06", "Texas.csv")},
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
