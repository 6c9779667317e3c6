package node_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var waitingJobs = flag.Int("waiting.jobs", 26_000, "how many jobs wait in BenchmarkWaiting")

// BenchmarkWaiting is what a live peer costs while jobs wait for a site that is down: its share
// of a core, what it keeps in memory, how long it takes to start again, and the same after that.
// A round of the benchmark is ten seconds, so a run of it is one round.
func BenchmarkWaiting(b *testing.B) {
	path := filepath.Join(b.TempDir(), "peer.db")
	n, stop := waitingNode(b, path)
	submitWaiting(b, n, *waitingJobs)
	n.Disconnected("north", "")
	report := func(suffix string) {
		time.Sleep(20 * time.Second) // the first rounds end
		before := cpuTime(b)
		const span = 10 * time.Second
		time.Sleep(span)
		b.ReportMetric(100*float64(cpuTime(b)-before)/float64(span), "%core"+suffix)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB-live"+suffix)
		b.ReportMetric(residentMB(b), "MB-resident"+suffix)
	}
	for b.Loop() {
		report("")
	}
	stop()
	runtime.GC()
	begun := time.Now()
	n, stop = waitingNode(b, path)
	b.ReportMetric(time.Since(begun).Seconds(), "s-restart")
	report("-restarted")
	begun = time.Now()
	if _, err := n.Ask(b.Context(), func(asked event.AskID) event.Event { return event.AskQueue{Asked: asked} }); err != nil {
		b.Error(err)
	}
	b.ReportMetric(float64(time.Since(begun).Milliseconds()), "ms-queue")
	stop()
}

// waitingNode is a peer on a real store whose partner north can run more than it can.
func waitingNode(b *testing.B, path string) (n *node.Node, stop func()) {
	b.Helper()
	file, err := store.Open(path, store.Options{AllowNetworkFS: true})
	if err != nil {
		b.Fatal(err)
	}
	cfg := liveConfig(file)
	cfg.Peer.Policy, cfg.Policy = policy.Describe(tc.New(tc.Config{})), tc.New(tc.Config{})
	cfg.Peer.Partners = []rules.Partner{{Site: "north", MaxJobs: 1000}}
	if n, err = node.New(cfg); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	// An answer means that the first step has been made.
	if _, err = n.Ask(ctx, func(asked event.AskID) event.Event { return event.AskSites{Asked: asked} }); err != nil {
		b.Fatal(err)
	}
	return n, func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		if err := file.Close(); err != nil {
			b.Error(err)
		}
	}
}

// submitWaiting submits jobs one by one, as `sbatch` in a loop does, each with its user's
// environment.
func submitWaiting(b *testing.B, n *node.Node, jobs int) {
	b.Helper()
	n.Connected(protocol.Card{
		Site: "north", Number: 2, Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1,
		Capacity: protocol.Capacity{CPUs: 8, Nodes: 8},
	})
	n.Disconnected("north", "")
	const callers = 8
	errs := make(chan error, callers)
	for caller := range callers {
		go func() {
			user := "user" + strconv.Itoa(caller)
			for i := caller; i < jobs; i += callers {
				if _, err := n.Ask(b.Context(), func(asked event.AskID) event.Event {
					return event.Submit{Asked: asked, User: user, Key: fmt.Sprintf("%032x", i), Jobs: []protocol.Job{waitingJob(user, i)}}
				}); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range callers {
		if err := <-errs; err != nil {
			b.Fatal(err)
		}
	}
}

// waitingJob is a job as a user submits many: one script and environment, other arguments.
// Nothing in it is shared with another job.
func waitingJob(user string, i int) protocol.Job {
	env := []string{"USER=" + user}
	for k := range 50 {
		env = append(env, fmt.Sprintf("VARIABLE_%d=/opt/software/%s/%d/%s", k, user, k, strings.Repeat("x", 30)))
	}
	home := "/home/" + user + "/project/run-" + strconv.Itoa(i)
	return protocol.Job{
		Spec: protocol.Spec{
			Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Name: "simulate",
			Sites: []protocol.SiteName{protocol.SiteName("no" + "rth")},
		},
		Payload: &protocol.Payload{
			Script: []byte(strings.Repeat("#!/bin/bash of "+user+"\n", 25)), Args: []string{strconv.Itoa(i)}, Env: env,
			WorkDir: home, Stdout: home + "/slurm-%j.out", Stderr: home + "/slurm-%j.out",
		},
	}
}

// cpuTime is what this process has had of the machine's CPUs.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// residentMB is the memory of this process that is not backed by a file; 0 where that is not
// known.
func residentMB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kB, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(kB) / 1e3
		}
	}
	return 0
}
