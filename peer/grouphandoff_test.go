package peer_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fickle is a mapping of accounts that may lose all of them.
type fickle struct{ gone bool }

func (f *fickle) Local(user string) (string, error) {
	if f.gone {
		return "", errors.New("the account has gone")
	}
	return user, nil
}

func (f *fickle) Guest(_ protocol.SiteName, user string) (string, error) { return f.Local(user) }

// answering is an idle batch system but for what a test wants otherwise; nil: nothing.
func answering(other func(event.Op) (event.Result, error)) func(event.Op) (event.Result, error) {
	usual := idle(peertest.Greedy{ApplicationAware: true}, atOnce)
	return func(op event.Op) (event.Result, error) {
		if result, err := other(op); result != nil || err != nil {
			return result, err
		}
		return usual(op)
	}
}

// holder is a lone peer that can hold room, as its partners b and c can.
func holder(t *testing.T, change func(*rules.Config), other func(event.Op) (event.Result, error)) *lone {
	t.Helper()
	l := newLone(t, func(cfg *rules.Config) {
		cfg.Policy, cfg.Reserves, cfg.Partners = policy.Describe(peertest.Greedy{ApplicationAware: true}), true, []rules.Partner{{Site: "b", MaxJobs: 9}, {Site: "c", MaxJobs: 9}}
		change(cfg)
	}, answering(other))
	l.connect()
	return l
}

// connect tells the cards of b and c.
func (l *lone) connect() {
	l.t.Helper()
	for i, site := range []protocol.SiteName{"b", "c"} {
		l.step(event.Connected{Card: protocol.Card{
			Site: site, Number: protocol.SiteNumber(i + 2), Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1,
			Capacity: protocol.Capacity{CPUs: 8, Nodes: 8}, Reserves: true,
		}})
	}
}

func nothingElse(event.Op) (event.Result, error) { return nil, nil }

// gather submits two components that start together, each at a site.
func (l *lone) gather(first, second protocol.SiteName, change func(*protocol.Job)) {
	l.t.Helper()
	jobs := pair(1, []protocol.SiteName{first}, []protocol.SiteName{second})
	for i := range jobs {
		change(&jobs[i])
	}
	l.step(event.Submit{User: "ada", Jobs: jobs, Application: wanting()})
	l.answerAll()
}

func unchanged(*protocol.Job) {}

// answerAll has the partners answer the questions that were sent: every job at once, for 10 or
// what [lone.costs] says.
func (l *lone) answerAll() {
	l.t.Helper()
	sent := l.sent
	l.sent = nil
	for _, m := range sent {
		request, ok := m.Body.(protocol.QuoteRequest)
		if !ok || len(request.Jobs) == 0 {
			continue
		}
		reply := protocol.QuoteReply{Round: request.Round, MaxJobs: 100, Load: protocol.Load{CPUs: 8}, Free: 8}
		for _, spec := range request.Jobs {
			cost := cmp.Or(l.costs[m.To], 10)
			reply.Quotes = append(reply.Quotes, protocol.Quote{Job: spec.Job, ERT: 1, Terms: []protocol.Term{{Name: "cpu", Amount: cost}}})
		}
		l.step(event.MessageIn{From: m.To, Body: reply})
	}
}

// prepare has a partner answer its last offer; it holds room from so much later on than it
// was asked to.
func (l *lone) prepare(site protocol.SiteName, later protocol.Duration) protocol.Tag {
	l.t.Helper()
	for _, m := range slices.Backward(l.sent) {
		if offer, ok := m.Body.(protocol.Offer); ok && m.To == site {
			tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
			l.step(event.MessageIn{From: site, Body: protocol.Prepared{Tag: tag, Start: offer.Start.Add(later)}})
			return tag
		}
	}
	l.t.Fatalf("%s was offered nothing: %+v", site, l.sent)
	return protocol.Tag{}
}

