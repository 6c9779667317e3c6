package peer

import (
	"errors"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
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
		p.handleCollected(j, event.CollectResult{})
		return
	}
	if why := handoff.OutputLimitReason(j.Outcome.Files, p.cfg.MaxOutput, p.cfg.MaxStaging); why != "" {
		p.discard(j.Tag())
		p.endWithoutOutput(j, why)
		return
	}
	j.InFlight = true
	op := event.CollectOp{Tag: j.Tag(), From: j.Site, Files: j.Outcome.Files, User: j.Spec.User, Payload: j.Payload()}
	p.call(op, collectOutput{j.Spec.Job})
}

// collectOutput brings the files of a job of this origin home. An id is that of one job for ever.
type collectOutput struct{ job protocol.JobID }

func (c collectOutput) answered(p *Peer, result event.Result, err error) {
	j := p.rows.Jobs[c.job]
	if j == nil {
		return
	}
	j.InFlight = false
	done, err := step.ResultAs[event.CollectResult](result, err)
	if err != nil {
		p.collectLater(j, err)
		return
	}
	p.handleCollected(j, done)
}

// endWithoutOutput ends a job as it ended at its site, without its output. The site may drop that.
func (p *Peer) endWithoutOutput(j *tables.Job, why string) {
	p.logEvent(event.LogEvent{Kind: event.LogOutputLeft, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: why})
	p.endCollecting(j, "output not brought from "+string(j.Site)+": "+why)
}

func (p *Peer) collectLater(j *tables.Job, err error) {
	j.Reason = clip("output not here yet: " + err.Error())
	p.rows.SaveJob(j.Spec.Job)
	p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: j.Spec.Job, Site: j.Site, Text: clip("collect: " + err.Error())})
	p.after(p.backoff(j.Tries), due.OfJob(due.CollectTimer, j.Spec.Job))
	j.Tries++
}

// handleCollected takes what came of a job's output. That its site has it no longer is not believed of a
// partner in doubt.
func (p *Peer) handleCollected(j *tables.Job, done event.CollectResult) {
	if !done.Gone {
		p.endCollecting(j, handoff.NotWritten(done))
		return
	}
	if one := p.partners.Of(j.Site); p.site.Mute() || one == nil || one.DistrustReason() != "" {
		p.collectLater(j, errors.New("whether its site still has it is in doubt"))
		return
	}
	p.endWithoutOutput(j, handoff.OutputGone(done))
}

// endCollecting ends a job as its outcome says, with what is to be said of its output, and lets
// its site drop that.
func (p *Peer) endCollecting(j *tables.Job, output string) {
	j.Outcome = handoff.WithOutput(j.Outcome, output)
	if output != "" && j.Spec.StageOut {
		j.Outcome = handoff.WithoutFiles(j.Outcome)
	}
	site, tag := j.Site, j.Tag()
	p.finishWith(j)
	p.send(site, protocol.ResultAck{Tag: tag})
}
