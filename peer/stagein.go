package peer

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A guest that runs in place has no files to be fetched. At that moment its site finds out whether its directories are really
// those that its origin has, and otherwise gives the job back.
//
// The files of a guest are fetched after the grant is durable and before the local scheduler is called, so that
// a job never starts without them. Its run is in phase submitting meanwhile. That they are here is not durable:
// after a restart the shell finds what has come, and goes on from there.

// fetchInputs has the files of a guest fetched from its origin.
func (p *Peer) fetchInputs(r *localrun.Run, submission localsched.Submission) {
	op := event.StageInOp{Tag: r.Tag, From: submission.Origin}
	if submission.Spec.InPlace {
		files := submission.Payload
		op.Account, op.Dirs = submission.Account, protocol.DirsInPlace(files.WorkDir, files.Stdout, files.Stderr)
	} else {
		op.File = protocol.File{Stream: protocol.StageInArchive, Size: submission.Spec.StageIn, SHA256: submission.Payload.Staging.SHA256}
	}
	r.Fetching = true
	p.callFor(r, op, supplying)
}

// supplied goes on with whether the files of a guest are here. A failure is reported to the origin and tried
// again, however long that takes; files that are not as they were submitted end the job, which never started; one that
// cannot run in place goes back to its origin.
func (p *Peer) supplied(r *localrun.Run, result event.Result, err error) {
	r.Fetching = false
	if r.Phase != row.RunSubmitting || r.Withdraw { // the local scheduler is asked next, as after any submission
		return
	}
	done, err := step.ResultAs[event.StageInResult](result, err)
	switch {
	case err != nil:
		if why := clip("files not here yet: " + err.Error()); why != r.Reason {
			p.report(r, protocol.Pending, why)
		}
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Job: r.Tag.Job, Site: p.cfg.Site, Epoch: r.Tag.Epoch, Text: clip("stage in: " + err.Error())})
		p.after(p.backoff(r.Tries), due.OfTag(due.RunTimer, r.Tag))
		r.Tries++
	case done.Refused != "":
		p.refusedHere(r, handoff.NotInPlace+done.Refused)
	case done.Failed != "":
		p.inLocalQueue(r, "")
		p.runEnded(r, localsched.Change{Tag: r.Tag, State: protocol.Failed, Reason: clip(done.Failed)})
	default:
		r.Supplied = true
		p.submitRun(r)
	}
}