// jobs are the rows of the origin's jobs.
func (l *lone) jobs() []row.Job {
	rows := peertest.Rows{Rows: row.Rows{}}
	for _, rec := range l.records {
		rows.Commit(rec)
	}
	return rows.Jobs()
}

// phases are those of the jobs that have not ended, by id.
func (l *lone) phases() string {
	var out []row.JobPhase
	for _, row := range l.jobs() {
		out = append(out, row.Phase)
	}
	return fmt.Sprint(out)
}

func sentOf[M protocol.Message](l *lone) (n int) {
	for _, m := range l.sent {
		if _, ok := m.Body.(M); ok {
			n++
		}
	}
	return n
}

// TestGrantIsAllOrNothing: either all members of a group are granted or none is. An account that goes
// while room is held keeps the whole group from its grant, whichever
// member comes first.
func TestGrantIsAllOrNothing(t *testing.T) {
	t.Parallel()
	accounts := &fickle{}
	l := holder(t, func(cfg *rules.Config) { cfg.Accounts = accounts }, nothingElse)
	l.gather("b", "a", unchanged)
	if got := l.phases(); got != "[offered reserving]" {
		t.Fatalf("phases %s", got)
	}
	accounts.gone = true
	l.prepare("b", 0)
	if got := l.phases(); sentOf[protocol.Grant](l) != 0 || sentOf[protocol.Abort](l) != 1 || got != "[grid-queue grid-queue]" {
		t.Errorf("%d grants, phases %s", sentOf[protocol.Grant](l), got)
	}
}

// An account that goes before room is sought leaves no member of the group behind.
func TestHoldIsAllOrNothing(t *testing.T) {
	t.Parallel()
	accounts := &fickle{}
	l := holder(t, func(cfg *rules.Config) { cfg.Accounts = accounts }, func(op event.Op) (event.Result, error) {
		if _, decides := op.(event.DecideOp); decides {
			accounts.gone = true
		}
		return nil, nil
	})
	l.gather("a", "b", unchanged)
	if got := l.phases(); got != "[grid-queue grid-queue]" || sentOf[protocol.Offer](l) != 0 {
		t.Errorf("phases %s, %d offers", got, sentOf[protocol.Offer](l))
	}
}

// A partner that is removed from the configuration while it holds room for a group is not
// granted anything.
func TestGroupOutlivesItsPartner(t *testing.T) {
	t.Parallel()
	l := holder(t, func(*rules.Config) {}, nothingElse)
	l.gather("b", "c", unchanged)
	l.prepare("b", 0)
	rows := row.Rows{}
	for _, rec := range l.records {
		rows.Commit(rec)
	}
	records, err := rows.Records()
	if err != nil {
		t.Fatal(err)
	}
	cfg := goodConfig()
	cfg.Policy, cfg.Reserves, cfg.Partners = policy.Describe(peertest.Greedy{ApplicationAware: true}), true, []rules.Partner{{Site: "c", MaxJobs: 9}}
	if l.peer, err = peer.New(cfg, 1, records); err != nil {
		t.Fatal(err)
	}
	l.connect()
	l.prepare("c", 0)
	if got := l.phases(); got != "[grid-queue grid-queue]" {
		t.Errorf("phases %s", got)
	}
}

// A job that cannot be committed after all has its first shape again, and costs nothing.
func TestUnplacedJobHasItsFirstShape(t *testing.T) {
	t.Parallel()
	accounts := &fickle{}
	l, _ := seeing(t, func(policy.Snapshot) []policy.Decision {
		accounts.gone = true
		return []policy.Decision{{Job: 1, Site: 0, Reason: "two CPUs"}}
	})
	cfg := goodConfig()
	cfg.Policy, cfg.Accounts, cfg.Costs, cfg.Currency = policy.Describe(looker{}), accounts, flat{3 * protocol.Unit, "CHF"}, "CHF"
	var err error
	if l.peer, err = peer.New(cfg, 1, nil); err != nil {
		t.Fatal(err)
	}
	ev := submission(1)
	ev.Jobs[0].Component.Shapes = []protocol.Shape{{CPUs: 2, WallTime: protocol.Hour}}
	l.step(ev)
	if view := l.view(l.jobs()[0].Spec.Job); view.CPUs != 1 || view.Cost != 0 || view.Site != "" {
		t.Errorf("%d CPUs at %q for %d: %s", view.CPUs, view.Site, view.Cost, view.Reason)
	}
}

