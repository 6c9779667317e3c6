package plugins_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// another is a policy of another author over the same SDK.
const another = `#!/usr/bin/python3 -B
import logging

import switchyard_plugin as switchyard


class First(switchyard.Policy):
    initiations = ("sender",)
    skips_round_below_threshold = True
    energy_pricing = "now"
    marginal_jobs = 3

    def __init__(self, limit, host):
        if limit == 13:
            raise ValueError("13 brings bad luck")
        self.limit = limit
        logging.getLogger(__name__).warning("made", extra={"site": host.site, "seed": host.seed, "software": host.software})

    def params(self):
        return {"limit_ms": str(self.limit)}

    def decide(self, snapshot):
        print("this is no handshake")
        if snapshot.awt[0] > self.limit:
            raise ValueError("too long a wait")
        if snapshot.awt[0] == 7:
            return [switchyard.Decision(job=0, site=None, wait=0, reason="later")], b"kept"
        return [switchyard.Decision(job=0, site=0, wait=snapshot.awt[0], reason="é" * 300)], b""


def read(config):
    if config.boolean("odd", False):
        config.warn("odd", "is odd")
    config.integer("count", 1, 0, 9)
    config.string("text", "none")
    return config.duration("limit", switchyard.HOUR)


switchyard.serve(First, read=read, name="first", version="1.0.0", about="the first job at the first site")
`

// TestPythonSDK: the SDK serves any policy, says what it can, tells what it raises, keeps the
// protocol from what it prints, and cuts reasons between two characters.
func TestPythonSDK(t *testing.T) {
	t.Parallel()
	needsPython(t)
	plugin := pythonPlugin(t, "first.py", another).open(t, "")
	want := policy.Description{
		Name: "first", Initiations: []policy.Initiation{policy.Sender}, Params: []policy.Param{{Name: "limit_ms", Value: "3600000"}},
		Can: []policy.Capability{policy.SkipRoundBelowThreshold}, EnergyPricing: protocol.AtOnce, MarginalJobs: 3,
	}
	if got := policy.Describe(plugin.Policy()); !reflect.DeepEqual(got, want) {
		t.Errorf("it is described as %+v, want %+v", got, want)
	}
	for _, round := range []struct {
		awt  protocol.Duration
		want policy.Decision
		hint string
		err  string
	}{
		{awt: 5, want: policy.Decision{Wait: 5, Reason: strings.Repeat("é", 256)}},
		{awt: 2 * protocol.Hour, err: "ValueError: too long a wait"},
		{awt: 7, want: policy.Decision{Site: policy.NoSite, Reason: "later"}, hint: "kept"},
	} {
		got, hint, err := plugin.Policy().Decide(t.Context(), policy.Snapshot{
			Sites: []policy.Site{{Name: "a", CPUs: 1, MaxJobs: 1}}, Jobs: []policy.Job{{ID: protocol.NewJobID(1, 1), CPUs: 1}},
			AWT: []protocol.Duration{round.awt}, ERT: []protocol.Duration{1}, Cost: []protocol.Micro{0},
		})
		switch {
		case round.err != "":
			if err == nil || !strings.Contains(err.Error(), round.err) {
				t.Errorf("a wait of %v: %+v, %v, want %s", round.awt, got, err, round.err)
			}
		case err != nil || len(got) != 1 || got[0] != round.want || string(hint) != round.hint:
			t.Errorf("a wait of %v: %+v, %q, %v", round.awt, got, hint, err)
		}
	}
}

// TestPythonHost: the host's site, seed and software reach the policy, and what it logs and warns
// of reaches the log of the host.
func TestPythonHost(t *testing.T) {
	t.Parallel()
	needsPython(t)
	e := pythonPlugin(t, "first.py", another)
	spec := e.spec(t, "odd = true")
	spec.Host = sdk.Host{Site: "north", Seed: 1<<64 - 1, Software: "a test"}
	var log syncBuffer
	plugin, err := pluginhost.Open(spec, slog.New(slog.NewTextHandler(&log, nil)))
	if err == nil {
		err = errors.Join(plugin.Wait(t.Context()), plugin.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`level=WARN msg=plugin_says plugin=first text=made plugin.seed=1.8446744073709552e+19 plugin.site=north plugin.software="a test"`,
		"odd: is odd",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %s:\n%s", want, log.String())
		}
	}
}

