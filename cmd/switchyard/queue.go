package main

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
)

func (a *app) queueCommand() *cobra.Command {
	var mine, guests bool
	var finished int
	cmd := &cobra.Command{
		Use:     "queue",
		Aliases: []string{"q"},
		Short:   "List the jobs that wait and run",
		Long: "List the jobs of this site's users, wherever they are. SITE is where a job has been placed,\n" +
			"- while it waits in the grid queue. --guests lists the jobs of other sites that are here.",
		Example: "  switchyard queue\n  switchyard queue --mine --json\n  switchyard queue --guests",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			queue, err := a.client().Queue(cmd.Context(), api.Listing{Finished: finished})
			if err != nil {
				return err
			}
			me := userName()
			queue.Jobs = slices.DeleteFunc(queue.Jobs, func(job peer.JobView) bool {
				return job.Guest != guests || mine && job.User != me
			})
			slices.SortFunc(queue.Jobs, func(x, y peer.JobView) int { return cmp.Compare(x.ID, y.ID) })
			if a.json {
				return a.printJSON(queue)
			}
			return a.queueTable(queue.Jobs).write(a.stdout, "", !a.noHeader)
		},
	}
	cmd.Flags().BoolVar(&mine, "mine", false, "only your own jobs")
	cmd.Flags().BoolVar(&guests, "guests", false, "the jobs of other sites that are here")
	cmd.Flags().IntVar(&finished, "finished", 0, "list so many jobs that have ended, too")
	return a.listing(cmd)
}

func (a *app) queueTable(jobs []peer.JobView) *table {
	t := newTable(" JOBID", "NAME", "USER", "STATE", " TIME", " CPUS", "ORIGIN", "SITE", "REASON")
	for _, job := range jobs {
		t.add(job.ID.String(), plain(job.Name), plain(job.User), job.State.String(), elapsed(job, a.now()),
			strconv.Itoa(job.CPUs), plain(string(job.Origin)), orDash(string(job.Site)), plain(job.Reason))
	}
	return t
}
