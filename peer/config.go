package peer

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config is what a peer is told before its first step. The zero value of a
// duration or count means the default of [Config.WithDefaults].
type Config struct {
	Site        protocol.SiteName
	Number      protocol.SiteNumber
	PublicKey   string
	Software    string
	Capacity    protocol.Capacity
	Partners    []Partner // sorted by name
	Policy      policy.Info
	Initiation  policy.Initiation
	Phi         protocol.Duration // φ: below this AWT a job stays at home; default 60 s
	Sigma       protocol.Duration // σ: checks of the own utilisation, rechecks, probes of silent partners; default 300 s
	Delta       int               // δ in parts per million: below this RUS the site volunteers; default 700,000
	Recheck     int               // jobs waiting for volunteers whose own AWT is looked at every σ; default 0: all
	Draw        int               // jobs that one availability message may bring into rounds; default 0: any number
	Stay        bool              // under symmetric, a job whose volunteers all lost stays at home; default: it asks everybody
	Deadline    protocol.Duration // for quotes; default 2 s
	RoundJobs   int               // jobs that may share a round; default 64
	Ask         int               // partners asked in a round; default 16
	Retry       protocol.Duration // first repetition of an unanswered message; default 1 s, doubling
	RetryMax    protocol.Duration // longest pause between repetitions; default 30 s
	Settle      protocol.Duration // after an unclear submission, before its absence is believed; default 2 s
	Reclaim     protocol.Duration // reclaim_after: of jobs with Requeue whose site is lost; default 15 min
	Remember    protocol.Duration // tombstones and submission keys; default 7 days
	Accounts    Accounts          // who may run jobs here
	MaxGridJobs int               // jobs of this origin at once; default 1,000,000
	NoFacts     bool              // nobody reads facts: make none
}

// Partner is a site that this one is configured to exchange jobs with.
type Partner struct {
	Site      protocol.SiteName
	PublicKey string
	MaxJobs   int // of that site here at once; 0: none are taken
	MaxCPUs   int // of its jobs here at once; 0: no limit
}

// Accounts maps people to local accounts. It is consulted in [Peer.Step] and
// must be pure.
type Accounts interface {
	// Local is the account that runs a job of this site's user.
	Local(user string) (account string, err error)
	// Guest is the account that runs a job of a partner's user. Deny by default.
	Guest(site protocol.SiteName, user string) (account string, err error)
}
