package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The largest bodies of small requests, in bytes.
const (
	maxResume  = 4096
	maxChange  = 1 << 20
	maxRequeue = 1 << 20 // with lists of elements
)

func (s *server) submit(w http.ResponseWriter, r *http.Request, who caller) error {
	body, err := s.submission(w, r, who)
	if err != nil {
		return err
	}
	if body.Front {
		return refuse(view.BadRequest, "front applies to quotes only; omit it to submit")
	}
	if err = body.complete(); err != nil {
		return refuse(view.BadRequest, "%v", err)
	}
	content, err := body.digest()
	if err != nil {
		return err
	}
	answer, err := s.Node.Ask(lasting(r).Context(), func(asked event.AskID) event.Event {
		return event.Submit{
			Asked: asked, Key: body.Key, SHA256: content, User: who.user, OwnOnly: s.Private && !s.manages(who), Admin: s.manages(who), Jobs: body.Jobs, Application: body.Application,
		}
	})
	if err != nil {
		return err
	}
	if submitted, ok := answer.(view.Submitted); ok && !s.Mail && wantsMail(body.Jobs) {
		submitted.Notices = append(slices.Clip(submitted.Notices), "no mail is sent about the job: the site has no [mail] command in its configuration")
		answer = submitted
	}
	return reply(w, http.StatusCreated, answer)
}

// digest is the SHA-256 of a submission that has a key; 0: it has none.
func (s *Submission) digest() (sum [sha256.Size]byte, err error) {
	if s.Key == "" {
		return sum, nil
	}
	hash := sha256.New()
	if err = json.NewEncoder(hash).Encode(s); err != nil {
		return sum, fmt.Errorf("compute the digest of the submission: %w", err)
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}

func wantsMail(jobs []protocol.Job) bool {
	return slices.ContainsFunc(jobs, func(job protocol.Job) bool { return len(job.Mail.Events) > 0 })
}

func (s *server) quotes(w http.ResponseWriter, r *http.Request, who caller) error {
	body, err := s.submission(w, r, who)
	if err != nil {
		return err
	}
	jobs := slices.Clone(body.Jobs)
	for i := range jobs {
		jobs[i].Payload = nil // no quote needs it
	}
	answer, err := s.Node.Ask(r.Context(), func(asked event.AskID) event.Event {
		return event.TestSubmit{
			Asked: asked, User: who.user, Jobs: jobs, Application: body.Application, Front: body.Front,
		}
	})
	if err != nil {
		return err
	}
	quoted, ok := answer.(view.TestSubmitResult)
	if !ok {
		return refuse(view.Unavailable, "the peer answered with %T", answer)
	}
	return reply(w, http.StatusOK, Quoted{TestSubmitResult: quoted, Exports: s.exported(body.Jobs)})
}

// exported says of each job which variables would leave the site with it. It is nil when
// no job has any.
func (s *server) exported(jobs []protocol.Job) []Exported {
	out, some := make([]Exported, len(jobs)), false
	for i := range jobs {
		job := &jobs[i]
		if job.Payload == nil {
			continue
		}
		for _, pair := range job.Payload.Env {
			name, _, _ := strings.Cut(pair, "=")
			if name == protocol.ExportVariable { // which is not its user's
				continue
			}
			list := &out[i].Stay
			if job.Export.Allows(name, s.ExportRemote) {
				list = &out[i].Leave
			}
			*list, some = append(*list, name), true
		}
	}
	if !some {
		return nil
	}
	return out
}

// submission reads the request's body when it is its user's turn.
func (s *server) submission(w http.ResponseWriter, r *http.Request, who caller) (Submission, error) {
	if r.ContentLength > MaxBody {
		return Submission{}, &http.MaxBytesError{Limit: MaxBody}
	}
	done, err := s.bounds.read(r.Context(), who.uid)
	if err != nil {
		return Submission{}, err
	}
	defer done()
	body, err := DecodeSubmission(http.MaxBytesReader(w, r.Body, MaxBody))
	if err == nil {
		if who.remote() {
			atHome(body.Jobs, who)
		}
		return body, nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return body, err
	}
	return body, refuse(view.BadRequest, "%v", err)
}

// atHome adds the variables that a login at the site sets to jobs of a caller who may not be there, unless he gives them.
func atHome(jobs []protocol.Job, who caller) {
	for i := range jobs {
		payload := jobs[i].Payload
		if payload == nil {
			continue
		}
		for _, login := range [][2]string{{"HOME", who.home}, {"LOGNAME", who.user}, {"SHELL", who.shell}, {"USER", who.user}} {
			given := slices.ContainsFunc(payload.Env, func(variable string) bool { return strings.HasPrefix(variable, login[0]+"=") })
			if !given && login[1] != "" {
				payload.Env = append(payload.Env, login[0]+"="+login[1])
			}
		}
	}
}

// lasting is a request that the peer is about to carry out: its answer is waited for also if the caller goes, so that the audit log has
// what came of it. The node ends the wait when it stops.
func lasting(r *http.Request) *http.Request {
	return r.WithContext(context.WithoutCancel(r.Context()))
}

// ask puts a question to the peer and sends on what it says.
func (s *server) ask(
	w http.ResponseWriter, r *http.Request, code int, question func(event.AskID) event.Event,
) error {
	answer, err := s.Node.Ask(r.Context(), question)
	if err != nil {
		return err
	}
	return reply(w, code, answer)
}

func (s *server) job(w http.ResponseWriter, r *http.Request, who caller) error {
	id, err := s.jobID(r, who)
	if err != nil {
		return err
	}
	view, err := s.jobFor(r.Context(), who, id)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, view)
}

