package view

import "github.com/switchyard-hpc/switchyard/protocol"

// Shares answers [AskShares]: how users stand, of this site and of those whose users are the same.
type Shares struct {
	HalfLife         protocol.Duration `json:"half_life_ms"`         // of use; 0: it does not count
	ExchangeInterval protocol.Duration `json:"exchange_interval_ms"` // 0: use is not exchanged
	Users            []UserShare       `json:"users"`                // by account and name
	Reports          []UseReport       `json:"reports"`              // of the partners with which use is exchanged, by name
}

// UserShare is how a user stands in an account.
type UserShare struct {
	Account string `json:"account"` // empty: that without a name
	User    string `json:"user"`
	Share   int    `json:"share_ppm"`     // that the user should have of all use
	Use     int64  `json:"use_cpu_ms"`    // decayed, with Placed
	Placed  int64  `json:"placed_cpu_ms"` // that jobs of this site ask for which are placed and have not ended
	Part    int    `json:"part_ppm"`      // that the user has of all use
	// Deviation is how much more than Share Part is, in parts per million of Share; nil: there is no share.
	Deviation *int      `json:"deviation_ppm"`
	Sites     []SiteUse `json:"sites"` // where the use was, by name
}

// SiteUse is what a user has used at one site.
type SiteUse struct {
	Site protocol.SiteName  `json:"site"`
	Use  int64              `json:"use_cpu_ms"`       // decayed
	Part int                `json:"part_ppm"`         // of all use
	Age  *protocol.Duration `json:"age_ms,omitempty"` // of the newest report that counts; nil: this site knows it from results
}

// UseReport is what is known of the reports of a partner.
type UseReport struct {
	Site    protocol.SiteName  `json:"site"`
	Age     *protocol.Duration `json:"age_ms"`            // of the newest; nil: none has come
	Stale   bool               `json:"stale"`             // it is missing for three intervals or more
	Refused string             `json:"refused,omitempty"` // why the last one does not count
	Counted int                `json:"counted_ppm"`       // the part that counts of the use in them: less than a million if it is more than the machine can do
}

func (Shares) reply() {}
