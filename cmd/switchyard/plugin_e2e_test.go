package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The test binary is these plugins when its first argument says so.
const (
	moodyPlugin  = "moody-policy"
	enginePlugin = "engine-scheduler"
)

// servePlugin serves the plugin of the name; it returns if there is none.
func servePlugin(name string) {
	switch name {
	case moodyPlugin:
		sdk.Main(sdk.Policy[moodyConfig]{
			Name: "moody", Version: "1.0.0",
			Make: func(c moodyConfig, _ sdk.Host) (policy.Policy, error) { return moody{c.Mood}, nil },
		})
	case enginePlugin:
		sdk.Main(sdk.Scheduler[struct{}]{Name: "engine", Version: "1.0.0", Make: openEngine})
	case haltingPlugin:
		serveHalting()
	}
}

func openEngine(_ struct{}, host sdk.Host) (localsched.Scheduler, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return process.Open(process.Config{
		Dir: filepath.Join(host.StateDir, "spool"), Site: host.Site, Policy: engine.EASY(),
		Capacity: protocol.Capacity{CPUs: 2, Nodes: 1}, Shim: []string{self, daemon.ShimArgument},
	})
}

type moodyConfig struct {
	Mood string `toml:"mood"` // file that says how the policy feels
}

// moody is a policy that sends every job away, when it feels well.
type moody struct{ file string }

func (moody) Info() policy.Info {
	return policy.Info{Name: "moody", Initiations: []policy.Initiation{policy.Sender}}
}

func (m moody) Decide(_ context.Context, in policy.Snapshot) (decisions []policy.Decision, hint []byte, err error) {
	mood, err := os.ReadFile(m.file)
	if err != nil {
		return nil, nil, err
	}
	switch string(mood) {
	case "hang":
		select {}
	case "die":
		os.Exit(7)
	case "panic":
		panic("no reason")
	case "refuse":
		return nil, nil, errors.New("not today")
	case "rave":
		return []policy.Decision{{Job: 99, Site: -3, Wait: -1}}, bytes.Repeat([]byte("x"), 2*policy.MaxHint), nil
	}
	for j := range in.Jobs {
		for s := range in.Sites {
			if s != in.Self && in.AWT[in.At(j, s)] != protocol.Never {
				decisions = append(decisions, policy.Decision{Job: j, Site: s, Wait: in.AWT[in.At(j, s)], Reason: "away with it"})
				break
			}
		}
	}
	return decisions, nil, nil
}

// pluginTables are the tables of the test binary as a plugin.
func pluginTables(t *testing.T, kind, name, config string) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("[[plugin]]\nname = %q\nkind = %q\npath = %q\nargs = [%q]\nstart_timeout = \"2m\"\ncall_timeout = \"3s\"\n", name, kind, binary, name)
	if config != "" {
		text += fmt.Sprintf("config = %q\n", config)
	}
	return text
}

// pluginOf is how the site's only plugin is.
func pluginOf(t *testing.T, site *testbed.Site) api.Plugin {
	t.Helper()
	client := site.Client()
	defer client.Close()
	all, err := client.Plugins(patience(t))
	if err != nil || len(all) != 1 {
		t.Fatalf("plugins of %s: %+v, %v", site.Name, all, err)
	}
	return all[0]
}

// whenPlugin waits until the site's only plugin is as wanted.
func whenPlugin(t *testing.T, site *testbed.Site, wanted func(api.Plugin) bool) api.Plugin {
	t.Helper()
	for ctx := patience(t); ; time.Sleep(20 * time.Millisecond) {
		p := pluginOf(t, site)
		if wanted(p) {
			return p
		}
		if ctx.Err() != nil {
			t.Fatalf("the plugin never became as wanted: %+v", p)
		}
	}
}

func up(p api.Plugin) bool { return p.State == "up" }

const trivialScript = "#!/bin/sh\necho done\n"

