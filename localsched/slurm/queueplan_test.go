package slurm_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// lookAt is when the looks of these tests are.
const lookAt = protocol.Instant(1795258800000) // 2026-11-21T11:00:00

// clock is a time of that day as squeue prints it.
func clock(minute int) string { return fmt.Sprintf("2026-11-21T%02d:%02d:00", 11+minute/60, minute%60) }

// line is a job of the queue.
type line struct {
	id, cpus, nodes, mb int
	array               int // 0: it is in none
	partition           string
	on                  string // its nodes; empty: it waits
	minutes             int    // until its end; when it waits, its limit
	priority            int
	starts              int // in so many minutes, as Slurm plans it; 0: it does not
	reason              string
	whole               bool
	gres                string // on each node; empty: none
}

func (l line) String() string {
	state, start, end, reason, over := "RUNNING", clock(0), clock(l.minutes), "None", "OK"
	if l.on == "" {
		state, start, end, reason = "PENDING", "N/A", "N/A", "Priority"
	}
	if l.starts != 0 {
		start = clock(l.starts)
	}
	if l.reason != "" {
		reason = l.reason
	}
	if l.whole {
		over = "NO"
	}
	if l.array == 0 {
		l.array = l.id
	}
	if l.gres == "" {
		l.gres = "N/A"
	}
	limit := fmt.Sprintf("%d:%02d:00", l.minutes/60, l.minutes%60)
	return fmt.Sprintf("%d|MARK|1000|(null)|%d|%s|%s|%s|%s|%s|%s|%d|%d|cpu=%d,mem=%dM,node=1|1|%s|N/A|N/A|%s|%d|(null)|%s|%s|job\n",
		l.id, l.array, l.partition, state, clock(0), start, end, limit, l.cpus, max(1, l.nodes), l.cpus, l.mb, l.gres, over, l.priority, l.on, reason)
}

const partitionsOfTwo = `PartitionName=batch Default=YES State=UP MaxTime=UNLIMITED MaxNodes=UNLIMITED PriorityTier=1 TotalCPUs=16 TotalNodes=2 OverSubscribe=NO
PartitionName=other Default=NO State=UP MaxTime=UNLIMITED MaxNodes=UNLIMITED PriorityTier=1 TotalCPUs=16 TotalNodes=2 OverSubscribe=NO
PartitionName=urgent Default=NO State=UP MaxTime=UNLIMITED MaxNodes=UNLIMITED PriorityTier=9 TotalCPUs=16 TotalNodes=2 OverSubscribe=NO
PartitionName=left Default=NO State=UP MaxTime=UNLIMITED MaxNodes=UNLIMITED PriorityTier=1 TotalCPUs=8 TotalNodes=1 OverSubscribe=NO
PartitionName=right Default=NO State=UP MaxTime=UNLIMITED MaxNodes=UNLIMITED PriorityTier=1 TotalCPUs=8 TotalNodes=1 OverSubscribe=NO
PartitionName=whole Default=NO State=UP MaxTime=UNLIMITED MaxNodes=UNLIMITED PriorityTier=1 TotalCPUs=16 TotalNodes=2 OverSubscribe=EXCLUSIVE
`

// twoNodes are a1 and a2, of 8 CPUs and 8000 MB, in some states and with so many CPUs busy. Both
// have the feature fast, and GPUs of different types.
func twoNodes(first, second string, busyFirst, busySecond int) string {
	var text strings.Builder
	for _, name := range []string{"batch", "other", "urgent", "whole", "left", "right"} {
		if name != "right" {
			fmt.Fprintf(&text, "a1|%s|%d/%d/0/8|8000|1|%s|fast,big|gpu:a100:2,nic:1\n", name, busyFirst, 8-busyFirst, first)
		}
		if name != "left" {
			fmt.Fprintf(&text, "a2|%s|%d/%d/0/8|8000|1|%s|fast|gpu:v100:4(S:0,1)\n", name, busySecond, 8-busySecond, second)
		}
	}
	return text.String()
}

