package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sitesOf are the arguments of a simulation of the demonstration's three sites.
func sitesOf(dir string, traces ...string) []string {
	args := []string{"run"}
	for _, name := range []string{"north", "south", "west"} {
		args = append(args, "--site", filepath.Join(dir, name+".toml"))
	}
	for _, trace := range traces {
		args = append(args, "--trace", trace+"="+filepath.Join("testdata", "sites", trace+".swf"))
	}
	return args
}

// TestSimRunOfSites: three sites' own configurations on traces, the same bytes each time, what
// is left out by its name.
func TestSimRunOfSites(t *testing.T) {
	t.Parallel()
	args := sitesOf(filepath.Join("testdata", "sites"), "north", "south", "west")
	first := simulate(t, args...)
	out := first.stdout
	if first.code != 0 {
		t.Fatalf("exit code %d: %s", first.code, first.stderr)
	}
	for _, want := range []string{"Experiment sites, seed 1: 3 sites, 90 jobs", "\nlocal ", "\nconfigured ", "Sites under scheme configured:"} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
	if !strings.Contains(first.stderr, "site west: not simulated, as they change no decision about the jobs of a trace: [nats], [gossip], [metrics]") {
		t.Errorf("said only %s", first.stderr)
	}
	if again := simulate(t, args...).stdout; again != out {
		t.Errorf("another time:\n%s\nand\n%s", out, again)
	}
}

// TestSimRunOfSitesRefuses what it cannot simulate, by the site and the key.
func TestSimRunOfSitesRefuses(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"cpus    = 4\n|":                                   "site north: localsched.cpus: is not set",
		"cpus    = 4\n|plugin = \"slurm\"\n":               `site north: localsched.plugin: "slurm" is not simulated`,
		"name = \"tc\"|name = \"own\"":                     `site north: policy.name: "own" is a plugin`,
		"[metrics]|[prices]\narea = \"x\"\nfeed = \"own\"": "prices.feed",
	} {
		dir := t.TempDir()
		for _, name := range []string{"north", "south", "west"} {
			text, err := os.ReadFile(filepath.Join("testdata", "sites", name+".toml"))
			if err != nil {
				t.Fatal(err)
			}
			changed := string(text)
			if name == "north" {
				from, to, _ := strings.Cut(change, "|")
				changed = strings.Replace(changed, from, to, 1)
				if strings.Contains(change, "slurm") {
					for _, line := range []string{"policy  = \"easy\"\n", "kill_grace = \"1s\"\n", "on_stop = \"end\"\n"} {
						changed = strings.Replace(changed, line, "", 1)
					}
				}
				if strings.Contains(change, "own") {
					changed += "[[plugin]]\nname = \"own\"\nkind = \"policy\"\npath = \"/bin/own\"\n"
				}
			}
			if err := os.WriteFile(filepath.Join(dir, name+".toml"), []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := simulate(t, sitesOf(dir, "north")...); got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit code %d, %s", change, got.code, got.stderr)
		}
	}
	for want, args := range map[string][]string{
		"--site and --trace require each other":  {"run", "--site", "testdata/sites/north.toml"},
		"replace the experiment":                 {"run", "heavy", "--trace", "x.swf"},
		`there is no site "east"`:                {"run", "--site", "testdata/sites/north.toml", "--trace", "east=x.swf"},
		"--scheme sender applies to experiments": {"run", "--site", "testdata/sites/north.toml", "--trace", "x.swf", "--scheme", "sender"},
		"site north comes twice":                 {"run", "--site", "testdata/sites/north.toml", "--site", "testdata/sites/north.toml", "--trace", "x.swf"},
		"policies come from the configurations":  {"run", "--site", "testdata/sites/north.toml", "--trace", "x.swf", "--policy", "tc"},
	} {
		if got := simulate(t, args...); got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: exit code %d, %s", args, got.code, got.stderr)
		}
	}
}
