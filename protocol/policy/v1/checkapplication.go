package policyv1

import (
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// checkWholeShape is [checkShape] for the fields of application-aware policies.
func checkWholeShape(m *DecideRequest) error {
	applications, jobs := len(m.GetApplicationId()), len(m.GetJobId())
	quotes := len(m.GetSiteName()) * jobs
	if applications == 0 { // the other fields are empty
		jobs, quotes = 0, 0
	}
	return wire.First(
		wire.AtMost("application_id", applications, MaxApplications),
		wire.AtMost("currency", len(m.GetCurrency()), MaxCurrency),
		wire.Length("application_beta", len(m.GetApplicationBeta()), applications),
		wire.Length("application_max_cost", len(m.GetApplicationMaxCost()), applications),
		wire.Length("application_max_time", len(m.GetApplicationMaxTime()), applications),
		wire.Length("application_elapsed", len(m.GetApplicationElapsed()), applications),
		wire.Length("application_spent", len(m.GetApplicationSpent()), applications),
		wire.Length("application_committed_until", len(m.GetApplicationCommittedUntil()), applications),
		wire.SparseLength("application_waited_cost", len(m.GetApplicationWaitedCost()), applications),
		wire.SparseLength("application_rates", len(m.GetApplicationRates()), applications),
		wire.Length("rate_per_hour", len(m.GetRatePerHour()), len(m.GetRateFrom())),
		wire.SparseLength("job_application", len(m.GetJobApplication()), jobs),
		wire.SparseLength("job_together", len(m.GetJobTogether()), jobs),
		wire.SparseLength("job_alpha", len(m.GetJobAlpha()), jobs),
		wire.SparseLength("job_gamma", len(m.GetJobGamma()), jobs),
		wire.SparseLength("job_delta", len(m.GetJobDelta()), jobs),
		wire.SparseLength("usage_cost", len(m.GetUsageCost()), quotes),
		wire.SparseLength("license_cost", len(m.GetLicenseCost()), quotes),
		wire.SparseLength("energy_cost", len(m.GetEnergyCost()), quotes),
		wire.SparseLength("data_cost", len(m.GetDataCost()), quotes),
	)
}

// checkApplications relies on checkShape.
func checkApplications(m *DecideRequest) error {
	for i, limit := range m.GetApplicationMaxCost() {
		if limit < -1 {
			return wire.Wrong(wire.Entry("application_max_cost", i), "%d is negative; -1 is none", limit)
		}
	}
	for i, application := range m.GetJobApplication() {
		if application < 0 || application >= int64(len(m.GetApplicationId())) {
			return wire.Wrong(wire.Entry("job_application", i), "%d is none of the %d applications", application, len(m.GetApplicationId()))
		}
	}
	return wire.First(
		counts("application_beta", m.GetApplicationBeta()),
		spans("application_max_time", m.GetApplicationMaxTime()),
		spans("application_elapsed", m.GetApplicationElapsed()),
		spans("application_committed_until", m.GetApplicationCommittedUntil()),
		counts("job_together", m.GetJobTogether()),
		counts("job_alpha", m.GetJobAlpha()),
		counts("job_gamma", m.GetJobGamma()),
		counts("job_delta", m.GetJobDelta()),
		amounts("application_waited_cost", m.GetApplicationWaitedCost()),
		amounts("rate_per_hour", m.GetRatePerHour()),
		checkRates(m),
	)
}

// checkRates checks that each application has the rates that it is said to have.
func checkRates(m *DecideRequest) error {
	total, from := 0, m.GetRateFrom()
	for i, n := range m.GetApplicationRates() {
		if n < 0 || n > MaxRates {
			return wire.Wrong(wire.Entry("application_rates", i), "%d is outside 0 to %d", n, MaxRates)
		}
		first := total
		if total += int(n); total > len(from) {
			break
		}
		for k := first; k < total; k++ {
			switch {
			case k == first && from[k] != 0:
				return wire.Wrong(wire.Entry("rate_from", k), "is %d; the first rate of an application counts from 0", from[k])
			case k > first && from[k] <= from[k-1]:
				return wire.Wrong(wire.Entry("rate_from", k), "%d is not above the %d before it", from[k], from[k-1])
			}
		}
	}
	return wire.Length("rate_from", len(from), total)
}

// checkMoney relies on checkShape.
func checkMoney(m *DecideRequest) error {
	for _, column := range []struct {
		name    string
		amounts []int64
	}{{"usage_cost", m.GetUsageCost()}, {"license_cost", m.GetLicenseCost()}, {"energy_cost", m.GetEnergyCost()}, {"data_cost", m.GetDataCost()}} {
		for i, amount := range column.amounts {
			if amount != 0 && m.GetAwt()[i] == -1 {
				return wire.Wrong(wire.Entry(column.name, i), "is %d, but awt is -1; use 0", amount)
			}
		}
	}
	return nil
}