// TestOutlook: what holds nodes, or may take them before, counts, whatever partition it is in.
func TestOutlook(t *testing.T) {
	t.Parallel()
	const never = -1
	idle := twoNodes("idle", "idle", 0, 0)
	maintenance := "ReservationName=maint StartTime=" + clock(30) + " EndTime=" + clock(90) + " Nodes=a[1-2] NodeCnt=2 CoreCnt=16 Flags=MAINT,SPEC_NODES\n"
	job := func(cpus, minutes int) protocol.Request {
		return protocol.Request{CPUs: cpus, WallTime: protocol.Duration(minutes) * protocol.Minute}
	}
	withMB := func(r protocol.Request, mb int64) protocol.Request { r.MemoryMB = mb; return r }
	tasks := func(n, cpus int) protocol.Request {
		return protocol.Request{CPUs: n * cpus, WallTime: protocol.Hour, Layout: protocol.Layout{Tasks: n, CPUsPerTask: cpus}}
	}
	on := func(r protocol.Request, nodes int) protocol.Request { r.Nodes = nodes; return r }
	for _, c := range []struct {
		what         string
		queue        []line
		nodes        string
		reservations string
		partitions   string
		request      protocol.Request
		minute       int // never: it is declined
		where        string
	}{
		{what: "nothing runs", nodes: idle, request: job(16, 60), minute: 0, where: "batch"},
		{
			what: "the nodes are another partition's", request: job(4, 60), minute: 50, where: "batch",
			queue: []line{{id: 1, cpus: 16, nodes: 2, partition: "other", on: "a[1-2]", minutes: 50}},
			nodes: twoNodes("allocated", "allocated", 8, 8),
		},
		{
			what: "a job of another partition waits for the nodes", request: job(4, 60), minute: 50 + 30, where: "batch",
			queue: []line{
				{id: 1, cpus: 16, nodes: 2, partition: "batch", on: "a[1-2]", minutes: 50},
				{id: 2, cpus: 16, partition: "other", minutes: 30, priority: 5, reason: "Resources"},
			},
			nodes: twoNodes("allocated", "allocated", 8, 8),
		},
		{
			what: "a higher tier goes first", request: job(4, 60), minute: 30, where: "batch",
			queue: []line{
				{id: 1, cpus: 16, partition: "batch", minutes: 20, priority: 99},
				{id: 2, cpus: 16, partition: "urgent", minutes: 10, priority: 1},
			},
			nodes: idle,
		},
		{
			what: "the earliest partition, not the first", request: job(4, 60), minute: 0, where: "right", partitions: "left,right",
			queue: []line{{id: 1, cpus: 8, nodes: 1, partition: "left", on: "a1", minutes: 50}},
			nodes: twoNodes("allocated", "idle", 8, 0),
		},
		{
			what: "the first of those that are as early", request: job(4, 60), minute: 0, where: "left", partitions: "left,right",
			nodes: idle,
		},
		{
			what: "all memory is taken", request: withMB(job(1, 60), 100), minute: 50, where: "batch",
			queue: []line{
				{id: 1, cpus: 1, nodes: 1, mb: 8000, partition: "batch", on: "a1", minutes: 50},
				{id: 2, cpus: 1, nodes: 1, mb: 7950, partition: "batch", on: "a2", minutes: 55},
			},
			nodes: twoNodes("mixed", "mixed", 1, 1),
		},
		{
			what: "the free CPUs are on different nodes", request: on(job(6, 60), 1), minute: 50, where: "batch",
			queue: []line{
				{id: 1, cpus: 4, nodes: 1, partition: "batch", on: "a1", minutes: 50},
				{id: 2, cpus: 4, nodes: 1, partition: "batch", on: "a2", minutes: 55},
			},
			nodes: twoNodes("mixed", "mixed", 4, 4),
		},
		{
			what: "a job that may be on both takes them", request: job(6, 60), minute: 0, where: "batch",
			queue: []line{
				{id: 1, cpus: 4, nodes: 1, partition: "batch", on: "a1", minutes: 50},
				{id: 2, cpus: 4, nodes: 1, partition: "batch", on: "a2", minutes: 55},
			},
			nodes: twoNodes("mixed", "mixed", 4, 4),
		},
		{
			what: "two tasks of 3 CPUs on nodes with 4 free", request: tasks(2, 3), minute: 0, where: "batch",
			queue: []line{
				{id: 1, cpus: 4, nodes: 1, partition: "batch", on: "a1", minutes: 50},
				{id: 2, cpus: 4, nodes: 1, partition: "batch", on: "a2", minutes: 55},
			},
			nodes: twoNodes("mixed", "mixed", 4, 4),
		},
		{
			what: "a task of 5 CPUs on nodes with 4 free", request: tasks(1, 5), minute: 50, where: "batch",
			queue: []line{
				{id: 1, cpus: 4, nodes: 1, partition: "batch", on: "a1", minutes: 50},
				{id: 2, cpus: 4, nodes: 1, partition: "batch", on: "a2", minutes: 55},
			},
			nodes: twoNodes("mixed", "mixed", 4, 4),
		},
		{
			what: "nodes are given whole", request: job(1, 60), minute: 50, where: "whole", partitions: "whole",
			queue: []line{
				{id: 1, cpus: 1, nodes: 1, partition: "batch", on: "a1", minutes: 50},
				{id: 2, cpus: 1, nodes: 1, partition: "batch", on: "a2", minutes: 55},
			},
			nodes: twoNodes("mixed", "mixed", 1, 1),
		},
		{
			what: "another job has its nodes to itself", request: job(1, 60), minute: 50, where: "batch",
			queue: []line{
				{id: 1, cpus: 1, nodes: 1, partition: "batch", on: "a1", minutes: 50, whole: true},
				{id: 2, cpus: 8, nodes: 1, partition: "batch", on: "a2", minutes: 55},
			},
			nodes: twoNodes("allocated", "allocated", 8, 8),
		},
		{
			what: "a throttled array has one CPU at a time", request: job(4, 60), minute: 0, where: "batch",
			queue: []line{
				{id: 1, array: 1, cpus: 1, nodes: 1, partition: "batch", on: "a1", minutes: 50},
				{id: 2, array: 1, cpus: 1, partition: "batch", minutes: 60, priority: 5, reason: "JobArrayTaskLimit"},
				{id: 3, array: 1, cpus: 16, partition: "batch", minutes: 60, priority: 5, reason: "JobArrayTaskLimit"},
			},
			nodes: twoNodes("mixed", "idle", 1, 0),
		},
		{
			what: "and keeps it", request: on(job(16, 60), 2), minute: 50 + 60 + 60, where: "batch",
			queue: []line{
				{id: 1, array: 1, cpus: 1, nodes: 1, partition: "batch", on: "a1", minutes: 50},
				{id: 2, array: 1, cpus: 1, partition: "batch", minutes: 60, priority: 5, reason: "JobArrayTaskLimit"},
				{id: 3, array: 1, cpus: 1, partition: "batch", minutes: 60, priority: 5, reason: "JobArrayTaskLimit"},
			},
			nodes: twoNodes("mixed", "idle", 1, 0),
		},
		{
			what: "others wait for more than nodes", request: job(16, 60), minute: 0, where: "batch", nodes: idle,
			queue: []line{
				{id: 2, cpus: 16, partition: "batch", minutes: 60, priority: 5, reason: "QOSMaxJobsPerUserLimit"},
				{id: 3, cpus: 16, partition: "batch", minutes: 60, priority: 5, reason: "AssocGrpCpuLimit"},
				{id: 4, cpus: 16, partition: "batch", minutes: 60, priority: 5, reason: "JobHeldUser"},
				{id: 5, cpus: 16, partition: "batch", minutes: 60, priority: 5, reason: "Licenses"},
				{id: 6, cpus: 16, partition: "batch", minutes: 60, priority: 5, reason: "Dependency"},
				{id: 7, cpus: 16, partition: "batch", minutes: 60, priority: 5, reason: "JobArrayTaskLimit"},
			},
		},
		{
			what: "one node drains", request: job(8, 60), minute: 50, where: "batch",
			queue: []line{
				{id: 1, cpus: 4, nodes: 1, partition: "batch", on: "a1", minutes: 50},
				{id: 2, cpus: 1, nodes: 1, partition: "batch", on: "a2", minutes: 5},
			},
			nodes: twoNodes("mixed", "draining", 4, 1),
		},
		{what: "the nodes that it needs are drained", request: job(9, 60), minute: never, nodes: twoNodes("idle", "drained", 0, 0)},
		{what: "maintenance, for long jobs", request: job(1, 60), minute: 90, where: "batch", nodes: idle, reservations: maintenance},
		{what: "maintenance, for short jobs", request: job(1, 30), minute: 0, where: "batch", nodes: idle, reservations: maintenance},
		{
			what: "maintenance every day", request: job(1, 60*24), minute: 90 + 23*60*24, where: "batch", nodes: idle,
			reservations: strings.ReplaceAll(maintenance, "MAINT", "DAILY"),
		},
		{
			what: "some cores are reserved", request: job(4, 60), minute: 0, where: "batch", nodes: idle,
			reservations: strings.ReplaceAll(maintenance, "CoreCnt=16", "CoreCnt=8"),
		},
		{
			what: "a job beside those cores", request: job(9, 60), minute: 90, where: "batch", nodes: idle,
			reservations: strings.ReplaceAll(maintenance, "CoreCnt=16", "CoreCnt=8"),
		},
		{
			what: "backfilling", request: job(4, 40), minute: 0, where: "batch", nodes: twoNodes("allocated", "idle", 8, 0),
			queue: []line{
				{id: 1, cpus: 8, nodes: 1, partition: "batch", on: "a1", minutes: 50},
				{id: 2, cpus: 16, partition: "batch", minutes: 60, priority: 5},
			},
		},
		{
			what: "not before those who wait", request: job(4, 60), minute: 110, where: "batch", nodes: twoNodes("allocated", "idle", 8, 0),
			queue: []line{
				{id: 1, cpus: 8, nodes: 1, partition: "batch", on: "a1", minutes: 50},
				{id: 2, cpus: 16, partition: "batch", minutes: 60, priority: 5},
			},
		},
	} {
		var queue strings.Builder
		for _, l := range c.queue {
			queue.WriteString(l.String())
		}
		if c.partitions == "" {
			c.partitions = "batch"
		}
		look, err := slurm.NewLook(lookAt, strings.Split(c.partitions, ","), slurm.Texts{
			Queue: queue.String(), Nodes: c.nodes, Partitions: partitionsOfTwo, Reservations: c.reservations,
			Config: map[string]string{"SelectTypeParameters": "CR_CPU_MEMORY", "DefMemPerCPU": "10"},
		})
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		at, where, declined := look.Start(c.request)
		if (declined != "") != (c.minute == never) {
			t.Errorf("%s: declined because of %q", c.what, declined)
		}
		want := lookAt + protocol.Instant(c.minute)*protocol.Instant(protocol.Minute)
		if declined == "" && (at < want || at > want+protocol.Instant(protocol.Second) || where != c.where) {
			t.Errorf("%s: starts after %v in %s, want %v in %s", c.what, at.Sub(lookAt), where, want.Sub(lookAt), c.where)
		}
	}
}

