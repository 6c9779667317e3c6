package peerv1

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// readMessage reads a message that checkMessage has yet to pass. Its own errors
// are about what would be lost in the conversion.
func readMessage(kind string, body []byte) (protocol.Message, error) { //nolint:cyclop // one case for each kind
	switch kind {
	case protocol.QuoteRequest{}.Kind():
		return read(body, &QuoteRequest{}, readQuoteRequest)
	case protocol.QuoteReply{}.Kind():
		return read(body, &QuoteReply{}, readQuoteReply)
	case protocol.Volunteer{}.Kind():
		return read(body, &Volunteer{}, readVolunteer)
	case protocol.Offer{}.Kind():
		return read(body, &Offer{}, readOffer)
	case protocol.Prepared{}.Kind():
		return read(body, &Prepared{}, func(w *Prepared) (protocol.Message, error) {
			tariff, err := readTariff(w.GetTariff())
			return protocol.Prepared{Tag: commonv1.DecodeTag(w.GetTag()), Start: protocol.Instant(w.GetStartMs()), Tariff: tariff}, err
		})
	case protocol.Refused{}.Kind():
		return read(body, &Refused{}, func(w *Refused) (protocol.Message, error) {
			return protocol.Refused{Tag: commonv1.DecodeTag(w.GetTag()), Reason: w.GetReason(), Full: w.GetFull()}, nil
		})
	case protocol.Status{}.Kind():
		return read(body, &Status{}, readStatus)
	case protocol.PlannedStarts{}.Kind():
		return read(body, &PlannedStarts{}, readPlannedStarts)
	case protocol.StatusAck{}.Kind():
		return read(body, &StatusAck{}, func(w *StatusAck) (protocol.Message, error) {
			return protocol.StatusAck{Tag: commonv1.DecodeTag(w.GetTag()), Seq: w.GetSeq()}, nil
		})
	case protocol.Result{}.Kind():
		return read(body, &Result{}, readResult)
	case protocol.Recall{}.Kind():
		return read(body, &Recall{}, func(w *Recall) (protocol.Message, error) {
			return protocol.Recall{Tag: commonv1.DecodeTag(w.GetTag()), Cancel: w.GetCancel()}, nil
		})
	case protocol.UnknownJob{}.Kind():
		return read(body, &UnknownJob{}, func(w *UnknownJob) (protocol.Message, error) {
			return protocol.UnknownJob{Tag: commonv1.DecodeTag(w.GetTag()), InDoubt: w.GetInDoubt()}, nil
		})
	case protocol.Fenced{}.Kind():
		return read(body, &Fenced{}, func(w *Fenced) (protocol.Message, error) {
			return protocol.Fenced{Tag: commonv1.DecodeTag(w.GetTag()), Current: protocol.Epoch(w.GetCurrent())}, nil
		})
	case protocol.OutcomeQuery{}.Kind():
		return read(body, &OutcomeQuery{}, func(w *OutcomeQuery) (protocol.Message, error) {
			return protocol.OutcomeQuery{Job: protocol.JobID(w.GetJob()), User: w.GetUser()}, nil
		})
	case protocol.JobOutcome{}.Kind():
		return read(body, &JobOutcome{}, readOutcome)
	case protocol.ElementsQuery{}.Kind():
		return read(body, &ElementsQuery{}, func(w *ElementsQuery) (protocol.Message, error) {
			elements, err := readRuns("elements", w.GetElements())
			return protocol.ElementsQuery{Array: protocol.JobID(w.GetArray()), User: w.GetUser(), Elements: elements}, err
		})
	case protocol.ElementsOutcome{}.Kind():
		return read(body, &ElementsOutcome{}, readElementsOutcome)
	case protocol.UseReport{}.Kind():
		return read(body, &UseReport{}, readUseReport)
	case protocol.Watermark{}.Kind():
		return read(body, &Watermark{}, readWatermark)
	}
	return read(body, &Notice{}, func(w *Notice) (protocol.Message, error) {
		return readNotice(kind, commonv1.DecodeTag(w.GetTag()))
	})
}

func read[W proto.Message](body []byte, w W, convert func(W) (protocol.Message, error)) (protocol.Message, error) {
	if err := parse(body, w); err != nil {
		return nil, err
	}
	return convert(w)
}

func readNotice(kind string, tag protocol.Tag) (protocol.Message, error) {
	switch kind {
	case protocol.Grant{}.Kind():
		return protocol.Grant{Tag: tag}, nil
	case protocol.Accept{}.Kind():
		return protocol.Accept{Tag: tag}, nil
	case protocol.PrepareExpired{}.Kind():
		return protocol.PrepareExpired{Tag: tag}, nil
	case protocol.ResultAck{}.Kind():
		return protocol.ResultAck{Tag: tag}, nil
	case protocol.Recalled{}.Kind():
		return protocol.Recalled{Tag: tag}, nil
	case protocol.DecisionQuery{}.Kind():
		return protocol.DecisionQuery{Tag: tag}, nil
	case protocol.Abort{}.Kind():
		return protocol.Abort{Tag: tag}, nil
	}
	return nil, errors.New("the kind is unknown")
}