// A policy that knows only one shape takes over while the own site is asked about all of
// them: the job starts once.
func TestReconfigureBeforeTheQuotes(t *testing.T) {
	t.Parallel()
	var l *lone
	retuned := false
	l = holder(t, func(*rules.Config) {}, func(op event.Op) (event.Result, error) {
		if quote, ok := op.(event.QuoteOp); ok && len(quote.Query.Jobs) > 1 && !retuned {
			retuned = true
			tuning := goodConfig().Runtime()
			l.step(event.Reconfigure{Runtime: tuning})
		}
		return nil, nil
	})
	ev := submission(1)
	ev.Jobs[0].Component.Shapes = []protocol.Shape{{CPUs: 2, WallTime: protocol.Hour}}
	l.step(ev)
	if got := count[event.SubmitOp](l); !retuned || got != 1 {
		t.Errorf("%d submissions", got)
	}
}

// A policy that decides about applications takes over while one that does not decides: what that says is done.
func TestReconfigureBeforeTheDecision(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	usual := l.calls
	l.calls = func(op event.Op) (event.Result, error) {
		if _, decides := op.(event.DecideOp); decides {
			tuning := goodConfig().Runtime()
			tuning.Policy = policy.Describe(peertest.Greedy{ApplicationAware: true})
			l.step(event.Reconfigure{Runtime: tuning})
		}
		return usual(op)
	}
	l.step(submission(1))
	l.answerAll()
	if got := l.phases(); got != "[offered]" {
		t.Errorf("phases %s", got)
	}
}

// The own batch system is asked twice and answers both questions, the second one after the
// grant: the room stays.
func TestDoubledReserveKeepsTheRoom(t *testing.T) {
	t.Parallel()
	l := holder(t, func(*rules.Config) {}, func(op event.Op) (event.Result, error) {
		switch op.(type) {
		case event.ReserveOp, event.SubmitOp:
			return nil, errLater
		default:
			return nil, nil
		}
	})
	l.gather("a", "b", unchanged)
	l.prepare("b", 0)
	l.advance(2 * protocol.Second)
	if len(l.open) != 2 {
		t.Fatalf("%d calls are open", len(l.open))
	}
	for _, call := range slices.Clone(l.open) {
		op, _ := call.Op.(event.ReserveOp)
		l.step(event.CallDone{ID: call.ID, Result: event.ReserveResult{Start: op.Hold.Start}})
	}
	if got := l.phases(); got != "[committed-local granted]" || count[event.CancelReservationOp](l) != 0 {
		t.Errorf("phases %s, %d releases", got, count[event.CancelReservationOp](l))
	}
}

// A member that the own batch system refuses after the grant has the other one recalled, and
// waits for it.
func TestRefusedHereRecallsTheOthers(t *testing.T) {
	t.Parallel()
	l := holder(t, func(*rules.Config) {}, func(op event.Op) (event.Result, error) {
		if _, submits := op.(event.SubmitOp); submits {
			return event.SubmitResult{Refused: "no such queue"}, nil
		}
		return nil, nil
	})
	l.gather("a", "b", unchanged)
	tag := l.prepare("b", 0)
	if got := l.phases(); got != "[grid-queue recalling]" || sentOf[protocol.Recall](l) != 1 {
		t.Fatalf("phases %s, %d recalls", got, sentOf[protocol.Recall](l))
	}
	if got := l.asksHome(); len(got) != 2 {
		t.Errorf("it had a round without the other one: %+v", got)
	}
	l.step(event.MessageIn{From: "b", Body: protocol.Recalled{Tag: tag}})
	if got := l.phases(); got != "[grid-queue grid-queue]" || len(l.asksHome()) != 2 || count[event.DecideOp](l) != 2 {
		t.Errorf("phases %s, then %d rounds, the last of %+v", got, count[event.DecideOp](l), l.asksHome())
	}
}

