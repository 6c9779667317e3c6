package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// exitSlurmUsage is the exit code of sbatch and srun for a command line that they cannot read.
const exitSlurmUsage = 255

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

// sbatch submits a script.
func (c *slurmCall) sbatch(ctx context.Context, args []string) error {
	given, rest, err := slurmtext.Parse(sbatchFlags(), args, true)
	if err != nil {
		return &slurmError{lines: []string{"sbatch: " + err.Error(), `Try "sbatch --help" for more information`}, code: exitSlurmUsage}
	}
	options := &jobOptions{}
	for _, one := range given {
		switch one.Flag.Long {
		case "help", "usage":
			c.printf("Usage: sbatch [options] [script [args]]\nThis is Switchyard's sbatch: it takes the options of \"switchyard submit\"; " +
				"see \"switchyard submit --help\" and docs/cli.md.\n")
			return nil
		case "version":
			c.printVersion()
			return nil
		}
		options.list = append(options.list, batchscript.Setting{Long: one.Flag.Long, Value: one.Value})
	}
	if c.asGuest() {
		return saying(fmt.Sprintf("sbatch: error: Batch job submission failed: job %s is of site %s and runs at %s, where its user cannot submit jobs; "+
			"submit the next job at %s when this one has ended", c.getenv("SWITCHYARD_JOB_ID"), c.getenv("SWITCHYARD_ORIGIN_SITE"),
			c.getenv("SWITCHYARD_EXEC_SITE"), c.getenv("SWITCHYARD_ORIGIN_SITE")))
	}
	if err = scriptNamed(options, rest); err != nil {
		return err
	}
	batch, err := c.readJobs(ctx, rest, options)
	if err == nil {
		err = c.findInputs(ctx, batch)
	}
	if err != nil {
		return sbatchError(err)
	}
	if anyJob(batch, func(job *batchscript.Job) bool { return job.TestOnly }) {
		return c.testOnly(ctx, batch)
	}
	if err = linkInputs(batch); err != nil {
		return err
	}
	return sbatchError(c.submit(ctx, batch))
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

// sbatchError puts an error into the words of sbatch.
func sbatchError(err error) error {
	var script *batchscript.Error
	var known *exitError
	refused, isRefusal := errorOf(err)
	switch {
	case errors.As(err, &script):
		var lines []string
		for _, problem := range script.List {
			lines = append(lines, "sbatch: error: "+problem.String())
		}
		return saying(lines...)
	case isRefusal:
		lines := []string{"sbatch: error: Batch job submission failed: " + refused.Reason}
		for _, site := range refused.Sites {
			lines = append(lines, fmt.Sprintf("sbatch: error:   %s: %s", site.Site, site.Reason))
		}
		return saying(lines...)
	case errors.As(err, &known) && known.err != nil:
		return saying("sbatch: error: " + known.err.Error())
	}
	return err
}

// testOnly says when and where the job would start, by the best quote.
func (c *slurmCall) testOnly(ctx context.Context, batch batchscript.Batch) error {
	quoted, err := c.client().Quotes(ctx, submission(batch))
	if refused, ok := errorOf(err); ok && refused.Code == view.NoSite {
		return noStart(refused)
	}
	if err != nil {
		return sbatchError(err)
	}
	for i, quotes := range quoted.Jobs {
		if len(quotes) == 0 || quotes[0].Declined != "" {
			var reasons []view.SiteRefusal
			for _, one := range quotes {
				reasons = append(reasons, view.SiteRefusal{Site: one.Site, Reason: one.Declined})
			}
			return noStart(&api.Error{Refusal: view.Refusal{Sites: reasons}})
		}
		best := quotes[0]
		row := slurmtext.Job{Job: view.Described(batch.Jobs[i].Spec), Clock: &c.clock}
		c.notice("Job %d to start at %s using %d processors on nodes %s in partition %s", i,
			c.clock.Time(c.clock.Now.Add(max(0, best.AWT)), ""), max(1, batch.Jobs[i].Spec.CPUs), best.Site, row.Partitions())
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
