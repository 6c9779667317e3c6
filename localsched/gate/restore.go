package gate

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// found is a job found in the folder, and its record.
type found struct {
	job *job
	record
}

// restore finds the jobs in the folder and rebuilds the engine: what the batch system may
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
		g.config.Log.Warn("stranger_in_gate", "name", name, "folder", g.config.Dir, "advice", "it is left alone; remove it")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var jobs []found
	for _, tag := range tags {
		jobs = append(jobs, g.load(tag))
	}
	slices.SortFunc(jobs, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.Released, b.Released), cmp.Compare(a.Seq, b.Seq))
	})
	for _, one := range jobs {
		g.enter(one)
	}
	g.replan(g.now())
	return nil
}

// load reads a job's record. One that is damaged may be about a job that the batch system
// has: it is asked.
func (g *Gate) load(tag protocol.Tag) found {
	one := found{job: newJob(tag)}
	var err error
	if one.record, err = g.records.read(tag); err != nil {
		g.config.Log.Error("job_damaged", "job", tag.String(), "error", err,
			"advice", "check the disk; the batch system is asked whether it has the job")
		one.record = record{Tag: tag, Status: isReleased}
		one.job.damaged = err.Error()
	}
	j := one.job
	j.seq, j.since, j.request = one.Seq, one.Since, one.Request
	g.jobs[tag] = j
	g.seq = max(g.seq, j.seq)
	return one
}

// enter brings a job to where it was. The lock is held.
func (g *Gate) enter(one found) {
	j := one.job
	switch one.Status {
	case isHeld:
		j.state = held
	case isReleased:
		j.state, j.tried = leaving, true
		g.starts = append(g.starts, start{job: j})
		g.engage(one)
	case isRecalled:
		j.state, j.tried, j.recalled = out, true, true
		g.engage(one)
	case isEnded:
		j.state, j.tried = ended, true
	case isRefused:
		g.endRefused(j, one.Reason)
	case isWithdrawn:
		j.state = withdrawn
	}
}

// engage has a job that the batch system may have hold its CPUs and its power, unless nobody
// knows how many. The lock is held.
func (g *Gate) engage(one found) {
	one.job.planned, one.job.began = one.job.damaged == "", g.clock.Steady(one.Released)
}

// replan makes the engine for what there is: what the batch system may have, in the order in which
// it was given, then what is held, in the order of submission. The lock is held.
func (g *Gate) replan(at protocol.Instant) {
	g.engine = engine.New(g.config.Machine, policy(g.budget))
	var given []*job
	for _, j := range g.jobs {
		if j.planned && j.state != held {
			given = append(given, j)
		}
		j.planned = false
	}
	clear(g.given)
	slices.SortFunc(given, func(a, b *job) int { return cmp.Or(cmp.Compare(a.began, b.began), cmp.Compare(a.seq, b.seq)) })
	for _, j := range given {
		// Without room for it, after the machine was made smaller, it runs beside.
		err := g.engine.Restore(j.engineJob(), g.clock.Instant(j.began))
		if j.planned = err == nil; err != nil {
			g.config.Log.Warn("released_job_not_planned", "job", j.tag.String(), "error", err,
				"advice", "the batch system has it; see whether the machine that it describes is right")
			continue
		}
		g.given[j.tag] = j
	}
	g.requeueAll(at)
	g.take(at, g.engine.Tick(at)) // for the budget
}

// requeueAll puts the held jobs in the engine's queue that are not in it: those found in the
// folder, and those that did not fit the rules of before. The caller attends. The lock is
// held.
func (g *Gate) requeueAll(at protocol.Instant) {
	var unplanned []*job
	for _, j := range g.jobs {
		if j.state == held && !j.planned {
			unplanned = append(unplanned, j)
		}
	}
	slices.SortFunc(unplanned, func(a, b *job) int { return cmp.Compare(a.seq, b.seq) })
	for _, j := range unplanned {
		g.requeue(at, j)
	}
	g.note(at, g.engine.Pass(at))
}

// requeue puts a held job in the engine's queue, without a pass. The lock is held.
func (g *Gate) requeue(at protocol.Instant, j *job) {
	if err := g.engine.Requeue(at, j.engineJob(), engine.Promised{}); err != nil {
		g.config.Log.Warn("held_job_not_planned", "job", j.tag.String(), "error", err,
			"advice", "it waits until the machine can run it, or until it is cancelled")
		g.waits(j, err.Error())
		return
	}
	j.planned = true
	g.waits(j, "")
}
