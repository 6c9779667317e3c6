package peer

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job that ended at a partner is shown as running until its output is here, or nobody waits
// for it any more. Its site keeps the files until then.

// collect brings the files of a job that ended elsewhere home.
func (p *Peer) collect(j *tables.Job) {
	if j == nil || j.Phase != row.JobStagingOut || j.InFlight {
		return
	}
	if p.site.Mute() {
		p.after(p.cfg.RetryMax, timer{kind: collectTimer, job: j.Spec.Job})
		return
	}
	if len(j.Outcome.Files) == 0 {
		p.handleCollected(j, event.CollectResult{})
		return
	}
	if why := p.outputLimitReason(j.Outcome.Files); why != "" {
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

// outputLimitReason says why a job's files are not brought home; empty: they are.
func (p *Peer) outputLimitReason(files []protocol.File) string {
	total, most := int64(0), p.cfg.MaxOutput
	for _, file := range files {
		if file.Size > most-total {
			return fmt.Sprintf("it has more than the %d MiB that [results] max_output allows here", most>>20)
		}
		total += file.Size
	}
	return ""
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
	p.after(p.backoff(j.Tries), timer{kind: collectTimer, job: j.Spec.Job})
	j.Tries++
}

func (p *Peer) handleCollected(j *tables.Job, done event.CollectResult) {
	if done.Gone {
		p.outputGone(j, done.Kept)
		return
	}
	if done.Problem == "" {
		p.endCollecting(j, "")
		return
	}
	where := ""
	if done.Kept != "" {
		where = "; it is kept in " + done.Kept
	}
	p.endCollecting(j, fmt.Sprintf("output not written: %s%s", done.Problem, where))
}

// outputGone ends a job whose site has its output no longer: a store of an earlier time asks
// again for what a lost life of it has taken. A partner that is in doubt is not believed.
func (p *Peer) outputGone(j *tables.Job, kept string) {
	one := p.partners.Of(j.Site)
	if p.site.Mute() || one == nil || one.DistrustReason() != "" {
		p.collectLater(j, errors.New("whether its site still has it is in doubt"))
		return
	}
	why := "it has the output no longer; an earlier life of this site's store has taken it, or it is lost"
	if kept != "" {
		why += "; what had come of it is kept in " + kept
	}
	p.endWithoutOutput(j, why)
}

// endCollecting ends a job as its outcome says, with what is to be said of its output, and lets
// its site drop that.
func (p *Peer) endCollecting(j *tables.Job, output string) {
	if output != "" {
		outcome := *j.Outcome
		if outcome.Reason != "" {
			output = outcome.Reason + "; " + output
		}
		outcome.Reason = clip(output)
		j.Outcome = &outcome
	}
	site, tag := j.Site, j.Tag()
	p.finishWith(j)
	p.send(site, protocol.ResultAck{Tag: tag})
}