// A policy that fails in any way harms no job: the fallback keeps it at home, and
// explain says why. When the policy is well again it decides again.
func TestPolicyPluginMayFail(t *testing.T) {
	mood := filepath.Join(t.TempDir(), "mood")
	setMood := func(text string) {
		if err := os.WriteFile(mood, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := tempFile(t, "moody.toml", fmt.Sprintf("mood = %q\n", mood))
	setMood("well")
	g := startGrid(t, testbed.Machine{
		Name: "aurora", CPUs: 2, Policy: moodyPlugin, More: pluginTables(t, "policy", moodyPlugin, config),
	}, testbed.Machine{Name: "borealis", CPUs: 2})
	here := g.Sites[0]
	runAt := func(where protocol.SiteName, why ...string) {
		t.Helper()
		id := g.submit(t, here, trivialScript)
		job := g.until(t, here, id, ended)
		story := g.at(t, here, "", "explain", id.String()).stdout
		unwrapped := strings.Join(strings.Fields(story), " ") // where lines break depends on the plugin's path
		if job.State != protocol.Completed || job.Site != where {
			t.Errorf("the job is %s at %s, want it at %s", display.State(job), job.Site, where)
		}
		for _, text := range why {
			if !strings.Contains(unwrapped, text) {
				t.Errorf("explain does not say %q:\n%s", text, story)
			}
		}
	}
	runAt("borealis", "away with it")
	for _, bad := range []struct{ mood, why string }{
		{"refuse", "not today"}, {"rave", "invalid response"}, {"panic", "no reason"}, {"hang", "no answer within"}, {"die", "fallback policy local decided"},
	} {
		setMood(bad.mood)
		runAt("aurora", "the policy failed", "plugin "+moodyPlugin, bad.why)
		setMood("well")
		whenPlugin(t, here, up)
		runAt("borealis", "away with it")
	}
	before := whenPlugin(t, here, up)
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	runAt("aurora", "the policy failed")
	after := whenPlugin(t, here, func(p api.Plugin) bool { return up(p) && p.PID != before.PID })
	if after.Restarts <= before.Restarts || !strings.Contains(after.Failure, "signal: killed") {
		t.Errorf("after a kill: %+v", after)
	}
	list := g.at(t, here, "", "plugin", "list").stdout
	if !strings.Contains(list, moodyPlugin) || !strings.Contains(list, " up ") {
		t.Errorf("plugin list:\n%s", list)
	}
	runAt("borealis", "away with it")
}

// A reload takes a new plugin up, and leaves nothing behind when that is wrong.
func TestReloadTakesPluginsUp(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 2}, testbed.Machine{Name: "borealis", CPUs: 2})
	here := g.Sites[0]
	config := tempFile(t, "moody.toml", "moood = 1\n")
	text, err := os.ReadFile(here.Config)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("[policy]\nname = \"tc\""), []byte("[policy]\nname = \""+moodyPlugin+"\""), 1)
	if err := os.WriteFile(here.Config, append(text, pluginTables(t, "policy", moodyPlugin, config)...), 0o600); err != nil {
		t.Fatal(err)
	}
	got := g.at(t, here, "", "reload")
	if got.code != 1 || !strings.Contains(got.stderr, "moody.toml:1: moood: unknown key") {
		t.Errorf("with a mistake: %+v", got)
	}
	if list := g.at(t, here, "", "plugin", "list", "--json").stdout; strings.Contains(list, moodyPlugin) {
		t.Errorf("the refused plugin is still there:\n%s", list)
	}
	fix := fmt.Sprintf("mood = %q\n", tempFile(t, "mood", "well"))
	if err := os.WriteFile(config, []byte(fix), 0o600); err != nil {
		t.Fatal(err)
	}
	if got = g.at(t, here, "", "reload"); got.code != 0 || !strings.Contains(got.stdout, "policy "+moodyPlugin) {
		t.Errorf("mended: %+v", got)
	}
	whenPlugin(t, here, up)
	if job := g.until(t, here, g.submit(t, here, trivialScript), ended); job.Site != "borealis" {
		t.Errorf("the new policy has the job at %s", job.Site)
	}
}

