package peerv1

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// readMessage reads a message that checkMessage has yet to pass. Its own errors
// are about what would be lost in the conversion.
func readMessage(kind string, body []byte) (protocol.Message, error) {
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
			return protocol.Prepared{Tag: readTag(w.GetTag()), Start: protocol.Instant(w.GetStartMs()), Tariff: tariff}, err
		})
	case protocol.Refused{}.Kind():
		return read(body, &Refused{}, func(w *Refused) (protocol.Message, error) {
			return protocol.Refused{Tag: readTag(w.GetTag()), Reason: w.GetReason(), Full: w.GetFull()}, nil
		})
	case protocol.Status{}.Kind():
		return read(body, &Status{}, readStatus)
	case protocol.StatusAck{}.Kind():
		return read(body, &StatusAck{}, func(w *StatusAck) (protocol.Message, error) {
			return protocol.StatusAck{Tag: readTag(w.GetTag()), Seq: w.GetSeq()}, nil
		})
	case protocol.Result{}.Kind():
		return read(body, &Result{}, readResult)
	case protocol.Recall{}.Kind():
		return read(body, &Recall{}, func(w *Recall) (protocol.Message, error) {
			return protocol.Recall{Tag: readTag(w.GetTag()), Cancel: w.GetCancel()}, nil
		})
	case protocol.Fenced{}.Kind():
		return read(body, &Fenced{}, func(w *Fenced) (protocol.Message, error) {
			return protocol.Fenced{Tag: readTag(w.GetTag()), Current: protocol.Epoch(w.GetCurrent())}, nil
		})
	case protocol.Watermark{}.Kind():
		return read(body, &Watermark{}, readWatermark)
	}
	return read(body, &Notice{}, func(w *Notice) (protocol.Message, error) {
		return readNotice(kind, readTag(w.GetTag()))
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
	case protocol.Aborted{}.Kind():
		return protocol.Aborted{Tag: tag}, nil
	case protocol.ResultAck{}.Kind():
		return protocol.ResultAck{Tag: tag}, nil
	case protocol.Recalled{}.Kind():
		return protocol.Recalled{Tag: tag}, nil
	case protocol.DecisionAsked{}.Kind():
		return protocol.DecisionAsked{Tag: tag}, nil
	case protocol.Abort{}.Kind():
		return protocol.Abort{Tag: tag}, nil
	case protocol.Unknown{}.Kind():
		return protocol.Unknown{Tag: tag}, nil
	}
	return nil, errors.New("the kind is unknown")
}

// readTag converts a tag; an absent one becomes one that no check passes.
func readTag(w *Tag) protocol.Tag {
	return protocol.Tag{Job: protocol.JobID(w.GetJob()), Epoch: protocol.Epoch(w.GetEpoch())}
}

func readQuoteRequest(w *QuoteRequest) (protocol.Message, error) {
	if err := wire.AtMost("jobs", len(w.GetJobs()), MaxJobs); err != nil {
		return nil, err
	}
	return protocol.QuoteRequest{
		Round: protocol.RoundID(w.GetRound()), Deadline: protocol.Duration(w.GetDeadlineMs()),
		Jobs: wire.Convert(w.GetJobs(), readSpec), Reckon: protocol.Reckoning(w.GetReckon()), Extra: number(w.GetExtra()),
	}, nil
}

func readVolunteer(w *Volunteer) (protocol.Message, error) {
	return protocol.Volunteer{
		Load: readLoad(w.GetLoad()), Valid: protocol.Duration(w.GetValidMs()),
	}, wire.Present("load", w.GetLoad() != nil)
}

func readQuoteReply(w *QuoteReply) (protocol.Message, error) {
	if err := wire.First(
		wire.Present("load", w.GetLoad() != nil),
		wire.AtMost("quotes", len(w.GetQuotes()), MaxJobs),
	); err != nil {
		return nil, err
	}
	return protocol.QuoteReply{
		Round: protocol.RoundID(w.GetRound()), Quotes: wire.Convert(w.GetQuotes(), readQuote),
		Load: readLoad(w.GetLoad()), Free: number(w.GetFree()), Accept: number(w.GetAccept()), Valid: protocol.Duration(w.GetValidMs()),
		MostCPUs: number(w.GetMostCpus()),
		Extra:    wire.Convert(w.GetExtraMs(), func(ms int64) protocol.Duration { return protocol.Duration(ms) }),
	}, nil
}

