package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// noticeFiles says once that files do not travel, or do not come back, if another site may run one of the jobs and
// its user has not said that it needs none.
func (a *app) noticeFiles(leaving view.Elsewhere, batch batchscript.Batch) {
	leaving.MayLeaveTo = slices.DeleteFunc(slices.Clone(leaving.MayLeaveTo), func(site protocol.SiteName) bool {
		return slices.Contains(leaving.InPlace, site)
	})
	if len(leaving.MayLeaveTo) == 0 {
		return
	}
	if i := slices.IndexFunc(batch.Jobs, func(job batchscript.Job) bool { return !job.NoData }); i >= 0 {
		a.notice("no files are named that go with the job: at another site (%s) it starts in an empty directory instead of %s, and only its output is returned; "+
			"name them with --stage-in and --stage-out, keep it at this site with --sites=%s, or state with --stage-in-size=0 that it needs no files",
			siteNames(leaving), console.Plain(batch.Jobs[i].Payload.WorkDir), console.Plain(string(leaving.Site)))
		return
	}
	if slices.ContainsFunc(batch.Jobs, func(job batchscript.Job) bool { return job.NoReturn }) {
		a.notice("no files are named that come back: at another site (%s) only the job's output is returned, and what else it writes is deleted; "+
			"name the files with --stage-out, or state with --stage-out-size=0 that there are none", siteNames(leaving))
	}
}

// siteNames are some of the sites that may get a job.
func siteNames(leaving view.Elsewhere) string {
	const most = 3
	names := make([]string, 0, most+1)
	for _, site := range leaving.MayLeaveTo {
		if len(names) == most {
			names = append(names, fmt.Sprintf("%d more", len(leaving.MayLeaveTo)-most))
			break
		}
		names = append(names, string(site))
	}
	return console.Plain(strings.Join(names, ", "))
}

// noticeUnderSlurm says what in the scripts is not the same where a Slurm runs the jobs, if one may.
func (a *app) noticeUnderSlurm(ctx context.Context, leaving view.Elsewhere, batch batchscript.Batch) {
	if !anyJob(batch, func(job *batchscript.Job) bool { return len(job.UnderSlurm) > 0 }) {
		return
	}
	if len(leaving.MayLeaveTo) == 0 {
		if info, err := a.client().Info(ctx); err == nil && info.SlurmCommands {
			return // the built-in batch system runs them
		}
	}
	said := map[string]bool{} // components may share a script
	for i := range batch.Jobs {
		for _, text := range batch.Jobs[i].UnderSlurm {
			if !said[text] {
				a.notice("%s", console.Plain(text))
			}
			said[text] = true
		}
	}
}

// noticeElsewhere says what in the scripts is not the same at another site, if one may run the jobs.
func (a *app) noticeElsewhere(leaving view.Elsewhere, batch batchscript.Batch) {
	if len(leaving.MayLeaveTo) == 0 {
		return
	}
	said := map[string]bool{} // components may share a script
	notice := func(text string) {
		if !said[text] {
			a.notice("%s", console.Plain(text))
		}
		said[text] = true
	}
	for i := range batch.Jobs {
		job := &batch.Jobs[i]
		for _, v := range job.Uses {
			if !job.Export.Allows(v.Name, leaving.ExportRemote) {
				notice(fmt.Sprintf("%s: %s is not sent to other sites; add --export-remote=%s if the job needs it there", v.Place, v.Name, v.Name))
			}
		}
		for _, text := range job.Elsewhere {
			notice(text)
		}
	}
}
