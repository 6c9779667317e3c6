package policyv1_test

import (
	"strings"
	"testing"

	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// round is a right request for two jobs and two sites.
func round() *policyv1.DecideRequest {
	return &policyv1.DecideRequest{
		SiteName: []string{"a", "b"}, SiteRus: []int64{1, 2}, SiteAge: []int64{0, -1}, SiteCpus: []int64{8, 8},
		SiteFree: []int64{1, 1}, SiteMaxJobs: []int64{2, 2}, SiteCurrency: []string{"", "EUR"},
		JobId: []uint64{1, 2}, JobCpus: []int64{1, 1}, JobWallTime: []int64{60, 60}, JobWaited: []int64{0, 0},
		SiteLatency: []int64{0, -1}, SiteBandwidth: []int64{1, 0}, SiteMarginalWaits: []int64{2, 1}, MarginalWait: []int64{1, -1, 0}, JobData: []int64{0, 1},
		SiteNoEnergy: []bool{false, true}, JobDataOut: []int64{1, 0},
		Currency: "CHF", ApplicationId: []uint64{1, 2}, ApplicationBeta: []int64{0, 1},
		ApplicationMaxCost: []int64{-1, 5}, ApplicationMaxTime: []int64{-1, 6}, ApplicationElapsed: []int64{0, 1},
		ApplicationSpent: []int64{0, -1}, ApplicationCommittedUntil: []int64{0, 1}, ApplicationRates: []int64{2, 1},
		RateFrom: []int64{0, 5, 0}, RatePerHour: []int64{1, 0, 2},
		JobApplication: []int64{0, 1}, JobTogether: []int64{0, 1}, JobAlpha: []int64{1, 0}, JobGamma: []int64{1, 0}, JobDelta: []int64{1, 0},
		UsageCost: []int64{1, -1, 0, 0}, LicenseCost: []int64{1, 0, 0, 0}, EnergyCost: []int64{1, 0, 0, 0}, DataCost: []int64{1, 0, 0, 0},
		JobUser: []string{"u", ""}, JobAccount: []string{"", "a"}, JobName: []string{"n", ""}, JobMemoryMb: []int64{0, 1},
		SiteResources: []int64{2, 1}, SiteResourceKind: []string{"gpu:a100", "nic", "gpu"}, SiteResourceCount: []int64{1, 2, 3},
		JobNodes: []int64{0, 1}, JobResources: []int64{0, 2}, JobResourceKind: []string{"gpu", "gpu:a100"}, JobResourceCount: []int64{4, 1},
		JobResourcePer: []string{"job", "node"}, JobFeatures: []string{"", "a&b"}, JobExclusive: []bool{true, false},
		Outcomes: []*policyv1.Outcome{{Job: 1, Site: "a", WaitMs: -1, State: "FAILED"}},
		Awt:      []int64{0, 1, -1, 3}, Ert: []int64{5, 5, -1, 5}, Cost: []int64{0, 7, 0, -7},
	}
}

func TestDecodeSnapshotRefuses(t *testing.T) {
	t.Parallel()
	if _, err := policyv1.DecodeSnapshot(round()); err != nil {
		t.Fatal(err)
	}
	short := []int64{1}
	cases := map[string]func(*policyv1.DecideRequest){
		"self: 2 is none of the 2 sites":                 func(m *policyv1.DecideRequest) { m.Self = 2 },
		"self: -2 is none":                               func(m *policyv1.DecideRequest) { m.Self = -2 },
		"site_name: has 9001":                            func(m *policyv1.DecideRequest) { m.SiteName = make([]string, policyv1.MaxSites+1) },
		"job_id: has 1048577":                            func(m *policyv1.DecideRequest) { m.JobId = make([]uint64, policyv1.MaxJobs+1) },
		"quotes: has":                                    func(m *policyv1.DecideRequest) { m.SiteName, m.JobId = make([]string, 100), make([]uint64, 200_000) },
		"outcomes: has 257":                              func(m *policyv1.DecideRequest) { m.Outcomes = make([]*policyv1.Outcome, 257) },
		`outcomes[0].state: "RUNNING" is not`:            func(m *policyv1.DecideRequest) { m.Outcomes[0].State = "RUNNING" },
		`outcomes[0]: site name ""`:                      func(m *policyv1.DecideRequest) { m.Outcomes[0].Site = "" },
		"outcomes[0].wait_ms: -2 is negative":            func(m *policyv1.DecideRequest) { m.Outcomes[0].WaitMs = -2 },
		"outcomes[0].quoted_wait_ms: -2 is negative":     func(m *policyv1.DecideRequest) { m.Outcomes[0].QuotedWaitMs = -2 },
		"outcomes[0].exit_code: -1 is outside":           func(m *policyv1.DecideRequest) { m.Outcomes[0].ExitCode = -1 },
		"job_user: has 1":                                func(m *policyv1.DecideRequest) { m.JobUser = []string{""} },
		"job_account: has 1":                             func(m *policyv1.DecideRequest) { m.JobAccount = []string{""} },
		"job_name: has 1":                                func(m *policyv1.DecideRequest) { m.JobName = []string{""} },
		"job_memory_mb: has 1":                           func(m *policyv1.DecideRequest) { m.JobMemoryMb = short },
		"job_memory_mb[1]: -1 is negative":               func(m *policyv1.DecideRequest) { m.JobMemoryMb[1] = -1 },
		"job_user[0]: has 257":                           func(m *policyv1.DecideRequest) { m.JobUser[0] = strings.Repeat("x", 257) },
		"job_account[1]: has 257":                        func(m *policyv1.DecideRequest) { m.JobAccount[1] = strings.Repeat("x", 257) },
		"job_name[0]: has 1025":                          func(m *policyv1.DecideRequest) { m.JobName[0] = strings.Repeat("x", 1025) },
		"site_resources: has 1 entries, not 2":           func(m *policyv1.DecideRequest) { m.SiteResources = short },
		"site_resources[0]: 4225 is outside 0 to 4224":   func(m *policyv1.DecideRequest) { m.SiteResources[0] = 4225 },
		"site_resource_kind: has 3 entries, not 2":       func(m *policyv1.DecideRequest) { m.SiteResources[0] = 1 },
		"site_resource_count: has 1 entries, not 3":      func(m *policyv1.DecideRequest) { m.SiteResourceCount = short },
		"site_resource_count[1]: 2147483648 is outside":  func(m *policyv1.DecideRequest) { m.SiteResourceCount[1] = 1 << 31 },
		"site_resources[0][1].name: gpu does not sort":   func(m *policyv1.DecideRequest) { m.SiteResourceKind[1] = "gpu" },
		"site_resources[1][0].type: \"a:b\" has ':'":     func(m *policyv1.DecideRequest) { m.SiteResourceKind[2] = "gpu:a:b" },
		"job_nodes: has 1":                               func(m *policyv1.DecideRequest) { m.JobNodes = short },
		"job_nodes[0]: -1 is outside":                    func(m *policyv1.DecideRequest) { m.JobNodes[0] = -1 },
		"job_resources[1]: 17 is outside 0 to 16":        func(m *policyv1.DecideRequest) { m.JobResources[1] = 17 },
		"job_resources[0]: -1 is outside":                func(m *policyv1.DecideRequest) { m.JobResources[0] = -1 },
		"job_resource_per: has 0 entries, not 2":         func(m *policyv1.DecideRequest) { m.JobResourcePer = nil },
		"job_resource_per[1]: \"rack\" is not \"node\"":  func(m *policyv1.DecideRequest) { m.JobResourcePer[1] = "rack" },
		"job_resources[1][0].count: 0 is outside":        func(m *policyv1.DecideRequest) { m.JobResourceCount[0] = 0 },
		"job_features: has 1":                            func(m *policyv1.DecideRequest) { m.JobFeatures = []string{""} },
		"job_features[1]: \"a&\"":                        func(m *policyv1.DecideRequest) { m.JobFeatures[1] = "a&" },
		"job_exclusive: has 1":                           func(m *policyv1.DecideRequest) { m.JobExclusive = []bool{true} },
		"hint: has 65537":                                func(m *policyv1.DecideRequest) { m.Hint = make([]byte, 65537) },
		"site_rus: has 1 entries, not 2":                 func(m *policyv1.DecideRequest) { m.SiteRus = short },
		"site_age: has 1":                                func(m *policyv1.DecideRequest) { m.SiteAge = short },
		"site_cpus: has 1":                               func(m *policyv1.DecideRequest) { m.SiteCpus = short },
		"site_free: has 1":                               func(m *policyv1.DecideRequest) { m.SiteFree = short },
		"site_max_jobs: has 1":                           func(m *policyv1.DecideRequest) { m.SiteMaxJobs = short },
		"site_currency: has 1":                           func(m *policyv1.DecideRequest) { m.SiteCurrency = []string{""} },
		"job_cpus: has 1":                                func(m *policyv1.DecideRequest) { m.JobCpus = short },
		"job_wall_time: has 1":                           func(m *policyv1.DecideRequest) { m.JobWallTime = short },
		"job_waited: has 1":                              func(m *policyv1.DecideRequest) { m.JobWaited = short },
		"awt: has 1 entries, not 4":                      func(m *policyv1.DecideRequest) { m.Awt = short },
		"ert: has 1":                                     func(m *policyv1.DecideRequest) { m.Ert = short },
		"cost: has 1":                                    func(m *policyv1.DecideRequest) { m.Cost = short },
		`site_name[1]: site name "B"`:                    func(m *policyv1.DecideRequest) { m.SiteName[1] = "B" },
		`site_name[1]: "a" does not sort after "a"`:      func(m *policyv1.DecideRequest) { m.SiteName[1] = "a" },
		`site_name[1]: "a" does not sort after "b"`:      func(m *policyv1.DecideRequest) { m.SiteName[0], m.SiteName[1] = "b", "a" },
		"site_rus[1]: -1 is outside":                     func(m *policyv1.DecideRequest) { m.SiteRus[1] = -1 },
		"site_age[0]: -2 is negative":                    func(m *policyv1.DecideRequest) { m.SiteAge[0] = -2 },
		"site_cpus[0]: 2147483648":                       func(m *policyv1.DecideRequest) { m.SiteCpus[0] = 1 << 31 },
		"site_free[0]: -1":                               func(m *policyv1.DecideRequest) { m.SiteFree[0] = -1 },
		"site_max_jobs[1]: -1":                           func(m *policyv1.DecideRequest) { m.SiteMaxJobs[1] = -1 },
		"site_currency[0]: has 17":                       func(m *policyv1.DecideRequest) { m.SiteCurrency[0] = strings.Repeat("x", 17) },
		"job_cpus[1]: -1":                                func(m *policyv1.DecideRequest) { m.JobCpus[1] = -1 },
		"job_wall_time[1]: -2":                           func(m *policyv1.DecideRequest) { m.JobWallTime[1] = -2 },
		"job_waited[1]: -2":                              func(m *policyv1.DecideRequest) { m.JobWaited[1] = -2 },
		"site_latency: has 1 entries, not 2":             func(m *policyv1.DecideRequest) { m.SiteLatency = short },
		"site_bandwidth: has 1":                          func(m *policyv1.DecideRequest) { m.SiteBandwidth = short },
		"site_marginal_waits: has 1":                     func(m *policyv1.DecideRequest) { m.SiteMarginalWaits = short },
		"site_no_energy: has 1 entries, not 2":           func(m *policyv1.DecideRequest) { m.SiteNoEnergy = []bool{true} },
		"site_no_energy: has 3":                          func(m *policyv1.DecideRequest) { m.SiteNoEnergy = make([]bool, 3) },
		"job_data: has 1":                                func(m *policyv1.DecideRequest) { m.JobData = short },
		"site_latency[0]: -2 is negative":                func(m *policyv1.DecideRequest) { m.SiteLatency[0] = -2 },
		"site_bandwidth[1]: -1 is negative":              func(m *policyv1.DecideRequest) { m.SiteBandwidth[1] = -1 },
		"job_data[1]: -1 is negative":                    func(m *policyv1.DecideRequest) { m.JobData[1] = -1 },
		"site_marginal_waits[0]: -1 is outside 0 to 63":  func(m *policyv1.DecideRequest) { m.SiteMarginalWaits[0] = -1 },
		"site_marginal_waits[1]: 64 is outside 0 to 63":  func(m *policyv1.DecideRequest) { m.SiteMarginalWaits[1] = 64 },
		"marginal_wait: has 3 entries, not 4":            func(m *policyv1.DecideRequest) { m.SiteMarginalWaits[1] = 2 },
		"marginal_wait: has 3 entries, not 2":            func(m *policyv1.DecideRequest) { m.SiteMarginalWaits[1] = 0 },
		"marginal_wait: has 3 entries, not 0":            func(m *policyv1.DecideRequest) { m.SiteMarginalWaits = nil },
		"marginal_wait[1]: 0 is below the 1 before it":   func(m *policyv1.DecideRequest) { m.MarginalWait[1] = 0 },
		"marginal_wait[1]: 5 is below the -1 before it":  func(m *policyv1.DecideRequest) { m.MarginalWait[0], m.MarginalWait[1] = -1, 5 },
		"marginal_wait[2]: -2 is negative":               func(m *policyv1.DecideRequest) { m.MarginalWait[2] = -2 },
		"job_data_out: has 1":                            func(m *policyv1.DecideRequest) { m.JobDataOut = short },
		"job_data_out[0]: -1 is negative":                func(m *policyv1.DecideRequest) { m.JobDataOut[0] = -1 },
		"currency: has 17":                               func(m *policyv1.DecideRequest) { m.Currency = strings.Repeat("x", 17) },
		"application_id: has 1048577":                    func(m *policyv1.DecideRequest) { m.ApplicationId = make([]uint64, policyv1.MaxApplications+1) },
		"application_beta: has 1 entries, not 2":         func(m *policyv1.DecideRequest) { m.ApplicationBeta = short },
		"application_max_cost: has 1":                    func(m *policyv1.DecideRequest) { m.ApplicationMaxCost = short },
		"application_max_time: has 1":                    func(m *policyv1.DecideRequest) { m.ApplicationMaxTime = short },
		"application_elapsed: has 1":                     func(m *policyv1.DecideRequest) { m.ApplicationElapsed = short },
		"application_spent: has 1":                       func(m *policyv1.DecideRequest) { m.ApplicationSpent = short },
		"application_committed_until: has 1":             func(m *policyv1.DecideRequest) { m.ApplicationCommittedUntil = short },
		"application_waited_cost: has 1":                 func(m *policyv1.DecideRequest) { m.ApplicationWaitedCost = short },
		"application_waited_cost[1]: -1 is negative":     func(m *policyv1.DecideRequest) { m.ApplicationWaitedCost = []int64{0, -1} },
		"application_rates: has 1":                       func(m *policyv1.DecideRequest) { m.ApplicationRates = short },
		"rate_per_hour: has 1 entries, not 3":            func(m *policyv1.DecideRequest) { m.RatePerHour = short },
		"rate_from: has 3 entries, not 2":                func(m *policyv1.DecideRequest) { m.ApplicationRates[1] = 0 },
		"rate_from: has 3 entries, not 4":                func(m *policyv1.DecideRequest) { m.ApplicationRates[1] = 2 },
		"rate_from: has 3 entries, not 0":                func(m *policyv1.DecideRequest) { m.ApplicationRates = nil },
		"application_rates[0]: -1 is outside 0":          func(m *policyv1.DecideRequest) { m.ApplicationRates[0] = -1 },
		"application_rates[1]: 4097 is outside":          func(m *policyv1.DecideRequest) { m.ApplicationRates[1] = policyv1.MaxRates + 1 },
		"rate_from[2]: is 3; the first rate of an":       func(m *policyv1.DecideRequest) { m.RateFrom[2] = 3 },
		"rate_from[1]: 0 is not above the 0 before":      func(m *policyv1.DecideRequest) { m.RateFrom[1] = 0 },
		"rate_from[1]: -1 is not above the 0":            func(m *policyv1.DecideRequest) { m.RateFrom[1] = -1 },
		"rate_per_hour[1]: -1 is negative":               func(m *policyv1.DecideRequest) { m.RatePerHour[1] = -1 },
		"application_beta[0]: -1":                        func(m *policyv1.DecideRequest) { m.ApplicationBeta[0] = -1 },
		"application_max_cost[1]: -2 is negative":        func(m *policyv1.DecideRequest) { m.ApplicationMaxCost[1] = -2 },
		"application_max_time[1]: -2 is negative":        func(m *policyv1.DecideRequest) { m.ApplicationMaxTime[1] = -2 },
		"application_elapsed[0]: -2 is negative":         func(m *policyv1.DecideRequest) { m.ApplicationElapsed[0] = -2 },
		"application_committed_until[0]: -2 is negative": func(m *policyv1.DecideRequest) { m.ApplicationCommittedUntil[0] = -2 },
		"job_application[1]: 2 is none of the 2":         func(m *policyv1.DecideRequest) { m.JobApplication[1] = 2 },
		"job_application: has 1":                         func(m *policyv1.DecideRequest) { m.JobApplication = short },
		"job_together[0]: -1":                            func(m *policyv1.DecideRequest) { m.JobTogether[0] = -1 },
		"job_alpha[0]: -1":                               func(m *policyv1.DecideRequest) { m.JobAlpha[0] = -1 },
		"job_gamma[1]: 2147483648":                       func(m *policyv1.DecideRequest) { m.JobGamma[1] = 1 << 31 },
		"job_delta: has 1":                               func(m *policyv1.DecideRequest) { m.JobDelta = short },
		"usage_cost: has 1 entries, not 4":               func(m *policyv1.DecideRequest) { m.UsageCost = short },
		"license_cost: has 1":                            func(m *policyv1.DecideRequest) { m.LicenseCost = short },
		"energy_cost: has 1":                             func(m *policyv1.DecideRequest) { m.EnergyCost = short },
		"data_cost: has 1":                               func(m *policyv1.DecideRequest) { m.DataCost = short },
		"data_cost[2]: is 7, but awt is -1; use 0":       func(m *policyv1.DecideRequest) { m.DataCost[2] = 7 },
		"awt[3]: -2 is negative":                         func(m *policyv1.DecideRequest) { m.Awt[3] = -2 },
		"ert[3]: -2 is negative":                         func(m *policyv1.DecideRequest) { m.Ert[3] = -2 },
		"awt[2]: is -1, but ert is 5":                    func(m *policyv1.DecideRequest) { m.Ert[2] = 5 },
		"awt[2]: is -1, but ert is -1 and cost 1":        func(m *policyv1.DecideRequest) { m.Cost[2] = 1 },
	}
	for want, change := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			m := round()
			change(m)
			_, err := policyv1.DecodeSnapshot(m)
			protocoltest.Refused(t, err, "snapshot."+want)
		})
	}
}
