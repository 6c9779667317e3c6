package peerv1

import (
	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// wireMessage converts a message that has passed checkMessage.
func wireMessage(m protocol.Message) proto.Message {
	if tag, ok := noticeTag(m); ok {
		return &Notice{Tag: WireTag(tag)}
	}
	switch m := m.(type) {
	case protocol.Prepared:
		return &Prepared{Tag: WireTag(m.Tag), StartMs: int64(m.Start), Tariff: wireTariff(m.Tariff)}
	case protocol.QuoteRequest:
		return &QuoteRequest{Round: uint64(m.Round), DeadlineMs: int64(m.Deadline), Jobs: wire.Convert(m.Jobs, wireSpec), Reckon: string(m.Reckon), Extra: int64(m.Extra)}
	case protocol.QuoteReply:
		return &QuoteReply{
			Round: uint64(m.Round), Quotes: wire.Convert(m.Quotes, wireQuote), Load: wireLoad(m.Load),
			Free: int64(m.Free), Accept: int64(m.Accept), ValidMs: int64(m.Valid), MostCpus: int64(m.MostCPUs),
			ExtraMs: wire.Convert(m.Extra, func(d protocol.Duration) int64 { return int64(d) }),
		}
	case protocol.Volunteer:
		return &Volunteer{Load: wireLoad(m.Load), ValidMs: int64(m.Valid)}
	case protocol.Offer:
		return &Offer{Spec: wireSpec(m.Spec), Epoch: uint32(m.Epoch), Payload: wirePayload(m.Payload), StartMs: int64(m.Start), Forced: m.Forced, ToleranceMs: int64(m.Tolerance)}
	case protocol.Refused:
		return &Refused{Tag: WireTag(m.Tag), Reason: m.Reason, Full: m.Full}
	case protocol.Status:
		return wireStatus(m)
	case protocol.StatusAck:
		return &StatusAck{Tag: WireTag(m.Tag), Seq: m.Seq}
	case protocol.Result:
		return wireResult(m)
	case protocol.Recall:
		return &Recall{Tag: WireTag(m.Tag), Cancel: m.Cancel}
	case protocol.Fenced:
		return &Fenced{Tag: WireTag(m.Tag), Current: uint32(m.Current)}
	case protocol.Watermark:
		return &Watermark{
			Life: wireLife(m.Life), Seen: wireLife(m.Seen), SeenSeq: m.SeenSeq, Twin: wireLife(m.Twin), Overlapped: m.Overlapped, Stopped: m.Stopped,
		}
	default:
		return nil // checkMessage has refused it
	}
}

// noticeTag returns what a message is about when it says nothing else.
func noticeTag(m protocol.Message) (protocol.Tag, bool) {
	switch m := m.(type) {
	case protocol.Grant:
		return m.Tag, true
	case protocol.Accept:
		return m.Tag, true
	case protocol.Aborted:
		return m.Tag, true
	case protocol.ResultAck:
		return m.Tag, true
	case protocol.Recalled:
		return m.Tag, true
	case protocol.DecisionAsked:
		return m.Tag, true
	case protocol.Abort:
		return m.Tag, true
	case protocol.Unknown:
		return m.Tag, true
	default:
		return protocol.Tag{}, false
	}
}

// WireTag converts a tag.
func WireTag(t protocol.Tag) *Tag { return &Tag{Job: uint64(t.Job), Epoch: uint32(t.Epoch)} }

func wireSpec(s protocol.Spec) *Spec {
	return &Spec{
		Job: uint64(s.Job), Cpus: int64(s.CPUs), Nodes: int64(s.Nodes), MemoryMb: s.MemoryMB,
		WallTimeMs: int64(s.WallTime), Name: s.Name, User: s.User,
		Sites:   wire.Convert(s.Sites, func(n protocol.SiteName) string { return string(n) }),
		Requeue: s.Requeue, SubmittedMs: int64(s.Submitted), Mhz: int64(s.MHz),
		Mflops: int64(s.Mflops), PowerPpm: int64(s.Power), DataBytes: s.Data, Like: s.Like,
		DataOut: s.DataOut, Licences: wire.Convert(s.Licences, wireLicence), Priority: s.Priority,
		ExpectedMs: int64(s.Expected), IntensityPpm: int64(s.Intensity), ComputingPpm: int64(s.Computing),
		DrawsPpm: int64(s.Draws), Layout: wireLayout(s.Layout),
	}
}

// wireLayout leaves out what says nothing.
func wireLayout(l protocol.Layout) *Layout {
	if l == (protocol.Layout{}) {
		return nil
	}
	return &Layout{
		Tasks: int64(l.Tasks), TasksPerNode: int64(l.TasksPerNode), CpusPerTask: int64(l.CPUsPerTask), MaxNodes: int64(l.MaxNodes),
	}
}

func wireLicence(l protocol.Licence) *Licence { return &Licence{Name: l.Name, Count: int64(l.Count)} }

func wirePayload(p *protocol.Payload) *Payload {
	return &Payload{
		Script: p.Script, Args: wire.Blobs(p.Args), Env: wire.Blobs(p.Env),
		WorkDir: []byte(p.WorkDir), Stdout: []byte(p.Stdout), Stderr: []byte(p.Stderr),
	}
}

func wireLoad(l protocol.Load) *Load {
	return &Load{
		Cpus: int64(l.CPUs), Busy: int64(l.Busy),
		QueuedJobs: int64(l.QueuedJobs), QueuedWorkMs: l.QueuedWork, BenefitPpm: int64(l.Benefit),
		Withheld: int64(l.Withheld), DrawMw: l.Draw, BudgetMw: l.Budget,
	}
}

func wireQuote(q protocol.Quote) *Quote {
	return &Quote{
		Job: uint64(q.Job), Declined: q.Declined,
		AwtMs: int64(q.AWT), AwtLowMs: int64(q.AWTLow), AwtHighMs: int64(q.AWTHigh), ErtMs: int64(q.ERT),
		BoundMs:  int64(q.Bound),
		Terms:    wire.Convert(q.Terms, wireTerm),
		Currency: q.Currency, Note: q.Note,
	}
}

func wireTerm(t protocol.Term) *Term { return &Term{Name: t.Name, AmountMicro: int64(t.Amount)} }

func wireTariff(t *protocol.Tariff) *Tariff {
	if t == nil {
		return nil
	}
	return &Tariff{Currency: t.Currency, Charges: wire.Convert(t.Charges, wireCharge)}
}

func wireCharge(c protocol.Charge) *Charge {
	return &Charge{
		Name: c.Name, OnceMicro: int64(c.Once), Units: c.Units, Per: c.Per,
		FromMs:       wire.Convert(c.Steps, func(s protocol.PriceStep) int64 { return int64(s.From) }),
		PerHourMicro: wire.Convert(c.Steps, func(s protocol.PriceStep) int64 { return int64(s.PerHour) }),
	}
}

func wireBill(b *protocol.Bill) *Bill {
	if b == nil {
		return nil
	}
	return &Bill{StartMs: int64(b.Start), Currency: b.Currency, Terms: wire.Convert(b.Terms, wireTerm)}
}

func wireStatus(m protocol.Status) *Status {
	return &Status{
		Tag: WireTag(m.Tag), Seq: m.Seq, State: JobState(m.State), Reason: m.Reason,
		WaitedMs: int64(m.Waited), RanMs: int64(m.Ran), AtMs: int64(m.At),
	}
}

func wireResult(m protocol.Result) *Result {
	o := m.Outcome
	return &Result{
		Tag: WireTag(m.Tag), State: JobState(o.State),
		ExitCode: int64(o.ExitCode), Signal: int64(o.Signal), Reason: o.Reason,
		WaitedMs: int64(o.Waited), RanMs: int64(o.Ran),
		Files: wire.Convert(o.Files, func(f protocol.File) *File {
			return &File{Stream: Stream(f.Stream), Size: f.Size, Sha256: f.SHA256[:]}
		}),
		Usage: wireUsage(o.Usage), Contents: m.Contents, Bill: wireBill(o.Bill),
		StartedMs: int64(m.Started), EndedMs: int64(m.Ended), AtMs: int64(m.At),
	}
}

// wireUsage leaves out what says nothing.
func wireUsage(u protocol.Usage) *Usage {
	if u == (protocol.Usage{}) {
		return nil
	}
	return &Usage{
		CpuMs: int64(u.CPU), MemoryMb: u.MemoryMB, EnergyMj: u.Energy, Mflop: u.Mflop, Mwords: u.Mwords,
		Sent: u.Sent, Messages: u.Messages, Mhz: int64(u.MHz), PowerPpm: int64(u.Power),
	}
}

func wireCard(c protocol.Card) *Card {
	return &Card{
		Site: string(c.Site), Number: uint32(c.Number), PublicKey: c.PublicKey,
		FirstStartMs: int64(c.FirstStart), Incarnation: c.Incarnation, Software: c.Software,
		Protocol: uint32(c.Protocol), //nolint:gosec // checkCard bounds it
		Capacity: &Capacity{
			Cpus: int64(c.Capacity.CPUs), Nodes: int64(c.Capacity.Nodes), NodeCpus: int64(c.Capacity.NodeCPUs), MemoryMb: c.Capacity.MemoryMB,
			WholeNode: c.Capacity.WholeNode, MaxWallTimeMs: int64(c.Capacity.MaxWallTime),
			Mhz: int64(c.Capacity.MHz), Mflops: int64(c.Capacity.Mflops), Machine: wireMachine(c.Capacity.Machine),
		},
		SeenSeq: c.SeenSeq, Reserves: c.Reserves, MaxJobs: int64(c.MaxJobs), MaxCpus: int64(c.MaxCPUs),
		Boot: c.Boot, BegunMs: int64(c.Begun), Generation: c.Generation, Proof: wireProof(c.Proof), Seen: wireLife(c.Seen), Stopped: c.Stopped,
	}
}

// wireLife leaves out what says nothing.
func wireLife(l protocol.Life) *Life {
	if l == (protocol.Life{}) {
		return nil
	}
	return &Life{
		Incarnation: l.Incarnation, Boot: l.Boot, BegunMs: int64(l.Begun), Generation: l.Generation, Proof: wireProof(l.Proof),
	}
}

// wireProof leaves out what says nothing.
func wireProof(p protocol.Proof) []byte {
	if p == (protocol.Proof{}) {
		return nil
	}
	return p[:]
}

// wireMachine leaves out what says nothing.
func wireMachine(m protocol.Machine) *Machine {
	if m == (protocol.Machine{}) {
		return nil
	}
	return &Machine{Flops: m.Flops, Words: m.Words, Network: m.Network, LatencyNs: m.Latency, Bus: m.Bus}
}
