package peer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job that ended at a partner is shown as running until its output has arrived, or is given up. Its site
// keeps the files until then.

// collect brings the files of a job that ended elsewhere home.
func (p *Peer) collect(j *tables.Job) {
	if j == nil || j.Phase != row.JobStagingOut || j.InFlight {
		return
	}
	if p.site.Mute() {
		p.after(p.cfg.RetryMax, due.OfJob(due.CollectTimer, j.Spec.Job))
		return
	}
	if why := handoff.FilesMissing(&j.Spec, j.Outcome); why != "" {
		p.endWithoutOutput(j, why)
		return
	}
	if len(j.Outcome.Files) == 0 {
		p.handleCollected(j, event.CollectResult{}, collectOutput{tag: j.Tag()})
		return
	}
	wanted, why := handoff.Collectable(j.Outcome.Files, p.cfg.MaxOutput, p.cfg.MaxStaging)
	if len(wanted) == 0 {
		p.discard(j.Tag())
		p.endWithoutOutput(j, why)
		return
	}
	if p.awaitsFiles(j, protocol.StageOutBytes(wanted)) {
		return
	}
	j.InFlight = true
	op := event.CollectOp{Tag: j.Tag(), From: j.Site, Files: wanted, User: j.Spec.User, Payload: j.Payload()}
	p.call(op, collectOutput{j.Tag(), wanted, why})
}

// awaitsFiles has a job wait whose files would come back beside too many of its user, and otherwise has them count. Files that
// are too many alone come alone.
func (p *Peer) awaitsFiles(j *tables.Job, bytes int64) bool {
	user, most := tables.Owner{Origin: p.cfg.Site, User: j.Spec.User}, p.cfg.MaxUserStaging
	has := p.rows.Files.Beside(j.Spec.Job, user)
	if most == 0 || bytes == 0 || has == 0 || bytes <= most && has <= most-bytes {
		p.rows.Files.Note(j.Spec.Job, user, bytes)
		return false
	}
	j.Reason = fmt.Sprintf("output not here yet: its files have %d bytes, and %d bytes of its user's files are on their way: at most %d may be at once ([staging] max_user_bytes)",
		bytes, has, most)
	p.rows.SaveJob(j.Spec.Job)
	p.after(p.backoff(j.Tries), due.OfJob(due.CollectTimer, j.Spec.Job))
	j.Tries++
	return true
}

// collectOutput brings the files of one placement of a job of this origin home.
type collectOutput struct {
	tag    protocol.Tag
	wanted []protocol.File // those that are brought
	left   string          // why not all of them; empty: all
}

func (c collectOutput) answered(p *Peer, result event.Result, err error) {
	j := p.rows.Jobs[c.tag.Job]
	if j == nil {
		return
	}
	j.InFlight = false
	p.rows.Files.Note(c.tag.Job, tables.Owner{}, 0)
	if j.Tag() != c.tag || j.Phase != row.JobStagingOut { // it has been requeued, and its files are those of another run
		p.collect(j)
		return
	}
	done, err := step.ResultAs[event.CollectResult](result, err)
	if err != nil {
		p.collectLater(j, err)
		return
	}
	p.handleCollected(j, done, c)
}

// endWithoutOutput ends a job as it ended at its site, without its output, but for the beginnings of files that are kept. The site may
// drop it.
func (p *Peer) endWithoutOutput(j *tables.Job, why string, kept ...view.Undelivered) {
	p.endCollecting(j, p.leave(j, why), nil, kept)
}

// leave gives up output of a job that its site has, and returns what is to be said of it.
func (p *Peer) leave(j *tables.Job, why string) string {
	p.logEvent(event.LogEvent{Kind: event.LogOutputLeft, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: why})
	return "output not brought from " + string(j.Site) + ": " + why
}

func (p *Peer) collectLater(j *tables.Job, err error) {
	j.Reason = clip("output not here yet: " + err.Error())
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: j.Spec.Job, Site: j.Site, Text: clip("collect: " + err.Error())})
	p.after(p.backoff(j.Tries), due.OfJob(due.CollectTimer, j.Spec.Job))
	j.Tries++
}

// handleCollected takes what came of the output of a job that was asked for. That its site has it no longer is not believed of a
// partner in doubt.
func (p *Peer) handleCollected(j *tables.Job, done event.CollectResult, asked collectOutput) {
	if !done.Gone {
		output := handoff.NotWritten(done)
		if asked.left != "" {
			output = strings.TrimPrefix(output+"; "+p.leave(j, asked.left), "; ")
		}
		p.endCollecting(j, output, asked.wanted, done.Left)
		return
	}
	if one := p.partners.Of(j.Site); p.site.Mute() || one == nil || one.DistrustReason() != "" {
		p.collectLater(j, errors.New("whether its site still has it is in doubt"))
		return
	}
	p.endWithoutOutput(j, handoff.OutputGone(done), done.Left...)
}

// endCollecting ends a job as its outcome says, with what is to be said of its output, and lets
// its site drop that. Of the files that were brought, left are not where they are wanted. A job whose files are to come back, and are
// not there, has failed.
func (p *Peer) endCollecting(j *tables.Job, output string, brought []protocol.File, left []view.Undelivered) {
	j.Undelivered = handoff.Undelivered(j.Outcome, j.Spec.StageOut, brought, left)
	j.Outcome = handoff.WithOutput(j.Outcome, output)
	if slices.ContainsFunc(j.Undelivered, func(u view.Undelivered) bool { return u.File == protocol.StageOutArchive.String() }) {
		j.Outcome = handoff.WithoutFiles(j.Outcome)
	}
	site, tag := j.Site, j.Tag()
	p.endRun(j)
	p.send(site, protocol.ResultAck{Tag: tag})
}
