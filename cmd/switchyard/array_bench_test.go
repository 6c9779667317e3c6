package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// BenchmarkArray measures an array of 10,000 elements in a grid of three live sites: its submission, its listing, and its
// cancellation once elements run at all sites; until its durable answer, and until the last element has ended.
func BenchmarkArray(b *testing.B) {
	_, g := benchGrid(b)
	if err := g.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = g.Stop(stopPatience) })
	client := g.Sites[0].Client()
	defer client.Close()
	spent := map[string]time.Duration{}
	timed := func(what string, do func() error) {
		begin := time.Now()
		if err := do(); err != nil {
			b.Fatal(what, err)
		}
		spent[what] += time.Since(begin)
	}
	for b.Loop() {
		benchmarkArray(b, client, timed)
	}
	b.StopTimer()
	b.ReportMetric(idleWithArray(b, client, g.Sites[0].Pid()), "%-core-100000")
	for what, time := range spent {
		b.ReportMetric(float64(time.Milliseconds())/float64(b.N), "ms-"+what)
	}
}

// idleWithArray is the CPU time of a peer with 100,000 elements, of which some run and the others wait, in percent of a core.
func idleWithArray(b *testing.B, client *api.Client, pid int) float64 {
	b.Helper()
	const settle, watched = 5 * time.Second, 20 * time.Second
	id := submitArray(b, client, "0-99999")
	time.Sleep(settle)
	before := cpuTime(b, pid)
	time.Sleep(watched)
	used := cpuTime(b, pid) - before
	if err := client.Cancel(b.Context(), id); err != nil {
		b.Fatal(err)
	}
	return 100 * used.Seconds() / watched.Seconds()
}

// cpuTime is what a process has used so far, see proc(5).
func cpuTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	const user, system, tick = 13, 14, 10 * time.Millisecond
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(stat))
	ticks := 0
	for _, field := range []int{user, system} {
		n, err := strconv.Atoi(fields[field])
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// submitArray submits elements that sleep.
func submitArray(b *testing.B, client *api.Client, indexes string) protocol.JobID {
	b.Helper()
	array, err := protocol.ParseArray(indexes)
	if err != nil {
		b.Fatal(err)
	}
	submitted, err := client.Submit(b.Context(), api.Submission{Jobs: []protocol.Job{{
		Spec:    protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Name: "array"},
		Payload: &protocol.Payload{Script: []byte("#!/bin/sh\nexec sleep 600\n"), WorkDir: "/tmp", Stdout: "/dev/null", Stderr: "/dev/null"},
		Array:   &array,
	}}})
	if err != nil {
		b.Fatal(err)
	}
	return submitted.Jobs[0]
}

func benchmarkArray(b *testing.B, client *api.Client, timed func(string, func() error)) {
	b.Helper()
	const elements = 10_000
	var id protocol.JobID
	timed("submit", func() error { id = submitArray(b, client, "0-9999"); return nil })
	timed("list", func() error {
		queue, err := client.WholeQueue(b.Context(), api.Listing{QueueFilter: view.QueueFilter{Guests: view.WithoutGuests}})
		if err == nil && len(queue.Jobs) > 40 {
			err = fmt.Errorf("%d lines", len(queue.Jobs))
		}
		return err
	})
	timed("start", func() error {
		for {
			job, err := client.Job(b.Context(), protocol.JobName{Job: id})
			if err != nil || job.Array.Running == 12 {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	timed("cancel", func() error { return client.Cancel(b.Context(), id) })
	timed("end", func() error {
		job, err := client.Wait(b.Context(), protocol.JobName{Job: id})
		if err == nil && job.Array.Cancelled != elements {
			err = fmt.Errorf("%+v", job.Array)
		}
		return err
	})
}
