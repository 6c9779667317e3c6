package config

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/roster"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config is a peer's configuration. What each key means is said in [Sample].
type Config struct {
	Site           Site           `toml:"site"`
	NATS           NATS           `toml:"nats"`
	Transfer       Transfer       `toml:"transfer"`
	Gossip         *Gossip        `toml:"gossip"` // nil: no gossip
	LocalSched     LocalSched     `toml:"localsched"`
	Tariff         Tariff         `toml:"tariff"`
	Power          Power          `toml:"power"`
	Prices         Prices         `toml:"prices"`
	ExchangeRates  ExchangeRates  `toml:"exchange_rates"`
	Cost           Cost           `toml:"cost"`
	WaitingCosts   []WaitingCost  `toml:"waiting_cost"` // in the order of the files
	DefaultWeights DefaultWeights `toml:"default_weights"`
	Policy         Policy         `toml:"policy"`
	Rounds         Rounds         `toml:"rounds"`
	Moves          Moves          `toml:"moves"`
	GuestLimits    GuestLimits    `toml:"guest_limits"`
	Handoff        Handoff        `toml:"handoff"`
	Submit         Submit         `toml:"submit"`
	FairShare      FairShare      `toml:"fairshare"`
	Limits         Limits         `toml:"limits"`
	Retention      Retention      `toml:"retention"`
	Results        Results        `toml:"results"`
	Mail           *Mail          `toml:"mail"`    // nil: no mail is sent
	Notify         *Notify        `toml:"notify"`  // nil: other programs are not notified of jobs
	Tracing        *Tracing       `toml:"tracing"` // nil: no spans of jobs are exported
	Staging        Staging        `toml:"staging"`
	Accounts       Accounts       `toml:"accounts"`

	Associations []association.Rule `toml:"association"` // the first that is for a job counts

	API      API       `toml:"api"`
	Metrics  Metrics   `toml:"metrics"`
	Log      Log       `toml:"log"`
	Audit    Audit     `toml:"audit"`
	Plugins  []Plugin  `toml:"plugin"` // in the order of the files
	Roster   Roster    `toml:"roster"`
	Partners []Partner `toml:"partner"` // in the order of the files; after Load also those of the roster

	// Warnings are those of [Load], sorted.
	Warnings []problems.Problem

	places settings.Places
	signed *roster.Roster // nil: none
	ended  bool           // before the configuration was read, so that its sites are no partners
	unused []UnusedPartner
}

// Site is the table [site]: who this site is and where it keeps its things.
type Site struct {
	Name     protocol.SiteName   `toml:"name"`
	Number   protocol.SiteNumber `toml:"number" within:"1,9000"`
	StateDir settings.Path       `toml:"state_dir"`
	Key      settings.Path       `toml:"key"` // of the seed; read with identity.LoadKey
	Socket   settings.Path       `toml:"socket"`
	Seed     int                 `toml:"seed"`     // of all random choices
	Machine  string              `toml:"machine"`  // stands for the computer and the directory's inode; empty: they count
	Currency string              `toml:"currency"` // of all money but that of [Tariff]; empty: there is none
}

// NATS is the table [nats]: either an embedded server, or none, or the user's own
// NATS system.
type NATS struct {
	Listen string        `toml:"listen"` // host:port; empty: no embedded server
	URL    string        `toml:"url"`    // of an external system; empty: none
	Creds  settings.Path `toml:"creds"`
	Nkey   settings.Path `toml:"nkey"`
	Token  settings.Path `toml:"token"`
	CA     settings.Path `toml:"ca"`
}

// Transfer is the table [transfer]: the direct connections for files.
type Transfer struct {
	Streams int       `toml:"streams"`  // per partner; 0: files come in chunks over NATS
	MaxRate Bandwidth `toml:"max_rate"` // in each direction; 0: no limit
}

