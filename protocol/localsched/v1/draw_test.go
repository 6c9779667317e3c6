package localschedv1_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// travel is what is left of a message on the other side.
func travel[M proto.Message](t interface{ Fatal(args ...any) }, m, into M) M {
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err = proto.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// refused checks that an error is there and names what it should.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}

// with returns a changed copy.
func with[T any](v T, change func(*T)) T {
	change(&v)
	return v
}

func drawSlice[T any](t *rapid.T, draw func(*rapid.T) T) (out []T) {
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		out = append(out, draw(t))
	}
	return out
}

func drawCount(t *rapid.T) int    { return rapid.IntRange(0, math.MaxInt32).Draw(t, "count") }
func drawAmount(t *rapid.T) int64 { return rapid.Int64Min(0).Draw(t, "amount") }
func drawText(t *rapid.T) string  { return rapid.StringN(0, 20, 200).Draw(t, "text") }

// drawSpan draws any span: never is one of them.
func drawSpan(t *rapid.T) protocol.Duration {
	return rapid.OneOf(rapid.Just(protocol.Never), rapid.Map(rapid.Int64Min(0), func(n int64) protocol.Duration {
		return protocol.Duration(n)
	})).Draw(t, "span")
}

func drawTag(t *rapid.T) protocol.Tag {
	return protocol.Tag{
		Job:   protocol.JobID(rapid.Uint64Min(1).Draw(t, "job")),
		Epoch: protocol.Epoch(rapid.Uint32Min(1).Draw(t, "epoch")),
	}
}

func drawRequest(t *rapid.T) protocol.Request {
	return drawLayout(t, protocol.Request{
		Job: protocol.JobID(rapid.Uint64().Draw(t, "job")), CPUs: drawCount(t), Nodes: drawCount(t),
		MemoryMB: drawAmount(t), WallTime: drawSpan(t),
		Power: rapid.OneOf(rapid.Just(0), rapid.IntRange(0, protocol.MaxPower)).Draw(t, "power"),
		Like:  rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64()).Draw(t, "like"),
	})
}

// drawLayout divides the CPUs of a job in some way, and gives it others for it.
func drawLayout(t *rapid.T, r protocol.Request) protocol.Request {
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
	return r
}

func drawQueued(t *rapid.T) localsched.Queued {
	tag := drawTag(t)
	return localsched.Queued{Tag: tag, Request: drawRequestOf(t, tag.Job), Since: protocol.Instant(drawAmount(t))}
}

// drawNote draws a note, of which most are empty.
func drawNote(t *rapid.T) string {
	return rapid.OneOf(rapid.Just(""), rapid.StringN(0, 20, 200)).Draw(t, "note")
}

func drawRequestOf(t *rapid.T, job protocol.JobID) protocol.Request {
	return with(drawRequest(t), func(r *protocol.Request) { r.Job = job })
}

func drawCapacity(t *rapid.T) protocol.Capacity {
	return protocol.Capacity{
		CPUs: rapid.IntRange(1, math.MaxInt32).Draw(t, "cpus"), Nodes: drawCount(t), MemoryMB: drawAmount(t),
		WholeNode: rapid.Bool().Draw(t, "whole node"), MaxWallTime: drawSpan(t), MHz: drawCount(t), Mflops: drawCount(t),
		Machine: drawMachine(t), NodeCPUs: drawCount(t),
	}
}

// drawMachine draws a machine that often is not stated.
func drawMachine(t *rapid.T) protocol.Machine {
	if rapid.Bool().Draw(t, "not stated") {
		return protocol.Machine{}
	}
	return protocol.Machine{
		Flops: drawAmount(t), Words: drawAmount(t), Network: drawAmount(t), Latency: drawAmount(t),
		Bus: rapid.Bool().Draw(t, "bus"),
	}
}

// drawUsage draws a usage that often is not measured.
func drawUsage(t *rapid.T) protocol.Usage {
	if rapid.Bool().Draw(t, "not measured") {
		return protocol.Usage{}
	}
	return protocol.Usage{
		CPU: protocol.Duration(drawAmount(t)), MemoryMB: drawAmount(t), Energy: drawAmount(t), Mflop: drawAmount(t),
		Mwords: drawAmount(t), Sent: drawAmount(t), Messages: drawAmount(t), MHz: drawCount(t), Power: rapid.IntRange(0, protocol.MaxPower).Draw(t, "power"),
	}
}

func drawLicences(t *rapid.T) (licences []protocol.Licence) {
	names := rapid.SliceOfNDistinct(rapid.StringN(1, 16, 64), 0, 16, rapid.ID).Draw(t, "licences")
	slices.Sort(names)
	for _, name := range names {
		licences = append(licences, protocol.Licence{Name: name, Count: max(1, drawCount(t))})
	}
	return licences
}

func drawHold(t *rapid.T) localsched.Hold {
	tag := drawTag(t)
	return localsched.Hold{
		Tag: tag, Request: drawRequestOf(t, tag.Job), Start: protocol.Instant(drawAmount(t)),
		Account: strings.ReplaceAll(drawText(t), "\x00", ""),
	}
}

func drawLoad(t *rapid.T) protocol.Load {
	return protocol.Load{
		CPUs: drawCount(t), Busy: drawCount(t), QueuedJobs: drawCount(t), QueuedWork: drawAmount(t),
		Withheld: drawCount(t), Draw: drawAmount(t), Budget: drawAmount(t),
	}
}

