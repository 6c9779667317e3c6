package slurm

import (
	"context"
	"fmt"
	"log/slog"
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
	f.jobComp = config.JobComp
	if f.jobComp == "" && strings.HasSuffix(f.config["JobCompType"], "/filetxt") {
		f.jobComp = f.config["JobCompLoc"]
	}
	return f, nil
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
func (f siteFacts) advise(log *slog.Logger) {
	log.Info("slurm_found", "cluster", f.config["ClusterName"], "version", f.config["SLURM_VERSION"], "jobcomp", f.jobComp, "sacct", f.sacct)
	if f.jobComp == "" && !f.sacct {
		log.Warn("slurm_forgets_ends", "min_job_age", f.config["MinJobAge"],
			"advice", "set JobCompType=jobcomp/filetxt or use slurmdbd, so that ends are known for longer than MinJobAge")
	}
	if f.config["EnforcePartLimits"] == "NO" {
		log.Warn("slurm_accepts_impossible_jobs", "advice", "set EnforcePartLimits=ALL in slurm.conf")
	}
}
