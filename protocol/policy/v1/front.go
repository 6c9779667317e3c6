package policyv1

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeFront converts what a policy lays out. Why is for people: what is not UTF-8 in it is
// replaced and what is beyond [MaxReason] is cut.
func EncodeFront(f *policy.ParetoFront) *ParetoFrontResponse {
	return &ParetoFrontResponse{
		Currency: f.Currency, More: f.More, Gap: int64(f.Gap), Reason: wire.Clip(f.Reason, MaxReason),
		Points: wire.Convert(f.Points, func(p policy.FrontPoint) *FrontPoint {
			return &FrontPoint{
				Time: wire.EncodeSpan(p.Time), Cost: int64(p.Cost), Chosen: p.Chosen,
				Choices: wire.Convert(p.Choices, encodeChoice),
			}
		}),
	}
}

func encodeChoice(c policy.FrontChoice) *FrontChoice {
	return &FrontChoice{
		Job: wireIndex(c.Job), Site: wireIndex(c.Site), Cpus: int64(c.CPUs),
		Wait: wire.EncodeSpan(c.Wait), Run: wire.EncodeSpan(c.Run), Cost: int64(c.Cost),
	}
}

// DecodeFront checks and converts a front. Whether it fits the snapshot is the business of
// [policy.Snapshot.CheckFront]. The error names the field.
func DecodeFront(m *ParetoFrontResponse) (policy.ParetoFront, error) {
	points, err := wire.Decode("points", m.GetPoints(), readPoint)
	if err = wire.First(
		err,
		wire.AtMost("points", len(m.GetPoints()), policy.MaxFrontPoints),
		wire.Text("currency", m.GetCurrency(), MaxCurrency),
		wire.Count("gap", m.GetGap()),
		wire.Text("reason", m.GetReason(), MaxReason),
	); err != nil {
		return policy.ParetoFront{}, wire.In("front", err)
	}
	return policy.ParetoFront{
		Currency: m.GetCurrency(), Points: points, More: m.GetMore(), Gap: int(m.GetGap()), Reason: m.GetReason(),
	}, nil
}

// span checks a time in ms; -1 is never.
func span(field string, n int64) error {
	if n < -1 {
		return wire.Wrong(field, "%d is negative; -1 is never", n)
	}
	return nil
}

func readPoint(m *FrontPoint) (policy.FrontPoint, error) {
	choices, err := wire.Decode("choices", m.GetChoices(), readChoice)
	return policy.FrontPoint{
		Time: wire.DecodeSpan(m.GetTime()), Cost: protocol.Micro(m.GetCost()), Chosen: m.GetChosen(), Choices: choices,
	}, wire.First(err, span("time", m.GetTime()))
}

func readChoice(m *FrontChoice) (policy.FrontChoice, error) {
	return policy.FrontChoice{
		Job: readIndex(m.GetJob()), Site: readIndex(m.GetSite()), CPUs: int(m.GetCpus()),
		Wait: wire.DecodeSpan(m.GetWait()), Run: wire.DecodeSpan(m.GetRun()), Cost: protocol.Micro(m.GetCost()),
	}, wire.First(wire.Count("cpus", m.GetCpus()), span("wait", m.GetWait()), span("run", m.GetRun()))
}