// TestMemoryByDefault: a job that does not say how much memory it needs gets what Slurm gives it.
func TestMemoryByDefault(t *testing.T) {
	t.Parallel()
	half := line{id: 1, cpus: 1, nodes: 2, mb: 8000, partition: "batch", on: "a[1-2]", minutes: 50}.String()
	for _, c := range []struct {
		config map[string]string
		own    string // of the partition
		minute int
	}{
		{map[string]string{"SelectTypeParameters": "CR_CPU"}, "", 0},
		{map[string]string{"SelectTypeParameters": "CR_CPU_MEMORY", "DefMemPerNode": "UNLIMITED"}, "", 50},
		{map[string]string{"SelectTypeParameters": "CR_CPU_MEMORY", "DefMemPerCPU": "1000"}, "", 0},
		{map[string]string{"SelectTypeParameters": "CR_CPU_MEMORY", "DefMemPerNode": "4001"}, "", 50},
		{map[string]string{"SelectTypeParameters": "CR_CPU_MEMORY", "DefMemPerNode": "4001"}, " DefMemPerCPU=1000", 0},
		{map[string]string{"SelectTypeParameters": "CR_CPU_MEMORY", "DefMemPerCPU": "10"}, " DefMemPerNode=5000", 50},
	} {
		look, err := slurm.NewLook(lookAt, []string{"batch"}, slurm.Texts{
			Queue: half, Nodes: twoNodes("mixed", "mixed", 1, 1), Config: c.config,
			Partitions: strings.ReplaceAll(partitionsOfTwo, "OverSubscribe=NO", "OverSubscribe=NO"+c.own),
		})
		if err != nil {
			t.Fatal(err)
		}
		want := lookAt + protocol.Instant(c.minute)*protocol.Instant(protocol.Minute)
		if at, _, _ := look.Start(protocol.Request{CPUs: 4, WallTime: protocol.Hour}); at != want {
			t.Errorf("%v%s: starts after %v", c.config, c.own, at.Sub(lookAt))
		}
	}
}

