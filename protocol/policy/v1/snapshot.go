package policyv1

import (
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeSnapshot converts a snapshot, whose hint it shares. The utilization of a
// site that overstates it wildly is cut, and a job that a clock set back has
// submitted in the future has not waited: neither is the policy's fault. Where a
// site that declined carries nothing else.
func EncodeSnapshot(in *policy.Snapshot) *DecideRequest {
	m := &DecideRequest{Self: wireSelf(in), Hint: in.Hint}
	writeSites(m, in.Sites)
	writeJobs(m, in.Jobs)
	writeQuotes(m, in)
	m.InPlace = sparse(in.InPlace)
	m.Outcomes = wire.Convert(in.Outcomes, encodeOutcome)
	writeApplications(m, in)
	writeMoney(m, in)
	return m
}

// DecodeSnapshot checks and converts a snapshot, whose hint it shares. The error
// names the column and the entry.
func DecodeSnapshot(m *DecideRequest) (policy.Snapshot, error) {
	err := checkShape(m)
	if err == nil {
		err = wire.First(checkSites(m), checkJobs(m), checkQuotes(m), checkApplications(m), checkMoney(m))
	}
	var outcomes []policy.Outcome
	if err == nil {
		outcomes, err = wire.Decode("outcomes", m.GetOutcomes(), decodeOutcome)
	}
	if err != nil {
		return policy.Snapshot{}, wire.In("snapshot", err)
	}
	in := policy.Snapshot{
		Self: int(m.GetSelf()), Sites: readSites(m), Jobs: readJobs(m),
		AWT: readSpans(m.GetAwt()), ERT: readSpans(m.GetErt()), Cost: readCosts(m.GetCost()),
		InPlace: m.GetInPlace(), Currency: m.GetCurrency(), Applications: readApplications(m), Outcomes: outcomes,
	}
	readMoney(m, &in)
	if len(m.GetHint()) > 0 {
		in.Hint = m.GetHint()
	}
	return in, nil
}

// wireSelf is the own index; one that is no site's stays one that no check passes.
func wireSelf(in *policy.Snapshot) int32 {
	if in.Self < -1 || in.Self >= len(in.Sites) || in.Self > math.MaxInt32 {
		return math.MinInt32
	}
	return int32(in.Self)
}

func writeSites(m *DecideRequest, sites []policy.Site) {
	n := len(sites)
	m.SiteName, m.SiteCurrency = make([]string, n), make([]string, n)
	m.SiteRus, m.SiteAge = make([]int64, n), make([]int64, n)
	m.SiteCpus, m.SiteFree, m.SiteMaxJobs = make([]int64, n), make([]int64, n), make([]int64, n)
	m.SiteLatency, m.SiteBandwidth, m.SiteMarginalWaits = make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range sites {
		s := &sites[i]
		m.SiteName[i], m.SiteCurrency[i] = string(s.Name), s.Currency
		m.SiteRus[i], m.SiteAge[i] = int64(min(s.RUS, math.MaxInt32)), wire.EncodeSpan(s.Age)
		m.SiteCpus[i], m.SiteFree[i], m.SiteMaxJobs[i] = int64(s.CPUs), int64(s.Free), int64(s.MaxJobs)
		m.SiteLatency[i], m.SiteBandwidth[i], m.SiteMarginalWaits[i] = wire.EncodeSpan(s.Latency), s.Bandwidth, int64(len(s.MarginalWaits))
		m.SiteNoEnergy = append(m.SiteNoEnergy, s.NoEnergy)
		for _, wait := range s.MarginalWaits {
			m.MarginalWait = append(m.MarginalWait, wire.EncodeSpan(wait))
		}
	}
	m.SiteNoEnergy = sparse(m.GetSiteNoEnergy())
	r := encodeResources(n, func(i int) []protocol.Resource { return sites[i].Resources })
	m.SiteResources, m.SiteResourceKind, m.SiteResourceCount = r.counts, r.kind, r.count
	m.SiteLatency, m.SiteBandwidth, m.SiteMarginalWaits = wire.Sparse(m.GetSiteLatency()), wire.Sparse(m.GetSiteBandwidth()), wire.Sparse(m.GetSiteMarginalWaits())
}

// sparse is a column that does not travel when nothing in it is true.
func sparse(column []bool) []bool {
	if !slices.Contains(column, true) {
		return nil
	}
	return column
}

func writeJobs(m *DecideRequest, jobs []policy.Job) {
	n := len(jobs)
	m.JobId, m.JobCpus = make([]uint64, n), make([]int64, n)
	m.JobWallTime, m.JobWaited, m.JobData = make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range jobs {
		j := &jobs[i]
		m.JobId[i], m.JobCpus[i] = uint64(j.ID), int64(j.CPUs)
		m.JobWallTime[i], m.JobWaited[i], m.JobData[i] = wire.EncodeSpan(j.WallTime), wire.EncodeSpan(max(0, j.Waited)), j.Data
	}
	m.JobData = wire.Sparse(m.GetJobData())
	writeNames(m, jobs)
	writeRequests(m, jobs)
	writeObjectives(m, jobs)
}

func writeQuotes(m *DecideRequest, in *policy.Snapshot) {
	m.Awt, m.Ert, m.Cost = make([]int64, len(in.AWT)), make([]int64, len(in.ERT)), make([]int64, len(in.Cost))
	for i, d := range in.AWT {
		m.Awt[i] = wire.EncodeSpan(d)
	}
	declined := func(i int) bool { return i < len(in.AWT) && in.AWT[i] == protocol.Never }
	for i, d := range in.ERT {
		if m.Ert[i] = wire.EncodeSpan(d); declined(i) {
			m.Ert[i] = -1
		}
	}
	for i, cost := range in.Cost {
		if !declined(i) {
			m.Cost[i] = int64(cost)
		}
	}
}

func readSites(m *DecideRequest) []policy.Site {
	if len(m.GetSiteName()) == 0 {
		return nil
	}
	sites, extra := make([]policy.Site, len(m.GetSiteName())), readSpans(m.GetMarginalWait())
	latency, bandwidth := wire.Dense(m.GetSiteLatency(), len(sites)), wire.Dense(m.GetSiteBandwidth(), len(sites))
	extras := wire.Dense(m.GetSiteMarginalWaits(), len(sites))
	for i := range sites {
		sites[i] = policy.Site{
			Name: protocol.SiteName(m.GetSiteName()[i]),
			RUS:  int(m.GetSiteRus()[i]), Age: wire.DecodeSpan(m.GetSiteAge()[i]),
			CPUs: int(m.GetSiteCpus()[i]), Free: int(m.GetSiteFree()[i]),
			MaxJobs: int(m.GetSiteMaxJobs()[i]), Currency: m.GetSiteCurrency()[i],
			Latency: wire.DecodeSpan(latency[i]), Bandwidth: bandwidth[i],
			NoEnergy: len(m.GetSiteNoEnergy()) > 0 && m.GetSiteNoEnergy()[i],
		}
		if n := extras[i]; n > 0 {
			sites[i].MarginalWaits, extra = extra[:n:n], extra[n:]
		}
	}
	for i, list := range siteResources(m).lists() {
		sites[i].Resources = list
	}
	return sites
}

func readJobs(m *DecideRequest) []policy.Job {
	if len(m.GetJobId()) == 0 {
		return nil
	}
	jobs := make([]policy.Job, len(m.GetJobId()))
	data := wire.Dense(m.GetJobData(), len(jobs))
	for i := range jobs {
		jobs[i] = policy.Job{
			ID: protocol.JobID(m.GetJobId()[i]), CPUs: int(m.GetJobCpus()[i]),
			WallTime: wire.DecodeSpan(m.GetJobWallTime()[i]), Waited: wire.DecodeSpan(m.GetJobWaited()[i]),
			Data: data[i],
		}
	}
	readNames(m, jobs)
	readRequests(m, jobs)
	readObjectives(m, jobs)
	return jobs
}

func readSpans(column []int64) []protocol.Duration {
	if len(column) == 0 {
		return nil
	}
	out := make([]protocol.Duration, len(column))
	for i, n := range column {
		out[i] = wire.DecodeSpan(n)
	}
	return out
}

func readCosts(column []int64) []protocol.Micro {
	if len(column) == 0 {
		return nil
	}
	out := make([]protocol.Micro, len(column))
	for i, n := range column {
		out[i] = protocol.Micro(n)
	}
	return out
}
