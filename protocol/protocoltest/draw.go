// Package protocoltest draws the nouns of package protocol for property tests of their wire
// forms. All that it draws passes the checks of protocol/common/v1.
package protocoltest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Slice draws up to three values.
func Slice[T any](t *rapid.T, draw func(*rapid.T) T) (out []T) {
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		out = append(out, draw(t))
	}
	return out
}

// Count draws a count.
func Count(t *rapid.T) int { return rapid.IntRange(0, math.MaxInt32).Draw(t, "count") }

// Amount draws an integer that is not negative.
func Amount(t *rapid.T) int64 { return rapid.Int64Min(0).Draw(t, "amount") }

// Text draws a text for people.
func Text(t *rapid.T) string { return rapid.StringN(0, 20, 200).Draw(t, "text") }

// Span draws a span: never is one of them.
func Span(t *rapid.T) protocol.Duration {
	return protocol.Duration(rapid.OneOf(rapid.Just(int64(protocol.Never)), rapid.Int64Min(0)).Draw(t, "span"))
}

// Instant draws an instant that often is none.
func Instant(t *rapid.T) protocol.Instant {
	return protocol.Instant(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Min(0)).Draw(t, "instant"))
}

// Site draws a site's name.
func Site(t *rapid.T) protocol.SiteName {
	return protocol.SiteName(rapid.StringMatching(`[a-z][a-z0-9-]{0,31}`).Draw(t, "site"))
}

// Job draws the id of a job of some site.
func Job(t *rapid.T) protocol.JobID {
	origin := protocol.SiteNumber(rapid.Uint16Range(1, uint16(protocol.MaxSiteNumber)).Draw(t, "origin"))
	return protocol.NewJobID(origin, rapid.Uint64Range(0, protocol.SeqsPerSite-1).Draw(t, "seq"))
}

// Tag draws a placement.
func Tag(t *rapid.T) protocol.Tag {
	return protocol.Tag{Job: Job(t), Epoch: protocol.Epoch(rapid.Uint32Min(1).Draw(t, "epoch"))}
}

// Request draws the shape of a job.
func Request(t *rapid.T, job protocol.JobID) protocol.Request {
	limit := max(1, Span(t))
	return layout(t, protocol.Request{
		Resources: Resources(t, protocol.PerNode, protocol.PerTask, protocol.PerJob), Exclusive: rapid.Bool().Draw(t, "exclusive"),
		Features: rapid.SampledFrom([]string{"", "skylake", "a&(b|c)", "[r1|r2]", "a*2&b*1"}).Draw(t, "features"),
		Job:      job, CPUs: rapid.IntRange(1, math.MaxInt32).Draw(t, "cpus"), Nodes: Count(t), MemoryMB: Amount(t),
		WallTime: limit, MinTime: min(limit, Span(t)), Power: Power(t), PowerClass: rapid.Uint64().Draw(t, "like"),
	})
}

// Resources draws a list of what a job asks for, counted by one of the given, or of what a node
// has.
func Resources(t *rapid.T, per ...protocol.Per) (out []protocol.Resource) {
	for range rapid.IntRange(0, 3).Draw(t, "resources") {
		one := protocol.Resource{
			Name:  rapid.SampledFrom([]string{"gpu", "nic", "license"}).Draw(t, "resource"),
			Type:  rapid.SampledFrom([]string{"", "a100", "v100"}).Draw(t, "type"),
			Count: rapid.IntRange(1, 8).Draw(t, "count"),
		}
		if len(per) > 0 {
			one.Per = rapid.SampledFrom(per).Draw(t, "per")
		}
		out = append(out, one)
	}
	slices.SortFunc(out, protocol.CompareResources)
	return slices.CompactFunc(out, func(a, b protocol.Resource) bool { return protocol.CompareResources(a, b) == 0 })
}

func group(t *rapid.T) protocol.NodeGroup {
	features := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "r1", "r2", "skylake"}), 0, 4, rapid.ID).Draw(t, "features")
	slices.Sort(features)
	if len(features) == 0 {
		features = nil
	}
	return protocol.NodeGroup{
		Nodes: rapid.IntRange(1, 64).Draw(t, "nodes"), CPUs: rapid.IntRange(0, 64).Draw(t, "cpus"), MemoryMB: Amount(t),
		Resources: Resources(t), Features: features,
	}
}

// Power draws a power in parts per million.
func Power(t *rapid.T) int { return rapid.IntRange(0, protocol.MaxPower).Draw(t, "power") }

func share(t *rapid.T) int { return rapid.IntRange(0, protocol.PPM).Draw(t, "share") }

