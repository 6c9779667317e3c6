package slurm_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// captured is what a command of Slurm 22.05.8 printed.
func captured(t testing.TB, name string) string {
	t.Helper()
	return printed(t, "22.05", name)
}

// printed is what a command of a version of Slurm printed.
func printed(t testing.TB, version, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", version, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestParseQueue(t *testing.T) {
	t.Parallel()
	got, err := slurm.ParseQueue(captured(t, "squeue.txt"), "MARK")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`67108865 uid=65534 batch FAILED reason="NonZeroExitCode" submit=1795258410000 start=1795258411000 end=1795258412000 ` +
			`limit=2m0s cpus=1 on=1 mb=100 priority=4294901759 waits=false over=true placed=true nodes="a1" name="sy.north.7000000000001.3"`,
		`67108868 uid=65534 batch PENDING reason="ReqNodeNotAvail, UnavailableNodes:a2" submit=1795258410000 start=0 end=0 ` +
			`limit=24h0m0s cpus=8 on=2 mb=800 priority=4294901756 waits=true over=false placed=false nodes="" name="sy.north.7000000000002.1"`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no line %s", want)
		}
	}
	if !strings.HasSuffix(got[0], `name="odd\nsy.north.7000000000001.3|x"`) || !strings.HasSuffix(got[1], `name="a|b = c: JobState=COMPLETED"`) {
		t.Errorf("odd names are read as %s and %s", got[0], got[1])
	}
	if len(got) != 8 {
		t.Errorf("%d jobs", len(got))
	}
	good := queueLine(nil)
	if got, err := slurm.ParseQueue(good, "MARK"); err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if got, err := slurm.ParseQueue(queueLine(map[int]string{14: "4294967294"}), "MARK"); err != nil || len(got) != 1 {
		t.Errorf("a job without a number of tasks: %v, %v", got, err)
	}
	for column, bad := range map[int]string{0: "x", 2: "-1", 7: "today", 9: "soon", 10: "long", 11: "many", 12: "few", 13: "mem=lots", 14: "few", 19: "high"} {
		if got, err := slurm.ParseQueue(queueLine(map[int]string{column: bad}), "MARK"); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q in column %d: read as %s, %v", bad, column, got, err)
		}
	}
	if got, err := slurm.ParseQueue("1|MARK|2", "MARK"); err == nil {
		t.Error("too few columns are read as", got)
	}
}

// queueLine is a line of squeue's, with other words in some columns. The mark is in the second.
func queueLine(other map[int]string) string {
	columns := strings.Split("1|MARK|0|(null)|1|b|RUNNING|N/A|N/A|N/A|1:00|1|1|cpu=1,mem=100M,node=1|1|gres:gpu:2|N/A|N/A|OK|1|(null)|a1|None|n", "|")
	for i, word := range other {
		columns[i] = word
	}
	return strings.Join(columns, "|")
}

// TestForgedLines has names with line breaks look like other jobs: without the
// mark they do not count.
func TestForgedLines(t *testing.T) {
	t.Parallel()
	forged := queueLine(nil) + "\n" + queueLine(map[int]string{1: "GUESS", 23: "sy.north.1.1"}) + "\n"
	got, err := slurm.ParseQueue(forged, "MARK")
	if err != nil || len(got) != 1 {
		t.Errorf("%q %v", got, err)
	}
}

