package slurm_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The parsers take whatever a command may print without panic.

func FuzzQueue(f *testing.F) {
	f.Add(captured(f, "squeue.txt"))
	f.Add(queueLine(nil))
	f.Fuzz(func(t *testing.T, out string) {
		got, err := slurm.ParseQueue(out, "MARK")
		if err == nil && len(got) > strings.Count(out, "|MARK|") {
			t.Errorf("%d jobs in %q", len(got), out)
		}
	})
}

func FuzzNodes(f *testing.F) {
	f.Add(captured(f, "sinfo.txt"))
	f.Fuzz(func(_ *testing.T, out string) { slurm.ParseNodes(out, []string{"batch"}) })
}

func FuzzResources(f *testing.F) {
	f.Add("gpu:a100:4(S:0-1),nic:1,bandwidth:lustre:no_consume:4G")
	f.Add("gres:gpu:2,gres:nic:1")
	f.Fuzz(func(t *testing.T, out string) {
		if got := slurm.AskedInQueue(out, "", "", 1); !slices.IsSortedFunc(got, protocol.CompareResources) {
			t.Errorf("%q is read as %v", out, got)
		}
		has := &protocol.Capacity{Groups: []protocol.NodeGroup{slurm.GroupOf(out, out)}}
		if err := has.CheckGroups(); err != nil {
			t.Errorf("%q: %v", out, err)
		}
	})
}

func FuzzLicenses(f *testing.F) {
	f.Add("LicenseName=fluent Total=3 Used=0 Free=3 Reserved=0 Remote=no")
	f.Add("No licenses configured in Slurm.")
	f.Fuzz(func(_ *testing.T, out string) { slurm.ParseLicenses(out) })
}

func FuzzPartitions(f *testing.F) {
	f.Add(captured(f, "partition.txt"))
	f.Fuzz(func(_ *testing.T, out string) { slurm.ParsePartitions(out) })
}

func FuzzReservations(f *testing.F) {
	f.Add("ReservationName=sy.north.7.3 StartTime=2026-11-21T19:47:22 EndTime=2026-11-21T19:52:14 Duration=00:04:52 Users=nobody")
	f.Add("ReservationName=m StartTime=2026-11-21T19:47:22 EndTime=2026-11-21T19:52:14 Nodes=a[1-2] CoreCnt=3 NodeName=a1 CoreIDs=0-1 Flags=DAILY")
	f.Add("No reservations in the system")
	f.Fuzz(func(t *testing.T, out string) {
		got, err := slurm.ParseReservations(out)
		if err == nil && len(got) > strings.Count(out, "ReservationName=") {
			t.Errorf("%d reservations in %q", len(got), out)
		}
	})
}

func FuzzHosts(f *testing.F) {
	f.Add("rack[1-2]node[01-16],b2,c[1,3-5]x")
	f.Fuzz(func(t *testing.T, list string) {
		hosts, err := slurm.ExpandHosts(list)
		if len(hosts) > 1<<16 || err == nil && slices.Contains(hosts, "") {
			t.Errorf("%q names %d nodes", list, len(hosts))
		}
	})
}

func FuzzEnding(f *testing.F) {
	for line := range strings.Lines(captured(f, "jobcomp.txt")) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if _, ok := slurm.ParseEnding(line); ok && !strings.Contains(line, "sy.") {
			t.Errorf("%q is taken for a line about a job of a peer's", line)
		}
	})
}

func FuzzAccounted(f *testing.F) {
	f.Add(captured(f, "sacct.txt"))
	f.Fuzz(func(_ *testing.T, out string) { slurm.ParseAccounted(out, "sy.north.7000000000001.3") })
}

func FuzzSmallParts(f *testing.F) {
	f.Add("1-02:00:00")
	f.Add("sbatch: Job 5 to start at 2026-11-21T01:36:53 using")
	f.Add("slurm-wlm 22.05.8")
	f.Add("12 0 a1 4711 1795255912000")
	f.Fuzz(func(t *testing.T, text string) {
		slurm.ParseVersion(text)
		slurm.ParseConfig(text)
		slurm.ParseTime(text)
		slurm.ParseSubmitted(text)
		slurm.ParseExit(text)
		slurm.WillStart(text)
		slurm.ParseClaim(text)
		slurm.Refusal(text)
		if mb, err := slurm.ParseMegabytes(text); err == nil && mb < 0 {
			t.Errorf("%q is %d MB", text, mb)
		}
		if d, err := slurm.ParseLimit(text); err == nil && d < 0 {
			t.Errorf("%q is the limit %v", text, d)
		}
	})
}

// FuzzUsage: whatever sacct or a job's shell prints, nothing negative comes of it.
func FuzzUsage(f *testing.F) {
	f.Add(captured(f, "usage.txt"))
	f.Add("0m0.01s 1m2,5s 0m0s 9m59.9s")
	f.Add("1|sy.north.7000000000001.3|1-02:03:04.5|1.5T|18446744073709551614|Unknown")
	f.Fuzz(func(t *testing.T, out string) {
		u, _ := slurm.ParseUsage(out, "sy.north.7000000000001.3")
		if u.CPU < 0 || u.MemoryMB < 0 || u.Energy < 0 {
			t.Errorf("%q is %+v", out, u)
		}
		if cpu := slurm.ParseTimes(strings.Fields(out)); cpu < 0 {
			t.Errorf("%q is %v", out, cpu)
		}
	})
}

// FuzzQuote has a real shell say what a quoted word is.
func FuzzQuote(f *testing.F) {
	f.Add(`it's "odd" $HOME \ ` + "`id`\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, 0) {
			return
		}
		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "printf %s "+slurm.Quote(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q is %q to the shell, %v", text, out, err)
		}
	})
}

// FuzzClaimFile: whatever an account writes in the place of its claim, it is one of a
// wrapper or of the adapter, and never of both.
func FuzzClaimFile(f *testing.F) {
	f.Add("12 0 a1 4711 1795255912000\n")
	f.Add("withdrawn\n")
	f.Add("closed")
	f.Add("4294967296 0 a1 4711 -1")
	f.Fuzz(func(t *testing.T, text string) {
		by, id, started := slurm.ParseClaim(text)
		if started < 0 || started.Time().Year() > 9999 {
			t.Errorf("%q started at %d", text, started)
		}
		if by != "" && (by != strings.TrimSpace(text) || id != 0 || started != 0) {
			t.Errorf("%q is a claim by %q, with id %d and start %d", text, by, id, started)
		}
	})
}

// FuzzExitFile: whatever an account writes as how its job has ended, it is an exit code or
// a signal, at a time.
func FuzzExitFile(f *testing.F) {
	f.Add("0 1795255912000\n")
	f.Add("143 1795255912000\n0m0.01s 0m0.02s\n1m2.5s 0m0s\n")
	f.Add("0 1795255912000 TERM\n0m0.01s 0m0.02s\n1m2.5s 0m0s\n")
	f.Add("255 99999999999999999999")
	f.Add("-1 0")
	f.Fuzz(func(t *testing.T, text string) {
		code, signal, ended, cpu, ok := slurm.LastWords(text)
		if !ok {
			return
		}
		if code < 0 || code > 255 || signal < 0 || signal > 64 || code > 0 && signal > 0 || ended < 0 || ended.Time().Year() > 9999 || cpu < 0 {
			t.Errorf("%q is exit code %d, signal %d, at %d, after %v", text, code, signal, ended, cpu)
		}
	})
}