// asksHome are the jobs that the own batch system was asked about last.
func (l *lone) asksHome() []protocol.Request {
	for _, op := range slices.Backward(l.asked) {
		if quote, ok := op.(event.QuoteOp); ok && len(quote.Query.Jobs) > 0 {
			return quote.Query.Jobs
		}
	}
	return nil
}

// What was cancelled before it was granted has cost nothing.
func TestCancelledOfferCostsNothing(t *testing.T) {
	t.Parallel()
	l := holder(t, func(cfg *rules.Config) { cfg.Currency, cfg.Costs = "EUR", flat{protocol.Unit, "EUR"} }, nothingElse)
	l.gather("a", "a", func(one *protocol.Job) { one.Component.Together, one.Spec.Sites = 0, []protocol.SiteName{"b"} })
	rows := l.jobs()
	if rows[0].Phase != row.JobOffered || rows[0].Prediction.Cost != 10 {
		t.Fatalf("phases %s, foreseen %+v", l.phases(), rows[0].Prediction)
	}
	before := l.view(rows[1].Spec.Job).Objectives.Spent
	l.step(event.Cancel{Job: rows[0].Spec.Job, User: "ada"})
	if got := l.view(rows[1].Spec.Job).Objectives.Spent; got != before-rows[0].Prediction.Cost {
		t.Errorf("%d is spent, %d was, %d of it for the one that is cancelled", got, before, rows[0].Prediction.Cost)
	}
}

// A guest that comes while the policy thinks, so that only one of a group fits into the
// cycle, keeps the whole group waiting.
func TestCycleDoesNotPartGroups(t *testing.T) {
	t.Parallel()
	var l *lone
	came := false
	l = holder(t, func(cfg *rules.Config) { cfg.Initiation, cfg.MaxJobsPerCycle = policy.Cycle, 2 }, func(op event.Op) (event.Result, error) {
		if _, decides := op.(event.DecideOp); decides && !came {
			came = true
			l.step(event.MessageIn{From: "b", Body: protocol.Offer{Spec: guest(1, 1), Epoch: 1, Payload: peertest.Plan{Run: 1}.Payload()}})
		}
		return nil, nil
	})
	l.gather("a", "a", unchanged)
	if count[event.SubmitOp](l) != 0 {
		t.Fatal("components that start together were kept at home without a cycle")
	}
	l.advance(protocol.Minute)
	if got := l.phases(); !came || got != "[grid-queue grid-queue]" || count[event.ReserveOp](l) != 0 {
		t.Fatalf("phases %s, room sought %d times", got, count[event.ReserveOp](l))
	}
	l.advance(protocol.Minute)
	if got := l.phases(); got != "[committed-local committed-local]" {
		t.Errorf("in the next cycle: phases %s", got)
	}
}

// A site that holds room from the end of time on does not draw the others there.
func TestHoldAtTheEndOfTime(t *testing.T) {
	t.Parallel()
	l := holder(t, func(*rules.Config) {}, nothingElse)
	l.gather("a", "b", unchanged)
	l.prepare("b", math.MaxInt64)
	if got := l.phases(); got != "[grid-queue grid-queue]" {
		t.Errorf("phases %s", got)
	}
}