// syncBuffer is a buffer that several goroutines may write to.
type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is what was written.
func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestPythonConfiguration: each mistake is told with its line and key, those of the policy itself too.
func TestPythonConfiguration(t *testing.T) {
	t.Parallel()
	needsPython(t)
	e := pythonPlugin(t, "first.py", another)
	for config, want := range map[string][]string{
		"count = true\ntext = 1\nodd = 2":         {"1: count: is not an integer", "2: text: is not a string", "3: odd: is neither true nor false"},
		"\ncount = 10":                            {"2: count: is 10; use 0 to 9"},
		"limits = \"1h\"\n[colour]\nred = 1":      {`1: limits: unknown key; did you mean "limit"?`, "2: colour: unknown key; "},
		"limit = \"13ms\"":                        {"ValueError: 13 brings bad luck"},
		"text = \"ok\"\ncount = 9\nlimit = \"x\"": {"3: limit: is not a valid duration"},
	} {
		err := failure(t, e, config)
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%q: got %v, want %q", config, err, text)
			}
		}
	}
}

// mirror is a policy that returns all that it sees of a snapshot as its hint.
const mirror = `#!/usr/bin/python3 -B
import dataclasses
import json

import switchyard_plugin as switchyard


class Mirror(switchyard.Policy):
    decides_applications = True

    def __init__(self, settings, host):
        pass

    def decide(self, snapshot):
        jobs, sites = range(len(snapshot.jobs)), range(len(snapshot.sites))
        seen = {
            "local_site": snapshot.local_site,
            "sites": [site._asdict() for site in snapshot.sites],
            "jobs": [job._asdict() for job in snapshot.jobs],
            "outcomes": [outcome._asdict() for outcome in snapshot.outcomes],
            "applications": [one._asdict() for one in snapshot.applications],
            "hint": snapshot.hint.decode(),
            "transfer": [snapshot.transfer(j, s) for j in jobs for s in sites],
            "transfer_back": [snapshot.transfer_back(j, s) for j in jobs for s in sites],
        }
        for field in dataclasses.fields(snapshot):
            seen.setdefault(field.name, getattr(snapshot, field.name))
        return [], json.dumps(seen).encode()


switchyard.serve(Mirror, read=lambda config: None, name="mirror", version="1.0.0", about="what it sees")
`

// TestPythonSeesTheWholeSnapshot: every field of a snapshot reaches a policy in Python, and data
// take as long to travel there as in Go.
func TestPythonSeesTheWholeSnapshot(t *testing.T) {
	t.Parallel()
	needsPython(t)
	python := pythonPlugin(t, "mirror.py", mirror).open(t, "").Policy()
	for name, in := range map[string]policy.Snapshot{"full": fullSnapshot(), "sparse": sparseSnapshot()} {
		_, hint, err := python.Decide(t.Context(), in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := json.Marshal(inPython(&in))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(numbers(t, hint), numbers(t, text)) {
			t.Errorf("%s: it sees\n%s\nwant\n%s", name, hint, text)
		}
	}
}

// TestPythonHasAllFields: a field that is added to the rows of snapshots is not forgotten in Python, or in
// the test above.
func TestPythonHasAllFields(t *testing.T) {
	t.Parallel()
	in := fullSnapshot()
	all := inPython(&in)
	for column, row := range map[string]any{
		"sites": policy.Site{}, "jobs": policy.Job{}, "applications": policy.Application{}, "outcomes": policy.Outcome{},
	} {
		rows, _ := all[column].([]map[string]any)
		if kind := reflect.TypeOf(row); len(rows) == 0 || len(rows[0]) != kind.NumField() {
			t.Errorf("%v has %d fields, %s in Python %d of them", kind, kind.NumField(), column, len(rows[0]))
		}
	}
}

// numbers reads JSON and keeps each number as it is written.
func numbers(t *testing.T, text []byte) (read any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&read); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return read
}