func TestParseNodes(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"batch,small,closed": "{nodes:2 cpus:8 idle:4 memoryMB:4000 nodeCPUs:4 groups:[A1 A2] ",
		"closed":             "{nodes:1 cpus:4 idle:4 memoryMB:4000 nodeCPUs:4 groups:[A1] ",
		"none":               "{nodes:0 cpus:0 idle:0 memoryMB:0 nodeCPUs:0 groups:[] ",
	} {
		all, got, err := slurm.ParseNodes(captured(t, "sinfo.txt"), strings.Split(names, ","))
		want = strings.NewReplacer(
			"A1", "{Nodes:1 CPUs:4 MemoryMB:4000 Resources:[{Name:gpu Type:a100 Count:2 Per:0} {Name:nic Type: Count:1 Per:0}] Features:[big fast]}",
			"A2", "{Nodes:1 CPUs:4 MemoryMB:4000 Resources:[] Features:[]}",
		).Replace(want)
		if err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s %v", names, got, err)
		}
		if want := "[{name:a1 partitions:[small closed batch] cpus:4 busy:0 idle:4 threads:1 memoryMB:4000 state:idle features:[big fast] resources:[{Name:gpu Type:a100 Count:2 Per:0} {Name:nic Type: Count:1 Per:0}]} " +
			"{name:a2 partitions:[small batch] cpus:4 busy:0 idle:0 threads:1 memoryMB:4000 state:down features:[] resources:[]}]"; all != want {
			t.Errorf("got %s, want %s", all, want)
		}
	}
	for _, bad := range []string{
		"a1|batch|0/4/0|4000|1|idle||", "a1|batch|0/4/0/x|4000|1|idle||", "a1|batch|0/4/0/4|many|1|idle||",
		"a1|batch|0/4/0/4|4000|two|idle||", "a1|batch|0/4/0/4|4000|1|idle||gpu:1x", "a1|batch|0/4/0/4|4000|1|idle", "a1|batch",
	} {
		if got, _, err := slurm.ParseNodes(bad, []string{"batch"}); err == nil {
			t.Errorf("%s: read as %s", bad, got)
		}
	}
}

// TestNodesThatTakeJobs: what Slurm puts behind a state does not hide it.
func TestNodesThatTakeJobs(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{
		"idle": true, "mixed": true, "allocated": true, "allocated+": true, "completing": true, "planned": true, "mixed-": true,
		"reserved": true, "maint": true, "idle~": true, "idle#": true,
		"draining": false, "drained": false, "drained*": false, "down": false, "down*": false, "idle*": false, "fail": false,
		"unknown": false, "inval": false, "": false,
	} {
		if got := slurm.TakesJobs(state); got != want {
			t.Errorf("%q takes jobs: %v", state, got)
		}
	}
}

func TestExpandHosts(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"a1": "a1", "a[1-3]": "a1 a2 a3", "a[1-2,7],b2": "a1 a2 a7 b2", "n[08-10]x": "n08x n09x n10x",
		"r[1-2]n[1-2]": "r1n1 r1n2 r2n1 r2n2", "": "",
	} {
		if got, err := slurm.ExpandHosts(list); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v %v", list, got, err)
		}
	}
	for _, bad := range []string{"a[1-", "a[2-1]", "a]1", "a[x]", "a[1-99999999]", "a[[1]]", ",", "a[1-60000],b[1-60000]", "a[]"} {
		if got, err := slurm.ExpandHosts(bad); err == nil {
			t.Errorf("%s: %d nodes", bad, len(got))
		}
	}
}

