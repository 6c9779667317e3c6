package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// makeBuild builds both binaries into a folder, as `make build` does.
func makeBuild(b *testing.B, dir string) {
	b.Helper()
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w -X main.version=1 -X main.commit=bench",
		"-o", dir, ".", "../switchyard-shim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
}

// BenchmarkStart is what a start of each binary costs: of the one that a peer starts three times
// for each job, if it is installed, and of the other.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	makeBuild(b, dir)
	for _, name := range []string{daemon.ShimBinary, "switchyard"} {
		b.Run(name, func(b *testing.B) {
			var cpu time.Duration
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), filepath.Join(dir, name), "version")
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			b.ReportMetric(float64(cpu.Microseconds())/float64(b.N)/1000, "cpu-ms/op")
		})
	}
}

// BenchmarkShortJobs is what a job of 10 ms costs that one of three sites of a grid of real
// processes takes in and any of them runs, until its output is with its user. The CPU time is that
// of the whole machine, which has to be idle otherwise.
func BenchmarkShortJobs(b *testing.B) {
	const jobs = 600
	for b.Loop() {
		dir, grid := benchGrid(b)
		work := filepath.Join(dir, "jobs")
		if err := errors.Join(testbed.MakeShared(b.Context(), work), grid.Start(b.Context())); err != nil {
			b.Fatal(err)
		}
		begun, before := time.Now(), busy(b)
		runShortJobs(b, grid.Sites[0], work, jobs)
		b.ReportMetric(float64((busy(b)-before).Milliseconds())/jobs, "cpu-ms/job")
		b.ReportMetric(jobs/time.Since(begun).Seconds(), "jobs/s")
		if err := grid.Stop(stopPatience); err != nil {
			b.Error(err)
		}
	}
}

// benchGrid is a grid of three sites that is not started yet, and its directory.
func benchGrid(b *testing.B) (dir string, grid *testbed.Grid) {
	b.Helper()
	dir, err := os.MkdirTemp("", "sy") //nolint:usetesting // that of the benchmark is too long for a socket
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err = os.Chmod(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	makeBuild(b, dir)
	grid, err = testbed.New(b.Context(), testbed.Config{Dir: dir, Binary: filepath.Join(dir, "switchyard"), Sites: []testbed.Machine{
		{Name: "aurora", CPUs: 4}, {Name: "borealis", CPUs: 4}, {Name: "cygnus", CPUs: 4},
	}})
	if err != nil {
		b.Fatal(err)
	}
	return dir, grid
}

// runShortJobs submits jobs one by one and waits until all have completed.
func runShortJobs(b *testing.B, site *testbed.Site, work string, jobs int) {
	b.Helper()
	client := site.Client()
	defer client.Close()
	out := filepath.Join(work, "%j.out")
	var ids []protocol.JobID
	for range jobs {
		submitted, err := client.Submit(b.Context(), api.Submission{Jobs: []protocol.Job{{
			Spec:    protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}, Name: "short"},
			Payload: &protocol.Payload{Script: []byte("#!/bin/sh\nexec sleep 0.01\n"), WorkDir: work, Stdout: out, Stderr: out},
		}}})
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, submitted.Jobs...)
	}
	for _, id := range ids {
		if job, err := client.Wait(b.Context(), protocol.JobName{Job: id}); err != nil || job.State != protocol.Completed {
			b.Fatalf("%+v, %v", job, err)
		}
	}
}

// busy is how long the machine's CPUs have worked, all together.
func busy(b *testing.B) time.Duration {
	b.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		b.Skip(err)
	}
	const hertz = 100 // USER_HZ, in which Linux counts here
	var user, nice, system, idle, wait, irq, soft int64
	if _, err = fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft); err != nil {
		b.Fatal(err)
	}
	return time.Duration(user+nice+system+irq+soft) * time.Second / hertz
}
