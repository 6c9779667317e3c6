package policyv1

import (
	"math"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// Limits of what travels. A snapshot at all of them at once is longer than the
// longest message that hosts and plugins send, 256 MiB.
const (
	MaxSites    = int(protocol.MaxSiteNumber)
	MaxJobs     = 1 << 20
	MaxQuotes   = 16 << 20             // jobs times sites
	MaxCurrency = protocol.MaxCurrency // bytes of a currency, as between peers
	MaxReason   = 512                  // bytes of a decision's reason
	MaxUser     = 256                  // bytes of a user's or account's name
	MaxJobName  = 1024                 // bytes of a job's name

	MaxApplications = MaxJobs
	MaxRates        = 4096 // of an application

	maxParams = 256
	maxParam  = 1024 // bytes of a parameter's name or value
)

// counts checks a column of numbers that are neither negative nor too large for
// an int anywhere.
func counts(field string, column []int64) error {
	for i, n := range column {
		if n < 0 || n > math.MaxInt32 {
			return wire.Wrong(wire.Entry(field, i), "%d is outside 0 to %d", n, math.MaxInt32)
		}
	}
	return nil
}

// spans checks a column of times in ms; -1 is never.
func spans(field string, column []int64) error {
	for i, n := range column {
		if n < -1 {
			return wire.Wrong(wire.Entry(field, i), "%d is negative; -1 is never", n)
		}
	}
	return nil
}

// amounts checks a column of numbers that are not negative.
func amounts(field string, column []int64) error {
	for i, n := range column {
		if n < 0 {
			return wire.Wrong(wire.Entry(field, i), "%d is negative", n)
		}
	}
	return nil
}

func texts(field string, column []string, most int) error {
	for i, s := range column {
		if len(s) > most {
			return wire.Wrong(wire.Entry(field, i), "has %d bytes, at most %d are allowed", len(s), most)
		}
	}
	return nil
}

// checkShape checks how many there are of everything, so that the other checks
// and the conversion can rely on it.
func checkShape(m *DecideRequest) error {
	sites, jobs := len(m.GetSiteName()), len(m.GetJobId())
	if err := wire.First(
		wire.AtMost("site_name", sites, MaxSites),
		wire.AtMost("job_id", jobs, MaxJobs),
		wire.AtMost("quotes", sites*jobs, MaxQuotes),
		wire.AtMost("hint", len(m.GetHint()), policy.MaxHint),
		wire.AtMost("outcomes", len(m.GetOutcomes()), policy.MaxOutcomes),
	); err != nil {
		return err
	}
	if self := m.GetSelf(); self < -1 || int(self) >= sites {
		return wire.Wrong("self", "%d is none of the %d sites; -1 is none", self, sites)
	}
	return wire.First(
		wire.Length("site_rus", len(m.GetSiteRus()), sites),
		wire.Length("site_age", len(m.GetSiteAge()), sites),
		wire.Length("site_cpus", len(m.GetSiteCpus()), sites),
		wire.Length("site_free", len(m.GetSiteFree()), sites),
		wire.Length("site_max_jobs", len(m.GetSiteMaxJobs()), sites),
		wire.Length("site_currency", len(m.GetSiteCurrency()), sites),
		wire.SparseLength("site_latency", len(m.GetSiteLatency()), sites),
		wire.SparseLength("site_bandwidth", len(m.GetSiteBandwidth()), sites),
		wire.SparseLength("site_marginal_waits", len(m.GetSiteMarginalWaits()), sites),
		wire.SparseLength("site_no_energy", len(m.GetSiteNoEnergy()), sites),
		wire.SparseLength("job_data", len(m.GetJobData()), jobs),
		wire.SparseLength("job_data_out", len(m.GetJobDataOut()), jobs),
		wire.SparseLength("job_user", len(m.GetJobUser()), jobs),
		wire.SparseLength("job_account", len(m.GetJobAccount()), jobs),
		wire.SparseLength("job_name", len(m.GetJobName()), jobs),
		wire.SparseLength("job_memory_mb", len(m.GetJobMemoryMb()), jobs),
		wire.Length("job_cpus", len(m.GetJobCpus()), jobs),
		wire.Length("job_wall_time", len(m.GetJobWallTime()), jobs),
		wire.Length("job_waited", len(m.GetJobWaited()), jobs),
		wire.Length("awt", len(m.GetAwt()), sites*jobs),
		wire.Length("ert", len(m.GetErt()), sites*jobs),
		wire.Length("cost", len(m.GetCost()), sites*jobs),
		wire.SparseLength("in_place", len(m.GetInPlace()), sites*jobs),
		checkWholeShape(m),
	)
}

func checkSites(m *DecideRequest) error {
	names := m.GetSiteName()
	for i, name := range names {
		if err := protocol.SiteName(name).Validate(); err != nil {
			return wire.In(wire.Entry("site_name", i), err)
		}
		if i > 0 && names[i-1] >= name {
			return wire.Wrong(wire.Entry("site_name", i), "%q does not sort after %q", name, names[i-1])
		}
	}
	return wire.First(
		counts("site_rus", m.GetSiteRus()),
		spans("site_age", m.GetSiteAge()),
		counts("site_cpus", m.GetSiteCpus()),
		counts("site_free", m.GetSiteFree()),
		counts("site_max_jobs", m.GetSiteMaxJobs()),
		texts("site_currency", m.GetSiteCurrency(), MaxCurrency),
		spans("site_latency", m.GetSiteLatency()),
		amounts("site_bandwidth", m.GetSiteBandwidth()),
		checkMarginalWaits(m),
		siteResources(m).check(len(names)),
	)
}

// checkMarginalWaits checks that each site has the waits that it is said to have.
func checkMarginalWaits(m *DecideRequest) error {
	total := 0
	for i, n := range m.GetSiteMarginalWaits() {
		if n < 0 || n >= protocol.MaxMarginalJobs {
			return wire.Wrong(wire.Entry("site_marginal_waits", i), "%d is outside 0 to %d", n, protocol.MaxMarginalJobs-1)
		}
		first := total
		if total += int(n); total > len(m.GetMarginalWait()) {
			break
		}
		for k := first + 1; k < total; k++ {
			if before, wait := m.GetMarginalWait()[k-1], m.GetMarginalWait()[k]; wait != -1 && (before == -1 || wait < before) {
				return wire.Wrong(wire.Entry("marginal_wait", k), "%d is below the %d before it", wait, before)
			}
		}
	}
	return wire.First(wire.Length("marginal_wait", len(m.GetMarginalWait()), total), spans("marginal_wait", m.GetMarginalWait()))
}

func checkJobs(m *DecideRequest) error {
	return wire.First(
		counts("job_cpus", m.GetJobCpus()),
		spans("job_wall_time", m.GetJobWallTime()),
		spans("job_waited", m.GetJobWaited()),
		amounts("job_data", m.GetJobData()),
		amounts("job_data_out", m.GetJobDataOut()),
		texts("job_user", m.GetJobUser(), MaxUser),
		texts("job_account", m.GetJobAccount(), MaxUser),
		texts("job_name", m.GetJobName(), MaxJobName),
		amounts("job_memory_mb", m.GetJobMemoryMb()),
		checkRequests(m),
	)
}

// checkQuotes relies on checkShape.
func checkQuotes(m *DecideRequest) error {
	ert, cost := m.GetErt(), m.GetCost()
	for i, awt := range m.GetAwt() {
		switch {
		case awt < -1:
			return wire.Wrong(wire.Entry("awt", i), "%d is negative; -1 is never", awt)
		case ert[i] < -1:
			return wire.Wrong(wire.Entry("ert", i), "%d is negative; -1 is never", ert[i])
		case awt == -1 && (ert[i] != -1 || cost[i] != 0):
			return wire.Wrong(wire.Entry("awt", i), "is -1, but ert is %d and cost %d; use -1 and 0", ert[i], cost[i])
		}
	}
	return nil
}