// big is a look at 1,000 nodes of 64 CPUs with 5,000 jobs that run and 5,000 that wait, all
// of about 10,000 shapes.
func big(t testing.TB) *slurm.Look {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	const nodes = 1000
	var text, queue strings.Builder
	busy := make([]int, nodes)
	for id := range 10_000 {
		l := line{id: id + 1, cpus: 1 << random.IntN(7), partition: "batch", minutes: 5 + random.IntN(600), priority: random.IntN(1000)}
		l.mb = l.cpus * (500 + 500*random.IntN(4))
		if node := id / 5; id < 5000 && busy[node]+l.cpus <= 64 {
			busy[node] += l.cpus
			l.on = fmt.Sprintf("n%d", node)
		}
		if id >= 5000 && random.IntN(10) == 0 {
			l.nodes = 1 + random.IntN(32)
			l.cpus = 64 * l.nodes
		}
		queue.WriteString(l.String())
	}
	for i, n := range busy {
		fmt.Fprintf(&text, "n%d|batch|%d/%d/0/64|256000|1|mixed|(null)|(null)\n", i, n, 64-n)
	}
	look, err := slurm.NewLook(lookAt, nil, slurm.Texts{
		Queue: queue.String(), Nodes: text.String(),
		Partitions: "PartitionName=batch Default=YES State=UP MaxTime=UNLIMITED PriorityTier=1 TotalCPUs=64000 TotalNodes=1000 OverSubscribe=NO\n",
		Config:     map[string]string{"SelectTypeParameters": "CR_CORE_MEMORY", "DefMemPerCPU": "1000"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return look
}

// BenchmarkPlan is a plan of 1,000 nodes and 10,000 jobs, and a quote on it. It tells the CPU
// time, too, for a machine that others use.
//
//	go test -run '^$' -bench Plan ./localsched/slurm
func BenchmarkPlan(b *testing.B) {
	look := big(b)
	r := protocol.Request{CPUs: 256, WallTime: protocol.Hour}
	b.Run("look", func(b *testing.B) {
		used := cpuTime(b)
		for b.Loop() {
			look.Forget()
			look.Later(r)
		}
		b.ReportMetric(float64((cpuTime(b)-used).Milliseconds())/float64(b.N), "cpu-ms/op")
	})
	b.Run("quote", func(b *testing.B) {
		used := cpuTime(b)
		for b.Loop() {
			look.Later(r)
		}
		b.ReportMetric(float64((cpuTime(b)-used).Milliseconds())/float64(b.N), "cpu-ms/op")
	})
}

// cpuTime is how long this process has computed.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// TestRunTimes (D3): many short jobs of one user say how long that user's jobs run that have
// such limits, and nothing about the jobs of others.
func TestRunTimes(t *testing.T) {
	t.Parallel()
	at := func(minute, second int) string { return fmt.Sprintf("2026-11-21T10:%02d:%02d", minute, second) }
	short := func(n int) string {
		var queue strings.Builder
		for id := range n {
			queue.WriteString(queueLine(map[int]string{
				0: strconv.Itoa(100 + id), 2: "1000", 6: "COMPLETED", 7: at(id, 0), 8: at(id, 0), 9: at(id, 1), 10: "3:00", 17: "a1",
			}) + "\n")
		}
		return queue.String()
	}
	running := func(uid string, limit int) string {
		l := line{id: 1, cpus: 16, nodes: 2, partition: "batch", on: "a[1-2]", minutes: limit}.String()
		return strings.Replace(l, "|MARK|1000|", "|MARK|"+uid+"|", 1)
	}
	waiting := line{id: 2, cpus: 16, partition: "batch", minutes: 3, priority: 5}.String()
	for _, c := range []struct {
		what  string
		queue string
		want  protocol.Duration
	}{
		{"the user's jobs are short", short(50) + running("1000", 3) + waiting, 3 * protocol.Second},
		{"too few are known", short(4) + running("1000", 3) + waiting, 6 * protocol.Minute},
		{"another user's may not be", short(50) + running("1001", 3), 3 * protocol.Minute},
		{"longer ones may not be", short(50) + running("1000", 70), 70 * protocol.Minute},
	} {
		look, err := slurm.NewLook(lookAt, []string{"batch"}, slurm.Texts{
			Queue: c.queue, Nodes: twoNodes("allocated", "allocated", 8, 8), Partitions: partitionsOfTwo,
		})
		if err != nil {
			t.Fatal(err)
		}
		r := protocol.Request{CPUs: 1, WallTime: protocol.Hour}
		got := look.Likely(r).Sub(lookAt)
		if got < c.want-protocol.Second || got > c.want+protocol.Second {
			t.Errorf("%s: likely after %v, want %v", c.what, got, c.want)
		}
		if by, _, _ := look.Start(r); by.Sub(lookAt) < 3*protocol.Minute {
			t.Errorf("%s: by the limits after %v", c.what, by.Sub(lookAt))
		}
	}
}
