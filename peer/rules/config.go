package rules

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/intake"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config is the configuration of a peer. The zero value of a
// duration or count means the default of [Config.WithDefaults].
type Config struct {
	Site               protocol.SiteName
	Number             protocol.SiteNumber
	PublicKey          string
	Software           string
	Capacity           protocol.Capacity
	Partners           []Partner // sorted by name
	Policy             policy.Description
	Fallback           string // the name of the policy that decides a round in which Policy fails; empty without one
	Fronts             bool   // a built-in [policy.ParetoPolicy] lays out choices where Policy is none
	Initiation         policy.Initiation
	LocalWaitThreshold protocol.Duration // φ: below this AWT a job stays at home; default 60 s
	CheckInterval      protocol.Duration // σ: checks of the local utilization, rechecks, probes of unresponsive partners; default 300 s
	FirstCheck         protocol.Duration // from the start of the peer to its first check of the local utilization; default: drawn from the seed, up to CheckInterval
	VolunteerBelow     int               // δ in parts per million: below this RUS the site volunteers; default 700,000
	RecheckJobs        int               // jobs waiting for volunteers whose own AWT is looked at every σ; default 0: all
	JobsPerVolunteer   int               // jobs that one availability message may bring into rounds; default 0: any number
	StayLocal          bool              // under symmetric, a job whose volunteers all lost stays at the local site; by default it asks all partners
	QuoteTimeout       protocol.Duration // for quotes; default 2 s
	RoundJobs          int               // jobs that may share a round; default 64
	PartnersPerRound   int               // partners asked in a round; default 16
	RetryInitial       protocol.Duration // first repetition of an unanswered message; default 1 s, doubling
	RetryMax           protocol.Duration // longest pause between repetitions; default 30 s
	SubmitRecheckDelay protocol.Duration // after an unclear submission, before its absence is believed; default 2 s
	ReclaimAfter       protocol.Duration // reclaim_after: of jobs with Requeue whose site is lost; default 15 min
	TombstoneTTL       protocol.Duration // tombstones and submission keys; default 7 days
	Accounts           Accounts          // who may run jobs here
	Associations       association.Table // what accounts, partitions and QOS of jobs mean here
	PrivateJobs        bool              // users see only their own jobs, also those of partners that depend on them; default: all
	MaxGridJobs        int               // jobs of this origin at once; default 1,000,000
	MaxUserJobs        int               // of one user of this site at once; default 100,000
	MaxArraySize       int               // above the highest index of an array; default 100,000
	MaxOutput          int64             // bytes of a job's output that are brought home; default 10 GiB
	MaxStaging         int64             // bytes of files that may come with a guest, and that may come back with a job's result; 0: none
	MaxUserStaging     int64             // bytes of files of one user that may lie at the site or be under way to it at once; 0: no limit
	NoGuestFiles       bool              // the batch system takes no files with a guest
	CycleInterval      protocol.Duration // between two rounds under the initiation cycle, and the period of MaxJobsPerCycle; default 1 min
	MaxJobsPerCycle    int               // jobs that the site takes in a period, over all senders [MC 2]; default 0: any number

	Area              string            // where the site buys its electricity, for the prices; empty: it names none
	Power             int64             // milliwatts of a CPU that works; 0: not stated, quotes have no energy term
	Spread            bool              // electricity is quoted over the interval in which a job may start; default: for the planned start, as [MC] has it
	PriceSpan         protocol.Duration // how far ahead prices are asked for; default 7 days
	PriceRefresh      protocol.Duration // how often; default 1 h
	Protect           Protection        // of local users from guests
	AskUnreliableLast bool              // who does not keep its quotes is asked last; default: that is not looked at
	DisableLogEvents  bool              // for drivers that read no log events
	ExportRemote      []string          // variables that leave with every job, as [protocol.Export.Allows] reads them; nil: [DefaultExportRemote]

	Requeueable Requeueable // of the jobs of this origin that have ended; default: none can be requeued

	// Watermark is how often partners are sent, at most, how far this store has come, so that
	// a restored or copied one is known; 0: never, and partners' marks are not kept.
	Watermark protocol.Duration
	Witness   protocol.Life // what the shell's own file remembers of this store; zero: it has none
	Machine   string        // that the state directory is on, in words, the same at every start there; empty: not known
	// QueueApart says that nothing of the local queue is in the state directory: it is not
	// copied or put back with the rows, and what waits in it has not started. Default: it is there.
	QueueApart bool

	Moves Moves // of jobs that wait in a local queue to another one; default: none

	FairShare FairShare // whose jobs have the next round; default: the oldest
	Limits    Limits    // of users and accounts of this site
	// PlannedStarts is how often the local scheduler is asked when it plans to start the jobs that wait in its queue, and the
	// origins of guests learn it; 0: never.
	PlannedStarts protocol.Duration
	// Prioritize says that the local scheduler is a [localsched.Prioritizer], which gets the priorities of FairShare.
	Prioritize bool

	Reserves       bool                      // the batch system is a [localsched.Reserver]
	Tariff         localsched.Tariff         // of CPUs, that the local scheduler's quotes have, where there are no Costs
	Costs          pricing.Costs             // what the site charges; nil: nothing but Power's energy
	Exchange       map[string]protocol.Micro // what one of a currency is worth in a common unit, the same on the whole grid
	Currency       string                    // of the users' costs and limits; if empty, that of the site's own quotes
	WaitingCosts   map[string]WaitingCost    // k_w curves by their names
	DefaultWeights DefaultWeights            // of applications whose users do not say
	Margin         protocol.Duration         // between the last wait quoted and the common start of components; default 10 s
}