// fullSnapshot has a value of its own in every field.
func fullSnapshot() policy.Snapshot {
	return policy.Snapshot{
		Self: 1,
		Sites: []policy.Site{
			{Name: "a", RUS: 2, Age: 3, CPUs: 4, Free: 1, MaxJobs: 5, Currency: "EUR", Latency: 6, Bandwidth: 7, MarginalWaits: []protocol.Duration{8, 9}, Resources: []protocol.Resource{{Name: "gpu", Type: "a100", Count: 55}, {Name: "nic", Count: 56}}},
			{Name: "b", RUS: 10, Age: protocol.Never, CPUs: 11, Free: 10, MaxJobs: 12, Currency: "EUR", NoEnergy: true, Latency: 13, Bandwidth: 1 << 40},
			{Name: "c", CPUs: 1, Bandwidth: 3, MarginalWaits: []protocol.Duration{protocol.Never}, Resources: []protocol.Resource{{Name: "gpu", Count: 57}}},
		},
		Jobs: []policy.Job{
			{
				ID: protocol.NewJobID(1, 14), CPUs: 15, WallTime: 16, Waited: 17, Data: 1000, DataOut: 19, User: "alice", Account: "hpc1", Name: "träin",
				MemoryMB: 20, Nodes: 58, Features: "ssd&(a|b)", Exclusive: true,
				Resources:   []protocol.Resource{{Name: "gpu", Count: 59, Per: protocol.PerJob}, {Name: "gpu", Type: "a100", Count: 60, Per: protocol.PerNode}},
				Application: 0, Together: 1, Alpha: 21, Gamma: 22, Delta: 23,
			},
			{ID: protocol.NewJobID(1, 24), CPUs: 25, WallTime: 26, Data: 1 << 62, Application: 1},
		},
		AWT:       []protocol.Duration{27, protocol.Never, 28, 29, 30, 31},
		ERT:       []protocol.Duration{32, protocol.Never, 33, 34, 35, 36},
		Cost:      []protocol.Micro{37, 0, -38, 39, 40, 41},
		InPlace:   []bool{false, false, false, false, false, true},
		UsageCost: []protocol.Micro{1, 0, 2, 3, 4, 5}, LicenseCost: []protocol.Micro{6, 0, 7, 8, 9, 10},
		EnergyCost: []protocol.Micro{-11, 0, 12, 13, 14, 15}, DataCost: []protocol.Micro{16, 0, 17, 18, 19, 20},
		Currency: "EUR",
		Applications: []policy.Application{
			{ID: protocol.NewJobID(1, 14), Beta: 42, MaxCost: protocol.Unlimited, MaxTime: protocol.Never, WaitingCost: []protocol.WaitingRate{{PerHour: 43}, {From: 44, PerHour: 45}}},
			{ID: protocol.NewJobID(1, 24), MaxCost: 46, MaxTime: 47, Elapsed: 48, Spent: 49, CommittedUntil: 50, WaitedCost: 54},
		},
		Outcomes: []policy.Outcome{
			{Job: protocol.NewJobID(1, 2), Site: "gone", DecidedAt: 51, QuotedWait: 52, Wait: protocol.Never, State: protocol.Failed, ExitCode: 53},
		},
		Hint: []byte("before"),
	}
}

// sparseSnapshot has nothing in the columns that may be absent.
func sparseSnapshot() policy.Snapshot {
	return policy.Snapshot{
		Self: policy.NoSite, Sites: []policy.Site{{Name: "a"}}, Jobs: []policy.Job{{ID: 1, CPUs: 1, WallTime: 1}},
		AWT: []protocol.Duration{0}, ERT: []protocol.Duration{0}, Cost: []protocol.Micro{0},
	}
}

