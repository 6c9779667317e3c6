package peerv1_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// messages draws a valid message of a kind.
func messages(kind string) *rapid.Generator[protocol.Message] {
	return rapid.Custom(func(t *rapid.T) protocol.Message {
		if m := drawNotice(t, kind); m != nil {
			return m
		}
		placed := drawTag(t)
		switch kind {
		case "quote-request":
			return protocol.QuoteRequest{
				Round: protocol.RoundID(rapid.Uint64().Draw(t, "round")), Deadline: drawSpan(t),
				Jobs:   drawSlice(t, drawSpec),
				Reckon: rapid.SampledFrom([]protocol.Reckoning{protocol.Hourly, protocol.AtOnce, protocol.TwoPrice, "a later one"}).Draw(t, "reckon"),
				Extra:  rapid.IntRange(0, protocol.MaxExtra).Draw(t, "extra"),
			}
		case "quote-reply":
			return protocol.QuoteReply{
				Round: protocol.RoundID(rapid.Uint64().Draw(t, "round")), Quotes: drawSlice(t, drawQuote),
				Load: drawLoad(t), Free: drawCount(t), Accept: drawCount(t), Valid: drawSpan(t),
				Extra: drawExtra(t), MostCPUs: drawCount(t),
			}
		case "volunteer":
			return protocol.Volunteer{Load: drawLoad(t), Valid: drawSpan(t)}
		case "offer":
			return protocol.Offer{Spec: drawSpec(t), Epoch: placed.Epoch, Payload: drawPayload(t), Start: drawInstant(t), Forced: rapid.Bool().Draw(t, "forced"), Tolerance: protocol.Duration(drawInstant(t))}
		case "prepared":
			return protocol.Prepared{Tag: placed, Start: drawInstant(t), Tariff: drawTariff(t)}
		case "refused":
			return protocol.Refused{Tag: placed, Reason: drawText(t), Full: rapid.Bool().Draw(t, "full")}
		case "status":
			return protocol.Status{
				Tag: placed, Seq: rapid.Uint32().Draw(t, "seq"),
				State:  rapid.SampledFrom([]protocol.State{protocol.Pending, protocol.Running}).Draw(t, "state"),
				Reason: drawText(t), Waited: drawSpan(t), Ran: drawSpan(t), At: drawInstant(t),
			}
		case "status-ack":
			return protocol.StatusAck{Tag: placed, Seq: rapid.Uint32().Draw(t, "seq")}
		case "result":
			return drawResult(t, placed)
		case "recall":
			return protocol.Recall{Tag: placed, Cancel: rapid.Bool().Draw(t, "cancel")}
		case "fenced":
			return protocol.Fenced{
				Tag:     protocol.Tag{Job: placed.Job, Epoch: placed.Epoch/2 + 1},
				Current: placed.Epoch/2 + 2,
			}
		case "watermark":
			return protocol.Watermark{
				Life: drawLife(t), Seen: rapid.OneOf(rapid.Just(protocol.Life{}), rapid.Custom(drawLife)).Draw(t, "seen"),
				SeenSeq: rapid.Uint64Range(0, protocol.SeqsPerSite-1).Draw(t, "seen_seq"),
				Twin:    rapid.OneOf(rapid.Just(protocol.Life{}), rapid.Custom(drawLife)).Draw(t, "twin"), Overlapped: rapid.Bool().Draw(t, "overlapped"), Stopped: rapid.Bool().Draw(t, "stopped"),
			}
		}
		panic(fmt.Sprintf("the generator does not know kind %q", kind))
	})
}

func drawLife(t *rapid.T) protocol.Life {
	return protocol.Life{
		Incarnation: rapid.Uint64Min(1).Draw(t, "incarnation"), Boot: rapid.Uint64Min(1).Draw(t, "boot"),
		Begun: drawInstant(t), Generation: rapid.Uint64().Draw(t, "generation"), Proof: drawProof(t),
	}
}

func drawProof(t *rapid.T) (proof protocol.Proof) {
	copy(proof[:], rapid.SliceOfN(rapid.Byte(), 0, len(proof)).Draw(t, "proof"))
	return proof
}