func (s *server) cancel(w http.ResponseWriter, r *http.Request, who caller) error {
	var elements protocol.Indexes
	if err := parse(r.URL.Query(), map[string]func([]string) error{"elements": once(&elements, protocol.ParseIndexes)}); err != nil {
		return err
	}
	id, err := s.requested(r, who)
	if err != nil {
		return err
	}
	if err = s.checkElements(r.Context(), who, protocol.JobName{Job: id, Elements: elements}); err != nil {
		return err
	}
	return s.endedOr(r, who, id, s.ask(w, lasting(r), http.StatusAccepted, func(asked event.AskID) event.Event {
		return event.Cancel{Asked: asked, Job: id, Elements: elements, User: who.user, Admin: s.manages(who)}
	}))
}

// endedOr is the error of a request about a job that is open, or that the job has ended.
func (s *server) endedOr(r *http.Request, who caller, id protocol.JobID, err error) error {
	if err == nil || refusalOf(err).Code != view.NotFound {
		return err
	}
	if job, lookErr := s.jobFor(r.Context(), who, id); lookErr == nil && job.State.Terminal() {
		return refuse(view.Conflict, "job %v has already ended (%v)", id, job.State)
	}
	return err
}

// hold has a pending job held.
func (s *server) hold(w http.ResponseWriter, r *http.Request, who caller) error {
	return s.setHold(w, r, who, true)
}

// release ends the hold of a job.
func (s *server) release(w http.ResponseWriter, r *http.Request, who caller) error {
	return s.setHold(w, r, who, false)
}

func (s *server) setHold(w http.ResponseWriter, r *http.Request, who caller, hold bool) error {
	id, err := s.requested(r, who)
	if err != nil {
		return err
	}
	return s.endedOr(r, who, id, s.ask(w, lasting(r), http.StatusAccepted, func(asked event.AskID) event.Event {
		return event.SetHold{Asked: asked, Job: id, Hold: hold, User: who.user, Admin: s.manages(who)}
	}))
}

// update changes a job that has not started.
func (s *server) update(w http.ResponseWriter, r *http.Request, who caller) error {
	id, err := s.requested(r, who)
	if err != nil {
		return err
	}
	var change protocol.Change
	decoder := newDecoder(http.MaxBytesReader(w, r.Body, maxChange))
	if err = decoder.Decode(&change); err == nil {
		err = change.Check()
	}
	if err != nil {
		return refuse(view.BadRequest, "invalid change of a job: %v", err)
	}
	return s.endedOr(r, who, id, s.ask(w, lasting(r), http.StatusAccepted, func(asked event.AskID) event.Event {
		return event.Update{Asked: asked, Job: id, Change: change, User: who.user, OwnOnly: s.Private && !s.manages(who), Admin: s.manages(who)}
	}))
}

// Requeue is the body of a request that a job start again; without one, that it starts as soon as it may.
type Requeue struct {
	Elements protocol.Indexes `json:"elements,omitzero"` // of an array; empty: all
	Hold     bool             `json:"hold,omitempty"`    // hold it in the grid queue
	Force    bool             `json:"force,omitempty"`   // also if it needs an operator, and may run twice
}