// Gossip is the table [gossip].
type Gossip struct {
	Bind             string            `toml:"bind"`      // IP address and port
	Advertise        string            `toml:"advertise"` // IP address and port; empty: Bind
	Join             []string          `toml:"join"`      // host:port
	Keyring          settings.Path     `toml:"keyring"`
	AnnounceInterval protocol.Duration `toml:"announce_interval"`
	RejoinInterval   protocol.Duration `toml:"rejoin_interval"`
}

// LocalSched is the table [localsched]: the batch system and the machine.
type LocalSched struct {
	Plugin         string            `toml:"plugin"`
	Machine        string            `toml:"machine"`         // PerCPU, WholeNode or Partitioned
	CPUs           int               `toml:"cpus"`            // in all; 0: as many as this computer has
	Nodes          int               `toml:"nodes"`           // divides CPUs; after Load those of BGP when Machine is Partitioned
	Memory         Megabytes         `toml:"memory"`          // per node; 0: not stated
	MHz            int               `toml:"mhz"`             // of a CPU; 0: not stated
	Mflops         int               `toml:"mflops"`          // Mflop/s of a CPU; 0: not stated
	WaitPrediction string            `toml:"wait_prediction"` // a method of wait prediction
	MaxWallTime    protocol.Duration `toml:"max_wall_time"`
	Policy         string            `toml:"policy"`            // of engine.Named
	KillGrace      protocol.Duration `toml:"kill_grace"`        // between SIGTERM and SIGKILL
	OnStop         string            `toml:"on_stop"`           // Leave or End
	MaxOutput      Megabytes         `toml:"max_output"`        // in a file that a guest writes
	Container      []string          `toml:"container_command"` // before the script of a job that has an image; empty: no containers
	MaxProcesses   int               `toml:"max_processes"`     // and threads of a job
	Cgroup         string            `toml:"cgroup"`            // cgroup.Own, cgroup.None or a path in the hierarchies
	Slurm          *Slurm            `toml:"slurm"`             // after Load set when Plugin is SlurmCommands
	BGP            *BGP              `toml:"bgp"`               // after Load set when Machine is Partitioned
	CPUModel       *CPUModel         `toml:"cpu_model"`         // nil: run times cannot be predicted by the Γ model

	SlurmCommands bool `toml:"slurm_commands"` // jobs find Slurm's commands

	Features []string           `toml:"features"` // of each node, by the names that jobs use in constraints
	Devices  map[string]Devices `toml:"devices"`  // of each node
	Licenses map[string]int     `toml:"licenses"` // of the machine, how many by name
}

// The values of [LocalSched.Plugin] that need no [[plugin]].
const (
	Process       = "process"
	SlurmCommands = "slurm"
)

// Slurm is the table [localsched.slurm].
type Slurm struct {
	Conf         settings.Path     `toml:"conf"`    // slurm.conf; empty: as the commands find it
	BinDir       settings.Path     `toml:"bin_dir"` // directory of the commands; empty: PATH
	Partitions   []string          `toml:"partitions"`
	Spool        settings.Path     `toml:"spool"` // empty: below [Site.StateDir]
	PollInterval protocol.Duration `toml:"poll_interval"`
	JobCompLog   settings.Path     `toml:"jobcomp_log"`   // empty: asked from Slurm
	SbatchArgs   []string          `toml:"sbatch_args"`   // added to every sbatch
	Exporter     string            `toml:"node_exporter"` // a URL or path with {node}; empty: none

	Reservations bool `toml:"reservations"` // room may be held
}

// BGP is the table [localsched.bgp]: a machine that is cut into partitions, as Blue
// Gene/P is.
type BGP struct {
	Partitions string `toml:"partitions"` // Intrepid, "racks 2x8", or after Load the absolute path of a file
	Smallest   int    `toml:"smallest"`   // nodes; smaller partitions are not used
	Mesh       bool   `toml:"mesh"`       // whether meshes are used

	layout *partition.Layout // after Load set when the machine is such a one
}