func TestPartitions(t *testing.T) {
	t.Parallel()
	text := captured(t, "partition.txt")
	got, err := slurm.ParsePartitions(text)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	if want := "{name:small isDefault:false state:UP maxTime:93600000 maxNodes:1 cpus:8 nodes:2 cpusPerNode:0 memPerNodeMB:0 wholeNode:false tier:1 defCPUMB:0 defNodeMB:0}"; got[1] != want {
		t.Errorf("got  %s\nwant %s", got[1], want)
	}
	for _, bad := range []string{"PartitionName=x", "PartitionName=x State=UP MaxTime=soon", "PartitionName=x State=UP MaxTime=1:00:00 MaxNodes=-1"} {
		if got, err := slurm.ParsePartitions(bad); err == nil {
			t.Errorf("%s: read as %s", bad, got)
		}
	}
	_, small, _ := strings.Cut(text, "\n")
	small, _, _ = strings.Cut(small, "\n")
	for _, c := range []struct {
		request protocol.Request
		reason  string
	}{
		{protocol.Request{CPUs: 4, WallTime: protocol.Hour}, ""},
		{protocol.Request{CPUs: 4, WallTime: 27 * protocol.Hour}, "PartitionTimeLimit"},
		{protocol.Request{CPUs: 4, Nodes: 2, WallTime: protocol.Hour}, "PartitionNodeLimit"},
		{protocol.Request{CPUs: 5, Nodes: 1, WallTime: protocol.Hour}, "PartitionNodeLimit"}, // on nodes of 4
		{protocol.Request{CPUs: 9, WallTime: protocol.Hour}, "PartitionConfig"},
		{protocol.Request{CPUs: 1, MemoryMB: 4001, WallTime: protocol.Hour}, "4000"},
		{protocol.Request{CPUs: 4, WallTime: protocol.Hour, Layout: protocol.Layout{CPUsPerTask: 4}}, ""},
		{protocol.Request{CPUs: 5, WallTime: protocol.Hour, Layout: protocol.Layout{CPUsPerTask: 5}}, "needs 5 CPUs on one node, the largest has 4"},
		{protocol.Request{CPUs: 4, WallTime: protocol.Hour, Layout: protocol.Layout{Tasks: 4, TasksPerNode: 2}}, "PartitionNodeLimit"},
	} {
		chosen, reason, err := slurm.Choose(small, captured(t, "sinfo.txt"), []string{"small"}, c.request)
		if err != nil || (reason == "") != (c.reason == "") || !strings.Contains(reason, c.reason) || (chosen == "small") != (reason == "") {
			t.Errorf("%+v: %q %q %v, want %q", c.request, chosen, reason, err, c.reason)
		}
	}
	// The first that admits the job is taken.
	if chosen, _, _ := slurm.Choose(small+"\n"+text, captured(t, "sinfo.txt"), []string{"batch"}, protocol.Request{CPUs: 8, Nodes: 2, WallTime: 1}); chosen != "batch" {
		t.Errorf("chosen %q", chosen)
	}
}

