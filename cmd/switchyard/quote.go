package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) quoteCommand() *cobra.Command {
	options := &jobOptions{}
	cmd := &cobra.Command{
		Use:                   "quote [options] [script | application.toml]",
		Annotations:           anyPeer(),
		DisableFlagsInUseLine: true,
		Short:                 "Request quotes for a job from every site",
		Long: "Request quotes for a batch script from every site, and submit nothing; the same as\n" +
			"submit --test-only. WAIT is the approximate wait, by which jobs are placed. P10, P50 and P90 are\n" +
			"predicted: with a probability of 80 %, the wait is between P10 and P90. COST is the price of the\n" +
			"site plus electricity, if the site has prices; --json has the terms. NOTE has other causes of the\n" +
			"wait than the queue and, if the site predicts it, an upper bound of the wait, nominally of 95 %\n" +
			"of the jobs. Quotes are not binding.\n" +
			"\n" +
			"Each component of an application has its own table. A component with several shapes has a row\n" +
			"for each CPU count. --long adds the cost by kind: CPU, LICENSE, ENERGY and DATA.\n" +
			"\n" +
			"--pareto prints the alternatives between cost and time (the Pareto front), the fastest first,\n" +
			"with the site and the CPUs of each component; → marks the one that would be chosen.",
		Example: "  switchyard quote job.sh\n  switchyard quote -n 16 -t 1:00:00 job.sh\n" +
			"  switchyard quote --long --cpus=4,8,16 job.sh\n  switchyard quote --pareto coupled.toml",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			batch, err := a.readJobs(cmd.Context(), args, options)
			if err != nil {
				return err
			}
			return a.quote(cmd.Context(), batch, options)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().SortFlags = false
	options.addTo(cmd.Flags())
	return a.listing(cmd)
}

func (a *app) quote(ctx context.Context, batch batchscript.Batch, options *jobOptions) error {
	request := submission(batch)
	request.Front = options.pareto
	quoted, err := a.client().Quotes(ctx, request)
	if err != nil {
		return err
	}
	if options.pareto {
		return a.pareto(quoted.TestSubmitResult, batch)
	}
	if a.json {
		return a.printJSON(quoted)
	}
	if len(quoted.Jobs) != len(batch.Jobs) {
		return fmt.Errorf("the peer returned quotes for %s, expected %d; its version may differ from this command",
			protocol.Count(len(quoted.Jobs), "job"), len(batch.Jobs))
	}
	if options.long || anyJob(batch, func(job *batchscript.Job) bool { return job.TestOnly }) {
		a.noticeFiles(quoted.Elsewhere, batch)
		a.noticeUnderSlurm(ctx, quoted.Elsewhere, batch)
		a.noticeElsewhere(quoted.Elsewhere, batch)
	}
	for i, quotes := range quoted.Jobs {
		if batch.Name != "" {
			a.componentTitle(i, batch.Jobs[i].Spec.Name)
		}
		if err = display.Quotes(quotes, options.long).Write(a.stdout, "", !a.noHeader); err != nil {
			return err
		}
		if i < len(quoted.Exports) && (batch.Jobs[i].TestOnly || options.long) {
			a.printExports(quoted.Exports[i])
		}
	}
	info, err := a.client().Info(ctx)
	if err != nil {
		return err
	}
	if text := display.CostNotice(info.Rules.Policy); text != "" {
		a.notice("%s", text)
	}
	return nil
}

// printExports says which variables another site that ran the job would see.
func (a *app) printExports(of api.Exported) {
	for _, list := range []struct {
		what  string
		names []string
	}{{"variables sent to other sites", of.Leave}, {"variables not sent to other sites", of.Stay}} {
		if len(list.names) > 0 {
			a.notice("%s: %s", list.what, console.Plain(strings.Join(list.names, " ")))
		}
	}
}

// componentTitle stands above the table of the i-th component.
func (a *app) componentTitle(i int, name string) {
	if i > 0 {
		a.printf("\n")
	}
	a.printf("Component %s:\n", console.Plain(name))
}