// Tariff is the table [tariff].
type Tariff struct {
	CPUHour  settings.Amount `toml:"cpu_hour"`
	Currency string          `toml:"currency"` // empty: no prices
}

// Power is the table [power]: what the machine draws, and what it may.
type Power struct {
	WattsPerCPU     Watts             `toml:"watts_per_cpu"`      // 0: not stated
	IdleWattsPerCPU Watts             `toml:"idle_watts_per_cpu"` // of a CPU that a job holds and does not use
	Budget          Kilowatts         `toml:"budget_kw"`          // 0: none but that of Series
	OnPeak          string            `toml:"on_peak"`            // when Budget holds; read with budget.ParseHours
	Price           settings.Amount   `toml:"price"`              // Budget holds while a MWh costs more; 0: at any price
	Mode            string            `toml:"mode"`               // of engine.Modes
	Window          int               `toml:"window"`             // jobs
	ReserveAfter    protocol.Duration `toml:"reserve_after"`      // 0: none
	LearnJobPower   bool              `toml:"learn_job_power"`    // what jobs draw from what they have drawn
	Series          PowerSeries       `toml:"series"`
}

// PowerSeries is the table [power.series]: a budget of its own for every hour, in
// kilowatts, from a feed that is made for prices.
type PowerSeries struct {
	Feed   string        `toml:"feed"` // one of feeds.Names, or a [[plugin]]; empty: there is no series
	Config settings.Path `toml:"config"`
	Area   string        `toml:"area"`

	Fallback Kilowatts `toml:"fallback_kw"` // after the last hour with a budget. Zero means that the last budget continues.
	Max      Kilowatts `toml:"max_kw"`      // the most that is believed; 0: what the machine draws at most
}

// Prices is the table [prices]: where the site learns what electricity costs.
type Prices struct {
	Area            string            `toml:"area"`             // empty: the site names no prices
	Feed            string            `toml:"feed"`             // one of feeds.Names, or a [[plugin]]
	Config          settings.Path     `toml:"config"`           // of a built-in feed: a TOML file
	Horizon         protocol.Duration `toml:"horizon"`          // how far ahead
	RefreshInterval protocol.Duration `toml:"refresh_interval"` // how often
	History         protocol.Duration `toml:"history"`          // how far back, for the forecasts
	Forecast        string            `toml:"forecast"`         // as forecast.Named reads it
	TimeZone        string            `toml:"time_zone"`        // of the site's days
}

// GuestLimits is the table [guest_limits]: when guests are declined for the sake of the
// local users.
type GuestLimits struct {
	MaxOwnerDelay protocol.Duration `toml:"max_owner_delay"` // 0: not looked at
	MaxCPUShare   settings.Share    `toml:"max_cpu_share"`   // 0: not looked at
}

// Plugin is one of the tables [[plugin]].
type Plugin struct {
	Name         string            `toml:"name"`
	Kind         string            `toml:"kind"`
	Path         settings.Path     `toml:"path"`
	Args         []string          `toml:"args"`
	SHA256       string            `toml:"sha256"` // in hexadecimal; empty: not pinned
	MTLS         bool              `toml:"mtls"`
	Config       settings.Path     `toml:"config"` // of a TOML file; empty: none
	StartTimeout protocol.Duration `toml:"start_timeout"`
	CallTimeout  protocol.Duration `toml:"call_timeout"`
}

// The values of [LocalSched.Machine].
const (
	PerCPU      = "per-cpu"
	WholeNode   = "whole-node"
	Partitioned = "bgp"
)

// The values of [LocalSched.OnStop]: what becomes of running jobs when the peer
// stops.
const (
	Leave = "leave"
	End   = "end"
)

