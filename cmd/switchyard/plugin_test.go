package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository is the root of this checkout.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// goTool runs the go command in a folder, as make build does: what is compiled then is used
// again.
func goTool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// cli runs the command.
func cli(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	got := command(t, "", "", args...)
	return got.code, got.stdout, got.stderr
}

// builtInPlugin is a built-in policy, local scheduler or feed as a plugin of its own.
func builtInPlugin(t *testing.T, name string) string {
	t.Helper()
	if shared := os.Getenv("SWITCHYARD_TEST_BIN"); shared != "" {
		return filepath.Join(shared, name)
	}
	binary := filepath.Join(t.TempDir(), name)
	goTool(t, repository(t), "build", "-o", binary, "./plugins/standalone")
	return binary
}

// short is the flag of a short run, if this is one.
func short() []string {
	if testing.Short() {
		return []string{"-short"}
	}
	return nil
}

// checkPatience bounds what a case waits for. Nothing takes nearly as long, also beside
// all other tests.
const checkPatience = "2m"

// checked is what plugin check says.
type checked struct {
	Kind   string `json:"kind"`
	Failed int    `json:"failed"`
	Cases  []struct{ Name, Result, Why string }
}

// checkPlugin runs plugin check, in which every case must hold. Those that do not are
// said first and alone: a long log may be cut.
func checkPlugin(t *testing.T, args ...string) (c checked) {
	t.Helper()
	code, out, errs := cli(t, append([]string{"plugin", "check", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("exit code %d, %v\n%s\n%s", code, err, out, errs)
	}
	for _, one := range c.Cases {
		if one.Result == "failed" {
			t.Errorf("%s: %s", one.Name, one.Why)
		}
	}
	if code != 0 || c.Failed > 0 {
		t.Fatalf("exit code %d, %d of %d cases failed\n%s", code, c.Failed, len(c.Cases), errs)
	}
	return c
}

// What plugin new writes compiles, passes its own test and the suite of its kind, and
// takes part in a simulation.
func TestNewPlugins(t *testing.T) {
	t.Parallel()
	for kind, sim := range map[string][]string{
		"policy": {"--policy", "--policy-config"}, "localsched": {"--localsched", "--localsched-config"}, "price": nil,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "mine")
			if code, _, errs := cli(t, "plugin", "new", kind, "mine", "--dir", dir, "--source", repository(t)); code != 0 {
				t.Fatalf("exit code %d\n%s", code, errs)
			}
			goTool(t, dir, "mod", "tidy")
			goTool(t, dir, "vet", ".")
			goTool(t, dir, slices.Concat([]string{"test"}, short(), []string{"."})...)
			goTool(t, dir, "build", ".")
			pullsInTheSDKAlone(t, dir)
			binary, config := filepath.Join(dir, "mine"), filepath.Join(dir, "mine.toml")
			if kind != "localsched" { // that takes a minute; TestCheckEngine does it
				if c := checkPlugin(t, binary, "--config", config); c.Kind != kind || len(c.Cases) < 5 {
					t.Errorf("checked %+v", c)
				}
			}
			if sim == nil {
				return
			}
			code, out, errs := cli(t, "sim", "run", "light", "--scheme", "sender", "--json", sim[0], binary, sim[1], config)
			if code != 0 || !strings.Contains(out, `"jobs"`) {
				t.Errorf("sim run: exit code %d\n%s", code, errs)
			}
		})
	}
	if code, _, errs := cli(t, "plugin", "new", "policy", "Bad Name", "--source", repository(t)); code != 2 ||
		!strings.Contains(errs, "lower case") {
		t.Errorf("a bad name: exit code %d, %s", code, errs)
	}
	if code, _, errs := cli(t, "plugin", "new", "queue", "x", "--source", repository(t)); code != 2 ||
		!strings.Contains(errs, "policy, localsched, price") {
		t.Errorf("a bad kind: exit code %d, %s", code, errs)
	}
}

