package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/localqueue"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// LocalScheduler names the local scheduler of a configuration, with the CPUs of the site as far as they are known before a start.
func LocalScheduler(cfg *config.Config) string {
	plugin, cpus := cfg.LocalSched.Plugin, protocol.Count(localqueue.KnownCPUs(cfg), "CPU")
	switch {
	case plugin == config.Process && cfg.LocalSched.CPUs == 0:
		return fmt.Sprintf("%s, the built-in one, with the %s of this computer", plugin, cpus)
	case plugin == config.Process:
		return fmt.Sprintf("%s, the built-in one, with %s", plugin, cpus)
	case localqueue.KnownCPUs(cfg) == 0:
		return plugin + ", which says at the start of the peer how many CPUs it has"
	}
	return fmt.Sprintf("%s, with %s as last known", plugin, cpus)
}

// UnusedSlurm is a warning that jobs run past a Slurm whose commands are in a list of directories, as PATH has it; empty: there are
// none, or the configuration names its local scheduler. Links to this program, by which users call it as they call Slurm, are not
// Slurm's.
func UnusedSlurm(cfg *config.Config, path string) string {
	if cfg.LocalSched.Plugin != config.Process || cfg.Sets("localsched.plugin") {
		return ""
	}
	for _, dir := range filepath.SplitList(path) {
		if !slurmCommand(filepath.Join(dir, "sbatch")) || !slurmCommand(filepath.Join(dir, "sinfo")) {
			continue
		}
		return fmt.Sprintf("Slurm's commands are in %s, and [localsched] plugin is not set: the built-in scheduler runs jobs on this computer itself, past Slurm; "+
			"set plugin = %q (docs/slurm.md), or plugin = %q if that is meant", dir, config.SlurmCommands, config.Process)
	}
	return ""
}

// slurmCommand reports whether a program is there that is not this one.
func slurmCommand(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	return err == nil && !strings.HasPrefix(filepath.Base(target), "switchyard")
}
