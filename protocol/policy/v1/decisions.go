package policyv1

import (
	"math"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeDecisions converts what a policy returned, and shares the hint. Reasons are
// for people: what is not UTF-8 in them is replaced and what is beyond [MaxReason]
// is cut.
func EncodeDecisions(decisions []policy.Decision, hint []byte) *DecideResponse {
	n := len(decisions)
	m := &DecideResponse{
		Job: make([]uint32, n), Site: make([]uint32, n), Wait: make([]int64, n), Reason: make([]string, n),
		Hint: hint,
	}
	for i := range decisions {
		d := &decisions[i]
		m.Job[i], m.Site[i] = wireIndex(d.Job), wireSite(d.Site)
		m.Wait[i], m.Reason[i] = wire.EncodeSpan(d.Wait), wire.Clip(d.Reason, MaxReason)
	}
	return m
}

// DecodeDecisions checks and converts decisions and the hint, which it shares.
// Whether they fit the snapshot is the business of [policy.Snapshot.Check]. The
// error names the column and the entry.
func DecodeDecisions(m *DecideResponse) ([]policy.Decision, []byte, error) {
	n := len(m.GetJob())
	if err := wire.First(
		wire.AtMost("job", n, MaxJobs),
		wire.Length("site", len(m.GetSite()), n),
		wire.Length("wait", len(m.GetWait()), n),
		wire.Length("reason", len(m.GetReason()), n),
		spans("wait", m.GetWait()),
		texts("reason", m.GetReason(), MaxReason),
		wire.AtMost("hint", len(m.GetHint()), policy.MaxHint),
	); err != nil {
		return nil, nil, wire.In("decisions", err)
	}
	var hint []byte
	if len(m.GetHint()) > 0 {
		hint = m.GetHint()
	}
	if n == 0 {
		return nil, hint, nil
	}
	decisions := make([]policy.Decision, n)
	for i := range decisions {
		decisions[i] = policy.Decision{
			Job: readIndex(m.GetJob()[i]), Site: readSite(m.GetSite()[i]),
			Wait: wire.DecodeSpan(m.GetWait()[i]), Reason: m.GetReason()[i],
		}
	}
	return decisions, hint, nil
}

// nowhere is the site of a job that stays in the grid queue. Hosts that do not know it
// refuse it, as an index that no column has.
const nowhere = math.MaxUint32

// noIndex is an index that no column has.
const noIndex = math.MaxUint32 - 1

// wireIndex is an index; one that no column has becomes one that no check of decisions
// passes.
func wireIndex(n int) uint32 {
	if n < 0 || n > math.MaxInt32 {
		return noIndex
	}
	return uint32(n)
}

func wireSite(n int) uint32 {
	if n == policy.NoSite {
		return nowhere
	}
	return wireIndex(n)
}

// readIndex keeps an index that no column has apart from all others, also where
// int has 32 bits.
func readIndex(n uint32) int {
	if n > math.MaxInt32 {
		return math.MinInt32
	}
	return int(n)
}

func readSite(n uint32) int {
	if n == nowhere {
		return policy.NoSite
	}
	return readIndex(n)
}