// A job that may run twice and is recalled for its group's sake from a site that is lost
// is taken from it after a while.
func TestLostMemberIsReclaimed(t *testing.T) {
	t.Parallel()
	l := holder(t, func(*rules.Config) {}, nothingElse)
	l.gather("b", "c", func(one *protocol.Job) { one.Spec.Requeue = true })
	first, second := l.prepare("b", 0), l.prepare("c", 0)
	l.step(event.MessageIn{From: "b", Body: protocol.PrepareExpired{Tag: first}})
	if stored := l.jobs()[1]; stored.Phase != row.JobRecalling || stored.Spec.Job != second.Job {
		t.Fatalf("phases %s", l.phases())
	}
	l.step(event.Disconnected{Site: "c"})
	l.advance(16 * protocol.Minute)
	if got := l.jobs()[1].Phase; got != row.JobInGridQueue {
		t.Errorf("after 16 minutes: %s", got)
	}
}

// Of a component without weights of its own its user wants β alone, whatever the site's are.
func TestBetaAlone(t *testing.T) {
	t.Parallel()
	l, seen := seeing(t, nil)
	ev := submission(1)
	ev.Application = &protocol.Application{Beta: 8, MaxCost: protocol.Unlimited, MaxTime: protocol.Never}
	l.step(ev)
	l.answerQuotes()
	if j := (*seen)[0].Jobs[0]; j.Alpha != 0 || j.Gamma != 0 || j.Delta != 0 {
		t.Errorf("weights %d, %d, %d", j.Alpha, j.Gamma, j.Delta)
	}
}

// An application that no question to other sites holds is refused.
func TestApplicationFitsInOneRound(t *testing.T) {
	t.Parallel()
	l, _ := seeing(t, nil)
	for jobs, taken := range map[int]bool{1092: true, 1093: false} { // in 15 shapes each
		ev := submission(jobs)
		ev.Application = wanting()
		for i := range ev.Jobs {
			ev.Jobs[i].Component.Alpha = 1
			for cpus := range 14 {
				ev.Jobs[i].Component.Shapes = append(ev.Jobs[i].Component.Shapes, protocol.Shape{CPUs: cpus + 2, WallTime: protocol.Hour})
			}
		}
		l.step(ev)
		if _, ok := l.answers[len(l.answers)-1].(view.Submitted); ok != taken {
			t.Errorf("%d components: %+v", jobs, l.answers[len(l.answers)-1])
		}
	}
}

// The site that runs a job gets what is predicted of it, and tells it the frequency that
// its bill says.
func TestJobGetsItsFrequency(t *testing.T) {
	t.Parallel()
	l := holder(t, func(cfg *rules.Config) { cfg.Costs, cfg.Currency = slow{}, "CHF" }, nothingElse)
	ev := submission(1)
	ev.Jobs[0].Component.Estimate, ev.Jobs[0].Spec.Sites = protocol.Minute, []protocol.SiteName{"a"}
	l.step(ev)
	submit, ok := l.asked[len(l.asked)-1].(event.SubmitOp)
	if !ok || !slices.Contains(submit.Job.Payload.Env, "SWITCHYARD_MHZ=800") || submit.Job.Spec.PredictedRunTime != protocol.Minute {
		t.Errorf("got %+v", l.asked[len(l.asked)-1])
	}
}

// slow runs everything at 800 MHz for nothing.
type slow struct{}

func (slow) Bill(w cost.Work) (cost.Bill, string) { return cost.Bill{Run: w.Run, MHz: 800}, "" }

// Of too many components those are forgotten that have not run for the longest time.
func TestOldComponentsAreForgotten(t *testing.T) {
	t.Parallel()
	const most, tooMany = 10_000, 3
	rows := row.Rows{}
	for i := range most + tooMany {
		stored := row.Executions{User: "ada", Component: strconv.Itoa(i), Site: "a", Runs: []row.Execution{
			{Execution: gamma.Execution{Site: "a", CPUs: 1, Ran: 1, At: protocol.Instant(most + tooMany - i)}},
		}}
		rows.Commit(row.Record{Table: row.ExecutionTable, Key: "ada\x00" + stored.Component + "\x00a", Row: stored})
	}
	records, err := rows.Records()
	if err != nil {
		t.Fatal(err)
	}
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	if l.peer, err = peer.New(goodConfig(), 1, records); err != nil {
		t.Fatal(err)
	}
	l.records = nil
	l.step(event.Tick{})
	l.advance(61 * protocol.Minute)
	var forgotten []string
	for _, rec := range l.records {
		if rec.Table == row.ExecutionTable && rec.Row == nil {
			forgotten = append(forgotten, rec.Key)
		}
	}
	if want := []string{"ada\x0010002\x00a", "ada\x0010001\x00a", "ada\x0010000\x00a"}; !slices.Equal(forgotten, want) {
		t.Errorf("forgotten: %q", forgotten)
	}
}

