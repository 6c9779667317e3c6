package localqueue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/slurmlinks"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// SlurmCommands says whether jobs find Slurm's commands that speak to this peer.
func (q *Queue) SlurmCommands() bool { return q.commands != "" }

// linkSlurmCommands makes the links to this program, or removes them if jobs are to find none.
func (q *Queue) linkSlurmCommands() error {
	dir := filepath.Join(string(q.cfg.Site.StateDir), "slurm-commands")
	var err error
	if q.cfg.LocalSched.Plugin == config.Process && q.cfg.LocalSched.SlurmCommands {
		q.commands = dir
		program, failed := os.Executable()
		err = errors.Join(failed, slurmlinks.Make(program, dir))
	} else {
		err = slurmlinks.Remove(dir)
	}
	if err != nil {
		return fmt.Errorf("[localsched] slurm_commands: %w", err)
	}
	return nil
}