// layout divides the CPUs of a job in some way, and gives it others for it.
func layout(t *rapid.T, r protocol.Request) protocol.Request {
	few := func(what string, least int) int { return rapid.IntRange(least, 100).Draw(t, what) }
	switch rapid.IntRange(0, 3).Draw(t, "layout") {
	case 1:
		r.Layout.MaxNodes = rapid.IntRange(r.Nodes, math.MaxInt32).Draw(t, "most nodes")
	case 2:
		r.Nodes = few("nodes", 0)
		r.Layout = protocol.Layout{Tasks: few("tasks", max(1, r.Nodes)), CPUsPerTask: few("CPUs per task", 0), TasksPerNode: few("tasks per node", 0)}
		r.CPUs = r.Layout.Tasks * r.CPUsPerTask()
	case 3:
		r.Nodes = few("nodes", 0)
		r.Layout = protocol.Layout{TasksPerNode: few("tasks per node", 1), MaxNodes: r.Nodes}
		r.CPUs = max(1, r.Nodes) * r.Layout.TasksPerNode
	}
	switch rapid.IntRange(0, 2).Draw(t, "memory") {
	case 1:
		r.Layout.MemoryPerCPU = int64(few("MB per CPU", 1))
	case 2:
		r.Layout.MemoryPerGPU, r.Layout.CPUsPerGPU, r.Layout.GPUsPerNode = int64(few("MB per GPU", 1)), few("CPUs per GPU", 0), true
	}
	return r
}

// Spec draws a job without what it runs.
func Spec(t *rapid.T, job protocol.JobID) protocol.Spec {
	spec := protocol.Spec{
		Request: Request(t, job), Name: Text(t), User: Text(t), Sites: Slice(t, Site),
		Requeue: rapid.Bool().Draw(t, "requeue"), Submitted: Instant(t), MHz: Count(t), Mflops: Count(t),
		Data: Amount(t), DataOut: Amount(t),
		Association:      Association(t),
		PredictedRunTime: Span(t), Intensity: share(t), Computing: share(t), MeasuredPower: Power(t),
		Container: rapid.SampledFrom([]string{"", "/images/a.sif", "docker://debian:12"}).Draw(t, "container"),
		Traceparent: rapid.SampledFrom([]protocol.Traceparent{
			"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		}).Draw(t, "traceparent"),
		StageIn: Amount(t), StageOut: rapid.Bool().Draw(t, "stage out"), Restarts: Count(t), Nice: rapid.Int64Range(-protocol.MaxNice, protocol.MaxNice).Draw(t, "nice"),
	}
	if rapid.Bool().Draw(t, "in place") {
		spec.StayInPlace()
	}
	return spec
}

// Association draws what a job is to be charged to, where and with what quality of service.
func Association(t *rapid.T) protocol.Association {
	return protocol.Association{
		Account:   rapid.SampledFrom([]string{"", "physics", strings.Repeat("ä", 32)}).Draw(t, "account"),
		Partition: rapid.SampledFrom([]string{"", "gpu", "short,long"}).Draw(t, "partition"),
		QOS:       rapid.SampledFrom([]string{"", "urgent", strings.Repeat("ü", 16)}).Draw(t, "priority"),
	}
}

// Payload draws what a job runs: any bytes but NUL, which need not be UTF-8.
func Payload(t *rapid.T) *protocol.Payload {
	script := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "script")
	if len(script) == 0 {
		script = nil
	}
	return &protocol.Payload{
		Script: script, Args: Slice(t, Unix), Env: Slice(t, func(t *rapid.T) string { return "N=" + Unix(t) }),
		WorkDir: Unix(t), Stdout: Unix(t), Stderr: Unix(t),
		Input: Unix(t), AppendOutput: rapid.Bool().Draw(t, "append"), LimitSignal: limitSignal(t),
		Staging: staging(t), Shell: shell(t),
	}
}

func staging(t *rapid.T) *protocol.Staging {
	s := &protocol.Staging{Out: rapid.SampledFrom([][]string{nil, {"."}, {"out/*.dat", "log"}}).Draw(t, "stage out")}
	if rapid.Bool().Draw(t, "stage in") {
		s.Bytes, s.SHA256[0] = max(1, Amount(t)), 1
	}
	if len(s.Out) > 0 {
		s.MaxOut = Amount(t)
	}
	if s.Bytes == 0 && len(s.Out) == 0 {
		return nil
	}
	return s
}

func shell(t *rapid.T) *protocol.Shell {
	if rapid.Bool().Draw(t, "no shell") {
		return nil
	}
	s := &protocol.Shell{Host: rapid.SampledFrom([]string{"", "login1"}).Draw(t, "host"), Umask: rapid.IntRange(0, 0o777).Draw(t, "umask")}
	for _, name := range protocol.ResourceLimits() {
		if rapid.Bool().Draw(t, name) {
			s.Limits = append(s.Limits, protocol.ResourceLimit{Name: name, Soft: rapid.Uint64().Draw(t, "soft")})
		}
	}
	return s
}

func limitSignal(t *rapid.T) protocol.LimitSignal {
	if rapid.Bool().Draw(t, "no signal") {
		return protocol.LimitSignal{}
	}
	return protocol.LimitSignal{
		Signal: rapid.IntRange(1, protocol.MaxSignal).Draw(t, "signal"), Before: protocol.Duration(Amount(t)),
		ScriptOnly: rapid.Bool().Draw(t, "script only"), OverlapReservation: rapid.Bool().Draw(t, "overlap"),
	}
}

// Unix draws any bytes but NUL, which need not be UTF-8.
func Unix(t *rapid.T) string {
	return string(rapid.SliceOfN(rapid.ByteMin(1), 0, 20).Draw(t, "unix"))
}

// Load draws a load as a local scheduler measures it.
func Load(t *rapid.T) protocol.Load {
	load := protocol.Load{
		CPUs: Count(t), Busy: Count(t), QueuedJobs: Count(t), QueuedWork: Amount(t),
		PowerIdledCPUs: Count(t), Draw: Amount(t),
	}
	if rapid.Bool().Draw(t, "budget") {
		load.Budget = protocol.ActiveBudget(Amount(t))
	}
	return load
}

// Quote draws a quote for a job, as one site gives it to another: in euros if priced.
func Quote(t *rapid.T, job protocol.JobID, priced bool) protocol.Quote {
	if rapid.Bool().Draw(t, "declined") {
		return protocol.Quote{Job: job, Declined: "no: " + Text(t)}
	}
	q := protocol.Quote{Job: job, ERT: Span(t), Bound: Span(t), Note: Text(t)}
	q.AWT = protocol.Duration(rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "awt"))
	if rapid.Bool().Draw(t, "ranged") {
		q.AWTLow, q.AWTMedian, q.AWTHigh = q.AWT/2, q.AWT/2+1, q.AWT.Plus(1)
	}
	if priced {
		q.Terms, q.Currency = terms(t), "EUR"
	}
	return q
}

