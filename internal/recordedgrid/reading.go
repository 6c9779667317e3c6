package recordedgrid

import (
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/recording"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// reading is what one recording says, by the clock of its site.
type reading struct {
	path        string
	config      rules.Config
	seed        uint64
	first, last protocol.Instant

	sent     []message
	received []message
	calls    map[event.CallID]call
	quick    []protocol.Duration // of calls other than submissions, which waited for no record

	asked     map[event.AskID]submission
	jobs      []submitted
	runs      map[protocol.Tag]*run
	offers    map[protocol.Tag]protocol.Instant // to partners, when first made
	decisions map[protocol.JobID]*decision      // the last of each job
	order     []*run                            // in which they came into the local queue, of those that were seen pending there

	checks    []protocol.Instant // of the own load, every σ
	connected map[protocol.SiteName]bool
	lost      []protocol.Instant // when sessions with partners ended
	problems  []error
}

// message is one that a peer sent or received.
type message struct {
	other   protocol.SiteName
	at      protocol.Instant
	content string // kind and encoding
	durable bool   // it was sent when records were durable
}

type call struct {
	op      event.Op
	at      protocol.Instant
	durable bool // as of messages
}

type submission struct {
	at   protocol.Instant
	jobs []protocol.Job
	app  bool
}

// submitted is a job of this origin.
type submitted struct {
	id   protocol.JobID
	at   protocol.Instant
	spec protocol.Spec
}

// run is a placement of a job in the local queue of the site.
type run struct {
	tag     protocol.Tag
	call    event.CallID     // by which the peer put it in the queue
	called  protocol.Instant // when the peer wanted it in the queue
	queued  protocol.Instant // when it was there; 0: it was not
	started protocol.Instant // 0: it did not start
	ran     protocol.Duration
	state   protocol.State   // of its end
	pending bool             // it was seen pending in the local queue
	freed   protocol.Instant // when its end was seen; 0: it has not ended
	latency latency
}

func (r *run) ended() protocol.Instant { return r.started.Add(r.ran) }

// decision is what placed a job.
type decision struct {
	at        protocol.Instant // when the policy was asked
	answered  protocol.Instant // when it had decided
	policy    policy.Description
	snapshot  policy.Snapshot
	row       int               // of the job
	site      protocol.SiteName // chosen
	local     bool              // the job stayed without a round, because the wait was below φ
	wait      protocol.Duration // the own quote then
	threshold protocol.Duration // φ
}

// placed says whether the decision is the one that placed the job. One that leaves it at its origin may be
// older: under receiver initiation the job then waits, and a later check commits it.
func (d *decision) placed(job *Job, origin, site protocol.SiteName, ahead protocol.Duration) bool {
	return d != nil && d.site == site && (site != origin || d.answered.Add(-ahead) == job.called)
}

// readSite replays a recording. The error says why it cannot be used.
func readSite(path string) (*reading, error) {
	in, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	r := &reading{
		path: path, config: in.Header().Config, seed: in.Header().Seed, calls: map[event.CallID]call{}, asked: map[event.AskID]submission{},
		runs: map[protocol.Tag]*run{}, offers: map[protocol.Tag]protocol.Instant{}, decisions: map[protocol.JobID]*decision{},
		connected: map[protocol.SiteName]bool{},
	}
	open := openJobs(in.Rows())
	summary, err := recording.Observe(in, r.see)
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) (*reading, error) {
		return nil, fmt.Errorf("recording %s of site %s: "+format, append([]any{path, r.config.Site}, args...)...)
	}
	switch {
	case summary.Cut != "":
		return refuse("its end is missing, so what happened to its last jobs is unknown; stop the peer before you use its recording")
	case summary.End != "the peer stopped":
		return refuse("it ended early: %s", summary.End)
	case summary.Differences > 0:
		return refuse("this version does not replay it (step %d); use the version that wrote it", summary.First.Step)
	case summary.Steps == 0:
		return refuse("it has no steps")
	case open > 0:
		return refuse("it begins with %s that the site had already; begin it while the site has no jobs", protocol.Count(open, "job"))
	}
	return r, errors.Join(r.problems...)
}

// openJobs counts the jobs in the rows of a peer that have not ended, at its site or from there.
func openJobs(rows []row.Record) (open int) {
	for _, rec := range rows {
		_, isJob := rec.Row.(row.Job)
		if _, isRun := rec.Row.(row.Run); isJob || isRun {
			open++
		}
	}
	return open
}

func (r *reading) problem(format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, fmt.Errorf("recording %s of site %s: "+format, append([]any{r.path, r.config.Site}, args...)...))
	}
}

// maxProblems is how many of a recording are reported.
const maxProblems = 5

// see takes a step in.
func (r *reading) see(step recording.Step, ready event.Ready) {
	if r.first == 0 {
		r.first = step.Now
	}
	r.last = step.Now
	switch ev := step.Event.(type) {
	case event.Submit:
		r.asked[ev.Asked] = submission{at: step.Now, jobs: ev.Jobs, app: ev.Application != nil}
	case event.MessageIn:
		if ofPeer(ev.Body) {
			r.received = append(r.received, r.message(ev.From, step.Now, ev.Body, false))
		}
	case event.Connected:
		r.connected[ev.Card.Site] = true
	case event.Disconnected:
		if r.connected[ev.Site] {
			r.lost = append(r.lost, step.Now)
		}
		r.connected[ev.Site] = false
	case event.Reconfigure, event.SetPartners, event.ChangePrices:
		r.problem("the peer was reconfigured at step %d; the simulator has one configuration of a site", step.N)
	case event.SetDrain:
		r.problem("a site was drained or resumed at step %d; the simulator places jobs at all sites", step.N)
	case event.CallDone:
		r.called(step.Now, ev)
	case event.Tick, event.ClockSet, event.Cancel, event.SetHold, event.Update, event.DigestSeen, event.MemberSeen, event.Requeue, event.AskRecovery, event.Recover, event.TestSubmit,
		event.AskQueue, event.AskJob, event.AskOutput, event.AskSites, event.AskShares, event.AskRunHistory:
	}
	r.made(step, ready)
}

