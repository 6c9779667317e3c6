package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/nodebench"
)

// TestMachine measures this computer, for a moment.
func TestMachine(t *testing.T) {
	t.Parallel()
	var got machineJSON
	if err := json.Unmarshal([]byte(good(t, command(t, "", "", "benchmark", "--span=20ms", "--json"))), &got); err != nil {
		t.Fatal(err)
	}
	if got.CPUs < 1 || got.Flops < 1e6 || got.Words < 1e6 || got.WorkingSet < 1<<20 {
		t.Errorf("measured %+v", got)
	}
	if table := good(t, command(t, "", "", "benchmark", "--span=20ms")); !strings.Contains(table, "\n[localsched.cpu_model]\n") {
		t.Errorf("printed\n%s", table)
	}
	if got := command(t, "", "", "benchmark", "--span=0s"); got.code != exitUsage || !strings.Contains(got.stderr, "invalid --span 0s; use a duration above 0") {
		t.Errorf("got %+v", got)
	}
}

// TestGammaTable: what was measured, in the units of the configuration, and what it is not.
func TestGammaTable(t *testing.T) {
	t.Parallel()
	plain := nodebench.Result{CPUs: 4, Flops: 5_594_400_000, Words: 1_250_000_000, WorkingSet: 768 << 20}
	vector := plain
	vector.Nominal, vector.MHz = 67_200_000_000, 2100
	cached := plain
	cached.Cache = 512 << 20
	for _, c := range []struct {
		result nodebench.Result
		has    []string
		lacks  []string
	}{
		{plain, []string{"4 CPUs in parallel", "\npeak_gflops = 5.594\n", "\nmemory_bandwidth = \"10000MB/s\"\n"}, []string{"may reach", "cache"}},
		{vector, []string{"2100 MHz", "# 67.200 Gflop/s: use that value", "\npeak_gflops = 5.594\n"}, []string{"cache"}},
		{cached, []string{"# Measured over 768 MB, of which 512 fit"}, []string{"may reach"}},
	} {
		table := gammaTable(c.result)
		for _, words := range c.has {
			if !strings.Contains(table, words) {
				t.Errorf("%+v: no %q in\n%s", c.result, words, table)
			}
		}
		for _, words := range c.lacks {
			if strings.Contains(table, words) {
				t.Errorf("%+v: %q is in\n%s", c.result, words, table)
			}
		}
	}
}

// TestGammaTableIsRead: by the peer, once the network is filled in.
func TestGammaTableIsRead(t *testing.T) {
	t.Parallel()
	site := "[site]\nname = \"north\"\nnumber = 1\nkey = \"" + siteKey(t) + "\"\n[localsched]\ncpus = 4\n" + gammaTable(nodebench.Result{CPUs: 4, Flops: 5_594_400_000, Words: 1_250_000_000, Nominal: 67_200_000_000, MHz: 2100})
	for text, code := range map[string]int{site: exitFailed, strings.NewReplacer("#network", "network", "#latency", "latency").Replace(site): 0} {
		if got := command(t, "", "", "config", "check", "--config", tempFile(t, "site.toml", text)); got.code != code || code != 0 && !strings.Contains(got.stderr, "network_bandwidth") {
			t.Errorf("%s\ngot %+v", text, got)
		}
	}
}
