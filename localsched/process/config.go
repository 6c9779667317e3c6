package process

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config is what [Open] needs.
type Config struct {
	// Dir is the spool. It is created with mode 0711 and must be on a disk of
	// this machine. Accounts of jobs must be able to pass through the directories
	// above it.
	Dir      string
	Site     protocol.SiteName
	Capacity protocol.Capacity
	Machine  engine.Machine // its model; nil: that of [engine.Of]
	Policy   engine.Policy  // until [Scheduler.SetPolicy] brings another
	// Budget binds the policy, until [Scheduler.SetBudget] brings another. The zero
	// Budget is none.
	Budget engine.Budget
	// Devices are those that the one node of the capacity states as resources. Jobs get those with
	// the lowest indexes first.
	Devices []Device
	// LearnJobPower has the scheduler learn what jobs draw, by the rates of the budget, which
	// need not hold at any time.
	LearnJobPower bool
	// Paused has no job start before [Scheduler.AllowStarts] allows it.
	Paused bool
	// MaxOutput is how many bytes a guest may write to a file, and so to each stream of its
	// output. 0: [spool.DefaultMaxOutput].
	MaxOutput int64
	// MaxStaging is how many bytes of files may come with a guest, and how many may go back. 0: none.
	MaxStaging int64
	// Container is the command that runs a job's script, which follows it, in a container, as
	// [spool.Job.Command] fills it in. Empty: no job runs in a container.
	Container []string
	// Cgroup is where each job's control group is made: [cgroup.Own], [cgroup.None] or a path
	// in the hierarchies. Empty: [cgroup.Own].
	Cgroup string
	// MaxProcesses is how many processes and threads a job may have at once, where it has a
	// control group. 0: [DefaultMaxProcesses].
	MaxProcesses int
	// Socket is that of the site's peer, which jobs find in SWITCHYARD_SOCKET. Empty: they find none.
	Socket string
	// Commands is a directory at the end of the PATH of jobs. Empty: there is none.
	Commands string
	// GraceKill is the time from TERM to KILL, for jobs that start from now on.
	// 0: [DefaultGraceKill].
	GraceKill time.Duration
	// Shim is the command line, with an absolute path, that calls [ShimMain] with
	// the arguments that follow it.
	Shim   []string
	Clock  wallclock.Source // nil: the machine's
	Log    *slog.Logger     // nil: no log
	OnStop OnStop
}

// DefaultGraceKill is the time from TERM to KILL when the configuration says
// nothing: Slurm waits 30 s, most sites less.
const DefaultGraceKill = 10 * time.Second

// DefaultMaxProcesses is how many processes and threads a job may have at once when the
// configuration says nothing: more than programs use, and less than the 32768 that small
// machines have in all.
const DefaultMaxProcesses = 10_000

// OnStop is what becomes of running jobs when the scheduler closes.
type OnStop uint8

// The choices.
const (
	LeaveJobs OnStop = iota // they go on and are found again by the next Open
	EndJobs                 // they get TERM, the grace time, KILL, and are CANCELLED
)

func (c Config) withDefaults() Config {
	if c.GraceKill <= 0 {
		c.GraceKill = DefaultGraceKill
	}
	if c.Machine == nil {
		c.Machine = engine.Of(c.Capacity)
	}
	if c.MaxProcesses <= 0 {
		c.MaxProcesses = DefaultMaxProcesses
	}
	c.Cgroup = cmp.Or(c.Cgroup, cgroup.Own)
	c.Devices = slices.SortedStableFunc(slices.Values(c.Devices), compareDevices)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Policy == nil:
		return errors.New("the process scheduler has no policy")
	case c.Capacity.CPUs < 1 || c.Capacity.Nodes < 1:
		return fmt.Errorf("the process scheduler has %d CPUs on %d nodes; it needs at least one of each",
			c.Capacity.CPUs, c.Capacity.Nodes)
	case len(c.Shim) == 0 || !filepath.IsAbs(c.Shim[0]):
		return fmt.Errorf("the shim's command line %q does not begin with an absolute path", c.Shim)
	case c.LearnJobPower && !driver.Rules{Budget: c.Budget}.Budgeted():
		return errors.New("learning the power of jobs requires the power of a CPU: set watts_per_cpu")
	}
	return errors.Join(c.checkDevices(), driver.Rules{Budget: c.Budget}.Check())
}