// inPython is a snapshot by the names of the SDK for Python.
func inPython(in *policy.Snapshot) map[string]any {
	type object = map[string]any
	rows := func(n int, row func(i int) object) []object {
		all := make([]object, n)
		for i := range all {
			all[i] = row(i)
		}
		return all
	}
	var transfer, back []protocol.Duration
	for j := range in.Jobs {
		for s := range in.Sites {
			transfer, back = append(transfer, in.Transfer(j, s)), append(back, in.Return(j, s))
		}
	}
	local := any(in.Self)
	if in.Self == policy.NoSite {
		local = nil
	}
	return object{
		"local_site": local, "awt": in.AWT, "ert": in.ERT, "cost": in.Cost, "currency": in.Currency, "hint": string(in.Hint), "in_place": column(in.InPlace),
		"usage_cost": column(in.UsageCost), "license_cost": column(in.LicenseCost), "energy_cost": column(in.EnergyCost), "data_cost": column(in.DataCost),
		"transfer": transfer, "transfer_back": back,
		"sites": rows(len(in.Sites), func(i int) object {
			s := in.Sites[i]
			return object{
				"name": s.Name, "rus": s.RUS, "age": s.Age, "cpus": s.CPUs, "free": s.Free, "max_jobs": s.MaxJobs, "currency": s.Currency,
				"no_energy": s.NoEnergy, "latency": s.Latency, "bandwidth": s.Bandwidth, "marginal_waits": column(s.MarginalWaits),
				"resources": resources(s.Resources),
			}
		}),
		"jobs": rows(len(in.Jobs), func(i int) object {
			j := in.Jobs[i]
			return object{
				"id": uint64(j.ID), "cpus": j.CPUs, "wall_time": j.WallTime, "waited": j.Waited, "data": j.Data, "data_out": j.DataOut,
				"user": j.User, "account": j.Account, "name": j.Name, "memory_mb": j.MemoryMB,
				"nodes": j.Nodes, "resources": resources(j.Resources), "features": j.Features, "exclusive": j.Exclusive,
				"application": j.Application, "together": j.Together, "alpha": j.Alpha, "gamma": j.Gamma, "delta": j.Delta,
			}
		}),
		"applications": rows(len(in.Applications), func(i int) object {
			a := in.Applications[i]
			rates := make([][2]int64, len(a.WaitingCost))
			for k, rate := range a.WaitingCost {
				rates[k] = [2]int64{int64(rate.From), int64(rate.PerHour)}
			}
			return object{
				"id": uint64(a.ID), "beta": a.Beta, "max_cost": a.MaxCost, "max_time": a.MaxTime, "elapsed": a.Elapsed, "spent": a.Spent,
				"committed_until": a.CommittedUntil, "waited_cost": a.WaitedCost, "waiting_cost": rates,
			}
		}),
		"outcomes": rows(len(in.Outcomes), func(i int) object {
			o := in.Outcomes[i]
			return object{
				"job": uint64(o.Job), "site": o.Site, "decided_at": o.DecidedAt, "quoted_wait": o.QuotedWait, "wait": o.Wait,
				"state": o.State.String(), "exit_code": o.ExitCode,
			}
		}),
	}
}

// resources are the rows of a list of resources.
func resources(list []protocol.Resource) [][]any {
	rows := make([][]any, len(list))
	for i, one := range list {
		per := ""
		if one.Per != 0 {
			per = one.Per.String()
		}
		rows[i] = []any{one.Name, one.Type, one.Count, per}
	}
	return rows
}

// column is a column that JSON has as a list also if it is empty.
func column[T any](values []T) []T { return append([]T{}, values...) }

// TestPythonPin: the pin is of the file that is started.
func TestPythonPin(t *testing.T) {
	t.Parallel()
	needsPython(t)
	e := pythonPlugin(t, "first.py", another)
	spec := e.spec(t, "")
	writeProgram(t, e.path, another+"\n")
	plugin, err := pluginhost.Open(spec, logOf(t))
	if err == nil {
		err = errors.Join(plugin.Wait(t.Context()), plugin.Close())
	}
	if err == nil || !strings.Contains(err.Error(), "not the pinned one") {
		t.Errorf("a changed file: %v", err)
	}
}

// writeProgram writes an executable file. No process is forked meanwhile: it would hold the file
// open for a moment, and a program that is open for writing cannot be run.
func writeProgram(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestPythonEndsWithItsHost: a plugin whose host was killed ends by itself. This host is
// a shell, which does not see to that.
func TestPythonEndsWithItsHost(t *testing.T) {
	t.Parallel()
	e := pythonPolicy(t)
	host := exec.CommandContext(t.Context(), "sh", "-c", `"$0" & echo $!; wait`, e.path)
	host.Env = append(os.Environ(), sdk.CookieKey+"="+sdk.CookieValue, "PLUGIN_UNIX_SOCKET_DIR="+publicDir(t))
	out, err := host.StdoutPipe()
	if err == nil {
		err = host.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	said.Scan()
	pid := said.Text()
	said.Scan()
	if _, err = strconv.Atoi(pid); err != nil || !strings.Contains(said.Text(), "|unix|") {
		t.Fatalf("it said %q, then %q: %v", pid, said.Text(), said.Err())
	}
	_ = host.Process.Kill()
	_ = host.Wait()
	await(t, "the plugin's end", func() error {
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		if errors.Is(err, fs.ErrNotExist) || strings.Contains(string(state), ") Z ") {
			return nil
		}
		return fmt.Errorf("it still runs: %s, %w", state, err)
	})
}