// WaitingCost is what waiting for results costs, by the clock [IS Figure 2]. It must be pure.
type WaitingCost interface {
	// Rates are the rates from now until so much later, of an application that was
	// submitted at an instant; in the currency of the second result.
	Rates(submitted, now protocol.Instant, until protocol.Duration) ([]protocol.WaitingRate, string)
}

// DefaultWeights are weights for those who give none, in parts per million.
type DefaultWeights struct {
	Alpha, Beta, Gamma, Delta int
	WaitingCost               string // one of [Config.WaitingCosts]. If it is empty, an hour costs one of the currency
}

// Partner is a site that this one is configured to exchange jobs with.
type Partner struct {
	Site      protocol.SiteName
	PublicKey string
	// NextPublicKey is accepted beside PublicKey; empty: there is none.
	NextPublicKey string
	MaxJobs       int // of that site here at once; 0: none are taken
	MaxCPUs       int // of its jobs here at once; 0: no limit
	// MaxStaging is how many bytes of files may come with a job of that site; 0: as [Config.MaxStaging] says.
	MaxStaging int64
	Latency    protocol.Duration // of the link to it, for the data of jobs
	Bandwidth  int64             // of the link, in bytes a second; 0: not stated, data take no time
	// What the link costs this site, in [Config.Currency]: a GB that travels either way, and
	// an hour in which something does.
	PerGB   protocol.Micro
	PerHour protocol.Micro
	Shared  []string // directories that both sites have, as [protocol.CheckSharedDirs] takes them
}

// Accepts says whether a public key is one of the partner's.
func (p *Partner) Accepts(key string) bool {
	return key == p.PublicKey || p.NextPublicKey != "" && key == p.NextPublicKey
}

// KeepsKeys says whether another configuration of the partner accepts all of its keys.
func (p *Partner) KeepsKeys(next *Partner) bool {
	return next.Accepts(p.PublicKey) && (p.NextPublicKey == "" || next.Accepts(p.NextPublicKey))
}

// Moves says when a job that waits in a local queue is placed again, at a site where it ends sooner. The zero value
// means never.
type Moves struct {
	Interval  protocol.Duration // between two trials; 0: there are none
	Jobs      int               // of a trial, at most
	Gain      protocol.Duration // a job moves if it ends sooner by more than that,
	GainShare int               // and by more than that share of the time until its planned end, in parts per million
	Wait      protocol.Duration // and does not wait longer than that at the other site
	Pause     protocol.Duration // between two moves of a job, at least
	Most      int               // moves of a job, at most
}

// Requeueable says how long after their ends jobs can be requeued, and how many of them. The zero value means never.
type Requeueable struct {
	For   protocol.Duration // since the end of a job
	Jobs  int               // of more, those that ended first go
	Bytes int64             // of scripts, arguments and environments; of more, those that ended first go
}

// PlannedStartLasts is for how long a planned start counts for moves. Sites state those of all jobs that wait, by default
// once a minute.
const PlannedStartLasts = 15 * protocol.Minute

// Protection says when guests are declined for the sake of local users.
type Protection struct {
	Delay protocol.Duration // the most that a plan may delay a pending job of a local user. Zero means no limit.
	Share int               // of the site's CPUs that guests may hold or wait for, in parts per million; 0: not looked at
}

// Accounts maps people to local accounts. It is consulted in [peer.Peer.Step] and
// must be pure.
type Accounts interface {
	// Local is the account that runs a job of this site's user.
	Local(user string) (account string, err error)
	// Guest is the account that runs a job of a partner's user. Deny by default.
	Guest(site protocol.SiteName, user string) (account string, err error)
}

// Intake is the number of jobs that the site takes in a period.
func (c Config) Intake() intake.Rule {
	return intake.Rule{Max: c.MaxJobsPerCycle, Period: c.CycleInterval}
}

// ExclusionTime is how long a site is not asked about a job that has failed there: σ, under cycles also
// the next one.
func (c Config) ExclusionTime() protocol.Duration {
	if c.Initiation == policy.Cycle {
		return max(c.CheckInterval, 2*c.CycleInterval) // at least one and a half
	}
	return c.CheckInterval
}