// A policy that is not there when its peer starts takes over when it comes.
func TestPolicyPluginMayComeLate(t *testing.T) {
	dir := t.TempDir()
	late := filepath.Join(dir, "late")
	testprogram.Write(t, late, "#!/bin/sh\nexit 3\n")
	config := tempFile(t, "moody.toml", fmt.Sprintf("mood = %q\n", tempFile(t, "mood", "well")))
	g := startGrid(t, testbed.Machine{
		Name: "aurora", CPUs: 2, Policy: "late",
		More: fmt.Sprintf("[[plugin]]\nname = \"late\"\nkind = \"policy\"\npath = %q\nargs = [%q]\nconfig = %q\n", late, moodyPlugin, config),
	}, testbed.Machine{Name: "borealis", CPUs: 2})
	here := g.Sites[0]
	job := g.until(t, here, g.submit(t, here, trivialScript), ended)
	if info := g.at(t, here, "", "sites").stdout; job.Site != "aurora" || !strings.Contains(info, "policy local") {
		t.Errorf("without its policy: at %s\n%s", job.Site, info)
	}
	if p := pluginOf(t, here); p.Failure == "" || !strings.Contains(p.Failure, "exit status 3") {
		t.Errorf("the plugin is %+v", p)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	testprogram.Write(t, late+".new", "#!/bin/sh\nexec "+binary+" \"$@\"\n")
	if err := os.Rename(late+".new", late); err != nil {
		t.Fatal(err)
	}
	whenPlugin(t, here, up)
	for ctx := patience(t); ; time.Sleep(20 * time.Millisecond) {
		job := g.until(t, here, g.submit(t, here, trivialScript), ended)
		if job.Site == "borealis" {
			return
		}
		if ctx.Err() != nil {
			t.Fatal("the policy that came never decides")
		}
	}
}

// While a local scheduler does not answer its site declines quotes and says why; its
// jobs run on, and their results come back.
func TestLocalSchedulerPluginMayFail(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{
		Name: "borealis", LocalSched: fmt.Sprintf("plugin = %q", enginePlugin),
		More: pluginTables(t, "localsched", enginePlugin, ""),
	})
	here, there := g.Sites[0], g.Sites[1]
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	signal := filepath.Join(g.work, "go")
	id := g.submit(t, here, fmt.Sprintf("#!/bin/sh\nwhile ! [ -e %s ]; do sleep 0.05; done\necho done\n", signal), "--sites=borealis")
	g.until(t, here, id, running)

	plugin := pluginOf(t, there)
	if err := syscall.Kill(plugin.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	quotes := g.at(t, here, trivialScript, "quote", "--ntasks=2").stdout
	if !strings.Contains(quotes, "no answer within") || !strings.Contains(quotes, "plugin "+enginePlugin) {
		t.Errorf("quotes while the plugin hangs:\n%s", quotes)
	}
	if err := syscall.Kill(plugin.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	whenPlugin(t, there, func(p api.Plugin) bool { return up(p) && p.PID != plugin.PID })
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	job := g.until(t, here, id, ended)
	if job.State != protocol.Completed || g.output(t, job) != "done\n" {
		t.Errorf("the job that ran meanwhile: %s, output %q", display.State(job), g.output(t, job))
	}
}

// A peer that is killed leaves no plugin behind.
func TestKilledPeerLeavesNoPlugin(t *testing.T) {
	g := startGrid(t, testbed.Machine{
		Name: "aurora", LocalSched: fmt.Sprintf("plugin = %q", enginePlugin),
		More: pluginTables(t, "localsched", enginePlugin, ""),
	})
	pid := whenPlugin(t, g.Sites[0], up).PID
	if err := g.Sites[0].Kill(); err != nil {
		t.Fatal(err)
	}
	for ctx := patience(t); alive(pid); time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("the plugin, process %d, outlives its peer", pid)
		}
	}
}

// alive says whether a process runs; what waits to be reaped does not.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	return len(fields) > 0 && !slices.Contains([]string{"Z", "X"}, fields[0])
}