// A job of which only another shape fits a site that is known waits for its round, not for a
// site.
func TestAnotherShapeFits(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(cfg *rules.Config) {
		cfg.Policy = policy.Describe(looker{})
		cfg.Partners = append(cfg.Partners, rules.Partner{Site: "c"}) // whose card is not known
	}, idle(looker{seen: &[]policy.Snapshot{}}, atOnce))
	ev := submission(1)
	ev.Jobs[0].Spec.CPUs, ev.Jobs[0].Component.Shapes = 100, []protocol.Shape{{CPUs: 2, WallTime: protocol.Hour}}
	l.step(ev)
	if got, ok := l.answers[0].(view.Submitted); !ok || len(got.Notices) != 0 {
		t.Errorf("got %+v", l.answers[0])
	}
	l.answerAll()
	if got := l.view(l.jobs()[0].Spec.Job).Reason; !strings.HasPrefix(got, "CycleLimitReached") {
		t.Errorf("it waits for %q", got)
	}
}

// A partner that holds room and asks for the decision, again and again since the network
// doubles what it says, is not taken for silent.
func TestAskingForTheDecisionIsNotSilence(t *testing.T) {
	t.Parallel()
	l := holder(t, func(*rules.Config) {}, nothingElse)
	l.gather("b", "c", unchanged)
	tag := protocol.Tag{Job: l.jobs()[0].Spec.Job, Epoch: 1}
	for range 5 {
		l.step(event.MessageIn{From: "b", Body: protocol.DecisionQuery{Tag: tag}})
	}
	if got := l.phases(); got != "[offered offered]" {
		t.Errorf("phases %s", got)
	}
}

// The time in which its sites agree on an instant is in the waits of a group, so that limits
// and the cost of waiting count it; that of jobs on their own is not longer.
func TestGroupWaitsForItsMargin(t *testing.T) {
	t.Parallel()
	l, seen := seeing(t, nil, func(c *rules.Config) { c.Margin, c.Reserves = protocol.Hour, true })
	ev := submission(3)
	for i := range ev.Jobs {
		ev.Jobs[i].Component = protocol.Component{Alpha: 1, Estimate: protocol.Minute, Together: min(i, 1)}
	}
	ev.Application = &protocol.Application{Beta: 1, MaxCost: protocol.Unlimited, MaxTime: protocol.Day}
	l.step(ev)
	if len(*seen) == 0 {
		l.answerQuotes()
	}
	in := (*seen)[0]
	for row, want := range []protocol.Duration{0, protocol.Hour, protocol.Hour} {
		if got := in.AWT[in.At(row, in.Self)]; got != want {
			t.Errorf("component %d waits %v, want %v", row+1, got, want)
		}
	}
}

// What waits for the others of its group is predicted to end later.
func TestGroupIsPredictedFromItsStart(t *testing.T) {
	t.Parallel()
	l := holder(t, func(cfg *rules.Config) { cfg.Margin = protocol.Hour }, nothingElse)
	l.gather("b", "c", unchanged)
	for _, row := range l.jobs() {
		if want := row.ReserveFrom.Add(row.Prediction.Run); row.ReserveFrom < l.now.Add(protocol.Hour) || row.Prediction.End != want {
			t.Errorf("held from %v on, foreseen to end at %v", row.ReserveFrom, row.Prediction.End)
		}
	}
}
