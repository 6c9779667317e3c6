package powergate

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// found is a job found in the directory, and its record.
type found struct {
	job *job
	record
}

// restore finds the jobs in the directory and rebuilds the engine: what the batch system may
// have, in the order in which it was given, then what is held, in the order of submission.
func (g *Gate) restore() error {
	if err := g.records.open(); err != nil {
		return err
	}
	tags, strangers, err := g.records.tags()
	if err != nil {
		return err
	}
	for _, name := range strangers {
		g.config.Log.Warn("unknown_file", "name", name, "dir", g.config.Dir, "advice", "the peer ignores the file; remove it")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var jobs []found
	for _, tag := range tags {
		jobs = append(jobs, g.read(tag))
	}
	slices.SortFunc(jobs, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.Released, b.Released), cmp.Compare(a.Seq, b.Seq))
	})
	at := g.driver.Now()
	g.driver.Begin(g.config.Machine, rulesOf(g.config.Budget), g.changes)
	for _, one := range jobs {
		g.restoreJob(one)
	}
	g.driver.Rebuilt(g.driver.Rebuild(at, nil))
	return nil
}

// read reads a job's record. One that is damaged may be about a job that the batch system
// has: it is asked.
func (g *Gate) read(tag protocol.Tag) found {
	one := found{job: newJob(tag)}
	var err error
	if one.record, err = g.records.read(tag); err != nil {
		g.config.Log.Error("job_damaged", "job", tag.String(), "error", err,
			"advice", "check the disk; the batch system is asked whether it has the job")
		one.record = record{Tag: tag, Status: statusReleased}
		one.job.damaged = err.Error()
	}
	j := one.job
	j.Seq = one.Seq
	var association protocol.Association
	if one.Submission != nil {
		association = one.Submission.Spec.Association
	}
	j.arrived(one.Since, one.Request, association)
	g.jobs[tag] = j
	g.seq = max(g.seq, j.Seq)
	return one
}

// restoreJob brings a job to where it was. The lock is held.
func (g *Gate) restoreJob(one found) {
	j := one.job
	switch one.Status {
	case statusHeld:
		j.state = stateHeld
		g.driver.Add(&j.Job, false)
	case statusReleased:
		j.state, j.tried = stateReleasing, true
		g.starts = append(g.starts, start{job: j})
		g.addReleased(one)
	case statusRecalled:
		j.state, j.tried, j.recalled = stateSubmitted, true, true
		g.addReleased(one)
	case statusEnded:
		j.state, j.tried = stateEnded, true
	case statusRefused:
		g.reportRefused(j, one.Reason)
	case statusWithdrawn:
		j.state = stateWithdrawn
	}
}

// addReleased has a job that the batch system may have hold its CPUs and its power, unless their
// number is not known. The lock is held.
func (g *Gate) addReleased(one found) {
	if one.job.damaged == "" {
		one.job.Began = one.Released
		g.driver.Add(&one.job.Job, true)
	}
}