// Policy is the table [policy]: which policy places jobs, and its parameters.
type Policy struct {
	Name     string `toml:"name"`
	Fallback string `toml:"fallback"`
	TC       TC     `toml:"tc"`
	MCMF     MCMF   `toml:"mcmf"`
	ISS      ISS    `toml:"iss"`
}

// TC is the table [policy.tc].
type TC struct {
	TurnaroundTolerance protocol.Duration `toml:"turnaround_tolerance"`
}

// MCMF is the table [policy.mcmf], of the policies mcmf, inst and twoprice.
type MCMF struct {
	Normalise    string          `toml:"normalise"`
	Weight       settings.Share  `toml:"weight"`
	DelayPrice   settings.Amount `toml:"delay_price"`
	CostSteps    int             `toml:"cost_steps"`
	MarginalJobs int             `toml:"marginal_jobs"`
}

// ISS is the table [policy.iss].
type ISS struct {
	MaxGap         settings.Share `toml:"max_gap"`
	MaxSearchNodes int            `toml:"max_search_nodes"`
	PaperObjective bool           `toml:"paper_objective"` // z with K_w twice
}

// Rounds is the table [rounds].
type Rounds struct {
	Initiation         policy.Initiation `toml:"initiation"` // not set: after Load one that the policy serves
	CycleInterval      protocol.Duration `toml:"cycle_interval"`
	MaxJobsPerCycle    int               `toml:"max_jobs_per_cycle"` // 0: any number
	LocalWaitThreshold protocol.Duration `toml:"local_wait_threshold"`
	CheckInterval      protocol.Duration `toml:"check_interval"`
	VolunteerBelow     settings.Share    `toml:"volunteer_below"`
	RecheckJobs        int               `toml:"recheck_jobs"`       // 0: all
	JobsPerVolunteer   int               `toml:"jobs_per_volunteer"` // 0: any number
	StayLocal          bool              `toml:"stay_local"`
	QuoteTimeout       protocol.Duration `toml:"quote_timeout"`
	RoundJobs          int               `toml:"round_jobs"`
	PartnersPerRound   int               `toml:"partners_per_round"`
}

// Handoff is the table [handoff].
type Handoff struct {
	RetryInitial       protocol.Duration `toml:"retry_initial"`
	RetryMax           protocol.Duration `toml:"retry_max"`
	SubmitRecheckDelay protocol.Duration `toml:"submit_recheck_delay"`
	StartMargin        protocol.Duration `toml:"start_margin"`
	ReclaimAfter       protocol.Duration `toml:"reclaim_after"`
	TombstoneTTL       protocol.Duration `toml:"tombstone_ttl"`

	PlannedStartsInterval protocol.Duration `toml:"planned_starts_interval"`
}

// Submit is the table [submit].
type Submit struct {
	ExportRemote []string `toml:"export_remote"` // names of variables, or their beginnings with a star
}

// Limits is the table [limits].
type Limits struct {
	MaxActiveJobs  int `toml:"max_active_jobs"`
	MaxJobsPerUser int `toml:"max_jobs_per_user"`
	MaxArraySize   int `toml:"max_array_size"`

	User     Limit            `toml:"user"`
	Account  Limit            `toml:"account"`
	Users    map[string]Limit `toml:"users"`
	Accounts map[string]Limit `toml:"accounts"`
}

// Staging is the table [staging]: files that travel with jobs.
type Staging struct {
	MaxBytes     Megabytes `toml:"max_bytes"`      // 0: none travel
	MaxUserBytes Megabytes `toml:"max_user_bytes"` // 0: no limit
}

// Results is the table [results]: output of jobs that ran at partners.
type Results struct {
	MaxOutput Megabytes         `toml:"max_output"`
	MaxKept   Megabytes         `toml:"max_kept"`
	KeepFor   protocol.Duration `toml:"keep_for"`
}

// Mail is the table [mail]: mail to users about their jobs.
type Mail struct {
	Command []string `toml:"command"` // and its arguments
	From    string   `toml:"from"`    // empty: what the command makes it
}