// requeue has a job start again.
func (s *server) requeue(w http.ResponseWriter, r *http.Request, who caller) error {
	id, err := s.requested(r, who)
	if err != nil {
		return err
	}
	var body Requeue
	decoder := newDecoder(http.MaxBytesReader(w, r.Body, maxRequeue))
	if err = decoder.Decode(&body); err != nil && !errors.Is(err, io.EOF) {
		return refuse(view.BadRequest, "invalid requeue request: %v", err)
	}
	if err = s.checkElements(r.Context(), who, protocol.JobName{Job: id, Elements: body.Elements}); err != nil {
		return err
	}
	admin := s.manages(who)
	if body.Force {
		admin = who.admin
	}
	return s.endedOr(r, who, id, s.ask(w, lasting(r), http.StatusAccepted, func(asked event.AskID) event.Event {
		return event.Requeue{
			Asked: asked, Job: id, Elements: body.Elements, Hold: body.Hold, Force: body.Force, User: who.user, UID: who.uid, Admin: admin,
		}
	}))
}

// Resume is the body of a request that this store go on.
type Resume struct {
	Requeue bool `json:"requeue,omitempty"` // run jobs again that may have run since
	Cancel  bool `json:"cancel,omitempty"`  // cancel them
}

// recovery answers what is wrong with the store. Where people see only their own jobs, its lists of jobs are for administrators.
func (s *server) recovery(w http.ResponseWriter, r *http.Request, who caller) error {
	answer, err := s.Node.Ask(r.Context(), func(asked event.AskID) event.Event { return event.AskRecovery{Asked: asked} })
	if err != nil {
		return err
	}
	if all, ok := answer.(view.Recovery); ok && s.Private && !s.manages(who) {
		answer = all.WithoutJobs()
	}
	return reply(w, http.StatusOK, answer)
}

func (s *server) recover(w http.ResponseWriter, r *http.Request, who caller) error {
	var body Resume
	if err := newDecoder(http.MaxBytesReader(w, r.Body, maxResume)).Decode(&body); err != nil {
		return refuse(view.BadRequest, "invalid recovery request: %v", err)
	}
	if body.Requeue && body.Cancel {
		return refuse(view.BadRequest, "requeue and cancel are mutually exclusive")
	}
	return s.ask(w, lasting(r), http.StatusOK, func(asked event.AskID) event.Event {
		return event.Recover{
			Asked: asked, Requeue: body.Requeue, Cancel: body.Cancel, User: who.user, UID: who.uid, Admin: who.admin,
		}
	})
}

// wait answers when the job has ended, or with its present state after a while:
// the client asks again.
func (s *server) wait(w http.ResponseWriter, r *http.Request, who caller) error {
	id, err := s.requested(r, who)
	if err != nil {
		return err
	}
	if who.remote() {
		end, tooMany := s.bounds.begin(longRequest{who.uid, maxWaits})
		if tooMany != nil {
			return tooMany
		}
		defer end()
	}
	good, leave := whileGood(r.Context(), stillGood(who))
	defer leave()
	ctx, stop := context.WithTimeout(good, waitTime)
	defer stop()
	view, err := s.Node.WaitJob(ctx, id)
	switch {
	case r.Context().Err() != nil:
	case good.Err() != nil:
		return context.Cause(good)
	case errors.Is(err, context.DeadlineExceeded):
		view, err = s.Node.Job(r.Context(), id)
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, view)
}

func (s *server) explain(w http.ResponseWriter, r *http.Request, who caller) error {
	id, err := s.requested(r, who)
	if err != nil {
		return err
	}
	facts, err := s.Node.Explain(id)
	if err != nil {
		return err
	}
	if len(facts) == 0 {
		if _, err = s.Node.Job(r.Context(), id); err != nil {
			return err
		}
		facts = []event.LogEvent{}
	}
	return reply(w, http.StatusOK, Explanation{Events: facts})
}

// runHistory answers with the run history of the caller's components, or of all users'.
func (s *server) runHistory(w http.ResponseWriter, r *http.Request, who caller) error {
	user, component, all := who.user, "", false
	err := parse(r.URL.Query(), map[string]func([]string) error{"component": once(&component, itself), "all": once(&all, parseBool)})
	if err != nil {
		return err
	}
	if all && (!s.Private || s.manages(who)) {
		user = ""
	}
	return s.ask(w, r, http.StatusOK, func(asked event.AskID) event.Event {
		return event.AskRunHistory{Asked: asked, User: user, Component: component}
	})
}

func (s *server) sites(w http.ResponseWriter, r *http.Request, _ caller) error {
	return s.ask(w, r, http.StatusOK, func(asked event.AskID) event.Event { return event.AskSites{Asked: asked} })
}

