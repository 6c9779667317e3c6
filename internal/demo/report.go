package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// printEvents explains the last job that waited for a site and ran elsewhere.
func (d *Demo) printEvents(ctx context.Context, jobs []*tracked) error {
	for _, job := range slices.Backward(jobs) {
		if job.seen.job.Site == d.origin().Name {
			continue
		}
		facts, err := d.client.Explain(ctx, protocol.JobName{Job: job.id})
		if err != nil {
			return fmt.Errorf("explain %s: %w", job.Name, err)
		}
		d.say("\nThe event log of %s, as \"switchyard explain\" prints it:\n\n%s", job.Name, display.Story{}.Text(job.seen.job, facts))
		return nil
	}
	return nil
}

// report prints how the jobs fared and returns what went wrong.
func (d *Demo) report(jobs []*tracked, took time.Duration) error {
	d.say("")
	t := console.NewTable(" ID", "JOB", "ORIGIN", "SITE", " QUOTED WAIT", " ACTUAL WAIT", "EXIT")
	var wrong []error
	for _, job := range jobs {
		view := job.seen.job
		t.Add(job.id.String(), job.Name, string(view.Origin), console.OrDash(string(view.Site)),
			quotedWait(view), console.Brief(actualWait(view)), exitText(view))
		if view.State != protocol.Completed {
			wrong = append(wrong, fmt.Errorf("%s: %s", job.Name, display.State(view)))
		}
		if d.Policy == "local" && view.Site != d.origin().Name {
			wrong = append(wrong, fmt.Errorf("%s ran at %s, though policy local places jobs at their origin only", job.Name, view.Site))
		}
		if err := job.Verify(view.Stdout); err != nil {
			wrong = append(wrong, err)
		}
	}
	if err := t.Write(d.Out, "", true); err != nil {
		return err
	}
	d.say("Quotes assume that each job takes all of its limit, %s.\n", testbed.Limit.Text())
	if err := d.summary(jobs).Write(d.Out, "", true); err != nil {
		return err
	}
	if !d.brokered() {
		d.printBill(jobs)
	}
	for i := range d.applied {
		wrong = append(wrong, d.applied[i].faults()...)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the demo failed:\n%w", errors.Join(wrong...))
	}
	d.say("\nAll %s ran exactly once and their results are back at %s; %.1f s in all.",
		protocol.Count(len(jobs), "job"), d.origin().Name, took.Seconds())
	return nil
}

func quotedWait(job view.Job) string {
	if job.QuotedAWT == nil {
		return "-"
	}
	return console.Brief(*job.QuotedAWT)
}

// actualWait is the wait that the quote was about: from the placement on.
func actualWait(job view.Job) protocol.Duration {
	if job.Started == 0 || job.CommittedAt == 0 {
		return 0
	}
	return max(0, job.Started.Sub(job.CommittedAt))
}

func exitText(job view.Job) string {
	switch {
	case job.Signal != 0:
		return "signal " + strconv.Itoa(job.Signal)
	case job.State == protocol.Completed || job.State == protocol.Failed:
		return strconv.Itoa(job.ExitCode)
	}
	return job.State.String()
}

// summary adds up what each site did.
func (d *Demo) summary(jobs []*tracked) *console.Table {
	t := console.NewTable("SITE", " CPUS", " JOBS", " CPU TIME", " MEAN WAIT")
	for _, site := range d.grid.Sites {
		var n int
		var used, waited protocol.Duration
		for _, job := range jobs {
			view := job.seen.job
			if view.Site != site.Name || view.Started == 0 {
				continue
			}
			n++
			used += protocol.Duration(view.CPUs) * max(0, view.Ended.Sub(view.Started))
			waited += max(0, view.Started.Sub(view.Submitted))
		}
		t.Add(string(site.Name), strconv.Itoa(site.CPUs), strconv.Itoa(n), console.Brief(used),
			console.Brief(waited/protocol.Duration(max(1, n))))
	}
	return t
}
