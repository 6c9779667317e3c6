package slurm

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config is what [Open] needs.
type Config struct {
	// Dir is the spool. It must be on a file system that the compute nodes share,
	// under the same path, and on which a peer that is root may do as root does
	// (NFS: no_root_squash). Accounts of jobs must be able to pass through the
	// directories above it.
	Dir          string
	Site         protocol.SiteName // in job names and environments
	Conf         string            // path of slurm.conf; empty: as the commands find it
	Bin          string            // directory of the commands; empty: PATH
	Partitions   []string          // a job goes to all that admit it; empty: the default partition
	Poll         time.Duration     // between two looks at the queue; 0: [DefaultPoll]
	JobComp      string            // path of the jobcomp/filetxt log; empty: as slurm.conf says
	Extra        []string          // added to every sbatch, such as --account=grid
	MaxOutput    int64             // bytes that a guest may write to a file; 0: [spool.DefaultMaxOutput]
	MaxStaging   int64             // bytes of files that may come with a guest, and that may go back; 0: none
	Container    []string          // as in package process
	Reservations bool              // room may be held by reservations of Slurm's, which only its operators may make
	Timeout      time.Duration     // of one command; 0: [DefaultTimeout]
	Log          *slog.Logger      // nil: no log
	// NodeExporter is where a node exports its metrics in Prometheus' text format: a URL or an
	// absolute path; "{node}" stands for its name in Slurm. Empty: nowhere.
	NodeExporter string

	timeouts timeouts
}

// The defaults of [Config].
const (
	DefaultPoll    = 2 * time.Second
	DefaultTimeout = 15 * time.Second // commands themselves give up after 10 s
)

// timeouts is how long the adapter waits for what ought to happen.
type timeouts struct {
	// launch is the time from Slurm's RUNNING to the claim of a job's wrapper. A
	// job that takes longer is taken back and submitted again.
	launch time.Duration
	// lost is the time for which a job that had started and that Slurm has lost
	// may still write down how it ended.
	lost time.Duration
	// ask bounds how long Quote waits for one answer of sbatch --test-only.
	ask time.Duration
	// account is the time for which the end of a job waits for what the accounting
	// database knows of it: steps that have ended arrive there a moment later.
	account time.Duration
	// gather is the time for which cancellations are gathered, to share one look at the queue.
	gather time.Duration
	// killed is the time before and after a start of the controller in which Slurm may cancel
	// jobs by itself; below 0: it never does.
	killed time.Duration
}

func (c Config) withDefaults() Config {
	if c.Poll <= 0 {
		c.Poll = DefaultPoll
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.timeouts.launch <= 0 {
		c.timeouts.launch = 5 * time.Minute
	}
	if c.timeouts.lost <= 0 {
		c.timeouts.lost = time.Minute
	}
	if c.timeouts.ask <= 0 {
		c.timeouts.ask = 2 * time.Second
	}
	if c.timeouts.account <= 0 {
		c.timeouts.account = 10 * time.Second
	}
	if c.timeouts.gather <= 0 {
		c.timeouts.gather = gathering
	}
	if c.timeouts.killed == 0 {
		c.timeouts.killed = time.Minute
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	if err := spool.CheckPath(c.Dir); err != nil {
		return err
	}
	// sbatch reads both as parts of a pattern.
	if strings.ContainsAny(c.Dir, "%\\\n") {
		return fmt.Errorf(`spool directory %q has a %%, a \ or a line break, which sbatch cannot take; choose another`, c.Dir)
	}
	if err := c.Site.Validate(); err != nil {
		return err
	}
	for _, name := range c.Partitions {
		if name == "" || strings.ContainsAny(name, ", |\n") {
			return fmt.Errorf("partition %q is not the name of one partition", name)
		}
	}
	for _, word := range c.Extra {
		if !strings.HasPrefix(word, "-") {
			return fmt.Errorf("extra argument %q of sbatch does not begin with -; write options with a value as one word, --name=value", word)
		}
	}
	if err := checkExporter(c.NodeExporter); err != nil {
		return err
	}
	if c.Bin != "" && !filepath.IsAbs(c.Bin) {
		return errors.New("the directory of Slurm's commands is not an absolute path: " + c.Bin)
	}
	return nil
}
