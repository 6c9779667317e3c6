package sim

import (
	"math"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Bill is what the electricity of measured jobs costs. Idle CPUs draw nothing, as in
// [MC 4.5.1]; nodes that stand held for data draw what the job draws.
type Bill struct {
	Cost    float64 `json:"energy_cost"`         // units of the currency: exact overlap with each price ([MC] equation 7)
	Authors float64 `json:"energy_cost_authors"` // as the authors' released code counts, see [AuthorsCost]
	MWh     float64 `json:"energy_mwh"`

	Sites []SiteBill `json:"sites,omitempty"`
}

// SiteBill is the bill of one site.
type SiteBill struct {
	Site protocol.SiteName `json:"site"`
	Cost float64           `json:"energy_cost"`
	MWh  float64           `json:"energy_mwh"`
}

// Charge makes the bill of a simulation.
func (c Config) Charge(jobs []workload.Job, r *Result) Bill {
	b := Bill{Sites: make([]SiteBill, len(c.Sites))}
	for i := range c.Sites {
		b.Sites[i].Site = c.Sites[i].Name
	}
	for i := c.History; i < len(jobs); i++ {
		p := r.Placements[i]
		if p.Site < 0 {
			continue
		}
		site := &c.Sites[p.Site].Electricity
		power := c.drawOf(p.Site, &jobs[i], int32(i)) //nolint:gosec // a workload has fewer jobs
		cost := float64(site.Paid.Cost(power, p.Start, p.End.Sub(p.Start))) / float64(protocol.Unit)
		mwh := float64(power) * float64(p.End-p.Start) / protocol.MegawattHour
		b.Cost, b.MWh = b.Cost+cost, b.MWh+mwh
		b.Authors += AuthorsCost(price.Series{Slots: site.Slots}, power, p.Start, p.End)
		b.Sites[p.Site].Cost += cost
		b.Sites[p.Site].MWh += mwh
	}
	return b
}

func (c Config) drawOf(site int, job *workload.Job, index int32) int64 {
	spec := protocol.Spec{Request: protocol.Request{CPUs: job.CPUs, Power: c.powerOf(job, index)}}
	return pricing.JobPower(c.Sites[site].Electricity.Milliwatts, &spec)
}

// AuthorsCost is the cost of a run as the released code of [MC] has it: every hour that
// the run touches in full, and a last term (duration mod 3600 s)/3600 s × the price of
// the hour after the end, without the power (facts/mcmf-experiments.md section 3).
func AuthorsCost(s price.Series, milliwatts int64, start, end protocol.Instant) float64 {
	hour := int64(protocol.Hour)
	megawatts := float64(milliwatts) / 1e9
	at := func(h int64) float64 {
		micro, _ := s.At(protocol.Instant(h * hour))
		return float64(micro) / float64(protocol.Unit)
	}
	cost, last := 0.0, int64(end)/hour
	for h := int64(start) / hour; h <= last; h++ {
		cost += at(h) * megawatts
	}
	return cost + float64(int64(end-start)%hour)/float64(hour)*at(last+1)
}

// Fairness is, for each site, the geometric mean over the measured jobs submitted there
// of their response without the grid over that with it ([MC] equation 9); above 1 the
// grid serves the site's users. Without says where jobs ran without it. Wanted chooses
// among the jobs; nil: all. A site without such jobs has 1.
func (c Config) Fairness(jobs []workload.Job, without, with *Result, wanted func(index int) bool) []float64 {
	logs, counts := make([]float64, len(c.Sites)), make([]float64, len(c.Sites))
	for i := c.History; i < len(jobs); i++ {
		a, b := without.Placements[i], with.Placements[i]
		if a.Site < 0 || b.Site < 0 || (wanted != nil && !wanted(i)) {
			continue
		}
		origin := jobs[i].Origin
		logs[origin] += math.Log(float64(a.End-jobs[i].Submit) / float64(b.End-jobs[i].Submit))
		counts[origin]++
	}
	for i := range logs {
		logs[i] = math.Exp(ratio(logs[i], counts[i]))
	}
	return logs
}

// ThroughGrid says whether a job of the workload goes through the grid.
func (c Config) ThroughGrid(index int) bool { return c.throughGrid(int32(index)) } //nolint:gosec // a workload has fewer jobs
