package peertest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// monitor watches the invariants of the hand-off. It sees every commit, every
// submission to a batch system, every start and every answer.
type monitor struct {
	world    *World
	granted  map[protocol.Tag]protocol.SiteName // by a durable GRANTED, or a commit at home
	epochs   map[protocol.JobID]protocol.Epoch  // the highest durable one at the origin
	runs     map[protocol.Tag]protocol.SiteName // with a durable SUBMITTING
	starts   map[protocol.JobID][]start
	acked    map[protocol.JobID]protocol.SiteName
	ends     map[protocol.JobID]protocol.State
	requeued map[protocol.JobID][]protocol.State // after their ends, and as what they had ended
	requeue  map[protocol.JobID]bool
	restarts map[protocol.JobID]int              // that are durable at the origin, or were in a life that was lost
	counted  map[protocol.JobID]int              // of those, by the rows that the origin has now
	idle     map[protocol.JobID]int              // of those, after ends without a start
	unknown  map[protocol.JobID]bool             // ended by an operator with its outcome unknown: may start once
	forced   map[protocol.JobID]bool             // by an operator: may run twice
	released map[protocol.Tag]protocol.SiteName  // whose result its origin has acknowledged
	again    map[protocol.Tag]bool               // released by a life that was lost: may be asked for again
	arrays   map[protocol.JobID]protocol.State   // of those that have ended
	never    map[protocol.JobID]protocol.State   // of elements that have ended before they became jobs
	elements map[protocol.JobID]protocol.Indexes // of arrays
	placed   map[protocol.Tag]bool               // whose conditions were looked at
	older    bool                                // a site has rows of an earlier time: what they depend on may have ended
	respool  map[protocol.SiteName]bool          // whose spool is of an earlier time: it may lack output
	taken    map[intake]int
	prepared map[guestAt]intake                // in which guests were
	startBy  map[protocol.Tag]protocol.Instant // what starts together with others, by its site's clock
	problems []string
}

// intake is a period of a life of a site, by its clock.
type intake struct {
	site   protocol.SiteName
	life   uint64
	period protocol.Instant
}

// guestAt is a guest in a life of a site.
type guestAt struct {
	site protocol.SiteName
	life uint64
	tag  protocol.Tag
}

// start is one start of a job.
type start struct {
	epoch protocol.Epoch
	site  protocol.SiteName
	at    protocol.Instant
}

func newMonitor(w *World) *monitor {
	return &monitor{
		world:   w,
		granted: map[protocol.Tag]protocol.SiteName{},
		epochs:  map[protocol.JobID]protocol.Epoch{},
		runs:    map[protocol.Tag]protocol.SiteName{},
		starts:  map[protocol.JobID][]start{},
		acked:   map[protocol.JobID]protocol.SiteName{},
		ends:    map[protocol.JobID]protocol.State{},
		requeue: map[protocol.JobID]bool{},

		requeued: map[protocol.JobID][]protocol.State{},

		restarts: map[protocol.JobID]int{},
		counted:  map[protocol.JobID]int{},
		idle:     map[protocol.JobID]int{},
		forced:   map[protocol.JobID]bool{},
		unknown:  map[protocol.JobID]bool{},
		startBy:  map[protocol.Tag]protocol.Instant{},
		taken:    map[intake]int{},

		released: map[protocol.Tag]protocol.SiteName{},
		again:    map[protocol.Tag]bool{},
		respool:  map[protocol.SiteName]bool{},
		arrays:   map[protocol.JobID]protocol.State{},
		never:    map[protocol.JobID]protocol.State{},
		elements: map[protocol.JobID]protocol.Indexes{},
		placed:   map[protocol.Tag]bool{},
		prepared: map[guestAt]intake{},
	}
}

func (m *monitor) problem(format string, args ...any) {
	m.problems = append(m.problems, fmt.Sprintf("after %v: ", m.world.now.Sub(Epoch))+fmt.Sprintf(format, args...))
}

