package peerv1_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func drawPlannedStart(t *rapid.T) protocol.PlannedStart {
	return protocol.PlannedStart{Tag: protocoltest.Tag(t), Wait: protocoltest.Span(t)}
}

func drawUse(t *rapid.T) protocol.Use {
	return protocol.Use{
		Origin: rapid.SampledFrom([]protocol.SiteName{"a", "borealis"}).Draw(t, "origin"), Account: rapid.SampledFrom([]string{"", "physics"}).Draw(t, "account"),
		User: rapid.StringMatching("[a-z]{1,9}").Draw(t, "user"), Period: rapid.Int64Range(0, 1<<40).Draw(t, "period"), Amount: rapid.Int64Range(0, 1<<62).Draw(t, "cpu_ms"),
		Remaining: rapid.Int64Range(0, 1<<62).Draw(t, "remaining_cpu_ms"),
	}
}

// messages draws a valid message of a kind.
func messages(kind string) *rapid.Generator[protocol.Message] {
	return rapid.Custom(func(t *rapid.T) protocol.Message {
		if m := drawNotice(t, kind); m != nil {
			return m
		}
		placed := protocoltest.Tag(t)
		switch kind {
		case "quote-request":
			return protocol.QuoteRequest{
				Round: protocol.RoundID(rapid.Uint64().Draw(t, "round")), Deadline: protocoltest.Span(t),
				Jobs:          protocoltest.Slice(t, drawSpec),
				EnergyPricing: rapid.SampledFrom([]protocol.EnergyPricing{protocol.Hourly, protocol.AtOnce, protocol.TwoPrice, "a later one"}).Draw(t, "energy_pricing"),
				MarginalJobs:  rapid.IntRange(0, protocol.MaxMarginalJobs).Draw(t, "marginal_jobs"),
			}
		case "quote-reply":
			return protocol.QuoteReply{
				Round: protocol.RoundID(rapid.Uint64().Draw(t, "round")), Quotes: protocoltest.Slice(t, drawQuote),
				Load: protocoltest.Load(t), Free: protocoltest.Count(t), MaxJobs: protocoltest.Count(t), Valid: protocoltest.Span(t),
				MarginalWaits: drawExtra(t), MaxCPUs: protocoltest.Count(t), Draining: protocoltest.Text(t),
			}
		case "volunteer":
			return protocol.Volunteer{Load: protocoltest.Load(t), Valid: protocoltest.Span(t)}
		case "offer":
			return protocol.Offer{Spec: protocoltest.Spec(t, placed.Job), Epoch: placed.Epoch, Payload: protocoltest.Payload(t), Start: protocoltest.Instant(t), Forced: rapid.Bool().Draw(t, "forced"), Tolerance: protocol.Duration(protocoltest.Instant(t))}
		case "prepared":
			return protocol.Prepared{Tag: placed, Start: protocoltest.Instant(t), Tariff: drawTariff(t)}
		case "refused":
			return protocol.Refused{Tag: placed, Reason: protocoltest.Text(t), Full: rapid.Bool().Draw(t, "full")}
		case "status":
			return protocol.Status{
				Tag: placed, Seq: rapid.Uint32().Draw(t, "seq"),
				State:  rapid.SampledFrom([]protocol.State{protocol.Pending, protocol.Running}).Draw(t, "state"),
				Reason: protocoltest.Text(t), Waited: protocoltest.Span(t), Ran: protocoltest.Span(t), At: protocoltest.Instant(t),
			}
		case "planned-starts":
			return protocol.PlannedStarts{Starts: append(protocoltest.Slice(t, drawPlannedStart), protocol.PlannedStart{Tag: placed, Wait: protocoltest.Span(t)})}
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
		Begun: protocoltest.Instant(t), Generation: rapid.Uint64().Draw(t, "generation"), Proof: drawProof(t),
	}
}

func drawProof(t *rapid.T) (proof protocol.Proof) {
	copy(proof[:], rapid.SliceOfN(rapid.Byte(), 0, len(proof)).Draw(t, "proof"))
	return proof
}

func drawNotice(t *rapid.T, kind string) protocol.Message {
	placed := protocoltest.Tag(t)
	switch kind {
	case "grant":
		return protocol.Grant{Tag: placed}
	case "accept":
		return protocol.Accept{Tag: placed}
	case "prepare-expired":
		return protocol.PrepareExpired{Tag: placed}
	case "result-ack":
		return protocol.ResultAck{Tag: placed}
	case "recalled":
		return protocol.Recalled{Tag: placed}
	case "decision-query":
		return protocol.DecisionQuery{Tag: placed}
	case "abort":
		return protocol.Abort{Tag: placed}
	case "outcome-query":
		return protocol.OutcomeQuery{Job: placed.Job, User: rapid.SampledFrom([]string{"", "ada"}).Draw(t, "user")}
	case "job-outcome":
		states := append([]protocol.State{0}, protocol.States()...)
		return protocol.JobOutcome{
			Job: placed.Job, User: rapid.SampledFrom([]string{"", "ada"}).Draw(t, "user"), State: rapid.SampledFrom(states).Draw(t, "state"), Ended: protocol.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "ended")),
			Started: rapid.SampledFrom([]protocol.Duration{0, 1, protocol.Hour, protocol.Never}).Draw(t, "started"),
		}
	case "elements-query":
		return protocol.ElementsQuery{Array: placed.Job, User: "ada", Elements: protocol.IndexesOf(rapid.SliceOfN(rapid.IntRange(0, 40), 1, 20).Draw(t, "elements")...)}
	case "elements-outcome":
		return protocol.ElementsOutcome{
			Array: placed.Job, User: rapid.SampledFrom([]string{"", "ada"}).Draw(t, "user"), Unknown: rapid.Bool().Draw(t, "unknown"), NoArray: rapid.Bool().Draw(t, "no array"),
			Completed: protocol.IndexesOf(rapid.SliceOf(rapid.IntRange(0, protocol.MaxIndex)).Draw(t, "completed")...),
			Others:    protocol.IndexesOf(rapid.SliceOf(rapid.IntRange(0, 40)).Draw(t, "others")...),
		}
	case "use-report":
		return protocol.UseReport{At: protocol.Instant(rapid.Int64Min(1).Draw(t, "at")), HalfLife: protocol.Duration(rapid.Int64Range(1, 1<<40).Draw(t, "half_life")), Uses: protocoltest.Slice(t, drawUse)}
	case "unknown-job":
		return protocol.UnknownJob{Tag: placed, InDoubt: rapid.Bool().Draw(t, "in doubt")}
	}
	return nil
}