func readQuoteRequest(w *QuoteRequest) (protocol.Message, error) {
	if err := wire.AtMost("jobs", len(w.GetJobs()), MaxJobs); err != nil {
		return nil, err
	}
	return protocol.QuoteRequest{
		Round: protocol.RoundID(w.GetRound()), Deadline: protocol.Duration(w.GetDeadlineMs()),
		Jobs: wire.Convert(w.GetJobs(), commonv1.DecodeSpec), EnergyPricing: protocol.EnergyPricing(w.GetEnergyPricing()), MarginalJobs: wire.Narrow(w.GetMarginalJobs()),
	}, nil
}

func readPlannedStarts(w *PlannedStarts) (protocol.Message, error) {
	if err := wire.AtMost("starts", len(w.GetStarts()), protocol.MaxPlannedStarts); err != nil {
		return nil, err
	}
	return protocol.PlannedStarts{Starts: wire.Convert(w.GetStarts(), func(s *PlannedStart) protocol.PlannedStart {
		return protocol.PlannedStart{Tag: commonv1.DecodeTag(s.GetTag()), Wait: wire.DecodeSpan(s.GetWaitMs())}
	})}, nil
}

func readUseReport(w *UseReport) (protocol.Message, error) {
	if err := wire.AtMost("uses", len(w.GetUses()), protocol.MaxUses); err != nil {
		return nil, err
	}
	return protocol.UseReport{
		At: protocol.Instant(w.GetAtMs()), HalfLife: protocol.Duration(w.GetHalfLifeMs()),
		Uses: wire.Convert(w.GetUses(), func(u *Use) protocol.Use {
			return protocol.Use{Origin: protocol.SiteName(u.GetOrigin()), Account: u.GetAccount(), User: u.GetUser(), Period: u.GetPeriod(), Amount: u.GetCpuMs(), Remaining: u.GetRemainingCpuMs()}
		}),
	}, nil
}

func readOutcome(w *JobOutcome) (m protocol.Message, err error) {
	out := protocol.JobOutcome{Job: protocol.JobID(w.GetJob()), User: w.GetUser(), Started: protocol.Never, Ended: protocol.Duration(w.GetEndedMs())}
	if w.GetState() != commonv1.JobState_JOB_STATE_UNSPECIFIED { // one that is not known must not read as none
		out.State = commonv1.DecodeState(w.GetState())
		err = commonv1.CheckState(out.State)
	}
	if w.GetStartedMs() != 0 {
		out.Started = protocol.Duration(w.GetStartedMs()) - 1
	}
	return out, err
}

func readElementsOutcome(w *ElementsOutcome) (protocol.Message, error) {
	completed, err := readRuns("completed", w.GetCompleted())
	others, otherErr := readRuns("others", w.GetOthers())
	return protocol.ElementsOutcome{
		Array: protocol.JobID(w.GetArray()), User: w.GetUser(), Unknown: w.GetUnknown(), NoArray: w.GetNoArray(), Completed: completed, Others: others,
	}, wire.First(err, otherErr)
}

// readRuns reads a set of indexes, which is nil if it is empty.
func readRuns(field string, numbers []uint32) (x protocol.Indexes, err error) {
	if len(numbers)%3 != 0 {
		return nil, wire.Wrong(field, "has %d numbers; a run has three", len(numbers))
	}
	if err := wire.AtMost(field, len(numbers)/3, protocol.MaxElementRuns); err != nil {
		return nil, err
	}
	for n := range slices.Chunk(numbers, 3) {
		x = append(x, protocol.IndexRun{First: int(n[0]), Last: int(n[1]), Step: int(n[2])})
	}
	return x, nil
}

func readVolunteer(w *Volunteer) (protocol.Message, error) {
	load, err := commonv1.DecodeLoad(w.GetLoad())
	return protocol.Volunteer{Load: load, Valid: protocol.Duration(w.GetValidMs())}, err
}

func readQuoteReply(w *QuoteReply) (protocol.Message, error) {
	load, err := commonv1.DecodeLoad(w.GetLoad())
	if err = wire.First(err, wire.AtMost("quotes", len(w.GetQuotes()), MaxJobs)); err != nil {
		return nil, err
	}
	return protocol.QuoteReply{
		Round: protocol.RoundID(w.GetRound()), Quotes: wire.Convert(w.GetQuotes(), commonv1.DecodeQuote),
		Load: load, Free: wire.Narrow(w.GetFree()), MaxJobs: wire.Narrow(w.GetMaxJobs()), Valid: protocol.Duration(w.GetValidMs()),
		MaxCPUs:       wire.Narrow(w.GetMaxCpus()),
		MarginalWaits: wire.Convert(w.GetMarginalWaitMs(), func(ms int64) protocol.Duration { return protocol.Duration(ms) }),
		Draining:      w.GetDraining(),
	}, nil
}