// restored forgets what the rows of a site said after those that it has now. What was started
// stays known; a job that is in no row any more is lost with the backup.
func (m *monitor) restored(s *Site) {
	m.older = true
	for _, row := range s.rows.Jobs() {
		id := row.Spec.Job
		delete(m.ends, id)
		m.epochs[id], m.counted[id] = row.Epoch, row.Spec.Restarts
		delete(s.archive, id)
	}
	for _, array := range rowsAs[row.Array](s.rows.Rows[row.ArrayTable]) {
		delete(m.arrays, array.ID())
		delete(s.archive, array.ID())
		for index := range array.Pending.All() { // which may have become jobs since
			id := protocol.Element{Array: array.ID(), Index: index}.ID()
			delete(m.ends, id)
			delete(s.archive, id)
		}
	}
	m.endedBefore(s)
	for tag, at := range m.released {
		if at == s.Name {
			m.again[tag] = true
		}
	}
	for id, at := range m.acked {
		_, open := s.rows.Job(id)
		_, array := s.rows.Array(id)
		_, archived := s.archive[id]
		if at == s.Name && !open && !array && !archived {
			delete(m.acked, id)
		}
	}
}

// endedBefore puts what the rows of a site have as ended back into its archive, which an operator puts back with them. One that
// was requeued since may run.
func (m *monitor) endedBefore(s *Site) {
	for _, ended := range rowsAs[row.Requeueable](s.rows.Rows[row.RequeueableTable]) {
		id, shown := ended.ID(), view.Job{ID: ended.ID()}
		if ended.Array != nil {
			shown.State = ended.Array.Ended.State()
			m.arrays[id] = shown.State
		} else {
			shown.State, shown.Epoch = ended.Job.State, ended.Job.Epoch
			m.ends[id], m.unknown[id] = shown.State, true
			m.epochs[id], m.counted[id] = shown.Epoch, ended.Job.Spec.Restarts
		}
		s.archive[id] = shown
	}
}

// sent sees a message leave.
func (m *monitor) sent(s *Site, body protocol.Message) {
	if ack, ok := body.(protocol.ResultAck); ok {
		m.released[ack.Tag] = s.Name
	}
}

// outputGone sees a site answer that it has the output of a job no longer. Once the job has
// ended at its origin the output is not needed.
func (m *monitor) outputGone(s *Site, op event.CollectOp) {
	_, open := s.rows.Job(op.Tag.Job)
	if open && !m.again[op.Tag] && !m.respool[op.From] {
		m.problem("site %s has dropped the output of %v before %s had it", op.From, op.Tag, s.Name)
	}
}

// recorded sees a record on its way into the rows.
func (m *monitor) recorded(s *Site, rec row.Record) {
	if rec.Table == row.GuestTable {
		m.guestGone(s, rec)
	}
	if rec.Table == row.ArchiveTable && rec.Row == nil {
		m.reopened(rec.Key)
	}
	switch row := rec.Row.(type) { //nolint:gochecksumtype // its cases are values, each is here
	case row.Job:
		m.jobRecorded(s, row)
	case row.Guest:
		m.guestRecorded(s, row)
	case row.Run:
		m.runRecorded(s, row)
	case row.Archived:
		if row.View.Array != nil {
			m.arrays[row.View.ID] = row.View.State
			m.noteNever(row.View.ID, row.View.Array.NeverJobs)
		} else if !row.View.Guest {
			m.ended(s, row.View)
		}
	case row.Site:
		if n := s.cfg.Number; m.world.scribe.first[n] == 0 {
			m.world.scribe.first[n] = row.NextSeq
		}
	case row.Array:
		m.elements[row.ID()] = row.Asked.Indexes
		m.noteNever(row.ID(), row.Cancelled)
	case row.Payload, row.Dedup, row.Partner, row.Generation, nil:
	}
}

// reopened sees a job or an array leave the archive, since it was requeued.
func (m *monitor) reopened(key string) {
	id, err := row.ParseJobKey(key)
	if err != nil {
		m.problem("%q, the key of a job in the archive: %v", key, err)
	}
	if len(m.starts[id]) < 1+m.restarts[id]-m.idle[id] {
		m.idle[id]++
	}
	m.requeued[id] = append(m.requeued[id], cmp.Or(m.ends[id], m.arrays[id]))
	delete(m.ends, id)
	delete(m.arrays, id)
}

