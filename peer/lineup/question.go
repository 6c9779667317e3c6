package lineup

import (
	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Question are the jobs of a question as a submission would make them, and the rows of its round: one for each
// shape in which a job may be placed. The jobs
// get IDs from the end of the site's range, so that none has the ID of a later job.
func Question(desk *admission.Desk, ev *event.TestSubmit, now protocol.Instant) (jobs map[protocol.JobID]*tables.Job, specs []protocol.Spec) {
	ev.Application, ev.Jobs = desk.Objectives.Weighed(ev.Application, ev.Jobs)
	jobs = make(map[protocol.JobID]*tables.Job, len(ev.Jobs))
	last := protocol.NewJobID(desk.Number, protocol.SeqsPerSite-1)
	var a *tables.Application
	if ev.Application != nil {
		a = &tables.Application{Application: row.Application{Application: *ev.Application, ID: last, Submitted: now}}
	}
	for i := range ev.Jobs {
		spec := desk.Spec(&ev.Jobs[i], ev.User, last-protocol.JobID(i), now)
		j := tables.Questioned(row.Job{Spec: spec, Component: broker.NewComponent(&ev.Jobs[i])}, ev.Jobs[i].Payload)
		j.App = a
		jobs[spec.Job] = j
		specs = append(specs, j.InShapes(Rows(desk.Policy, j))...)
	}
	return jobs, specs
}