// shares answers how users stand with their shares, where people see only their own jobs with the caller.
func (s *server) shares(w http.ResponseWriter, r *http.Request, who caller) error {
	user := ""
	if s.Private && !s.manages(who) {
		user = who.user
	}
	return s.ask(w, r, http.StatusOK, func(asked event.AskID) event.Event { return event.AskShares{Asked: asked, User: user} })
}

func (s *server) plugins(w http.ResponseWriter, _ *http.Request, _ caller) error {
	all := Plugins{Plugins: []Plugin{}}
	if s.Plugins != nil {
		all.Plugins = append(all.Plugins, s.Plugins()...)
	}
	return reply(w, http.StatusOK, all)
}

// prices answers with the prices of electricity. Why they are old is not for visitors: it names files and hosts.
func (s *server) prices(w http.ResponseWriter, _ *http.Request, who caller) error {
	prices := Prices{Slots: []PriceSlot{}}
	if s.Prices == nil {
		return reply(w, http.StatusOK, prices)
	}
	known := s.Prices()
	if known == nil {
		return reply(w, http.StatusOK, prices)
	}
	prices.Currency, prices.PublishedUntil = known.Currency, known.PublishedUntil
	if !who.public {
		prices.StaleReason = known.StaleReason
	}
	for _, slot := range known.Prices.Slots {
		prices.Slots = append(prices.Slots, PriceSlot(slot))
	}
	return reply(w, http.StatusOK, prices)
}

// counted is how many jobs there were. The core makes a view of each job for it, so that all callers share one for a while.
type counted struct {
	node Node
	busy chan struct{} // has one while somebody looks or counts

	counts view.Counts
	until  time.Time
}

func newCounted(node Node) *counted { return &counted{node: node, busy: make(chan struct{}, 1)} }

// answer answers how many jobs there are, or were up to [countsKept] ago, of all users, whom it does not name.
func (c *counted) answer(w http.ResponseWriter, r *http.Request, _ caller) error {
	counts, err := c.latest(r.Context())
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, counts)
}

// latest counts the jobs if that was a while ago. Callers wait for each other.
func (c *counted) latest(ctx context.Context) (view.Counts, error) {
	select {
	case c.busy <- struct{}{}:
		defer func() { <-c.busy }()
	case <-ctx.Done():
		return view.Counts{}, ctx.Err()
	}
	if time.Now().Before(c.until) {
		return c.counts, nil
	}
	answer, err := c.node.Ask(ctx, func(asked event.AskID) event.Event { return event.AskQueue{Asked: asked} })
	if err != nil {
		return view.Counts{}, err
	}
	queue, ok := answer.(view.Queue)
	if !ok {
		return view.Counts{}, refuse(view.Unavailable, "the peer answered with %T", answer)
	}
	c.counts, c.until = view.CountsOf(queue.Jobs), time.Now().Add(countsKept)
	return c.counts, nil
}

func (s *server) info(w http.ResponseWriter, r *http.Request, who caller) error {
	info := Info{
		User: who.user,
		Site: s.Site, Number: s.Number, Version: s.Version, Gossip: s.Gossip, Uptime: protocol.DurationOf(time.Since(s.started)),
		Staging: s.Staging, SlurmCommands: s.SlurmCommands, MaxArraySize: s.MaxArraySize,
	}
	if s.Network != nil && s.Network.Files != nil && who.remote() {
		info.Upload = s.Network.Files.MaxBytes
	}
	if s.Rules != nil {
		info.Rules = s.Rules()
	}
	if s.Power != nil {
		info.Power = s.Power(r.Context())
	}
	if s.Alone != nil {
		info.GossipAlone = s.Alone()
	}
	if s.Alarms != nil && !who.public {
		info.Alarms = s.Alarms()
	}
	if s.Notes != nil && !who.public {
		info.Notes = s.Notes()
	}
	if s.Roster != nil && !who.public {
		info.Roster = s.Roster()
	}
	return reply(w, http.StatusOK, info)
}

func (s *server) reload(w http.ResponseWriter, r *http.Request, who caller) error {
	switch {
	case !who.admin:
		return refuse(view.Denied, "only root and the peer's account may do this; you are %s", who.user)
	case s.Reload == nil:
		return refuse(view.Unavailable, "this peer cannot reload its configuration; restart it")
	}
	// A caller that goes does not leave the peer half changed.
	done, err := s.Reload(lasting(r).Context(), who.user)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, done)
}