func (m *monitor) jobRecorded(s *Site, stored row.Job) {
	id := stored.Spec.Job
	tag := protocol.Tag{Job: id, Epoch: stored.Epoch}
	m.requeue[id] = stored.Spec.Requeue
	m.restarts[id] += max(0, stored.Spec.Restarts-m.counted[id])
	m.counted[id] = max(m.counted[id], stored.Spec.Restarts)
	if state, ok := m.ends[id]; ok {
		m.problem("job %v is recorded at %s after its end as %v", id, s.Name, state)
	}
	if stored.Epoch < m.epochs[id] {
		m.problem("the epoch of job %v falls from %d to %d", id, m.epochs[id], stored.Epoch)
	}
	m.epochs[id] = stored.Epoch
	switch stored.Phase {
	case row.JobGranted, row.JobCommittedLocal:
		if to, ok := m.granted[tag]; ok && to != stored.Site {
			m.problem("epoch %v is granted to %s and to %s", tag, to, stored.Site)
		}
		m.granted[tag] = stored.Site
	case row.JobInGridQueue, row.JobReserving, row.JobOffered, row.JobHandedOff, row.JobRecalling, row.JobStagingOut, row.JobEnding:
	}
}

// checkArrays sees that no array has more elements placed or running than its user allows, at all sites together.
func (m *monitor) checkArrays(s *Site) {
	if len(s.rows.Rows[row.ArrayTable]) == 0 {
		return
	}
	open := map[protocol.JobID]int{}
	for _, job := range s.rows.Jobs() {
		if job.Phase != row.JobInGridQueue && !job.Restored {
			open[job.Element.Array]++
		}
	}
	for _, stored := range rowsAs[row.Array](s.rows.Rows[row.ArrayTable]) {
		if throttle := stored.Asked.Throttle; throttle > 0 && open[stored.ID()] > throttle && !m.respool[s.Name] {
			m.problem("array %v at %s has %d elements placed or running, at most %d may be", stored.ID(), s.Name, open[stored.ID()], throttle)
		}
	}
}

func (m *monitor) guestRecorded(s *Site, stored row.Guest) {
	old, ok := s.rows.Rows[row.GuestTable][jobKey(stored.Spec.Job)].(row.Guest)
	if ok && stored.Epoch < old.Epoch {
		m.problem("the epoch of guest %v at %s falls from %d to %d", stored.Spec.Job, s.Name, old.Epoch, stored.Epoch)
	}
	if stored.Phase == row.GuestPrepared && (!ok || stored.Epoch > old.Epoch) {
		m.countIntake(s, stored)
	}
	closed := old.Phase == row.GuestAborted || old.Phase == row.GuestClosed
	if ok && stored.Epoch == old.Epoch && closed && stored.Phase != old.Phase {
		m.problem("guest %v at %s rises from its tombstone as %s", stored.Spec.Job, s.Name, stored.Phase)
	}
}

// guestGone takes a guest that was prepared and did not come out of its period's count.
func (m *monitor) guestGone(s *Site, rec row.Record) {
	old, _ := s.rows.Rows[row.GuestTable][rec.Key].(row.Guest)
	stored, kept := rec.Row.(row.Guest)
	if old.Phase != row.GuestPrepared || (kept && stored.Epoch == old.Epoch && stored.Phase != row.GuestAborted) {
		return
	}
	if in, ok := m.prepared[guestOf(s, old)]; ok {
		m.taken[in]--
	}
}

func guestOf(s *Site, row row.Guest) guestAt {
	return guestAt{site: s.Name, life: s.life, tag: protocol.Tag{Job: row.Spec.Job, Epoch: row.Epoch}}
}

// countIntake adds the guests of a period up against MaxQ. A peer that starts again counts
// from the beginning.
func (m *monitor) countIntake(s *Site, row row.Guest) {
	if s.cfg.MaxJobsPerCycle == 0 {
		return
	}
	in := intake{site: s.Name, life: s.life, period: row.Since / protocol.Instant(s.cfg.WithDefaults().CycleInterval)}
	m.prepared[guestOf(s, row)] = in
	if m.taken[in]++; m.taken[in] > s.cfg.MaxJobsPerCycle {
		m.problem("%s has taken %d guests in a period, its MaxQ is %d", s.Name, m.taken[in], s.cfg.MaxJobsPerCycle)
	}
}

