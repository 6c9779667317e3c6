package peerv1

import (
	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// wireMessage converts a message that has passed checkMessage.
func wireMessage(m protocol.Message) proto.Message { //nolint:cyclop // one case for each kind
	if tag, ok := noticeTag(m); ok {
		return &Notice{Tag: commonv1.EncodeTag(tag)}
	}
	switch m := m.(type) {
	case protocol.Prepared:
		return &Prepared{Tag: commonv1.EncodeTag(m.Tag), StartMs: int64(m.Start), Tariff: wireTariff(m.Tariff)}
	case protocol.QuoteRequest:
		return &QuoteRequest{Round: uint64(m.Round), DeadlineMs: int64(m.Deadline), Jobs: wire.Convert(m.Jobs, commonv1.EncodeSpec), EnergyPricing: string(m.EnergyPricing), MarginalJobs: int64(m.MarginalJobs)}
	case protocol.QuoteReply:
		return &QuoteReply{
			Round: uint64(m.Round), Quotes: wire.Convert(m.Quotes, commonv1.EncodeQuote), Load: commonv1.EncodeLoad(m.Load),
			Free: int64(m.Free), MaxJobs: int64(m.MaxJobs), ValidMs: int64(m.Valid), MaxCpus: int64(m.MaxCPUs),
			MarginalWaitMs: wire.Convert(m.MarginalWaits, func(d protocol.Duration) int64 { return int64(d) }),
			Draining:       m.Draining,
		}
	case protocol.Volunteer:
		return &Volunteer{Load: commonv1.EncodeLoad(m.Load), ValidMs: int64(m.Valid)}
	case protocol.Offer:
		return &Offer{Spec: commonv1.EncodeSpec(m.Spec), Epoch: uint32(m.Epoch), Payload: commonv1.EncodePayload(m.Payload), StartMs: int64(m.Start), Forced: m.Forced, ToleranceMs: int64(m.Tolerance)}
	case protocol.Refused:
		return &Refused{Tag: commonv1.EncodeTag(m.Tag), Reason: m.Reason, Full: m.Full}
	case protocol.Status:
		return wireStatus(m)
	case protocol.PlannedStarts:
		return &PlannedStarts{Starts: wire.Convert(m.Starts, wirePlannedStart)}
	case protocol.StatusAck:
		return &StatusAck{Tag: commonv1.EncodeTag(m.Tag), Seq: m.Seq}
	case protocol.Result:
		return wireResult(m)
	case protocol.Recall:
		return &Recall{Tag: commonv1.EncodeTag(m.Tag), Cancel: m.Cancel}
	case protocol.UnknownJob:
		return &UnknownJob{Tag: commonv1.EncodeTag(m.Tag), InDoubt: m.InDoubt}
	case protocol.Fenced:
		return &Fenced{Tag: commonv1.EncodeTag(m.Tag), Current: uint32(m.Current)}
	case protocol.OutcomeQuery:
		return &OutcomeQuery{Job: uint64(m.Job), User: m.User}
	case protocol.JobOutcome:
		return wireOutcome(m)
	case protocol.ElementsQuery:
		return &ElementsQuery{Array: uint64(m.Array), User: m.User, Elements: wireRuns(m.Elements)}
	case protocol.ElementsOutcome:
		return &ElementsOutcome{
			Array: uint64(m.Array), User: m.User, Unknown: m.Unknown, NoArray: m.NoArray, Completed: wireRuns(m.Completed), Others: wireRuns(m.Others),
		}
	case protocol.UseReport:
		return &UseReport{AtMs: int64(m.At), HalfLifeMs: int64(m.HalfLife), Uses: wire.Convert(m.Uses, wireUse)}
	case protocol.Watermark:
		return &Watermark{
			Life: wireLife(m.Life), Seen: wireLife(m.Seen), SeenSeq: m.SeenSeq, Twin: wireLife(m.Twin), Overlapped: m.Overlapped, Stopped: m.Stopped,
		}
	default:
		return nil // checkMessage has refused it
	}
}

func wirePlannedStart(s protocol.PlannedStart) *PlannedStart {
	return &PlannedStart{Tag: commonv1.EncodeTag(s.Tag), WaitMs: wire.EncodeSpan(s.Wait)}
}

func wireUse(u protocol.Use) *Use {
	return &Use{Origin: string(u.Origin), Account: u.Account, User: u.User, Period: u.Period, CpuMs: u.Amount, RemainingCpuMs: u.Remaining}
}

// noticeTag returns what a message is about when it says nothing else.
func noticeTag(m protocol.Message) (protocol.Tag, bool) {
	switch m := m.(type) {
	case protocol.Grant:
		return m.Tag, true
	case protocol.Accept:
		return m.Tag, true
	case protocol.PrepareExpired:
		return m.Tag, true
	case protocol.ResultAck:
		return m.Tag, true
	case protocol.Recalled:
		return m.Tag, true
	case protocol.DecisionQuery:
		return m.Tag, true
	case protocol.Abort:
		return m.Tag, true
	default:
		return protocol.Tag{}, false
	}
}

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

func wireOutcome(m protocol.JobOutcome) *JobOutcome {
	w := &JobOutcome{Job: uint64(m.Job), User: m.User, EndedMs: int64(m.Ended)}
	if m.State != 0 {
		w.State = commonv1.EncodeState(m.State)
	}
	if m.Started != protocol.Never {
		w.StartedMs = int64(m.Started) + 1
	}
	return w
}

// wireRuns writes a set of indexes that has been checked.
func wireRuns(x protocol.Indexes) (numbers []uint32) {
	for _, r := range x {
		numbers = append(numbers, uint32(r.First), uint32(r.Last), uint32(r.Step)) //nolint:gosec // at most MaxIndex
	}
	return numbers
}

func wireStatus(m protocol.Status) *Status {
	return &Status{
		Tag: commonv1.EncodeTag(m.Tag), Seq: m.Seq, State: commonv1.EncodeState(m.State), Reason: m.Reason,
		WaitedMs: int64(m.Waited), RanMs: int64(m.Ran), AtMs: int64(m.At), TimeLimitMs: wire.EncodeSpan(m.TimeLimit),
	}
}

func wireResult(m protocol.Result) *Result {
	return &Result{
		Tag: commonv1.EncodeTag(m.Tag), Outcome: commonv1.EncodeOutcome(m.Outcome), Contents: m.Contents,
		StartedMs: int64(m.Started), EndedMs: int64(m.Ended), AtMs: int64(m.At),
	}
}

func wireCard(c protocol.Card) *Card {
	return &Card{
		Site: string(c.Site), Number: uint32(c.Number), PublicKey: c.PublicKey,
		FirstStartMs: int64(c.FirstStart), Incarnation: c.Incarnation, Software: c.Software,
		Protocol: uint32(c.Protocol), //nolint:gosec // checkCard bounds it
		Capacity: commonv1.EncodeCapacity(c.Capacity),
		SeenSeq:  c.SeenSeq, Reserves: c.Reserves, MaxJobs: int64(c.MaxJobs), MaxCpus: int64(c.MaxCPUs),
		Boot: c.Boot, BegunMs: int64(c.Begun), Generation: c.Generation, Proof: wireProof(c.Proof), Seen: wireLife(c.Seen), Stopped: c.Stopped,
		Associations: wireAssociations(c.Associations), Shared: c.Shared,
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