func drawNotice(t *rapid.T, kind string) protocol.Message {
	placed := drawTag(t)
	switch kind {
	case "grant":
		return protocol.Grant{Tag: placed}
	case "accept":
		return protocol.Accept{Tag: placed}
	case "aborted":
		return protocol.Aborted{Tag: placed}
	case "result-ack":
		return protocol.ResultAck{Tag: placed}
	case "recalled":
		return protocol.Recalled{Tag: placed}
	case "decision-asked":
		return protocol.DecisionAsked{Tag: placed}
	case "abort":
		return protocol.Abort{Tag: placed}
	case "unknown":
		return protocol.Unknown{Tag: placed}
	}
	return nil
}

func drawSlice[T any](t *rapid.T, draw func(*rapid.T) T) []T {
	n := rapid.IntRange(0, 4).Draw(t, "length")
	var out []T
	for range n {
		out = append(out, draw(t))
	}
	return out
}

func drawTag(t *rapid.T) protocol.Tag {
	return protocol.Tag{Job: drawJob(t), Epoch: protocol.Epoch(rapid.Uint32Range(1, math.MaxUint32).Draw(t, "epoch"))}
}

func drawJob(t *rapid.T) protocol.JobID {
	origin := protocol.SiteNumber(rapid.Uint16Range(1, 9000).Draw(t, "origin"))
	return protocol.NewJobID(origin, rapid.Uint64Range(0, protocol.SeqsPerSite-1).Draw(t, "seq"))
}

func drawSpan(t *rapid.T) protocol.Duration {
	return protocol.Duration(rapid.Int64Min(0).Draw(t, "span"))
}

// drawInstant draws an instant that often is none.
func drawInstant(t *rapid.T) protocol.Instant {
	return protocol.Instant(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Min(0)).Draw(t, "instant"))
}

func drawAmount(t *rapid.T) int64 { return rapid.Int64Min(0).Draw(t, "amount") }
func drawShare(t *rapid.T) int    { return rapid.IntRange(0, protocol.PPM).Draw(t, "share") }

func drawCount(t *rapid.T) int   { return rapid.IntRange(0, math.MaxInt32).Draw(t, "count") }
func drawText(t *rapid.T) string { return rapid.StringN(0, 20, 200).Draw(t, "text") }