func drawQuery(t *rapid.T) localsched.Query {
	return localsched.Query{
		Jobs: drawSlice(t, drawRequest),
		Ahead: drawSlice(t, func(t *rapid.T) localsched.Promise {
			tag := drawTag(t)
			return localsched.Promise{Tag: tag, Request: drawRequestOf(t, tag.Job)}
		}),
		Guard: protocol.SiteNumber(rapid.Uint16Range(0, uint16(protocol.MaxSiteNumber)).Draw(t, "guard")),
	}
}

// drawQuotes draws answers to jobs, all in the same terms.
func drawQuotes(t *rapid.T, jobs []protocol.Request) (quotes []protocol.Quote) {
	terms := rapid.IntRange(0, 3).Draw(t, "terms")
	bounds, delays := rapid.Bool().Draw(t, "bounds"), rapid.Bool().Draw(t, "delays")
	for _, job := range jobs {
		q := protocol.Quote{Job: job.Job}
		if rapid.Bool().Draw(t, "declined") {
			q.Declined = "no: " + drawText(t)
			quotes = append(quotes, q)
			continue
		}
		q.AWT, q.ERT, q.Note = drawSpan(t), drawSpan(t), drawNote(t)
		if rapid.Bool().Draw(t, "ranged") {
			q.AWTLow, q.AWTHigh = q.AWT/2, q.AWT.Plus(1)
		}
		if bounds {
			q.Bound = drawSpan(t)
		}
		if delays {
			q.Delay = drawSpan(t)
		}
		for k := range terms {
			name := fmt.Sprintf("term-%d", k)
			q.Terms = append(q.Terms, protocol.Term{Name: name, Amount: protocol.Micro(rapid.Int64().Draw(t, name))})
			q.Currency = "EUR"
		}
		quotes = append(quotes, q)
	}
	return quotes
}

func drawSubmission(t *rapid.T) localsched.Submission {
	tag := drawTag(t)
	name := func(t *rapid.T) protocol.SiteName {
		return protocol.SiteName(rapid.StringMatching(`[a-z][a-z0-9-]{0,31}`).Draw(t, "site"))
	}
	unix := func(t *rapid.T) string { return strings.ReplaceAll(drawText(t), "\x00", "") }
	script := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "script")
	if len(script) == 0 {
		script = nil
	}
	return localsched.Submission{
		Tag: tag,
		Spec: protocol.Spec{
			Request: drawRequestOf(t, tag.Job), Name: drawText(t), User: drawText(t), Sites: drawSlice(t, name),
			Requeue: rapid.Bool().Draw(t, "requeue"), Submitted: protocol.Instant(drawAmount(t)), MHz: drawCount(t),
			Mflops: drawCount(t), Data: drawAmount(t), DataOut: drawAmount(t), Licences: drawLicences(t),
			Priority: rapid.StringN(0, 8, 32).Draw(t, "priority"), Expected: protocol.Duration(drawAmount(t)),
			Intensity: rapid.IntRange(0, protocol.PPM).Draw(t, "intensity"),
			Computing: rapid.IntRange(0, protocol.PPM).Draw(t, "computing"),
			Draws:     rapid.IntRange(0, protocol.MaxPower).Draw(t, "draws"),
		},
		Payload: &protocol.Payload{
			Script: script, Args: drawSlice(t, unix), WorkDir: unix(t), Stdout: unix(t), Stderr: unix(t),
			Env: drawSlice(t, func(t *rapid.T) string { return "N=" + unix(t) }),
		},
		Origin: name(t), Account: unix(t), Guest: rapid.Bool().Draw(t, "guest"),
		StartBy: protocol.Instant(drawAmount(t)),
	}
}

func drawChange(t *rapid.T) localsched.Change {
	c := localsched.Change{
		Tag: drawTag(t), State: rapid.SampledFrom(protocol.States()).Draw(t, "state"),
		Reason: drawText(t), Started: protocol.Instant(drawAmount(t)),
	}
	if !c.State.Terminal() {
		return c
	}
	c.Outcome = protocol.Outcome{
		State: c.State, Reason: drawText(t),
		Waited: protocol.Duration(drawAmount(t)), Ran: protocol.Duration(drawAmount(t)),
		Usage: drawUsage(t),
	}
	if rapid.Bool().Draw(t, "signalled") {
		c.Outcome.Signal = rapid.IntRange(1, 127).Draw(t, "signal")
	} else {
		c.Outcome.ExitCode = drawCount(t)
	}
	for _, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
		if rapid.Bool().Draw(t, "has file") {
			f := protocol.File{Stream: stream, Size: drawAmount(t)}
			copy(f.SHA256[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "sha256"))
			c.Outcome.Files = append(c.Outcome.Files, f)
		}
	}
	return c
}

func drawWatched(t *rapid.T) localsched.Watched {
	return localsched.Watched{
		Changes: drawSlice(t, drawChange), Cursor: localsched.Cursor(drawText(t)), Load: drawLoad(t),
	}
}

func drawActions(t *rapid.T) localsched.Actions {
	return localsched.Actions{
		Starts: drawSlice(t, drawTag), Kills: drawSlice(t, drawTag), Wake: protocol.Instant(drawAmount(t)),
	}
}

func drawPlanned(t *rapid.T) localsched.Planned {
	if rapid.Bool().Draw(t, "declined") {
		return localsched.Planned{Declined: "no: " + drawText(t)}
	}
	return localsched.Planned{Start: protocol.Instant(drawSpan(t)), Note: drawNote(t)} // never is the last instant
}