// pullsInTheSDKAlone: neither the module of a plugin nor its program has what only the daemon
// needs (docs/decisions/0028).
func pullsInTheSDKAlone(t *testing.T, dir string) {
	t.Helper()
	program, err := buildinfo.ReadFile(filepath.Join(dir, "mine"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, dep := range program.Deps {
		all.WriteString(dep.Path + "\n")
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		all.WriteString(content(t, filepath.Join(dir, name)))
	}
	if !strings.Contains(all.String(), "github.com/hashicorp/go-plugin") {
		t.Fatalf("the modules of the plugin are not known:\n%s", all.String())
	}
	for _, daemon := range []string{"nats-io", "memberlist", "bbolt", "prometheus", "cobra"} {
		if strings.Contains(all.String(), daemon) {
			t.Errorf("a plugin pulls in %s:\n%s", daemon, all.String())
		}
	}
}

// The built-in policy as a plugin of its own passes the suite, says what it is, and
// gives the schedule that it gives in this process.
func TestStandalonePolicy(t *testing.T) {
	t.Parallel()
	binary := builtInPlugin(t, "tc")
	if c := checkPlugin(t, binary); c.Kind != "policy" || len(c.Cases) < 10 {
		t.Errorf("checked %+v", c)
	}
	code, out, _ := cli(t, "plugin", "info", binary, "--json")
	if code != 0 || !strings.Contains(out, `"switchyard.policy.v1.Policy"`) {
		t.Errorf("info: exit code %d\n%s", code, out)
	}
	config := filepath.Join(t.TempDir(), "tc.toml")
	if err := os.WriteFile(config, []byte("epsilon = \"30s\"\nepsillon = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := cli(t, "plugin", "check", binary, "--config", config)
	if code != 1 || !strings.Contains(errs, "tc.toml:2: epsillon: unknown key") {
		t.Errorf("a wrong configuration: exit code %d\n%s", code, errs)
	}
	sameSchedule(t, []string{"--policy", binary})
	code, out, errs = cli(t, "sim", "replay", "../../peer/recording/testdata/handoff.rec", "--policy", binary)
	if code != 0 || !strings.Contains(out, "No differences; 1 round decided again") {
		t.Errorf("replay: exit code %d\n%s%s", code, out, errs)
	}
}

// The built-in engine as a plugin gives the schedules that it gives in this process.
func TestStandaloneEngine(t *testing.T) {
	t.Parallel()
	binary := builtInPlugin(t, "engine")
	policies := []string{"fcfsbf", "ff", "sjf"}
	if testing.Short() {
		policies = policies[:1]
	}
	for _, policy := range policies {
		config := filepath.Join(t.TempDir(), policy+".toml")
		if err := os.WriteFile(config, []byte("policy = \""+policy+"\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sameSchedule(t, []string{"--localsched", binary, "--localsched-config", config}, "--localsched", policy)
	}
}

// The stand-alone engine passes both suites of local schedulers, as a process.
func TestCheckEngine(t *testing.T) {
	t.Parallel()
	config := tempFile(t, "engine.toml", "cpus = 4\n")
	c := checkPlugin(t, builtInPlugin(t, "engine"), "--config", config, "--patience", checkPatience)
	if c.Kind != "localsched" || len(c.Cases) < 50 {
		t.Errorf("checked %+v", c)
	}
}

// sameSchedule compares the hashes of all that happened in two simulations.
func sameSchedule(t *testing.T, plugin []string, builtIn ...string) {
	t.Helper()
	run := func(args []string) (hash string) {
		code, out, errs := cli(t, append([]string{"sim", "run", "testdata/plugins.toml", "--json"}, args...)...)
		var outcome struct {
			Hash string
			Jobs int
		}
		if err := json.Unmarshal([]byte(out), &outcome); code != 0 || err != nil || outcome.Jobs < 100 {
			t.Fatalf("sim run %v: exit code %d, %v, %d jobs\n%s", args, code, err, outcome.Jobs, errs)
		}
		return outcome.Hash
	}
	if got, want := run(plugin), run(builtIn); got != want {
		t.Errorf("the schedule with %v differs: %s, built in %s", plugin, got, want)
	}
}

// config check finds plugins that cannot be started.
func TestConfigCheckLooksAtPlugins(t *testing.T) {
	t.Parallel()
	config := tempFile(t, "site.toml", "[site]\nname = \"north\"\nnumber = 1\n[policy]\nname = \"mine\"\n"+
		"[[plugin]]\nname = \"mine\"\nkind = \"policy\"\npath = \"gone\"\n")
	code, _, errs := cli(t, "config", "check", "--config", config)
	if code != 1 || !strings.Contains(errs, "[[plugin]] mine: ") || !strings.Contains(errs, "no such file") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}
