package node

import (
	"unique"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// changes publish how jobs stand. They see durable rows only, and of a batch the last of each: a state that a job had for a
// moment only may not be published.
type changes struct {
	origin protocol.SiteName
	store  Store
	stream *eventstream.Stream // nil: there is none
	jobs   map[protocol.JobID]standing
	left   map[protocol.JobID]standing // those of jobs that have ended or left with the present batch
}

// standing is how a job stands, as published last.
type standing struct {
	owner unique.Handle[jobOwner]
	site  unique.Handle[protocol.SiteName]
	array protocol.JobID
	state protocol.State
}

// jobOwner is whose a job is.
type jobOwner struct {
	user, account string
	from          protocol.SiteName // the origin of a guest; empty: the job is one of this site
}

func (o jobOwner) guest() bool { return o.from != "" }

// restore takes in a row as the node found it at its start.
func (c *changes) restore(record row.Record) {
	if c.stream == nil {
		return
	}
	switch r := record.Row.(type) { //nolint:gochecksumtype // the others are about no job
	case row.Job:
		c.set(standingOf(&r))
	case row.Array:
		c.set(standingOfArray(&r))
	case row.Guest:
		if status.Shown(&r) {
			c.set(c.standingOfGuest(&r))
		}
	case row.Run:
		c.run(&r)
	}
}

// run notes the state of a guest that has a run, and says whether it is another one.
func (c *changes) run(r *row.Run) (from protocol.State, changed bool) {
	id := r.Tag.Job
	known, ok := c.jobs[id]
	if !ok || !known.owner.Value().guest() {
		return 0, false // its job says more
	}
	from = known.state
	switch r.Phase {
	case row.RunRunning:
		known.state = protocol.Running
	case row.RunEnded:
		known.state = r.Outcome.State
	case row.RunSubmitting, row.RunQueued:
		known.state = protocol.Pending
	}
	c.set(id, known)
	return from, known.state != from
}

func (c *changes) set(id protocol.JobID, s standing) {
	if c.jobs == nil {
		c.jobs = make(map[protocol.JobID]standing)
	}
	c.jobs[id] = s
}

func standingOf(j *row.Job) (protocol.JobID, standing) {
	return j.Spec.Job, standing{
		owner: unique.Make(jobOwner{user: j.Spec.User}), site: unique.Make(status.PlacedAt(j)), array: j.Element.Array, state: stateOf(j),
	}
}

func standingOfArray(a *row.Array) (protocol.JobID, standing) {
	id, s := standingOf(&a.Job)
	s.state = stateOfArray(a)
	return id, s
}

func (c *changes) standingOfGuest(g *row.Guest) (protocol.JobID, standing) {
	return g.Spec.Job, standing{
		owner: unique.Make(jobOwner{user: g.Spec.User, account: g.Account, from: g.Origin}), site: unique.Make(c.origin), state: protocol.Pending,
	}
}

// traits are those of a job, by what is known of it here.
func (c *changes) traits(id protocol.JobID) *view.Traits {
	t := &view.Traits{ID: id}
	s, known := c.jobs[id]
	if !known {
		s, known = c.left[id]
	}
	if known {
		owner := s.owner.Value()
		t.User, t.Account, t.Guest, t.Array, t.Site, t.State = owner.user, owner.account, owner.guest(), s.array, s.site.Value(), s.state
	}
	return t
}

// take publishes the changes of jobs among the rows of a batch. [changes.forget] is to be called once the log events of the
// batch are published.
func (c *changes) take(rows []row.Record, now protocol.Instant) {
	if c.stream == nil {
		return
	}
	if len(rows) > 0 {
		defer c.stream.Happened()
	}
	for _, record := range rows {
		if finished, ok := record.Row.(row.Archived); ok {
			id := finished.View.ID
			c.publish(&eventstream.JobChange{At: now, From: c.jobs[id].state, Job: finished.View})
			c.leave(id)
		}
	}
	for _, record := range rows {
		if record.Row == nil && record.Table == row.GuestTable { // an offer was aborted
			if id, err := row.ParseJobKey(record.Key); err == nil {
				c.guestLeft(id, now)
			}
			continue
		}
		switch r := record.Row.(type) { //nolint:gochecksumtype // the others are about no job
		case row.Job:
			if id, s := standingOf(&r); !s.state.Terminal() { // its end is published with all that is known then
				c.job(id, s, &r, now)
			}
		case row.Array:
			r.Job.Started = r.Started
			id, s := standingOfArray(&r)
			c.job(id, s, &r.Job, now)
		case row.Guest:
			c.guest(&r, now)
		case row.Run:
			if from, changed := c.run(&r); changed {
				c.guestRun(&r, from, now)
			}
		}
	}
}

// job publishes that a job, or an array as one job, stands otherwise than before, if it does.
func (c *changes) job(id protocol.JobID, s standing, j *row.Job, now protocol.Instant) {
	before := c.jobs[id]
	if before == s {
		return
	}
	c.set(id, s)
	if !c.stream.Followed() {
		return
	}
	shown := viewOf(j, c.origin)
	shown.State = s.state
	c.publish(&eventstream.JobChange{At: now, From: before.state, Job: shown})
}

// guest publishes that a guest has come, or has left without a run.
func (c *changes) guest(g *row.Guest, now protocol.Instant) {
	_, known := c.jobs[g.Spec.Job]
	switch {
	case !status.Shown(g):
		c.guestLeft(g.Spec.Job, now)
	case !known:
		c.set(c.standingOfGuest(g))
		c.publish(&eventstream.JobChange{At: now, Job: status.Guest(g, nil, c.origin)})
	}
}

// guestLeft publishes that a guest has left without a run, if it is known here. Its row is gone, or does not say any more
// whose it was.
func (c *changes) guestLeft(id protocol.JobID, now protocol.Instant) {
	before, known := c.jobs[id]
	owner := jobOwner{}
	if known {
		owner = before.owner.Value()
	}
	if !owner.guest() {
		return
	}
	shown := status.Guest(&row.Guest{
		Spec: protocol.Spec{Request: protocol.Request{Job: id}, User: owner.user}, Origin: owner.from, Account: owner.account,
	}, nil, c.origin)
	shown.State, shown.Reason = before.state, ""
	c.publish(&eventstream.JobChange{At: now, From: before.state, Job: shown, Left: true})
	c.leave(id)
}

// guestRun publishes that the run of a guest has another state.
func (c *changes) guestRun(r *row.Run, from protocol.State, now protocol.Instant) {
	if !c.stream.Followed() {
		return
	}
	data, found, err := c.store.Get(string(row.GuestTable), row.JobKey(r.Tag.Job))
	if err != nil || !found {
		return // its end or its leaving is published next
	}
	stored, err := row.Decode(row.GuestTable, data)
	if g, ok := stored.(row.Guest); err == nil && ok && g.Tag() == r.Tag {
		c.publish(&eventstream.JobChange{At: now, From: from, Job: status.Guest(&g, r, c.origin)})
	}
}

func (c *changes) publish(change *eventstream.JobChange) {
	if c.stream.Followed() {
		c.stream.Publish(eventstream.AboutJob(change))
	}
}

// log publishes log events.
func (c *changes) log(entries []event.LogEvent) {
	if c.stream != nil && len(entries) > 0 {
		c.stream.Happened()
	}
	if !c.stream.Followed() {
		return
	}
	for i := range entries {
		var of *view.Traits
		if id := entries[i].Job; id != 0 {
			of = c.traits(id)
		}
		c.stream.Publish(eventstream.Logged(&entries[i], of))
	}
}

// leave drops a job that has ended or left, but for the log events of the same batch.
func (c *changes) leave(id protocol.JobID) {
	if c.left == nil {
		c.left = make(map[protocol.JobID]standing)
	}
	if s, known := c.jobs[id]; known {
		c.left[id] = s
		delete(c.jobs, id)
	}
}

// forget drops what [changes.leave] has left.
func (c *changes) forget() { clear(c.left) }