func TestParseEnding(t *testing.T) {
	t.Parallel()
	var got []string
	for line := range strings.Lines(captured(t, "jobcomp.txt")) {
		if e, ok := slurm.ParseEnding(line); ok {
			got = append(got, e)
		}
	}
	want := "67108865 uid=65534 FAILED submit=1795258410000 start=1795258411000 end=1795258412000 3:0"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
	accounted := slurm.ParseAccounted(captured(t, "sacct.txt"), "sy.north.7000000000001.3")
	if len(accounted) != 1 || accounted[0] != want {
		t.Errorf("got %q, want %q", accounted, want)
	}
	for name, want := range map[string]int{"sy.north.7000000000001.3": 3, "sy.north.7000000000001.4": 0} {
		if code, signal := slurm.ParseStatus(captured(t, "job.txt"), name); code != want || signal != 0 {
			t.Errorf("%s: %d %d", name, code, signal)
		}
	}
	cancelled := slurm.ParseAccounted(captured(t, "sacct.txt"), "sy.north.7000000000002.1")
	if len(cancelled) != 1 || !strings.Contains(cancelled[0], " CANCELLED ") {
		t.Errorf("got %q", cancelled)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{
		"slurm-wlm 22.05.8\n": "22.05.8", "slurm 20.11.0": "20.11.0", "slurm 25.05.1-1": "25.05.1-1",
		"slurm 20.02.7": "", "slurm 19.05": "", "slurm": "", "": "", "slurm next.version": "",
	} {
		got, err := slurm.ParseVersion(out)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v", out, got, err)
		}
	}
	config := slurm.ParseConfig(captured(t, "config.txt"))
	for key, want := range map[string]string{"JobCompType": "jobcomp/filetxt", "MinJobAge": "300 sec", "EnforcePartLimits": "ALL"} {
		if config[key] != want {
			t.Errorf("%s is %q", key, config[key])
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for said, refused := range map[string]bool{
		"sbatch: error: Batch job submission failed: More processors requested than permitted\n":                                           true,
		"sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed: Invalid partition name specified\n": true,
		"sbatch: error: Memory specification can not be satisfied\n":                                                                       true,
		"allocation failure: Requested node configuration is not available\n":                                                              true,
		"sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)\n":                    true,
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n":                                            false,
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n":                               false,
		"sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n":                                                   false,
		"": false,
	} {
		if words, ok := slurm.Refusal(said); ok != refused || ok && strings.Contains(words, "sbatch") {
			t.Errorf("%s: %q %v", said, words, ok)
		}
	}
}

func TestSmallParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]protocol.Duration{
		"1:00": protocol.Minute, "10:00": 10 * protocol.Minute, "2:00:05": 2*protocol.Hour + 5*protocol.Second,
		"1-02:00:00": 26 * protocol.Hour, "5": 5 * protocol.Minute, "1-2:3": 26*protocol.Hour + 3*protocol.Minute, "UNLIMITED": protocol.Never, "infinite": protocol.Never,
	} {
		if got, err := slurm.ParseLimit(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "1:2:3:4", "1:00.5", "-1:00", "1:x", "+1:00", "1--2:00:00"} {
		if got, err := slurm.ParseLimit(bad); err == nil {
			t.Errorf("%q: read as %v", bad, got)
		}
	}
	for text, want := range map[string]int64{"100M": 100, "2G": 2048, "1.50G": 1536, "1T": 1 << 20, "512K": 0, "2048K": 2, "7": 7, "0": 0} {
		if got, err := slurm.ParseMegabytes(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "G", "x", "1GG", "-1M", "1.2345G", "1.xG", "1,5G"} {
		if got, err := slurm.ParseMegabytes(bad); err == nil {
			t.Errorf("%q: read as %v", bad, got)
		}
	}
	for d, want := range map[protocol.Duration]int64{1: 1, protocol.Minute: 1, protocol.Minute + 1: 2, protocol.Never: 1<<31 - 1} {
		if got := slurm.Minutes(d); got != want {
			t.Errorf("%v is %d minutes", d, got)
		}
	}
	for out, want := range map[string]uint32{"10\n": 10, "67108870;sitea": 67108870, "": 0, "job 10": 0, "0": 0} {
		if got, err := slurm.ParseSubmitted(out); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d %v", out, got, err)
		}
	}
	at, err := slurm.WillStart("sbatch: Job 5 to start at 2026-11-21T01:36:53 using 4 processors on nodes a1 in partition batch\n")
	if err != nil || at.Time().Format("15:04:05") != "01:36:53" {
		t.Error(at, err)
	}
	if at, err = slurm.WillStart("sbatch: Job 5 to start when pigs fly\n"); err == nil {
		t.Error(at)
	}
	if by, id, started := slurm.ParseClaim("12 0 a1 4711 1795255912000\n"); by != "" || id != 12 || started != 1795255912000 {
		t.Error(by, id, started)
	}
	for _, text := range []string{"", "nonsense", "12 0 a1 4711", "x 0 a1 1 y"} {
		if by, id, _ := slurm.ParseClaim(text); by != "" || id != 0 {
			t.Errorf("%q: %q %d; a claim that cannot be read is some wrapper's", text, by, id)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tag := protocol.Tag{
			Job:   protocol.JobID(rapid.Uint64().Draw(t, "job")),
			Epoch: protocol.Epoch(rapid.Uint32().Draw(t, "epoch")),
		}
		name := slurm.NameOf("north-1", tag)
		if strings.ContainsAny(name, " ,|:/") {
			t.Fatalf("the name %s would mean something in a list", name)
		}
		if got, ok := slurm.ParseName("north-1", name); !ok || got != tag {
			t.Fatalf("%s is read as %v", name, got)
		}
		if got, ok := slurm.ParseName("north", name); ok {
			t.Fatalf("%s is taken for %v of another site", name, got)
		}
	})
}
