package main

import (
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

// goTool runs the go command in a directory and outside of any workspace, as make build does: what
// is compiled then is used again.
func goTool(t *testing.T, dir string, args ...string) {
	t.Helper()
	runGo(t, dir, "off", args...)
}

// runGo runs the go command in a directory, with a file go.work or "off".
func runGo(t *testing.T, dir, workspace string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOWORK="+workspace, "CGO_ENABLED=0")
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
	Cases  []struct{ Name, Result, Reason string }
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
			t.Errorf("%s: %s", one.Name, one.Reason)
		}
	}
	if code != 0 || c.Failed > 0 {
		t.Fatalf("exit code %d, %d of %d cases failed\n%s", code, c.Failed, len(c.Cases), errs)
	}
	return c
}

// What plugin new writes is a module that needs the SDK alone. It compiles, passes its own test and
// the suite of its kind, and takes part in a simulation.
//
// Each module is complete without the others. They are compiled in one workspace with this
// repository, whose packages are then the ones that make build has compiled; as a replacement in
// a plugin's module they would be compiled again.
func TestNewPlugins(t *testing.T) {
	t.Parallel()
	root, work := repository(t), t.TempDir()
	sim := map[string][]string{
		"policy": {"--policy", "--policy-config"}, "localsched": {"--localsched", "--localsched-config"}, "price": nil,
	}
	var modules []string
	for kind := range sim {
		dir := filepath.Join(work, kind)
		if code, _, errs := cli(t, "plugin", "new", kind, "mine-"+kind, "--dir", dir, "--source", root); code != 0 {
			t.Fatalf("exit code %d\n%s", code, errs)
		}
		goTool(t, dir, "mod", "tidy")
		needsTheSDKAlone(t, dir)
		modules = append(modules, dir)
	}
	goWork, bin := filepath.Join(work, "go.work"), filepath.Join(work, "bin")
	runGo(t, work, goWork, slices.Concat([]string{"work", "init", root}, modules)...)
	runGo(t, work, goWork, slices.Concat([]string{"vet"}, modules)...)
	runGo(t, work, goWork, slices.Concat([]string{"test"}, short(), modules)...)
	runGo(t, work, goWork, slices.Concat([]string{"build", "-ldflags", "-s -w", "-o", bin + "/"}, modules)...)
	for kind, flags := range sim {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			binary, config := filepath.Join(bin, "mine-"+kind), filepath.Join(work, kind, "mine-"+kind+".toml")
			if kind != "localsched" { // that takes a minute; TestCheckEngine does it
				if c := checkPlugin(t, binary, "--config", config); c.Kind != kind || len(c.Cases) < 5 {
					t.Errorf("checked %+v", c)
				}
			}
			if flags != nil {
				simulates(t, flags[0], binary, flags[1], config)
			}
		})
	}
}

// simulates checks that a plugin takes part in a simulation: it ends otherwise than with the
// built-in policies.
func simulates(t *testing.T, plugin ...string) {
	t.Helper()
	if scheduleHash(t, plugin...) == scheduleHash(t) {
		t.Errorf("the schedule with %v is that of the built-in policies", plugin)
	}
}

// needsTheSDKAlone: a plugin's module resolves by itself, and names nothing that only the daemon
// needs, not even for its tests (docs/decisions/0028). internal/archtest checks the packages.
func needsTheSDKAlone(t *testing.T, dir string) {
	t.Helper()
	goTool(t, dir, "list", "-deps", "-test", ".")
	all := content(t, filepath.Join(dir, "go.mod")) + content(t, filepath.Join(dir, "go.sum"))
	if !strings.Contains(all, "github.com/hashicorp/go-plugin") {
		t.Fatalf("the modules of the plugin are not known:\n%s", all)
	}
	for _, daemon := range []string{"nats-io", "memberlist", "bbolt", "prometheus", "cobra"} {
		if strings.Contains(all, daemon) {
			t.Errorf("a plugin needs %s:\n%s", daemon, all)
		}
	}
}

func TestPluginNewRefuses(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"lower case":                {"policy", "Bad Name", "--source", repository(t)},
		"policy, localsched, price": {"queue", "x", "--source", repository(t)},
		"requires a kind":           {"policy"},
		"use go or python":          {"policy", "x", "--language", "perl"},
		"use --language go":         {"price", "x", "--language", "python"},
		"--source is for":           {"policy", "x", "--language", "python", "--source", repository(t)},
	} {
		args = append([]string{"plugin", "new", "--dir", filepath.Join(t.TempDir(), "x")}, args...)
		if code, _, errs := cli(t, args...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%q: exit code %d, %s, want %q", args, code, errs, want)
		}
	}
}

// What plugin new writes in Python runs as it is written: it passes its own test and the suite of
// policies, takes part in a simulation, and reports a wrong configuration.
func TestNewPluginsInPython(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import grpc, google.protobuf, tomllib").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("missing: python3-grpcio and python3-protobuf: %v\n%s", err, out)
		}
		t.Skipf("missing: python3-grpcio and python3-protobuf: %v\n%s", err, out)
	}
	dir := filepath.Join(t.TempDir(), "mine")
	code, out, errs := cli(t, "plugin", "new", "policy", "mine", "--language", "python", "--dir", dir)
	if code != 0 || !strings.Contains(out, "plugin check --no-tls ./mine") {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	unit := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", "-m", "unittest")
	unit.Dir = dir
	if out, err := unit.CombinedOutput(); err != nil || !strings.Contains(string(out), "Ran 4 tests") {
		t.Errorf("its own tests: %v\n%s", err, out)
	}
	binary, config := filepath.Join(dir, "mine"), filepath.Join(dir, "mine.toml")
	if c := checkPlugin(t, "--no-tls", binary, "--config", config); c.Kind != "policy" || len(c.Cases) < 30 {
		t.Errorf("checked %+v", c)
	}
	simulates(t, "--no-tls", "--policy", binary, "--policy-config", config)
	wrong := tempFile(t, "wrong.toml", "# wrong\nwait_limits = \"1h\"\n")
	code, _, errs = cli(t, "plugin", "check", "--no-tls", binary, "--config", wrong)
	if code != 1 || !strings.Contains(errs, `wrong.toml:2: wait_limits: unknown key; did you mean "wait_limit"?`) {
		t.Errorf("a wrong configuration: exit code %d\n%s", code, errs)
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
	if got, want := scheduleHash(t, plugin...), scheduleHash(t, builtIn...); got != want {
		t.Errorf("the schedule with %v differs: %s, built in %s", plugin, got, want)
	}
}

// scheduleHash is the hash of all that happens in a simulation.
func scheduleHash(t *testing.T, flags ...string) string {
	t.Helper()
	code, out, errs := cli(t, append([]string{"sim", "run", "testdata/plugins.toml", "--json"}, flags...)...)
	var outcome struct {
		Hash string
		Jobs int
	}
	if err := json.Unmarshal([]byte(out), &outcome); code != 0 || err != nil || outcome.Jobs < 100 {
		t.Fatalf("sim run %v: exit code %d, %v, %d jobs\n%s", flags, code, err, outcome.Jobs, errs)
	}
	return outcome.Hash
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