func (m *monitor) runRecorded(s *Site, row row.Run) {
	if at, ok := m.runs[row.Tag]; ok && at != s.Name {
		m.problem("%v is placed at %s and at %s", row.Tag, at, s.Name)
	}
	m.runs[row.Tag] = s.Name
}

func (m *monitor) ended(s *Site, view view.Job) {
	if state, ok := m.ends[view.ID]; ok {
		m.problem("job %v ends as %v after it has ended as %v", view.ID, view.State, state)
	}
	if !view.State.Terminal() {
		m.problem("job %v is archived at %s as %v", view.ID, s.Name, view.State)
	}
	m.ends[view.ID] = view.State
	m.unknown[view.ID] = strings.HasPrefix(view.Reason, "outcome unknown")
	if cancelled := view.State == protocol.Cancelled; !m.unknown[view.ID] && (cancelled || !m.requeue[view.ID]) {
		m.checkOver(view)
	}
	starts := len(m.starts[view.ID])
	if starts == 0 && view.Array == nil && (view.State == protocol.Completed || view.State == protocol.Failed || view.State == protocol.Timeout) {
		m.problem("job %v ends as %v and has never started", view.ID, view.State)
	}
}

// checkOver looks for placements of a job that has ended which still run.
func (m *monitor) checkOver(view view.Job) {
	for _, one := range append(slices.Clone(m.starts[view.ID]), start{epoch: view.Epoch}) {
		for _, s := range m.world.sites {
			if tag := (protocol.Tag{Job: view.ID, Epoch: one.epoch}); s.Batch.runs(tag) {
				m.problem("job %v ends as %v and %v runs at %s", view.ID, view.State, tag, s.Name)
			}
		}
	}
}

// submitted sees a job on its way into a batch system.
func (m *monitor) submitted(s *Site, job localsched.Submission) {
	if m.runs[job.Tag] != s.Name {
		m.problem("%v is submitted at %s before SUBMITTING is durable", job.Tag, s.Name)
	}
	if to, ok := m.granted[job.Tag]; !ok || to != s.Name {
		m.problem("%v is submitted at %s without a durable grant (granted to %q)", job.Tag, s.Name, to)
	}
	if job.Payload == nil || len(job.Payload.Script) == 0 {
		m.problem("%v is submitted at %s without its script", job.Tag, s.Name)
	}
	// Not the other way around: rows that were put back may be older than the submission.
	if m.held(s, job.Tag) && job.StartBy == 0 {
		m.problem("%v, for which room is held, is submitted at %s to start whenever it may", job.Tag, s.Name)
	}
	m.startBy[job.Tag] = job.StartBy
	if job.Account == "" {
		m.problem("%v is submitted at %s without an account", job.Tag, s.Name)
	}
}

// held says whether room was held at a site for a placement, so that it starts together with others.
func (m *monitor) held(s *Site, tag protocol.Tag) bool {
	if row, ok := s.rows.Job(tag.Job); ok {
		return row.Epoch == tag.Epoch && row.ReservedAt != 0
	}
	row, ok := s.rows.Rows[row.GuestTable][jobKey(tag.Job)].(row.Guest)
	return ok && row.Epoch == tag.Epoch && row.ReservedAt != 0
}

// startedAt sees the jobs start that a site's batch system starts.
func (m *monitor) startedAt(s *Site) func(protocol.Tag) {
	return func(tag protocol.Tag) { m.started(s, tag) }
}

// started sees a job start.
func (m *monitor) started(s *Site, tag protocol.Tag) {
	earlier := m.starts[tag.Job]
	for _, one := range earlier {
		if one.epoch == tag.Epoch {
			m.problem("%v starts twice, at %s and at %s", tag, one.site, s.Name)
		}
	}
	if len(earlier) > 0 && !m.requeue[tag.Job] && !m.forced[tag.Job] {
		m.startedAgain(s, tag, earlier)
	}
	if by := m.startBy[tag]; by != 0 && s.now() > by {
		m.problem("%v starts at %s %v later than it may start together with others", tag, s.Name, s.now().Sub(by))
	}
	current := !m.requeue[tag.Job] || tag.Epoch == m.epochs[tag.Job]
	if state, ok := m.ends[tag.Job]; ok && (current || state == protocol.Cancelled) && !m.unknown[tag.Job] {
		m.problem("%v starts at %s after its end as %v is shown", tag, s.Name, state)
	}
	m.starts[tag.Job] = append(earlier, start{epoch: tag.Epoch, site: s.Name, at: m.world.now})
}

