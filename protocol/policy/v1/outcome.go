package policyv1

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

func encodeOutcome(o policy.Outcome) *Outcome {
	return &Outcome{
		Job: uint64(o.Job), Site: string(o.Site), DecidedAtMs: int64(o.DecidedAt), QuotedWaitMs: wire.EncodeSpan(o.QuotedWait),
		WaitMs: wire.EncodeSpan(o.Wait), State: o.State.String(), ExitCode: int64(o.ExitCode),
	}
}

func decodeOutcome(m *Outcome) (policy.Outcome, error) {
	state, err := protocol.ParseState(m.GetState())
	if err != nil || !state.Terminal() {
		return policy.Outcome{}, wire.Wrong("state", "%.20q is not a terminal state", m.GetState())
	}
	o := policy.Outcome{
		Job: protocol.JobID(m.GetJob()), Site: protocol.SiteName(m.GetSite()), DecidedAt: protocol.Instant(m.GetDecidedAtMs()),
		QuotedWait: wire.DecodeSpan(m.GetQuotedWaitMs()), Wait: wire.DecodeSpan(m.GetWaitMs()), State: state, ExitCode: wire.Narrow(m.GetExitCode()),
	}
	return o, wire.First(
		o.Site.Validate(),
		span("quoted_wait_ms", m.GetQuotedWaitMs()),
		span("wait_ms", m.GetWaitMs()),
		wire.Count("exit_code", m.GetExitCode()),
	)
}

// writeNames enters who submitted jobs, and what they are called.
func writeNames(m *DecideRequest, jobs []policy.Job) {
	m.JobUser = jobTexts(jobs, MaxUser, func(j *policy.Job) string { return j.User })
	m.JobAccount = jobTexts(jobs, MaxUser, func(j *policy.Job) string { return j.Account })
	m.JobName = jobTexts(jobs, MaxJobName, func(j *policy.Job) string { return j.Name })
	m.JobMemoryMb = jobColumn(jobs, func(j *policy.Job) int64 { return j.MemoryMB })
}

// jobTexts is a column that is absent when all its entries are empty. What is not UTF-8 is
// replaced, and what is too long is cut: protobuf refuses the one and the check the other.
func jobTexts(jobs []policy.Job, most int, entry func(*policy.Job) string) []string {
	if !slices.ContainsFunc(jobs, func(j policy.Job) bool { return entry(&j) != "" }) {
		return nil
	}
	column := make([]string, len(jobs))
	for i := range jobs {
		column[i] = wire.Clip(entry(&jobs[i]), most)
	}
	return column
}

// readNames relies on checkShape.
func readNames(m *DecideRequest, jobs []policy.Job) {
	texts := func(column []string, set func(*policy.Job, string)) {
		for i, s := range column {
			set(&jobs[i], s)
		}
	}
	texts(m.GetJobUser(), func(j *policy.Job, s string) { j.User = s })
	texts(m.GetJobAccount(), func(j *policy.Job, s string) { j.Account = s })
	texts(m.GetJobName(), func(j *policy.Job, s string) { j.Name = s })
	for i, n := range m.GetJobMemoryMb() {
		jobs[i].MemoryMB = n
	}
}
