package view

import "github.com/switchyard-hpc/switchyard/protocol"

// Sites answers [AskSites], this site first, then by name.
type Sites struct {
	Sites []Site `json:"sites"`
}

// Site is a site as people see it.
type Site struct {
	Site      protocol.SiteName   `json:"site"`
	Number    protocol.SiteNumber `json:"site_number"` // 0: not known yet
	Self      bool                `json:"self"`
	Link      string              `json:"link"` // "self", "up", "down", "unresponsive", "refused", or "missing": no partner, but jobs name it, or the configuration does and the roster lets it not
	Reason    string              `json:"reason,omitempty"`
	Drain     *Drain              `json:"drain,omitempty"`    // what an operator of the local site has said of the site; nil: nothing
	Draining  string              `json:"draining,omitempty"` // why the partner takes no jobs of the local site, as it said last; empty: it takes them
	CPUs      int                 `json:"cpus"`
	Nodes     int                 `json:"nodes"`
	MemoryMB  int64               `json:"memory_mb,omitempty"` // of each node; 0: not stated
	Resources []protocol.Resource `json:"resources,omitempty"` // of all nodes together and of the whole site, sorted
	Features  []string            `json:"features,omitempty"`  // that any node has, sorted
	// MaxWallTime is the longest time limit that the site accepts; 0: it states none.
	MaxWallTime protocol.Duration  `json:"max_wall_time_ms,omitempty"`
	Busy        int                `json:"busy_cpus"`
	Queued      int                `json:"queued_jobs"`
	RUS         int                `json:"rus_ppm"`
	Age         *protocol.Duration `json:"age_ms,omitempty"` // of the load; nil if no load is known
	LastSeen    protocol.Instant   `json:"last_seen_ms"`     // 0: never
	Software    string             `json:"software,omitempty"`
	PublicKey   string             `json:"public_key,omitempty"` // that the site uses now; empty: not known
	GuestJobs   int                `json:"guest_jobs"`           // of that site, at this one
	SentJobs    int                `json:"sent_jobs"`            // of this site, at that one
	// OperatorJobs are jobs of the own site's users in NeedsOperator, and guests of which its local scheduler cannot
	// say whether it has them.
	OperatorJobs int      `json:"operator_jobs,omitempty"`
	Shared       []string `json:"shared,omitempty"` // directories that this site shares with it, by the configuration here
	// Benefit is what the grid brings local users, in parts per million: their mean
	// response time without the grid over the one with it. Zero means that it was not measured.
	Benefit        int    `json:"benefit_ppm"`
	PowerIdledCPUs int    `json:"power_idled_cpus,omitempty"` // idle CPUs that a power budget keeps from working now
	Draw           int64  `json:"draw_w,omitempty"`           // that the jobs which run are taken to draw, in watts; 0: not known
	Budget         *int64 `json:"budget_w,omitempty"`         // that they may draw now; nil: there is no budget now
	Prices         string `json:"prices,omitempty"`           // of electricity, at the own site
	// Price is that of a MWh of electricity now, at the own site, in PriceCurrency; nil: it is not known.
	Price         *protocol.Micro `json:"price_micro_mwh,omitempty"`
	PriceCurrency string          `json:"price_currency,omitempty"`
	Electricity   *Electricity    `json:"electricity,omitempty"` // of the own site; nil: nothing is known
	// QuotesMet is the share of this site's latest jobs at the partner that met its quotes, in parts per
	// million. It is nil if no job was there. AskedLastReason says what they did not meet, when the
	// partner is asked last for it.
	QuotesMet       *int   `json:"quotes_met_ppm,omitempty"`
	AskedLastReason string `json:"asked_last_reason,omitempty"`
}

// ShowCapacity shows the machine of the site.
func (s *Site) ShowCapacity(c *protocol.Capacity) {
	s.CPUs, s.Nodes, s.Resources, s.Features = c.CPUs, c.Nodes, c.Totals(), c.Features()
	s.MemoryMB, s.MaxWallTime = c.MemoryMB, c.MaxWallTime
}

// ShowLoad shows how busy the site is.
func (s *Site) ShowLoad(load *protocol.Load) {
	s.Busy, s.Queued, s.RUS, s.Benefit = load.Busy, load.QueuedJobs, load.RUS(), load.Benefit
	s.PowerIdledCPUs, s.Draw, s.Budget = load.PowerIdledCPUs, watts(load.Draw), budgetWatts(load.Budget)
}

// watts are milliwatts in watts, rounded up, so that a small draw never reads as none.
func watts(mw int64) int64 {
	w := mw / 1000
	if mw%1000 > 0 {
		w++
	}
	return w
}

// budgetWatts is a budget in watts. It is nil if none is active.
func budgetWatts(b protocol.PowerBudget) *int64 {
	if !b.Active {
		return nil
	}
	return new(watts(b.Milliwatts))
}

func (Sites) reply() {}

// Totals are what the runs that are over came to since the store began to count: the energy of
// those at this site, guests' too, and money. None of them ever falls.
type Totals struct {
	Since  protocol.Instant `json:"since_ms"`
	Energy int64            `json:"energy_mj"` // in millijoules
	Money  []MoneyTotals    `json:"money,omitempty"`
}

// MoneyTotals are those of one currency, by which they are sorted. What is below 0 has a total
// of its own.
type MoneyTotals struct {
	Currency string         `json:"currency"`
	Cost     protocol.Micro `json:"energy_cost_micro"`   // of the electricity of runs here, as they were billed
	Credit   protocol.Micro `json:"energy_credit_micro"` // of it at prices below 0
	// Own jobs that ran at partners, at what home had quoted for them at the decision, for as long
	// as they ran in fact, less what was billed: Saved where that is above 0, Lost where below.
	Saved protocol.Micro `json:"saved_micro"`
	Lost  protocol.Micro `json:"lost_micro"`
}

// Electricity is what the jobs of this site draw and what that costs.
type Electricity struct {
	Totals

	Draw          int64           `json:"draw_mw"` // of all that runs here now; 0: not known
	Price         *protocol.Micro `json:"price_micro_mwh,omitempty"`
	PriceCurrency string          `json:"price_currency,omitempty"`
	Running       int64           `json:"running_mj"` // energy of what runs here now, so far; it is not in Energy yet
}