// startedAgain sees a job start once more that runs once, unless its origin has durably taken the end of the run before.
func (m *monitor) startedAgain(s *Site, tag protocol.Tag, earlier []start) {
	if len(earlier) > m.restarts[tag.Job]-m.idle[tag.Job] {
		m.problem("run-once job %v starts again, at %s after %s", tag, s.Name, earlier[0].site)
	}
	for _, one := range earlier {
		if before := (protocol.Tag{Job: tag.Job, Epoch: one.epoch}); m.world.Site(one.site).Batch.runs(before) {
			m.problem("%v starts at %s while %v runs at %s", tag, s.Name, before, one.site)
		}
	}
}

// answered sees the reply to an API question.
func (m *monitor) answered(s *Site, reply view.Reply) {
	if submitted, ok := reply.(view.Submitted); ok {
		for _, id := range submitted.Jobs {
			m.acked[id] = s.Name
		}
		m.checkAcked(submitted.Jobs)
	}
}

// check looks at all rows.
func (m *monitor) check() {
	for id := range m.acked {
		m.checkAcked([]protocol.JobID{id})
	}
	for _, s := range m.world.sites {
		m.checkLimits(s)
		m.checkArrays(s)
		m.checkPayloads(s)
	}
}

func (m *monitor) checkAcked(ids []protocol.JobID) {
	for _, id := range ids {
		s := m.world.Site(m.acked[id])
		_, job := s.rows.Job(id)
		_, array := s.rows.Array(id)
		live := job || array
		_, archived := s.archive[id]
		if live == archived {
			m.problem("acknowledged job %v at %s: in its rows %t, in its archive %t", id, s.Name, live, archived)
		}
	}
}

// checkLimits adds the open guests up against the limits of their origins.
func (m *monitor) checkLimits(s *Site) {
	jobs, cpus := map[protocol.SiteName]int{}, map[protocol.SiteName]int{}
	for _, stored := range s.rows.Rows[row.GuestTable] {
		if g, ok := stored.(row.Guest); ok && (g.Phase == row.GuestPrepared || g.Phase == row.GuestAccepted) {
			jobs[g.Origin]++
			cpus[g.Origin] += g.Spec.CPUs
		}
	}
	all := 0
	for _, n := range cpus {
		all += n
	}
	if share := s.cfg.Protect.Share; share > 0 && all*protocol.PPM/s.cfg.Capacity.CPUs > share {
		m.problem("guests have %d of the %d CPUs of %s, which allows %d ppm", all, s.cfg.Capacity.CPUs, s.Name, share)
	}
	for _, one := range s.cfg.Partners {
		if jobs[one.Site] > one.MaxJobs || (one.MaxCPUs > 0 && cpus[one.Site] > one.MaxCPUs) {
			m.problem("%s has %d jobs and %d CPUs of %s, its limits are %d and %d",
				s.Name, jobs[one.Site], cpus[one.Site], one.Site, one.MaxJobs, one.MaxCPUs)
		}
	}
}

// checkPayloads looks for payloads without a job and runs without either.
func (m *monitor) checkPayloads(s *Site) {
	for key := range s.rows.Rows[row.PayloadTable] {
		_, job := s.rows.Rows[row.JobTable][key]
		_, array := s.rows.Rows[row.ArrayTable][key]
		_, ended := s.rows.Rows[row.RequeueableTable][key]
		guest, _ := s.rows.Rows[row.GuestTable][key].(row.Guest)
		if !job && !ended && !array && guest.Phase != row.GuestPrepared && guest.Phase != row.GuestAccepted {
			m.problem("payload %s at %s belongs to nothing", key, s.Name)
		}
	}
	for _, run := range s.rows.Runs() {
		key := jobKey(run.Tag.Job)
		_, job := s.rows.Rows[row.JobTable][key]
		if _, guest := s.rows.Rows[row.GuestTable][key]; !job && !guest {
			m.problem("run %v at %s belongs to nothing", run.Tag, s.Name)
		}
	}
}