// Notify is the table [notify]: programs that are notified of the states of jobs.
type Notify struct {
	Command []string      `toml:"command"` // and its arguments; none: no command is run
	URL     string        `toml:"url"`     // empty: nothing is posted
	Token   settings.Path `toml:"token"`   // of a bearer token for URL; empty: none is sent
}

// Tracing is the table [tracing]: the export of the spans of jobs.
type Tracing struct {
	Endpoint string        `toml:"endpoint"` // URL of a collector; empty: File
	CA       settings.Path `toml:"ca"`       // of authorities' certificates; empty: those of the system
	Headers  settings.Path `toml:"headers"`  // of headers for the endpoint; empty: none
	File     settings.Path `toml:"file"`     // empty: Endpoint
}

// Retention is the table [retention]: how long what is over is kept.
type Retention struct {
	FinishedJobs      protocol.Duration `toml:"finished_jobs"`
	MaxFinishedJobs   int               `toml:"max_finished_jobs"`
	FinishedGuests    protocol.Duration `toml:"finished_guests"`
	MaxFinishedGuests int               `toml:"max_finished_guests"`
	Events            protocol.Duration `toml:"events"`

	Requeueable         protocol.Duration `toml:"requeueable"` // 0: no job that has ended can be requeued
	MaxRequeueable      int               `toml:"max_requeueable"`
	MaxRequeueableBytes Megabytes         `toml:"max_requeueable_bytes"`
}

// Accounts is the table [accounts]: this site's users.
type Accounts struct {
	Users string            `toml:"users"` // Same or Listed
	Local map[string]string `toml:"local"`
}

// The values of [Accounts.Users]: who may run jobs besides those in
// [Accounts.Local].
const (
	Same   = "same"
	Listed = "listed"
)

// API is the table [api]: what this site's people may do, at the socket and over TCP.
type API struct {
	Private        bool          `toml:"private"`
	Admins         []string      `toml:"admins"` // users
	Listen         string        `toml:"listen"` // host:port; empty: the socket only
	Hosts          []string      `toml:"hosts"`
	CertFile       settings.Path `toml:"cert_file"`
	KeyFile        settings.Path `toml:"key_file"`
	ClientCAFile   settings.Path `toml:"client_ca_file"`
	MaxRequestRate int           `toml:"max_request_rate"` // of one user, per second
	MaxUpload      Megabytes     `toml:"max_upload"`       // of files of one request; 0: none
	Dashboard      string        `toml:"dashboard"`        // [Public], [ByToken] or [Off]
	Studies        settings.Path `toml:"studies"`          // directory; empty: there are no studies
	Clients        []APIClient   `toml:"client"`
	OIDC           []OIDC        `toml:"oidc"`
}

// OIDC is a table [[api.oidc]]: an issuer of OpenID Connect whose tokens are taken.
type OIDC struct {
	Name        string        `toml:"name"`
	Issuer      string        `toml:"issuer"`
	Audience    string        `toml:"audience"`
	CAFile      settings.Path `toml:"ca_file"` // empty: the machine's authorities
	UserClaim   string        `toml:"user_claim"`
	GroupsClaim string        `toml:"groups_claim"`
	ScopesClaim string        `toml:"scopes_claim"`
	Users       []OIDCUser    `toml:"user"`

	SignInClient     string            `toml:"sign_in_client"`      // empty: people do not sign in to the pages at the issuer
	SignInSecretFile settings.Path     `toml:"sign_in_secret_file"` // empty: the client has no secret
	SignInScopes     []string          `toml:"sign_in_scopes"`
	SignInSession    protocol.Duration `toml:"sign_in_session"`
}

// SetDefaults sets what is not 0. It implements [settings.Defaulter].
func (o *OIDC) SetDefaults() {
	o.UserClaim, o.GroupsClaim, o.ScopesClaim = openid.DefaultUserClaim, openid.DefaultGroupsClaim, openid.DefaultScopesClaim
	o.SignInScopes, o.SignInSession = []string{"profile", "email"}, 8*protocol.Hour
}