func drawSite(t *rapid.T) protocol.SiteName {
	return protocol.SiteName(rapid.StringMatching(`[a-z][a-z0-9-]{0,31}`).Draw(t, "site"))
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

func drawSpec(t *rapid.T) protocol.Spec {
	return protocol.Spec{
		Request: drawLayout(t, protocol.Request{
			Job: drawJob(t), CPUs: rapid.IntRange(1, math.MaxInt32).Draw(t, "cpus"), Nodes: drawCount(t),
			MemoryMB: rapid.Int64Min(0).Draw(t, "memory"),
			WallTime: protocol.Duration(rapid.Int64Min(1).Draw(t, "wall_time")),
			Power:    rapid.IntRange(0, protocol.MaxPower).Draw(t, "power"), Like: rapid.Uint64().Draw(t, "like"),
		}),
		Name: drawText(t), User: drawText(t), Sites: drawSlice(t, drawSite),
		Requeue:   rapid.Bool().Draw(t, "requeue"),
		Submitted: protocol.Instant(rapid.Int64Min(0).Draw(t, "submitted")),
		MHz:       drawCount(t), Mflops: drawCount(t),
		Data: rapid.Int64Min(0).Draw(t, "data"), DataOut: drawAmount(t), Licences: drawLicences(t),
		Priority: rapid.SampledFrom([]string{"", "urgent", strings.Repeat("ü", 16)}).Draw(t, "priority"),
		Expected: drawSpan(t), Intensity: drawShare(t), Computing: drawShare(t), Draws: rapid.IntRange(0, protocol.MaxPower).Draw(t, "draws"),
	}
}

func drawLicences(t *rapid.T) []protocol.Licence {
	names := rapid.SliceOfNDistinct(rapid.StringN(1, 16, 64), 0, 16, rapid.ID).Draw(t, "licences")
	slices.Sort(names)
	var licences []protocol.Licence
	for _, name := range names {
		licences = append(licences, protocol.Licence{Name: name, Count: max(1, drawCount(t))})
	}
	return licences
}

// drawUsage draws a usage that often is not measured.
func drawUsage(t *rapid.T) protocol.Usage {
	if rapid.Bool().Draw(t, "not measured") {
		return protocol.Usage{}
	}
	return protocol.Usage{
		CPU: drawSpan(t), MemoryMB: drawAmount(t), Energy: drawAmount(t), Mflop: drawAmount(t), Mwords: drawAmount(t),
		Sent: drawAmount(t), Messages: drawAmount(t), MHz: drawCount(t), Power: rapid.IntRange(0, protocol.MaxPower).Draw(t, "power"),
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

// drawExtra draws waits that do not fall.
func drawExtra(t *rapid.T) []protocol.Duration {
	var extra []protocol.Duration
	for range rapid.SampledFrom([]int{0, 1, 3, protocol.MaxExtra - 1}).Draw(t, "extras") {
		extra = append(extra, drawSpan(t))
	}
	slices.Sort(extra)
	return extra
}

// drawUnix draws any bytes but NUL, which need not be UTF-8.
func drawUnix(t *rapid.T) string {
	return string(rapid.SliceOfN(rapid.ByteMin(1), 0, 20).Draw(t, "unix"))
}

func drawPayload(t *rapid.T) *protocol.Payload {
	script := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "script")
	if len(script) == 0 {
		script = nil
	}
	return &protocol.Payload{
		Script: script, Args: drawSlice(t, drawUnix),
		Env:     drawSlice(t, func(t *rapid.T) string { return "N=" + drawUnix(t) }),
		WorkDir: drawUnix(t), Stdout: drawUnix(t), Stderr: drawUnix(t),
	}
}

func drawLoad(t *rapid.T) protocol.Load {
	return protocol.Load{
		CPUs: drawCount(t), Busy: drawCount(t), QueuedJobs: drawCount(t),
		QueuedWork: rapid.Int64Min(0).Draw(t, "work"), Benefit: drawCount(t),
		Withheld: drawCount(t), Draw: rapid.Int64Min(0).Draw(t, "draw"), Budget: rapid.Int64Min(0).Draw(t, "budget"),
	}
}

func drawQuote(t *rapid.T) protocol.Quote {
	q := protocol.Quote{Job: drawJob(t), ERT: drawSpan(t)}
	if rapid.Bool().Draw(t, "declined") {
		q.Declined = "no: " + drawText(t)
		q.AWT = rapid.SampledFrom([]protocol.Duration{0, protocol.Never}).Draw(t, "awt")
		return q
	}
	q.AWT = protocol.Duration(rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "awt"))
	q.Bound, q.Note = drawSpan(t), drawText(t)
	if rapid.Bool().Draw(t, "ranged") {
		q.AWTLow, q.AWTHigh = q.AWT/2, q.AWT.Plus(1)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "terms") {
		name := fmt.Sprintf("term-%d", i)
		q.Terms = append(q.Terms, protocol.Term{Name: name, Amount: protocol.Micro(rapid.Int64().Draw(t, name))})
		q.Currency = "EUR"
	}
	return q
}

func drawResult(t *rapid.T, placed protocol.Tag) protocol.Result {
	result := protocol.Result{Tag: placed, Outcome: drawOutcome(t), Started: drawInstant(t), Ended: drawInstant(t), At: 1 + drawInstant(t)/2}
	if rapid.Bool().Draw(t, "has contents") {
		for i := range result.Outcome.Files {
			content := rapid.SliceOfN(rapid.Byte(), 0, protocol.MaxContents/2).Draw(t, "content")
			result.Outcome.Files[i].Size = int64(len(content))
			result.Contents = append(result.Contents, content)
		}
	}
	return result
}

// drawTariff draws a tariff that often is not stated.
func drawTariff(t *rapid.T) *protocol.Tariff {
	if rapid.Bool().Draw(t, "no tariff") {
		return nil
	}
	tariff := &protocol.Tariff{Currency: "EUR"}
	for range rapid.IntRange(1, 3).Draw(t, "charges") {
		c := protocol.Charge{
			Name: rapid.SampledFrom([]string{"cpu", "eco"}).Draw(t, "charge"), Once: protocol.Micro(rapid.Int64().Draw(t, "once")),
			Units: drawAmount(t), Per: max(1, drawAmount(t)),
		}
		from := protocol.Instant(0)
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			from += protocol.Instant(rapid.Int64Range(1, 1<<40).Draw(t, "from"))
			c.Steps = append(c.Steps, protocol.PriceStep{From: from, PerHour: protocol.Micro(rapid.Int64().Draw(t, "price"))})
		}
		tariff.Charges = append(tariff.Charges, c)
	}
	return tariff
}