func readOffer(w *Offer) (protocol.Message, error) {
	if err := wire.Present("spec", w.GetSpec() != nil); err != nil {
		return nil, err
	}
	return protocol.Offer{
		Spec: readSpec(w.GetSpec()), Epoch: protocol.Epoch(w.GetEpoch()), Payload: readPayload(w.GetPayload()),
		Start: protocol.Instant(w.GetStartMs()), Forced: w.GetForced(),
		Tolerance: protocol.Duration(w.GetToleranceMs()),
	}, nil
}

func readSpec(w *Spec) protocol.Spec {
	return protocol.Spec{
		Request: protocol.Request{
			Job: protocol.JobID(w.GetJob()), CPUs: number(w.GetCpus()), Nodes: number(w.GetNodes()),
			MemoryMB: w.GetMemoryMb(), WallTime: protocol.Duration(w.GetWallTimeMs()),
			Power: number(w.GetPowerPpm()), Like: w.GetLike(), Layout: readLayout(w.GetLayout()),
		},
		Name: w.GetName(), User: w.GetUser(),
		Sites:   wire.Convert(w.GetSites(), func(s string) protocol.SiteName { return protocol.SiteName(s) }),
		Requeue: w.GetRequeue(), Submitted: protocol.Instant(w.GetSubmittedMs()), MHz: number(w.GetMhz()),
		Mflops: number(w.GetMflops()), Data: w.GetDataBytes(),
		DataOut: w.GetDataOut(), Licences: wire.Convert(w.GetLicences(), readLicence), Priority: w.GetPriority(),
		Expected: protocol.Duration(w.GetExpectedMs()), Intensity: number(w.GetIntensityPpm()), Computing: number(w.GetComputingPpm()),
		Draws: number(w.GetDrawsPpm()),
	}
}

func readLayout(w *Layout) protocol.Layout {
	return protocol.Layout{
		Tasks: number(w.GetTasks()), TasksPerNode: number(w.GetTasksPerNode()),
		CPUsPerTask: number(w.GetCpusPerTask()), MaxNodes: number(w.GetMaxNodes()),
	}
}

func readLicence(w *Licence) protocol.Licence {
	return protocol.Licence{Name: w.GetName(), Count: number(w.GetCount())}
}

func readPayload(w *Payload) *protocol.Payload {
	if w == nil {
		return nil
	}
	return wire.DecodePayload(w)
}

func readLoad(w *Load) protocol.Load {
	return protocol.Load{
		CPUs: number(w.GetCpus()), Busy: number(w.GetBusy()),
		QueuedJobs: number(w.GetQueuedJobs()), QueuedWork: w.GetQueuedWorkMs(), Benefit: number(w.GetBenefitPpm()),
		Withheld: number(w.GetWithheld()), Draw: w.GetDrawMw(), Budget: w.GetBudgetMw(),
	}
}

func readQuote(w *Quote) protocol.Quote {
	return protocol.Quote{
		Job: protocol.JobID(w.GetJob()), Declined: w.GetDeclined(),
		AWT: protocol.Duration(w.GetAwtMs()), AWTLow: protocol.Duration(w.GetAwtLowMs()),
		AWTHigh: protocol.Duration(w.GetAwtHighMs()), ERT: protocol.Duration(w.GetErtMs()),
		Bound:    protocol.Duration(w.GetBoundMs()),
		Terms:    wire.Convert(w.GetTerms(), readTerm),
		Currency: w.GetCurrency(), Note: w.GetNote(),
	}
}

