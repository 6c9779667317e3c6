package view

import "github.com/switchyard-hpc/switchyard/protocol"

// RunHistory answers [event.AskRunHistory]: the run histories of components, by user and name.
type RunHistory struct {
	Components []ComponentHistory `json:"components"`
}

// ComponentHistory is the run history of a component.
type ComponentHistory struct {
	User     string            `json:"user"`
	Name     string            `json:"name"`
	Behavior protocol.Behavior `json:"behavior"` // as it was last fitted; zero: not known
	Sites    []SiteHistory     `json:"sites"`    // by name
}

// SiteHistory is how a component ran at a site.
type SiteHistory struct {
	Site protocol.SiteName `json:"site"`
	Runs []PastRun         `json:"runs"` // the oldest first
}

// PastRun is one execution, as the Epilogue saw it [IS 4.3].
type PastRun struct {
	At               protocol.Instant  `json:"at_ms"`
	CPUs             int               `json:"cpus"`
	Ran              protocol.Duration `json:"ran_ms"`
	PredictedRunTime protocol.Duration `json:"predicted_run_ms"`   // 0: nothing was
	Censored         bool              `json:"censored,omitempty"` // it was ended at its time limit: it would have run for longer
	Rate             int64             `json:"rate_flops"`         // r_a, flop/s of a CPU; 0: not known
	Bandwidth        int64             `json:"words_per_s"`        // b; 0: not known
	Gamma            float64           `json:"gamma"`              // Γ; 0: not known
	Usage            protocol.Usage    `json:"usage"`
}

func (RunHistory) reply() {}
