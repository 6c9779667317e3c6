package policyv1

import (
	"math"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// writeApplications enters what users want of their jobs together. An application that a
// clock set back has submitted in the future has taken no time yet.
func writeApplications(m *DecideRequest, in *policy.Snapshot) {
	m.Currency = in.Currency
	for i := range in.Applications {
		a := &in.Applications[i]
		m.ApplicationId = append(m.ApplicationId, uint64(a.ID))
		m.ApplicationBeta = append(m.ApplicationBeta, int64(a.Beta))
		m.ApplicationMaxCost = append(m.ApplicationMaxCost, wireLimit(a.MaxCost))
		m.ApplicationMaxTime = append(m.ApplicationMaxTime, wire.EncodeSpan(a.MaxTime))
		m.ApplicationElapsed = append(m.ApplicationElapsed, wire.EncodeSpan(max(0, a.Elapsed)))
		m.ApplicationSpent = append(m.ApplicationSpent, int64(a.Spent))
		m.ApplicationCommittedUntil = append(m.ApplicationCommittedUntil, wire.EncodeSpan(a.CommittedUntil))
		m.ApplicationWaitedCost = append(m.ApplicationWaitedCost, int64(max(0, a.WaitedCost)))
		m.ApplicationRates = append(m.ApplicationRates, int64(len(a.WaitingCost)))
		for _, rate := range a.WaitingCost {
			m.RateFrom = append(m.RateFrom, wire.EncodeSpan(rate.From))
			m.RatePerHour = append(m.RatePerHour, int64(rate.PerHour))
		}
	}
	m.ApplicationWaitedCost = wire.Sparse(m.GetApplicationWaitedCost())
	m.ApplicationRates = wire.Sparse(m.GetApplicationRates())
}

func readApplications(m *DecideRequest) []policy.Application {
	n := len(m.GetApplicationId())
	if n == 0 {
		return nil
	}
	applications, rates := make([]policy.Application, n), readRates(m)
	counts, waited := wire.Dense(m.GetApplicationRates(), n), wire.Dense(m.GetApplicationWaitedCost(), n)
	for i := range applications {
		applications[i] = policy.Application{
			ID: protocol.JobID(m.GetApplicationId()[i]), Beta: int(m.GetApplicationBeta()[i]),
			MaxCost: readLimit(m.GetApplicationMaxCost()[i]), MaxTime: wire.DecodeSpan(m.GetApplicationMaxTime()[i]),
			Elapsed: wire.DecodeSpan(m.GetApplicationElapsed()[i]), Spent: protocol.Micro(m.GetApplicationSpent()[i]),
			CommittedUntil: wire.DecodeSpan(m.GetApplicationCommittedUntil()[i]), WaitedCost: protocol.Micro(waited[i]),
		}
		if k := counts[i]; k > 0 {
			applications[i].WaitingCost, rates = rates[:k:k], rates[k:]
		}
	}
	return applications
}

func readRates(m *DecideRequest) []protocol.WaitingRate {
	rates := make([]protocol.WaitingRate, len(m.GetRateFrom()))
	for i := range rates {
		rates[i] = protocol.WaitingRate{From: wire.DecodeSpan(m.GetRateFrom()[i]), PerHour: protocol.Micro(m.GetRatePerHour()[i])}
	}
	return rates
}

// wireLimit is a limit of costs, -1 for none. One below 0 stays one that no check passes.
func wireLimit(limit protocol.Micro) int64 {
	switch {
	case limit == protocol.Unlimited:
		return -1
	case limit < 0:
		return math.MinInt64
	}
	return int64(limit)
}

func readLimit(n int64) protocol.Micro {
	if n == -1 {
		return protocol.Unlimited
	}
	return protocol.Micro(n)
}

// writeObjectives enters what the users of single jobs want of them.
func writeObjectives(m *DecideRequest, jobs []policy.Job) {
	m.JobDataOut = jobColumn(jobs, func(j *policy.Job) int64 { return j.DataOut })
	m.JobApplication = jobColumn(jobs, func(j *policy.Job) int64 { return int64(j.Application) })
	m.JobTogether = jobColumn(jobs, func(j *policy.Job) int64 { return int64(j.Together) })
	m.JobAlpha = jobColumn(jobs, func(j *policy.Job) int64 { return int64(j.Alpha) })
	m.JobGamma = jobColumn(jobs, func(j *policy.Job) int64 { return int64(j.Gamma) })
	m.JobDelta = jobColumn(jobs, func(j *policy.Job) int64 { return int64(j.Delta) })
}

// jobColumn is a column that does not travel when it says nothing.
func jobColumn(jobs []policy.Job, entry func(*policy.Job) int64) []int64 {
	var column []int64
	for i := range jobs {
		n := entry(&jobs[i])
		if n != 0 && column == nil {
			column = make([]int64, len(jobs))
		}
		if n != 0 {
			column[i] = n
		}
	}
	return column
}

func readObjectives(m *DecideRequest, jobs []policy.Job) {
	each := func(column []int64, set func(*policy.Job, int64)) {
		for i, n := range column {
			set(&jobs[i], n)
		}
	}
	each(m.GetJobDataOut(), func(j *policy.Job, n int64) { j.DataOut = n })
	each(m.GetJobApplication(), func(j *policy.Job, n int64) { j.Application = int(n) })
	each(m.GetJobTogether(), func(j *policy.Job, n int64) { j.Together = int(n) })
	each(m.GetJobAlpha(), func(j *policy.Job, n int64) { j.Alpha = int(n) })
	each(m.GetJobGamma(), func(j *policy.Job, n int64) { j.Gamma = int(n) })
	each(m.GetJobDelta(), func(j *policy.Job, n int64) { j.Delta = int(n) })
}

// writeMoney enters the parts of prices. A site that declined names none.
func writeMoney(m *DecideRequest, in *policy.Snapshot) {
	column := func(amounts []protocol.Micro) []int64 {
		out := make([]int64, len(amounts))
		for i, amount := range amounts {
			if i >= len(in.AWT) || in.AWT[i] != protocol.Never {
				out[i] = int64(amount)
			}
		}
		if len(out) != len(in.AWT) {
			return out // for a check to find
		}
		return wire.Sparse(out)
	}
	m.UsageCost, m.LicenseCost, m.EnergyCost, m.DataCost = column(in.UsageCost), column(in.LicenseCost), column(in.EnergyCost), column(in.DataCost)
}

// readMoney relies on checkMoney. Only an application-aware policy gets money.
func readMoney(m *DecideRequest, in *policy.Snapshot) {
	if len(in.Applications) == 0 {
		return
	}
	column := func(amounts []int64) []protocol.Micro { return readCosts(wire.Dense(amounts, len(in.AWT))) }
	in.UsageCost, in.LicenseCost, in.EnergyCost, in.DataCost = column(m.GetUsageCost()), column(m.GetLicenseCost()), column(m.GetEnergyCost()), column(m.GetDataCost())
}
