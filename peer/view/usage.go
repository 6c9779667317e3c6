package view

import "github.com/switchyard-hpc/switchyard/protocol"

// Usage is what jobs that have ended came to, in lines by the properties that they were asked for by,
// in the order of those.
type Usage struct {
	By    []string    `json:"by"` // the properties that are set in each line, beside the currency
	Lines []UsageLine `json:"lines"`

	Pruned protocol.Instant `json:"pruned_ms,omitempty"` // as that of [History]
}

// UsageLine sums the jobs that have some properties in common, and are billed in one currency.
type UsageLine struct {
	User    string            `json:"user,omitempty"`
	Account string            `json:"account,omitempty"` // of --account, in small letters; empty: the jobs named none
	Site    protocol.SiteName `json:"site,omitempty"`    // empty: the jobs had none when they ended
	Origin  protocol.SiteName `json:"origin,omitempty"`
	Month   string            `json:"month,omitempty"` // of the end in UTC, as 2026-11
	State   string            `json:"state,omitempty"`

	Jobs     int64             `json:"jobs"`
	CPUTime  protocol.Duration `json:"cpu_ms"`      // allocated: CPUs times run time
	UsedCPU  protocol.Duration `json:"used_cpu_ms"` // measured
	Energy   int64             `json:"energy_mj"`   // measured; of jobs without a measurement by the power that is stated for them
	Currency string            `json:"currency,omitempty"`
	Cost     protocol.Micro    `json:"cost_micro"` // billed, in Currency
}