// OIDCUser is a table [[api.oidc.user]]: for which tokens it is, and what these may do.
type OIDCUser struct {
	Subject string   `toml:"subject"`
	Email   string   `toml:"email"`
	Group   string   `toml:"group"`
	Scope   string   `toml:"scope"`
	User    string   `toml:"user"` // empty: as UserClaim says
	Scopes  []string `toml:"scopes"`
}

// Rules are the tables [[api.oidc.user]] of a configuration that is checked.
func (o *OIDC) Rules() (rules []openid.Rule) {
	for _, u := range o.Users {
		scopes, _ := accesstokens.ParseScopes(strings.Join(u.Scopes, ",")) // checked
		rules = append(rules, openid.Rule{Subject: u.Subject, Email: u.Email, Group: u.Group, Scope: u.Scope, User: u.User, Scopes: scopes})
	}
	return rules
}

// APIClient is a table [[api.client]]: a certificate that stands for a user.
type APIClient struct {
	Certificate string   `toml:"certificate"` // a name of it, as [clientcert.Names] has them
	User        string   `toml:"user"`
	Scopes      []string `toml:"scopes"`
}

// The values of [API.Dashboard]: who sees the pages at Listen.
const (
	Public  = "public"
	ByToken = "token"
	Off     = "off"
)

// Metrics is the table [metrics].
type Metrics struct {
	Listen string `toml:"listen"` // host:port; empty: none
}

// Audit is the table [audit]: the log of who changed what.
type Audit struct {
	Enabled bool          `toml:"enabled"`
	File    settings.Path `toml:"file"` // empty: in state_dir
	MaxSize Megabytes     `toml:"max_size"`
	Files   int           `toml:"files"`
}

// Log is the table [log].
type Log struct {
	Level  string `toml:"level"` // "debug", "info", "warn", "error"
	Format string `toml:"format"`
}

// The values of [Log.Format].
const (
	JSON = "json"
	Text = "text"
)

// Roster is the table [roster]: a signed list of sites, and which of them are partners without a table of their own.
type Roster struct {
	File       settings.Path     `toml:"file"`        // empty: none
	PublicKeys []string          `toml:"public_keys"` // of those who sign it
	Accept     []string          `toml:"accept"`      // names; "*" stands for all
	MaxJobs    int               `toml:"max_jobs"`    // of each; 0: none
	Users      map[string]string `toml:"users"`       // of each; "*" stands for all other users
}

// Partner is one of the tables [[partner]].
type Partner struct {
	Name          protocol.SiteName `toml:"name"`
	PublicKey     string            `toml:"public_key"`      // after Load always set
	PublicKeyFile settings.Path     `toml:"public_key_file"` // after Load always empty
	NextPublicKey string            `toml:"next_public_key"` // accepted beside PublicKey; empty: none
	URL           string            `toml:"url"`             // empty: the partner connects to this site
	MaxJobs       int               `toml:"max_jobs"`        // 0: none
	MaxCPUs       int               `toml:"max_cpus"`        // 0: no limit
	MaxStaging    Megabytes         `toml:"max_staging"`     // of files that come with a job; 0: as [Staging] has it
	Users         map[string]string `toml:"users"`           // "*" stands for all other users
	Shared        []string          `toml:"shared"`          // directories that both sites have
	Latency       protocol.Duration `toml:"latency"`         // of the link to it
	Bandwidth     Bandwidth         `toml:"bandwidth"`       // of the link; 0: not stated
	MaxRate       Bandwidth         `toml:"max_rate"`        // of files in each direction; 0: no limit
	PerGB         settings.Amount   `toml:"per_gb"`          // of the link
	PerHour       settings.Amount   `toml:"per_hour"`        // of the link
}