// ofPeer says whether a message is as the peer made it. The shell of a peer completes watermarks.
func ofPeer(m protocol.Message) bool {
	_, marks := m.(protocol.Watermark)
	return !marks
}

func (r *reading) message(other protocol.SiteName, at protocol.Instant, body protocol.Message, durable bool) message {
	text, err := peerv1.Encode(body)
	if err != nil {
		r.problem("a message at %d: %w", at, err)
	}
	return message{other: other, at: at, content: body.Kind() + string(text), durable: durable}
}

// sends takes in a message that the peer sends. An offer may be repeated.
func (r *reading) sends(now protocol.Instant, m event.Outgoing, durable bool) {
	if ofPeer(m.Body) {
		r.sent = append(r.sent, r.message(m.To, now, m.Body, durable))
	}
	if offer, ok := m.Body.(protocol.Offer); ok {
		if _, repeated := r.offers[offer.Tag()]; !repeated {
			r.offers[offer.Tag()] = now
		}
	}
}

// made takes in what the peer made of a step.
func (r *reading) made(step recording.Step, ready event.Ready) {
	durable := len(ready.Records) > 0
	for _, m := range ready.Messages {
		r.sends(step.Now, m, durable)
	}
	_, ticked := step.Event.(event.Tick)
	for _, one := range ready.Calls {
		r.calls[one.ID] = call{op: one.Op, at: step.Now, durable: durable}
		if quote, ok := one.Op.(event.QuoteOp); ok && ticked && step.N > 1 && len(quote.Query.Jobs) == 0 { // the first step asks for the load, too
			r.checks = append(r.checks, step.Now)
		}
		if submit, ok := one.Op.(event.SubmitOp); ok && r.runs[submit.Job.Tag] == nil {
			r.runs[submit.Job.Tag] = &run{tag: submit.Job.Tag, call: one.ID, called: step.Now}
		}
	}
	for _, answer := range ready.Answers {
		if done, ok := answer.Reply.(view.Submitted); ok {
			r.accepted(r.asked[answer.Asked], done.Jobs)
		}
	}
	for _, one := range ready.LogEvents {
		if one.Kind == event.LogJobPlacedLocally && len(one.Quotes) == 1 {
			r.decisions[one.Job] = &decision{at: step.Now, answered: step.Now, site: one.Site, local: true, wait: one.Quotes[0].AWT, threshold: r.config.LocalWaitThreshold}
		}
	}
}

// accepted takes in jobs that were submitted. A repeated submission has the numbers of the first.
func (r *reading) accepted(of submission, ids []protocol.JobID) {
	if of.app {
		r.problem("an application was submitted; applications are not simulated from recordings")
		return
	}
	for i, id := range ids {
		if i >= len(of.jobs) || slices.ContainsFunc(r.jobs, func(known submitted) bool { return known.id == id }) {
			continue
		}
		r.jobs = append(r.jobs, submitted{id: id, at: of.at, spec: of.jobs[i].Spec})
	}
}

// called takes in the answer to a call.
func (r *reading) called(now protocol.Instant, done event.CallDone) {
	of, known := r.calls[done.ID]
	if !known {
		return
	}
	delete(r.calls, done.ID)
	if done.Err != nil {
		return
	}
	_, quoted := done.Result.(event.QuoteResult)
	decided, isDecision := done.Result.(event.DecideResult)
	if (quoted || isDecision) && !of.durable {
		r.quick = append(r.quick, now.Sub(of.at))
	}
	if op, ok := of.op.(event.DecideOp); ok && isDecision && !op.Fallback {
		r.decided(of.at, now, op.Snapshot, decided.Decisions)
	}
	if result, ok := done.Result.(event.SubmitResult); ok && result.Refused == "" {
		r.submitted(of, now)
	}
	if result, ok := done.Result.(event.WatchResult); ok {
		for _, change := range result.Watched.Changes {
			r.changed(now, change)
		}
	}
}

// submitted notes that a job is in the local queue.
func (r *reading) submitted(by call, now protocol.Instant) {
	if op, ok := by.op.(event.SubmitOp); ok && r.runs[op.Job.Tag].queued == 0 {
		r.runs[op.Job.Tag].queued = now
	}
}

func (r *reading) decided(at, now protocol.Instant, snapshot policy.Snapshot, decisions []policy.Decision) {
	for _, d := range decisions {
		if d.Site < 0 || d.Site >= len(snapshot.Sites) || d.Job < 0 || d.Job >= len(snapshot.Jobs) {
			continue
		}
		r.decisions[snapshot.Jobs[d.Job].ID] = &decision{
			at: at, answered: now, policy: r.config.Policy, snapshot: snapshot, row: d.Job, site: snapshot.Sites[d.Site].Name,
		}
	}
}

func (r *reading) changed(now protocol.Instant, change localsched.Change) {
	one := r.runs[change.Tag]
	if one == nil {
		return
	}
	if change.State == protocol.Pending && !one.pending {
		one.pending = true
		r.order = append(r.order, one)
	}
	if change.Started != 0 {
		one.started = change.Started
	}
	if change.State.Terminal() && one.freed == 0 {
		one.freed, one.ran, one.state = now, change.Outcome.Ran, change.State
	}
}