// drawBill draws a bill that often is not made.
func drawBill(t *rapid.T) *protocol.Bill {
	if rapid.Bool().Draw(t, "no bill") {
		return nil
	}
	bill := &protocol.Bill{Start: drawInstant(t), Currency: "EUR"}
	for _, name := range []string{"cpu", "eco"} {
		bill.Terms = append(bill.Terms, protocol.Term{Name: name, Amount: protocol.Micro(rapid.Int64().Draw(t, name))})
	}
	return bill
}

func drawOutcome(t *rapid.T) protocol.Outcome {
	o := protocol.Outcome{
		State:  rapid.SampledFrom(protocol.States()[2:]).Draw(t, "state"),
		Reason: drawText(t), Waited: drawSpan(t), Ran: drawSpan(t), Usage: drawUsage(t), Bill: drawBill(t),
	}
	if rapid.Bool().Draw(t, "signalled") {
		o.Signal = rapid.IntRange(1, 127).Draw(t, "signal")
	} else {
		o.ExitCode = drawCount(t)
	}
	for _, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
		if rapid.Bool().Draw(t, "has file") {
			f := protocol.File{Stream: stream, Size: rapid.Int64Min(0).Draw(t, "size")}
			copy(f.SHA256[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "sha256"))
			o.Files = append(o.Files, f)
		}
	}
	return o
}

func drawCard(t *rapid.T) protocol.Card {
	return protocol.Card{
		Site: drawSite(t), Number: protocol.SiteNumber(rapid.Uint16Range(1, 9000).Draw(t, "number")),
		PublicKey:   rapid.StringMatching(`U[A-Z2-7]{55}`).Draw(t, "key"),
		FirstStart:  protocol.Instant(rapid.Int64Min(0).Draw(t, "first start")),
		Incarnation: rapid.Uint64().Draw(t, "incarnation"), Software: "switchyard 1.0",
		Protocol: rapid.IntRange(1, 9).Draw(t, "protocol"),
		Capacity: protocol.Capacity{
			CPUs: drawCount(t), Nodes: drawCount(t), MemoryMB: rapid.Int64Min(0).Draw(t, "memory"),
			WholeNode: rapid.Bool().Draw(t, "whole node"), MaxWallTime: drawSpan(t), MHz: drawCount(t), Mflops: drawCount(t),
			Machine: drawMachine(t), NodeCPUs: drawCount(t),
		},
		Reserves: rapid.Bool().Draw(t, "reserves"), MaxJobs: drawCount(t), MaxCPUs: drawCount(t),
		SeenSeq: rapid.Uint64Range(0, protocol.SeqsPerSite-1).Draw(t, "seen"),
		Boot:    rapid.Uint64().Draw(t, "boot"), Begun: drawInstant(t), Generation: rapid.Uint64().Draw(t, "generation"),
		Proof: drawProof(t), Seen: rapid.OneOf(rapid.Just(protocol.Life{}), rapid.Custom(drawLife)).Draw(t, "seen life"),
	}
}
