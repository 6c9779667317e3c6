package config

import (
	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Default returns the configuration of empty files. It lacks what has no default:
// the site's name and number.
func Default() *Config {
	core := rules.Config{}.WithDefaults()
	return &Config{
		Site: Site{
			StateDir: "/var/lib/switchyard",
			Key:      "/etc/switchyard/site.key",
			Socket:   "/run/switchyard/switchyard.sock",
			Seed:     1,
		},
		NATS:     NATS{Listen: "0.0.0.0:7501"},
		Transfer: Transfer{Streams: 4},
		LocalSched: LocalSched{
			Plugin:         "process",
			Machine:        PerCPU,
			Nodes:          1,
			WaitPrediction: string(waitpredict.Auto),
			Policy:         "easy",
			KillGrace:      10 * protocol.Second,
			OnStop:         Leave,
			MaxOutput:      spool.DefaultMaxOutput >> 20,
			MaxProcesses:   process.DefaultMaxProcesses,
			Cgroup:         cgroup.Own,
			SlurmCommands:  true,
		},
		Power: Power{
			OnPeak:       budget.Always,
			Mode:         string(engine.Window),
			Window:       engine.DefaultWindow,
			ReserveAfter: protocol.Day,
		},
		Prices: Prices{
			Horizon: core.PriceSpan, RefreshInterval: core.PriceRefresh, History: 14 * protocol.Day,
			Forecast: "auto", TimeZone: "UTC",
		},
		Policy: Policy{
			Name: "tc", Fallback: "local",
			TC:   TC{TurnaroundTolerance: tc.DefaultEpsilon},
			MCMF: MCMF{Normalise: mcmf.ByPrice, DelayPrice: settings.Amount(mcmf.DefaultDelayPrice), Weight: mcmf.DefaultWeight, CostSteps: mcmf.DefaultScale},
			ISS:  ISS{MaxGap: settings.Share(iss.Default().Gap), MaxSearchNodes: iss.Default().Nodes},
		},
		Rounds: Rounds{
			Initiation:         core.Initiation,
			CycleInterval:      core.CycleInterval,
			LocalWaitThreshold: core.LocalWaitThreshold,
			CheckInterval:      core.CheckInterval,
			VolunteerBelow:     settings.Share(core.VolunteerBelow),
			QuoteTimeout:       core.QuoteTimeout,
			RoundJobs:          core.RoundJobs,
			PartnersPerRound:   core.PartnersPerRound,
		},
		Moves: defaultMoves(core),
		Handoff: Handoff{
			RetryInitial:       core.RetryInitial,
			RetryMax:           core.RetryMax,
			SubmitRecheckDelay: core.SubmitRecheckDelay,
			StartMargin:        core.Margin,
			ReclaimAfter:       core.ReclaimAfter,
			TombstoneTTL:       core.TombstoneTTL,

			PlannedStartsInterval: protocol.Minute,
		},
		Submit:    Submit{ExportRemote: core.ExportRemote},
		FairShare: FairShare{MaxAge: 7 * protocol.Day, Damping: 1, Weights: ShareWeights{Age: 1000, FairShare: 10_000}},
		Limits:    Limits{MaxActiveJobs: core.MaxGridJobs, MaxJobsPerUser: core.MaxUserJobs, MaxArraySize: core.MaxArraySize},
		Results:   Results{MaxOutput: Megabytes(core.MaxOutput >> 20), MaxKept: 10 << 10, KeepFor: 30 * protocol.Day},
		Staging:   Staging{MaxBytes: 10 << 10},
		Retention: defaultRetention(),
		Accounts:  Accounts{Users: Same},
		API:       API{MaxRequestRate: 20, MaxUpload: 1 << 10, Dashboard: ByToken}, Metrics: Metrics{Listen: "127.0.0.1:9750"}, Log: Log{Level: "info", Format: JSON}, Audit: Audit{Enabled: true, MaxSize: 16, Files: 8},
		DefaultWeights: evenWeights(),
	}
}

func defaultRetention() Retention {
	kept := node.Retention{}.WithDefaults()
	return Retention{
		FinishedJobs: kept.FinishedJobs, MaxFinishedJobs: kept.MaxFinishedJobs,
		FinishedGuests: kept.FinishedGuests, MaxFinishedGuests: kept.MaxFinishedGuests, Events: kept.Events,
		Requeueable: 5 * protocol.Minute, MaxRequeueable: 10_000, MaxRequeueableBytes: 64, // as MinJobAge of Slurm
	}
}

func evenWeights() DefaultWeights {
	const one = Factor(protocol.PPM)
	return DefaultWeights{Objective: string(cost.Balanced), ComputeWeight: one, WaitWeight: one, EnergyWeight: one, DataWeight: one}
}

// SetDefaults makes it a table [gossip] without keys. It implements
// [settings.Defaulter].
func (g *Gossip) SetDefaults() {
	*g = Gossip{
		Bind:             "0.0.0.0:7601",
		AnnounceInterval: 3 * protocol.Second,
		RejoinInterval:   30 * protocol.Second,
	}
}

// SetDefaults makes it a table [mail] without keys. It implements [settings.Defaulter].
func (m *Mail) SetDefaults() { *m = Mail{Command: []string{"/usr/sbin/sendmail", "-t", "-i"}} }

// SetDefaults makes it a table [localsched.slurm] without keys. It implements
// [settings.Defaulter].
func (s *Slurm) SetDefaults() { *s = Slurm{PollInterval: 2 * protocol.Second} }

// SetDefaults makes it a table [localsched.bgp] without keys. It implements
// [settings.Defaulter].
func (b *BGP) SetDefaults() { *b = BGP{Smallest: 512, Mesh: true} }

// SetDefaults makes it a table [[plugin]] without keys. It implements
// [settings.Defaulter].
func (p *Plugin) SetDefaults() {
	*p = Plugin{MTLS: true, StartTimeout: 10 * protocol.Second, CallTimeout: 30 * protocol.Second}
}
