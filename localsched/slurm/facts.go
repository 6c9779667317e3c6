package slurm

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// siteFacts is what is to be known of a Slurm before its queue is looked at.
type siteFacts struct {
	config  map[string]string // as scontrol show config says
	jobComp string            // path of the log of ended jobs; empty: none can be read
	sacct   bool              // an accounting database can be asked
}

// The oldest version whose options the adapter uses.
const (
	oldestYear  = 20
	oldestMonth = 11
)

// version checks the commands and says of which version they are. The controller
// need not answer.
func (c *commands) version(ctx context.Context) (string, error) {
	if err := c.check("sbatch", "squeue", "sinfo", "scontrol", "scancel"); err != nil {
		return "", err
	}
	out, _, err := c.run(ctx, "", "scontrol", "--version")
	if err != nil {
		return "", fmt.Errorf("ask for Slurm's version: %w", err)
	}
	return parseVersion(out)
}

// facts asks the controller for its configuration.
func (c *commands) facts(ctx context.Context, config Config) (f siteFacts, err error) {
	out, _, err := c.run(ctx, "", "scontrol", "show", "config")
	if err != nil {
		return siteFacts{}, err
	}
	f.config = parseConfig(out)
	f.sacct = strings.HasSuffix(f.config["AccountingStorageType"], "/slurmdbd") && c.check("sacct") == nil
	f.findJobComp(config)
	return f, nil
}

func (f *siteFacts) findJobComp(config Config) {
	f.jobComp = config.JobComp
	if f.jobComp == "" && strings.HasSuffix(f.config["JobCompType"], "/filetxt") {
		f.jobComp = f.config["JobCompLoc"]
	}
}

// booted is when the controller was started, by its clock; 0 if it does not report it.
func (c *commands) booted(ctx context.Context) (protocol.Instant, error) {
	out, _, err := c.run(ctx, "", "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	return parseTime(parseConfig(out)["BOOT_TIME"])
}

// parseVersion reads what --version prints, such as "slurm-wlm 22.05.8", and
// refuses versions that are too old.
func parseVersion(out string) (string, error) {
	words := strings.Fields(out)
	if len(words) < 2 {
		return "", fmt.Errorf("scontrol --version said %.100q, which is no version", out)
	}
	version := words[len(words)-1]
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return "", fmt.Errorf("scontrol --version said %.100q, which is no version", out)
	}
	year, err := parseCount(parts[0], 99)
	if err != nil {
		return "", fmt.Errorf("scontrol --version said %.100q, which is no version", out)
	}
	month, err := parseCount(parts[1], 99)
	if err != nil {
		return "", fmt.Errorf("scontrol --version said %.100q, which is no version", out)
	}
	if year < oldestYear || year == oldestYear && month < oldestMonth {
		return "", fmt.Errorf("this Slurm is version %s, which is too old; the adapter needs %d.%d or later: update Slurm, or name newer commands in bin_dir", version, oldestYear, oldestMonth)
	}
	return version, nil
}

// parseConfig reads what scontrol show config prints: a line "Key = value" for
// each setting.
func parseConfig(out string) map[string]string {
	config := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, ok := strings.Cut(line, " = ")
		if ok {
			config[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return config
}

// advise logs the settings of Slurm that withhold information from the adapter.
func (f *siteFacts) advise(log *slog.Logger) {
	log.Info("slurm_found", "cluster", f.config["ClusterName"], "version", f.config["SLURM_VERSION"], "jobcomp", f.jobComp, "sacct", f.sacct)
	for _, one := range f.advice() {
		log.Warn(one.event, "why", one.What, "advice", one.Remedy) //nolint:sloglint // the events are constants of advice
	}
}

// Advice is about a setting of Slurm that withholds information from the adapter.
type Advice struct {
	What   string // what is missing
	Remedy string

	event string // in the log
}

func (f *siteFacts) advice() (all []Advice) {
	if f.jobComp == "" && !f.sacct {
		all = append(all, Advice{
			"results of jobs are known only for MinJobAge = " + f.config["MinJobAge"],
			"set JobCompType=jobcomp/filetxt or use slurmdbd, so that ends are known for longer than MinJobAge", "slurm_forgets_ends",
		})
	}
	if f.config["EnforcePartLimits"] == "NO" {
		all = append(all, Advice{
			"jobs that can never run are accepted (EnforcePartLimits = NO)", "set EnforcePartLimits=ALL in slurm.conf", "slurm_accepts_impossible_jobs",
		})
	}
	if os.Geteuid() != 0 && slices.Contains(strings.Split(f.config["PrivateData"], ","), "jobs") {
		all = append(all, Advice{
			"jobs of other users may not be shown to this account (PrivateData has jobs), so that quoted waits would be too short",
			"run the peer as root or SlurmUser, or take jobs out of PrivateData in slurm.conf", "slurm_hides_jobs",
		})
	}
	return all
}

// Advise asks the controller for its settings, and says which of them withhold information.
func Advise(ctx context.Context, config Config) ([]Advice, error) {
	config = config.withDefaults()
	f, err := newCommands(config).facts(ctx, config)
	if err != nil {
		return nil, err
	}
	return f.advice(), nil
}
