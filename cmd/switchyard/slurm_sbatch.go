package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// exitSbatchUsage is the exit code of sbatch for a command line that it cannot read.
const exitSbatchUsage = 255

// sbatchFlags are the options of switchyard submit, as getopt reads them.
func sbatchFlags() []slurmtext.Flag {
	flags := []slurmtext.Flag{{Long: "help", Letter: 'h'}, {Long: "usage"}, {Long: "version", Letter: 'V'}}
	for _, option := range batchscript.Options() {
		if option.Long == "help" || option.Long == "usage" || option.Long == "version" {
			continue
		}
		flag := slurmtext.Flag{Long: option.Long, Also: option.Also}
		if option.Short != "" {
			flag.Letter = option.Short[0]
		}
		switch {
		case option.Maybe:
			flag.Argument = slurmtext.MaybeValue
		case option.Value != "":
			flag.Argument = slurmtext.WithValue
		}
		flags = append(flags, flag)
	}
	return flags
}

// scriptNamed checks in the words of sbatch that there is a script.
func scriptNamed(options *jobOptions, rest []string) error {
	if len(rest) == 0 || rest[0] == "-" {
		return nil
	}
	if _, wrapped := options.wrapped(); wrapped {
		return saying("sbatch: error: Script arguments not permitted with --wrap option")
	}
	if _, err := os.Stat(rest[0]); err != nil { //nolint:gosec // the user's own script
		return saying("sbatch: error: Unable to open file " + rest[0])
	}
	return nil
}

func noStart(refused *api.Error) error {
	lines := []string{"allocation failure: Requested node configuration is not available"}
	for _, site := range refused.Sites {
		lines = append(lines, fmt.Sprintf("sbatch: error:   %s: %s", site.Site, site.Reason))
	}
	return saying(lines...)
}

// sbatchCode is the exit code of sbatch --wait for a job that a shell would have another one for: 1 if it was ended by a
// signal, too.
func sbatchCode(job view.Job) int {
	if job.Signal != 0 {
		return exitFailed
	}
	return waitCode(job)
}

// srun becomes the srun of the real Slurm that the job runs under.
func (c *slurmCall) srun(args []string) error {
	if c.getenv("SLURM_JOB_ID") == "" {
		return saying("srun: error: srun starts tasks within a job here, and allocates none; submit a script with sbatch, or a command with " +
			"sbatch --wait --wrap='COMMAND'")
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	for _, dir := range filepath.SplitList(c.getenv("PATH")) {
		path := filepath.Join(dir, "srun")
		found, err := exec.LookPath(path)
		if err != nil || sameFile(found, program) {
			continue
		}
		return fmt.Errorf("start %s: %w", found, syscall.Exec(found, append([]string{"srun"}, args...), os.Environ())) //nolint:gosec // the user's own PATH
	}
	return saying("srun: error: the job runs under the batch system of Switchyard, which has no srun: all its CPUs are on this machine; " +
		"start the program itself, mpirun or, for several copies, a loop: " + strings.Join(args, " "))
}

func sameFile(x, y string) bool {
	a, errA := os.Stat(x)
	b, errB := os.Stat(y)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