func readTerm(t *Term) protocol.Term {
	return protocol.Term{Name: t.GetName(), Amount: protocol.Micro(t.GetAmountMicro())}
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

func readBill(w *Bill) *protocol.Bill {
	if w == nil {
		return nil
	}
	return &protocol.Bill{
		Start: protocol.Instant(w.GetStartMs()), Currency: w.GetCurrency(), Terms: wire.Convert(w.GetTerms(), readTerm),
	}
}

func readStatus(w *Status) (protocol.Message, error) {
	state, err := readState(w.GetState())
	return protocol.Status{
		Tag: readTag(w.GetTag()), Seq: w.GetSeq(), State: state, Reason: w.GetReason(),
		Waited: protocol.Duration(w.GetWaitedMs()), Ran: protocol.Duration(w.GetRanMs()), At: protocol.Instant(w.GetAtMs()),
	}, err
}

func readResult(w *Result) (protocol.Message, error) {
	state, err := readState(w.GetState())
	if err != nil {
		return nil, err
	}
	files, err := wire.Decode("files", w.GetFiles(), readFile)
	return protocol.Result{
		Tag: readTag(w.GetTag()), Outcome: protocol.Outcome{
			State: state, ExitCode: number(w.GetExitCode()), Signal: number(w.GetSignal()), Reason: w.GetReason(),
			Waited: protocol.Duration(w.GetWaitedMs()), Ran: protocol.Duration(w.GetRanMs()), Files: files,
			Usage: readUsage(w.GetUsage()), Bill: readBill(w.GetBill()),
		}, Contents: w.GetContents(),
		Started: protocol.Instant(w.GetStartedMs()), Ended: protocol.Instant(w.GetEndedMs()), At: protocol.Instant(w.GetAtMs()),
	}, err
}

func readUsage(w *Usage) protocol.Usage {
	return protocol.Usage{
		CPU: protocol.Duration(w.GetCpuMs()), MemoryMB: w.GetMemoryMb(), Energy: w.GetEnergyMj(),
		Mflop: w.GetMflop(), Mwords: w.GetMwords(), Sent: w.GetSent(), Messages: w.GetMessages(), MHz: number(w.GetMhz()),
		Power: number(w.GetPowerPpm()),
	}
}

func readFile(w *File) (protocol.File, error) {
	stream, err := ReadStream(w.GetStream())
	f := protocol.File{Stream: stream, Size: w.GetSize()}
	copy(f.SHA256[:], w.GetSha256())
	return f, wire.First(err, length("sha256", w.GetSha256(), hashSize))
}

// readState converts by number: both lists are in one order, which a test pins.
func readState(w JobState) (protocol.State, error) {
	if w < JobState_JOB_STATE_PENDING || w > JobState_JOB_STATE_NODE_FAIL {
		return 0, fmt.Errorf("state: %d is unknown or missing", int32(w))
	}
	return protocol.State(w), nil
}

// ReadStream converts a stream and refuses unknown ones.
func ReadStream(w Stream) (protocol.Stream, error) {
	if w < Stream_STREAM_STDOUT || w > Stream_STREAM_STDERR {
		return 0, fmt.Errorf("stream: %d is unknown or missing", int32(w))
	}
	return protocol.Stream(w), nil
}

func readCard(w *Card) (protocol.Card, error) {
	if w.GetNumber() > uint32(protocol.MaxSiteNumber) {
		return protocol.Card{}, fmt.Errorf("number: %d is above %d", w.GetNumber(), protocol.MaxSiteNumber)
	}
	proof, err := readProof(w.GetProof())
	if err != nil {
		return protocol.Card{}, err
	}
	seen, err := readLife("seen", w.GetSeen())
	if err != nil {
		return protocol.Card{}, err
	}
	c := w.GetCapacity()
	return protocol.Card{
		Site: protocol.SiteName(w.GetSite()), Number: protocol.SiteNumber(w.GetNumber()), //nolint:gosec // checked above
		PublicKey: w.GetPublicKey(), FirstStart: protocol.Instant(w.GetFirstStartMs()),
		Incarnation: w.GetIncarnation(), Software: w.GetSoftware(), Protocol: number(int64(w.GetProtocol())),
		Capacity: protocol.Capacity{
			CPUs: number(c.GetCpus()), Nodes: number(c.GetNodes()), NodeCPUs: number(c.GetNodeCpus()), MemoryMB: c.GetMemoryMb(),
			WholeNode: c.GetWholeNode(), MaxWallTime: protocol.Duration(c.GetMaxWallTimeMs()), MHz: number(c.GetMhz()),
			Mflops: number(c.GetMflops()), Machine: readMachine(c.GetMachine()),
		},
		SeenSeq: w.GetSeenSeq(), Reserves: w.GetReserves(), MaxJobs: number(w.GetMaxJobs()), MaxCPUs: number(w.GetMaxCpus()),
		Boot: w.GetBoot(), Begun: protocol.Instant(w.GetBegunMs()), Generation: w.GetGeneration(), Proof: proof, Seen: seen, Stopped: w.GetStopped(),
	}, wire.Present("capacity", c != nil)
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
		return proof, fmt.Errorf("proof: has %d bytes, not %d", len(data), len(proof))
	}
	copy(proof[:], data)
	return proof, nil
}

func readMachine(w *Machine) protocol.Machine {
	return protocol.Machine{
		Flops: w.GetFlops(), Words: w.GetWords(), Network: w.GetNetwork(), Latency: w.GetLatencyNs(), Bus: w.GetBus(),
	}
}

// number narrows a count; one that does not fit becomes one that no check
// passes, also where int has 32 bits.
func number(n int64) int {
	if n < 0 || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}