func terms(t *rapid.T) (out []protocol.Term) {
	for i := range rapid.IntRange(0, 3).Draw(t, "terms") {
		name := fmt.Sprintf("term-%d", i)
		out = append(out, protocol.Term{Name: name, Amount: protocol.Micro(rapid.Int64().Draw(t, name))})
	}
	return out
}

// Outcome draws how a job ended, without a bill.
func Outcome(t *rapid.T) protocol.Outcome {
	o := protocol.Outcome{
		State:  rapid.SampledFrom(protocol.States()[2:]).Draw(t, "state"),
		Reason: Text(t), Waited: protocol.Duration(Amount(t)), Ran: protocol.Duration(Amount(t)), Usage: usage(t),
	}
	if rapid.Bool().Draw(t, "signalled") {
		o.Signal = rapid.IntRange(1, 127).Draw(t, "signal")
	} else {
		o.ExitCode = rapid.IntRange(0, 255).Draw(t, "exit code")
	}
	for _, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
		if rapid.Bool().Draw(t, "has file") {
			f := protocol.File{Stream: stream, Size: Amount(t)}
			copy(f.SHA256[:], rapid.SliceOfN(rapid.Byte(), len(f.SHA256), len(f.SHA256)).Draw(t, "sha256"))
			o.Files = append(o.Files, f)
		}
	}
	return o
}

// Bill draws a bill that often is not made.
func Bill(t *rapid.T) *protocol.Bill {
	if rapid.Bool().Draw(t, "no bill") {
		return nil
	}
	return &protocol.Bill{Start: Instant(t), Currency: "EUR", Terms: terms(t)}
}

// usage draws a usage that often is not measured.
func usage(t *rapid.T) protocol.Usage {
	if rapid.Bool().Draw(t, "not measured") {
		return protocol.Usage{}
	}
	return protocol.Usage{
		CPU: protocol.Duration(Amount(t)), MemoryMB: Amount(t), Energy: Amount(t), Mflop: Amount(t), Mwords: Amount(t),
		Sent: Amount(t), Messages: Amount(t), MHz: Count(t), Power: Power(t),
	}
}

// Capacity draws what a machine can ever offer one job.
func Capacity(t *rapid.T) protocol.Capacity {
	c := protocol.Capacity{
		CPUs: rapid.IntRange(1, math.MaxInt32).Draw(t, "cpus"), Nodes: Count(t), NodeCPUs: Count(t), MemoryMB: Amount(t),
		WholeNode: rapid.Bool().Draw(t, "whole node"), Exclusive: rapid.Bool().Draw(t, "exclusive"),
		Groups: Slice(t, group), Shared: Resources(t),
		MaxWallTime: Span(t), MHz: Count(t), Mflops: Count(t),
		Containers: rapid.Bool().Draw(t, "containers"),
	}
	if rapid.Bool().Draw(t, "stated") {
		c.Machine = protocol.Machine{
			Flops: Amount(t), Words: Amount(t), Network: Amount(t), Latency: Amount(t), Bus: rapid.Bool().Draw(t, "bus"),
		}
	}
	return c
}