// drawExtra draws waits that do not fall.
func drawExtra(t *rapid.T) []protocol.Duration {
	var extra []protocol.Duration
	for range rapid.SampledFrom([]int{0, 1, 3, protocol.MaxMarginalJobs - 1}).Draw(t, "marginal_waits") {
		extra = append(extra, protocoltest.Span(t))
	}
	slices.Sort(extra)
	return extra
}

// drawSpec draws any job.
func drawSpec(t *rapid.T) protocol.Spec { return protocoltest.Spec(t, protocoltest.Job(t)) }

func drawQuote(t *rapid.T) protocol.Quote {
	return protocoltest.Quote(t, protocoltest.Job(t), rapid.Bool().Draw(t, "priced"))
}

func drawResult(t *rapid.T, placed protocol.Tag) protocol.Result {
	result := protocol.Result{Tag: placed, Outcome: protocoltest.Outcome(t), Started: protocoltest.Instant(t), Ended: protocoltest.Instant(t), At: 1 + protocoltest.Instant(t)/2}
	result.Outcome.Bill = protocoltest.Bill(t)
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
			Units: protocoltest.Amount(t), Per: max(1, protocoltest.Amount(t)),
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

func drawCard(t *rapid.T) protocol.Card {
	return protocol.Card{
		Site: protocoltest.Site(t), Number: protocol.SiteNumber(rapid.Uint16Range(1, 9000).Draw(t, "number")),
		PublicKey:   rapid.StringMatching(`U[A-Z2-7]{55}`).Draw(t, "key"),
		FirstStart:  protocol.Instant(rapid.Int64Min(0).Draw(t, "first start")),
		Incarnation: rapid.Uint64().Draw(t, "incarnation"), Software: "switchyard 1.0",
		Protocol: rapid.IntRange(1, 9).Draw(t, "protocol"),
		Capacity: protocoltest.Capacity(t),
		Reserves: rapid.Bool().Draw(t, "reserves"), MaxJobs: protocoltest.Count(t), MaxCPUs: protocoltest.Count(t),
		SeenSeq: rapid.Uint64Range(0, protocol.SeqsPerSite-1).Draw(t, "seen"),
		Boot:    rapid.Uint64().Draw(t, "boot"), Begun: protocoltest.Instant(t), Generation: rapid.Uint64().Draw(t, "generation"),
		Proof: drawProof(t), Seen: rapid.OneOf(rapid.Just(protocol.Life{}), rapid.Custom(drawLife)).Draw(t, "seen life"),
		Associations: rapid.OneOf(rapid.Just((*protocol.AssociationTable)(nil)), rapid.Custom(drawAssociations)).Draw(t, "associations"),
		Shared:       rapid.SampledFrom([][]string{nil, {"/home"}, {"/home", "/scratch/ü"}}).Draw(t, "shared"),
	}
}

func drawAssociations(t *rapid.T) *protocol.AssociationTable {
	name := rapid.SampledFrom([]string{"", "phys-*", "?", "ü"})
	as := rapid.SampledFrom([]string{"", "guests", "ü"})
	var table protocol.AssociationTable
	for range rapid.IntRange(0, 3).Draw(t, "rules") {
		r := protocol.AssociationRule{
			Origin: "*", User: name.Draw(t, "user"), Account: name.Draw(t, "account"), Partition: name.Draw(t, "partition"), QOS: name.Draw(t, "qos"),
			AsAccount: as.Draw(t, "as account"), AsPartition: as.Draw(t, "as partition"), AsQOS: as.Draw(t, "as qos"),
			Refuse: rapid.SampledFrom([]string{"", "closed to guests"}).Draw(t, "refuse"),
		}
		if rapid.Bool().Draw(t, "ignore") {
			r.Ignore = []string{"account", "qos"}
		}
		table.Rules = append(table.Rules, r)
	}
	if rapid.Bool().Draw(t, "priced") {
		table.Priced = []string{"high", "low"}
	}
	return &table
}