func readOffer(w *Offer) (protocol.Message, error) {
	if err := wire.Present("spec", w.GetSpec() != nil); err != nil {
		return nil, err
	}
	return protocol.Offer{
		Spec: commonv1.DecodeSpec(w.GetSpec()), Epoch: protocol.Epoch(w.GetEpoch()), Payload: commonv1.DecodePayload(w.GetPayload()),
		Start: protocol.Instant(w.GetStartMs()), Forced: w.GetForced(),
		Tolerance: protocol.Duration(w.GetToleranceMs()),
	}, nil
}

func readTariff(w *Tariff) (*protocol.Tariff, error) {
	if w == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	charges, err := wire.Decode("tariff: charges", w.GetCharges(), readCharge)
	return &protocol.Tariff{Currency: w.GetCurrency(), Charges: charges}, err
}

func readCharge(w *Charge) (protocol.Charge, error) {
	c := protocol.Charge{Name: w.GetName(), Once: protocol.Micro(w.GetOnceMicro()), Units: w.GetUnits(), Per: w.GetPer()}
	prices := w.GetPerHourMicro()
	if err := wire.Length("per_hour_micro", len(prices), len(w.GetFromMs())); err != nil {
		return c, err
	}
	for i, from := range w.GetFromMs() {
		c.Steps = append(c.Steps, protocol.PriceStep{From: protocol.Instant(from), PerHour: protocol.Micro(prices[i])})
	}
	return c, nil
}

func readStatus(w *Status) (protocol.Message, error) {
	return protocol.Status{
		Tag: commonv1.DecodeTag(w.GetTag()), Seq: w.GetSeq(), State: commonv1.DecodeState(w.GetState()), Reason: w.GetReason(),
		Waited: protocol.Duration(w.GetWaitedMs()), Ran: protocol.Duration(w.GetRanMs()), At: protocol.Instant(w.GetAtMs()),
		TimeLimit: wire.DecodeSpan(w.GetTimeLimitMs()),
	}, nil
}

func readResult(w *Result) (protocol.Message, error) {
	outcome, err := commonv1.DecodeOutcome(w.GetOutcome())
	return protocol.Result{
		Tag: commonv1.DecodeTag(w.GetTag()), Outcome: outcome, Contents: w.GetContents(),
		Started: protocol.Instant(w.GetStartedMs()), Ended: protocol.Instant(w.GetEndedMs()), At: protocol.Instant(w.GetAtMs()),
	}, err
}

func readCard(w *Card) (protocol.Card, error) {
	if w.GetNumber() > uint32(protocol.MaxSiteNumber) {
		return protocol.Card{}, wire.Wrong("number", "%d is above %d", w.GetNumber(), protocol.MaxSiteNumber)
	}
	proof, err := readProof(w.GetProof())
	if err != nil {
		return protocol.Card{}, err
	}
	seen, err := readLife("seen", w.GetSeen())
	if err != nil {
		return protocol.Card{}, err
	}
	return protocol.Card{
		Site: protocol.SiteName(w.GetSite()), Number: protocol.SiteNumber(w.GetNumber()), //nolint:gosec // checked above
		PublicKey: w.GetPublicKey(), FirstStart: protocol.Instant(w.GetFirstStartMs()),
		Incarnation: w.GetIncarnation(), Software: w.GetSoftware(), Protocol: wire.Narrow(int64(w.GetProtocol())),
		Capacity: commonv1.DecodeCapacity(w.GetCapacity()),
		SeenSeq:  w.GetSeenSeq(), Reserves: w.GetReserves(), MaxJobs: wire.Narrow(w.GetMaxJobs()), MaxCPUs: wire.Narrow(w.GetMaxCpus()),
		Boot: w.GetBoot(), Begun: protocol.Instant(w.GetBegunMs()), Generation: w.GetGeneration(), Proof: proof, Seen: seen, Stopped: w.GetStopped(),
		Associations: readAssociations(w.GetAssociations()), Shared: w.GetShared(),
	}, wire.Present("capacity", w.GetCapacity() != nil)
}

func readWatermark(w *Watermark) (protocol.Message, error) {
	life, err := readLife("life", w.GetLife())
	if err != nil {
		return nil, err
	}
	seen, err := readLife("seen", w.GetSeen())
	if err != nil {
		return nil, err
	}
	twin, err := readLife("twin", w.GetTwin())
	return protocol.Watermark{
		Life: life, Seen: seen, SeenSeq: w.GetSeenSeq(), Twin: twin, Overlapped: w.GetOverlapped(), Stopped: w.GetStopped(),
	}, err
}

func readLife(field string, w *Life) (protocol.Life, error) {
	proof, err := readProof(w.GetProof())
	return protocol.Life{
		Incarnation: w.GetIncarnation(), Boot: w.GetBoot(), Begun: protocol.Instant(w.GetBegunMs()), Generation: w.GetGeneration(),
		Proof: proof,
	}, wire.In(field, err)
}

// readProof takes nothing for no proof.
func readProof(data []byte) (proof protocol.Proof, err error) {
	if len(data) != 0 && len(data) != len(proof) {
		return proof, wire.Wrong("proof", "has %d bytes, not %d", len(data), len(proof))
	}
	copy(proof[:], data)
	return proof, nil
}
