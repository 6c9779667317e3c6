package usage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/usage"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// metrics is what a node of two CPUs tells that were busy for so many seconds each, drew so
// many joules.
func metrics(busy, joules float64, free int64) string {
	return fmt.Sprintf(`# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 9.9999e+06
node_cpu_seconds_total{cpu="0",mode="iowait"} 55
node_cpu_seconds_total{cpu="0",mode="user"} %[1]g
node_cpu_seconds_total{cpu="1",mode="idle"} 1
node_cpu_seconds_total{cpu="1",mode="steal"} 33
node_cpu_seconds_total{cpu="1", mode="system",} %[1]g 1700000000000
node_cpu_guest_seconds_total{cpu="0",mode="user"} 77
node_filesystem_free_bytes{device="/dev/\"a\\b\n}",mountpoint="/"} NaN
node_memory_MemAvailable_bytes %[3]d
node_memory_MemTotal_bytes 8.589934592e+09
node_network_transmit_bytes_total{device="eth0"} 1e15
node_rapl_package_joules_total{index="1",path="/sys/class/powercap/intel-rapl:1"} 5
node_rapl_package_joules_total{index="0",path="/sys/class/powercap/intel-rapl:0"} %[2]g

go_gc_duration_seconds{quantile="1"} +Inf
`, busy, joules, free)
}

func readNode(t testing.TB, text string) usage.Node {
	t.Helper()
	node, err := usage.ReadNode(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return node
}

func TestReadNode(t *testing.T) {
	t.Parallel()
	node := readNode(t, metrics(1.5, 7, 1<<30))
	if node.CPUs != 2 || node.Busy != 3*protocol.Second || node.MemoryMB != 7*1024 {
		t.Errorf("read as %+v", node)
	}
}

func TestReadNodeRefuses(t *testing.T) {
	t.Parallel()
	for text, words := range map[string]string{
		"":                                      "how busy its CPUs are",
		"<html>":                                "line 1",
		"node_load1 0.5\n404 not found":         `line 2, "404 not found": it does not begin with the name`,
		"a{b=\"c\" d=\"e\"} 1":                  "parted by commas",
		"a{b=\"c} 1":                            "does not end",
		"a{b=\"\\x\"} 1":                        `a \ that is not before`,
		"a{b=c} 1":                              "not in quotes",
		"a{1=\"c\"} 1":                          "not name=",
		"a{":                                    "not name=",
		"a":                                     "a value and at most a time",
		"a 1 2 3":                               "a value and at most a time",
		"a x":                                   "no value",
		"a 1 1.5":                               "no time",
		"node_cpu_seconds_total{cpu=\"0\"} NaN": "how busy",
		"node_cpu_seconds_total{cpu=\"0\"} -1":  "how busy",
		"a " + strings.Repeat("1", 100_000):     "too long",
		strings.Repeat("#"+strings.Repeat(" ", 1000)+"\n", 9_000): "more than",
	} {
		if node, err := usage.ReadNode(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%.60q is %+v, %v, which does not say %q", text, node, err, words)
		}
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	var tally usage.Tally
	if tally.Energy(5) != 0 || tally.Alone() != (protocol.Usage{}) {
		t.Error("one that has begun nothing tells something")
	}
	for _, text := range []string{metrics(100, 50, 6*gib), metrics(101, 70, 2*gib), metrics(104, 90, 7*gib)} {
		tally.Add(readNode(t, text))
	}
	for cpu, want := range map[protocol.Duration]int64{
		-1: 0, 0: 0, 2000: 10_000, 8000: 40_000,
		9000:  45_000, // the node was seen a little too late, or too short
		17000: 0,      // too short by far
	} {
		if got := tally.Energy(cpu); got != want {
			t.Errorf("a run of %v CPU time has drawn %d mJ, want %d", cpu, got, want)
		}
	}
	if got, want := tally.Alone(), (protocol.Usage{CPU: 8000, MemoryMB: 4096, Energy: 40_000}); got != want {
		t.Errorf("a run alone: %+v, want %+v", got, want)
	}
}

// TestTallyOverCounters: energy counters begin again at 262 kJ, which a busy package reaches
// within the hour, and an exporter does not tell the height. What was drawn in such a pause is
// what is drawn else.
func TestTallyOverCounters(t *testing.T) {
	t.Parallel()
	var tally usage.Tally
	joules := 261_000.0
	for i := range 121 { // an hour, twice 2 CPUs busy for 15 s: 50 W for each CPU
		tally.Add(readNode(t, metrics(float64(15*i), joules, 0)))
		if joules += 3000; joules > 262_143 {
			joules -= 262_143
		}
	}
	if got, want := tally.Energy(1800*protocol.Second), int64(180_000_000); got != want {
		t.Errorf("half of an hour of 100 W is %d mJ, want %d", got, want)
	}
	if got := tally.Alone().Energy; got != 360_000_000 {
		t.Errorf("an hour of 100 W is %d mJ", got)
	}
	var short usage.Tally
	for _, text := range []string{metrics(1, 100, 0), metrics(2, 5, 0)} {
		short.Add(readNode(t, text))
	}
	if got := short.Alone(); got != (protocol.Usage{CPU: 2000}) {
		t.Errorf("a counter that began again in the only pause tells %+v", got)
	}
}

// TestTallyIsBroken: after what cannot be added up it tells nothing, for good.
func TestTallyIsBroken(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"the node was restarted":  metrics(1, 60, 0),
		"a package does not tell": strings.ReplaceAll(metrics(101, 60, 0), `node_rapl_package_joules_total{index="1"`, `other{index="1"`),
	} {
		var tally usage.Tally
		for _, text := range []string{metrics(100, 50, 0), text, metrics(200, 500, 0)} {
			tally.Add(readNode(t, text))
		}
		if tally.Energy(1) != 0 || tally.Alone() != (protocol.Usage{}) {
			t.Errorf("%s: it still tells %+v", name, tally.Alone())
		}
	}
}

// TestTallyWithoutEnergy: a node without counters tells the rest.
func TestTallyWithoutEnergy(t *testing.T) {
	t.Parallel()
	var tally usage.Tally
	for _, busy := range []float64{1, 2} {
		tally.Add(readNode(t, strings.ReplaceAll(metrics(busy, 1, 0), "node_rapl", "other")))
	}
	if got, want := tally.Alone(), (protocol.Usage{CPU: 2000}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// FuzzReadNode: whatever an exporter says, what is read are counts that can be added up.
func FuzzReadNode(f *testing.F) {
	f.Add(metrics(1.5, 7, 1<<30))
	f.Add("node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 1e300")
	f.Add("node_memory_MemTotal_bytes -Inf\nnode_cpu_seconds_total{} 1\nnode_network_transmit_bytes_total NaN")
	f.Fuzz(func(t *testing.T, text string) {
		node, err := usage.ReadNode(strings.NewReader(text))
		if err != nil {
			return
		}
		const most = 1 << 60
		if node.CPUs < 1 || node.Busy < 0 || node.Busy > most || node.MemoryMB < 0 {
			t.Fatalf("%q is read as %+v", text, node)
		}
		var tally usage.Tally
		tally.Add(node)
		tally.Add(node)
		if got := tally.Alone(); got != (protocol.Usage{}) {
			t.Fatalf("in no time the node of %q did %+v", text, got)
		}
	})
}
