package peer_test

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// perHour is a tariff of so much an hour, in francs.
func perHour(amount protocol.Micro) *protocol.Tariff {
	return &protocol.Tariff{Currency: "CHF", Charges: []protocol.Charge{
		{Name: cost.CPUTerm, Units: 1, Per: 1, Steps: []protocol.PriceStep{{PerHour: amount}}},
	}}
}

// atPartner makes a component of an application with a limit of 100 francs, which is offered to b
// for 20 francs and an hour.
func atPartner(t *testing.T, components int, changes ...func(*rules.Config)) (*lone, []protocol.JobID) {
	t.Helper()
	l, _ := seeing(t, func(in policy.Snapshot) []policy.Decision {
		if len(in.Sites) < 2 { // b is not asked again
			return nil
		}
		return []policy.Decision{{Job: 0, Site: 1}}
	}, changes...)
	ev := submission(components)
	for i := range ev.Jobs {
		ev.Jobs[i].Component = protocol.Component{Name: "solver", Alpha: 1, Estimate: protocol.Hour}
	}
	ev.Application = &protocol.Application{Beta: 1, MaxCost: 30 * protocol.Unit, MaxTime: protocol.Day}
	l.step(ev)
	submitted, ok := l.answers[len(l.answers)-1].(view.Submitted)
	if !ok {
		t.Fatalf("answered %+v", l.answers)
	}
	return l, submitted.Jobs
}

// expensive has b answer the last question: 20 francs for each job.
func (l *lone) expensive() protocol.Offer {
	l.t.Helper()
	request, ok := l.last().(protocol.QuoteRequest)
	if !ok {
		l.t.Fatalf("got %T instead of a question", l.last())
	}
	reply := protocol.QuoteReply{Round: request.Round, MaxJobs: 1, Load: protocol.Load{CPUs: 8}, Free: 8}
	for _, spec := range request.Jobs {
		reply.Quotes = append(reply.Quotes, protocol.Quote{
			Job: spec.Job, ERT: spec.PredictedRunTime, Currency: "CHF", Terms: []protocol.Term{{Name: "cpu", Amount: 20 * protocol.Unit}},
		})
	}
	l.step(event.MessageIn{From: "b", Body: reply})
	offer, ok := l.last().(protocol.Offer)
	if !ok {
		l.t.Fatalf("got %T instead of an offer", l.last())
	}
	return offer
}

// runsAtB has b take the job of an offer by a tariff, and state its end after so long: that it ran for so long, unless the outcome says.
func (l *lone) runsAtB(offer protocol.Offer, tariff *protocol.Tariff, ran protocol.Duration, outcome protocol.Outcome) {
	l.t.Helper()
	tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
	say := func(m protocol.Message) { l.step(event.MessageIn{From: "b", Body: m}) }
	say(protocol.Prepared{Tag: tag, Tariff: tariff})
	say(protocol.Accept{Tag: tag})
	say(protocol.Status{Tag: tag, Seq: 1, State: protocol.Running})
	l.advance(ran)
	outcome.Ran = cmp.Or(outcome.Ran, ran)
	say(protocol.Result{Tag: tag, Outcome: outcome})
}

// finished is the job that was archived last.
func (l *lone) finished() view.Job {
	l.t.Helper()
	for _, rec := range slices.Backward(l.records) {
		if row, ok := rec.Row.(row.Archived); ok {
			return row.View
		}
	}
	l.t.Fatal("no job has ended")
	return view.Job{}
}

func billOf(start protocol.Instant, amount protocol.Micro) *protocol.Bill {
	return &protocol.Bill{Start: start, Currency: "CHF", Terms: []protocol.Term{{Name: cost.CPUTerm, Amount: amount}}}
}

// A component counts with what it really cost: one that failed after 0.2 s leaves the others what
// it did not use. What was quoted stands beside it.
func TestComponentsCountAsTheyRan(t *testing.T) {
	t.Parallel()
	l, ids := atPartner(t, 2)
	offer := l.expensive()
	tariff := perHour(20 * protocol.Unit)
	l.runsAtB(offer, tariff, 200, protocol.Outcome{State: protocol.Failed, ExitCode: 1, Bill: billOf(l.now, 1111)})
	ended := l.finished()
	if ended.Bill == nil || ended.Bill.Cost != 1111 || ended.Bill.Disputed != "" || ended.Quoted == nil || ended.Quoted.Cost != 20*protocol.Unit {
		t.Fatalf("billed %+v, quoted %+v", ended.Bill, ended.Quoted)
	}
	if ended.Objectives.Spent != 1111 {
		t.Errorf("spent are %d", ended.Objectives.Spent)
	}
	if view := l.view(ids[1]); view.Objectives.Spent != 1111 || view.Objectives.Broken != "" {
		t.Errorf("the other component sees %+v", view.Objectives)
	}
}

// A component that ran for longer than predicted breaks max_cost: that is reported with why, and what
// has not started ends.
func TestBrokenLimitsAreReported(t *testing.T) {
	t.Parallel()
	l, ids := atPartner(t, 2)
	offer := l.expensive()
	l.runsAtB(offer, perHour(20*protocol.Unit), 2*protocol.Hour, protocol.Outcome{State: protocol.Completed, Bill: billOf(l.now, 40*protocol.Unit)})
	l.advance(protocol.Second)
	const why = "max_cost: what has run cost 40.00 CHF of at most 30.00 CHF; solver ran 2:00:00 and cost 40.00 CHF, predicted were 1:00:00 and 20.00 CHF"
	reported := ""
	for _, f := range l.facts {
		if f.Kind == event.LogLimitExceeded {
			reported = f.Text
		}
	}
	if reported != why {
		t.Errorf("it is told %q", reported)
	}
	last := l.finished()
	if last.ID != ids[1] || last.State != protocol.Cancelled || last.Objectives.Broken != why ||
		last.Reason != "its application has cost 40.00 CHF, and max_cost is 30.00 CHF" {
		t.Errorf("the other component is %v: %s (%s)", last.State, last.Reason, last.Objectives.Broken)
	}
}

// While a component runs it counts for what it has come to already where that is more than was
// predicted.
func TestRunningComponentsCountAsTheyCome(t *testing.T) {
	t.Parallel()
	l, ids := atPartner(t, 1)
	offer := l.expensive()
	tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
	l.step(event.MessageIn{From: "b", Body: protocol.Prepared{Tag: tag, Tariff: perHour(20 * protocol.Unit)}})
	l.step(event.MessageIn{From: "b", Body: protocol.Accept{Tag: tag}})
	l.step(event.MessageIn{From: "b", Body: protocol.Status{Tag: tag, Seq: 1, State: protocol.Running}})
	for hours, want := range []protocol.Micro{20, 20, 40, 60} {
		view := l.view(ids[0])
		if view.Objectives.Spent != want*protocol.Unit || !view.Bill.Open || view.Bill.Cost != protocol.Micro(hours)*20*protocol.Unit {
			t.Errorf("after %d hours it counts %d, and its bill is %+v", hours, view.Objectives.Spent, view.Bill)
		}
		l.now = l.now.Add(protocol.Hour)
	}
}

// A component that would bring money in counts as nothing while it is placed and while it runs, and
// as what it brought in once it is billed.
func TestGainsCountOnceBilled(t *testing.T) {
	t.Parallel()
	l, ids := atPartner(t, 2)
	offer := l.expensive()
	tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
	say := func(m protocol.Message) { l.step(event.MessageIn{From: "b", Body: m}) }
	spent := func(want protocol.Micro) {
		t.Helper()
		if got := l.view(ids[1]).Objectives.Spent; got != want {
			t.Errorf("spent are %d, want %d", got, want)
		}
	}
	say(protocol.Prepared{Tag: tag, Tariff: perHour(-20 * protocol.Unit)})
	spent(0)
	say(protocol.Accept{Tag: tag})
	say(protocol.Status{Tag: tag, Seq: 1, State: protocol.Running})
	l.advance(protocol.Hour)
	spent(0)
	say(protocol.Result{Tag: tag, Outcome: protocol.Outcome{
		State: protocol.Completed, Ran: protocol.Hour, Bill: billOf(l.now.Add(-protocol.Hour), -20*protocol.Unit),
	}})
	spent(-20 * protocol.Unit)
}

// What has not started when max_time is over ends, wherever it waits, and a restarted peer knows
// it too. What runs goes on.
func TestMaxTimeEndsWhatWaits(t *testing.T) {
	t.Parallel()
	l, ids := atPartner(t, 2)
	l.expensive()
	l.advance(protocol.Day)
	last := l.finished()
	if last.State != protocol.Cancelled || last.Reason != "max_time of its application, 1-00:00:00 from the submission on, is over" {
		t.Errorf("%v ended as %v: %s", last.ID, last.State, last.Reason)
	}
	for _, id := range ids {
		l.step(event.AskJob{Asked: 9, Job: id})
		if _, gone := l.answers[len(l.answers)-1].(view.Refusal); !gone {
			t.Errorf("job %v is still %+v", id, l.answers[len(l.answers)-1])
		}
	}
	if l.lastRows(row.ApplicationTable) != 0 {
		t.Error("its row is left")
	}
	l, _ = atPartner(t, 1)
	offer := l.expensive()
	tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
	l.step(event.MessageIn{From: "b", Body: protocol.Prepared{Tag: tag}})
	l.step(event.MessageIn{From: "b", Body: protocol.Accept{Tag: tag}})
	l.advance(protocol.Day)
	if recall, ok := l.last().(protocol.Recall); !ok || recall.Cancel {
		t.Fatalf("b is sent %+v", l.last())
	}
	l.step(event.MessageIn{From: "b", Body: protocol.Recalled{Tag: tag}})
	if last = l.finished(); last.State != protocol.Cancelled || !strings.HasPrefix(last.Reason, "max_time") {
		t.Errorf("back from b it is %v: %s", last.State, last.Reason)
	}
	l, _ = atPartner(t, 1)
	offer = l.expensive()
	l.runsAtB(offer, perHour(protocol.Unit), 25*protocol.Hour, protocol.Outcome{State: protocol.Completed, Bill: billOf(l.now, 25*protocol.Unit)})
	if last = l.finished(); last.State != protocol.Completed || !strings.HasPrefix(last.Objectives.Broken, "max_time: solver ended 1-01:00:00 after the submission, at most 1-00:00:00; solver ran") {
		t.Errorf("what ran is %v, and told is %q", last.State, last.Objectives.Broken)
	}
}

// A partner's bill is compared with what its tariff comes to; what differs is reported, and the lower one
// counts.
func TestBillsAreChecked(t *testing.T) {
	t.Parallel()
	honest, now := billOf(0, 20*protocol.Unit), peertest.Epoch
	for name, c := range map[string]struct {
		tariff   *protocol.Tariff
		bill     *protocol.Bill
		cost     protocol.Micro
		disputed string
	}{
		"honest":            {perHour(20 * protocol.Unit), honest, 20 * protocol.Unit, ""},
		"dearer":            {perHour(20 * protocol.Unit), billOf(0, 21*protocol.Unit), 20 * protocol.Unit, "b bills 21.00 CHF, and by the tariff that it stated it is 20.00 CHF for a run of 1:00:00 from"},
		"less":              {perHour(20 * protocol.Unit), billOf(0, 19*protocol.Unit), 19 * protocol.Unit, "b bills 19.00 CHF, and by the tariff that it stated it is 20.00 CHF for a run of 1:00:00 from"},
		"less than a lie":   {perHour(29 * protocol.Unit), billOf(0, protocol.Unit), protocol.Unit, "b bills 1.00 CHF, and by the tariff"},
		"pays back":         {perHour(20 * protocol.Unit), billOf(0, -1000*protocol.Unit), 20 * protocol.Unit, "b bills -1000.00 CHF, and by the tariff"},
		"by a millionth":    {perHour(20 * protocol.Unit), billOf(0, 20*protocol.Unit+1), 20 * protocol.Unit, "b bills 20.000001 CHF"},
		"none came":         {perHour(20 * protocol.Unit), nil, 20 * protocol.Unit, "b sent no bill; by its tariff it is 20.00 CHF"},
		"without a tariff":  {nil, honest, 20 * protocol.Unit, "b bills 20.00 CHF and stated no tariff before the grant"},
		"pays back freely":  {nil, billOf(0, -1000*protocol.Unit), 0, "b bills -1000.00 CHF and stated no tariff before the grant"},
		"costs nothing":     {nil, nil, 0, ""},
		"for another start": {&protocol.Tariff{Currency: "CHF", Charges: []protocol.Charge{{Name: cost.CPUTerm, Units: 1, Per: 1, Steps: []protocol.PriceStep{{From: 0, PerHour: 20 * protocol.Unit}, {From: now.Add(6 * protocol.Hour), PerHour: 90 * protocol.Unit}}}}}, billOf(now.Add(6*protocol.Hour), 90*protocol.Unit), 20 * protocol.Unit, "b bills 90.00 CHF"},
	} {
		l, _ := atPartner(t, 1)
		offer := l.expensive()
		if c.bill != nil && c.bill.Start == 0 {
			own := *c.bill
			own.Start, c.bill = l.now, &own
		}
		l.runsAtB(offer, c.tariff, protocol.Hour, protocol.Outcome{State: protocol.Completed, Bill: c.bill})
		var paid protocol.Micro
		disputed := ""
		if view := l.finished(); view.Bill != nil {
			paid, disputed = view.Bill.Cost, view.Bill.Disputed
		}
		if paid != c.cost || !strings.HasPrefix(disputed, c.disputed) || (c.disputed == "") != (disputed == "") {
			t.Errorf("%s: it counts %d, and is said to be %q", name, paid, disputed)
		}
		if reported := l.reported(event.LogBillDisputed); reported != (c.disputed != "") {
			t.Errorf("%s: told: %t", name, reported)
		}
	}
}

// A partner that bills a job which never started is not paid for it.
func TestBillWithoutARun(t *testing.T) {
	t.Parallel()
	l, _ := atPartner(t, 1)
	offer := l.expensive()
	tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
	say := func(m protocol.Message) { l.step(event.MessageIn{From: "b", Body: m}) }
	say(protocol.Prepared{Tag: tag, Tariff: perHour(20 * protocol.Unit)})
	say(protocol.Accept{Tag: tag})
	say(protocol.Result{Tag: tag, Outcome: protocol.Outcome{State: protocol.Failed, Bill: billOf(l.now, 20*protocol.Unit)}})
	if view := l.finished(); view.Bill != nil || !l.reported(event.LogBillDisputed) {
		t.Errorf("billed %+v, and the facts are %+v", view.Bill, l.facts)
	}
}

func (l *lone) reported(kind event.LogKind) bool {
	for _, f := range l.facts {
		if f.Kind == kind {
			return true
		}
	}
	return false
}

// A site that has room and charges more for it than it had quoted does not get a job whose
// application could not pay that.
func TestTariffsAreWithinLimits(t *testing.T) {
	t.Parallel()
	l, ids := atPartner(t, 1)
	offer := l.expensive()
	tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
	l.step(event.MessageIn{From: "b", Body: protocol.Prepared{Tag: tag, Tariff: perHour(31 * protocol.Unit)}})
	if _, aborted := l.last().(protocol.Abort); !aborted {
		t.Errorf("b is sent %+v", l.last())
	}
	const why = "b quoted 20.00 CHF and now charges 31.00 CHF, with which the application would cost 31.00 CHF of at most 30.00 CHF"
	if !slices.ContainsFunc(l.facts, func(f event.LogEvent) bool { return f.Kind == event.LogOfferRefused && f.Text == why }) {
		t.Errorf("the facts are %+v", l.facts)
	}
	if view := l.view(ids[0]); view.Site != "" || view.Quoted != nil || view.Objectives.Spent != 0 {
		t.Errorf("it is at %q for %+v", view.Site, view.Quoted)
	}
}

// A guest is billed by the tariff that was stated before its grant, and both sites keep that.
func TestGuestsAreBilled(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(c *rules.Config) { c.Tariff = localsched.Tariff{CPUHour: 3 * protocol.Unit, Currency: "EUR"} }, idle(peertest.Greedy{}, atOnce))
	prepared, ok := l.offer(7).(protocol.Prepared)
	if !ok || prepared.Tariff == nil {
		t.Fatalf("answered %+v", prepared)
	}
	l.step(event.MessageIn{From: "b", Body: protocol.Grant{Tag: prepared.Tag}})
	start := l.now
	l.finish(prepared.Tag, 20*protocol.Minute, protocol.Usage{})
	result, ok := l.last().(protocol.Result)
	want := cost.Settle(prepared.Tariff, start, 20*protocol.Minute)
	if !ok || result.Outcome.Bill == nil || result.Outcome.Bill.Cost() != protocol.Unit || want.Cost() != protocol.Unit {
		t.Fatalf("it sends %+v", l.last())
	}
	l.step(event.MessageIn{From: "b", Body: protocol.ResultAck{Tag: prepared.Tag}})
	if kept := l.finished(); !kept.Guest || kept.State != protocol.Completed || kept.Bill == nil || kept.Bill.Cost != protocol.Unit {
		t.Errorf("kept is %+v", kept)
	}
}

// Whatever the prices and however long jobs wait and run, here and elsewhere, both sites have the
// same bill, and it is the integral of the prices over the run.
func TestBillsOfAGrid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		prices := rapid.SliceOfN(rapid.Int64Range(-100, 500), 60, 60).Draw(rt, "prices")
		power := rapid.Int64Range(1, 1_000_000).Draw(rt, "power")
		w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{
			{Name: "a", Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}},
			{Name: "b", Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}, Prices: peertest.HourlyPrices("EUR", prices...), Config: func(c *rules.Config) {
				c.Area, c.Power = "b", power
				c.Tariff = localsched.Tariff{CPUHour: 77_777, Currency: "EUR"}
			}},
		}})
		if err != nil {
			rt.Fatal(err)
		}
		for _, site := range []protocol.SiteName{"a", "a", "b"} {
			limit := 10 * protocol.Hour
			spec := protocol.Spec{Request: protocol.Request{CPUs: rapid.IntRange(1, 4).Draw(rt, "cpus"), WallTime: limit}, Sites: []protocol.SiteName{"b"}}
			w.Submit(site, "ada", "", peertest.Plan{Run: protocol.Duration(rapid.Int64Range(0, int64(limit)).Draw(rt, "run"))}.Job(spec))
		}
		if busy := w.RunUntilQuiet(3 * protocol.Day); busy != "" || w.Err() != nil {
			rt.Fatal(busy, w.Err())
		}
		at := map[bool]map[protocol.JobID]view.Job{true: {}, false: {}}
		for _, s := range w.Sites() {
			for _, view := range slices.Concat(s.Finished(), s.FinishedGuests()) {
				at[view.Guest][view.ID] = view
			}
		}
		if len(at[false]) != 3 || len(at[true]) != 2 {
			rt.Fatalf("%d jobs and %d guests are kept", len(at[false]), len(at[true]))
		}
		for id, job := range at[false] {
			guest := at[true][id]
			if job.Bill == nil || job.Bill.Disputed != "" || (guest.ID != 0 && guest.Bill.Cost != job.Bill.Cost) {
				rt.Fatalf("job %v: billed %+v, and there %+v", id, job.Bill, guest.Bill)
			}
			used := overHours(job.Bill.Start, job.Bill.Ran, func(hour int) int64 { return 77_777 })
			want := map[string]protocol.Micro{
				cost.CPUTerm:       rounded(used.Mul(used, big.NewRat(int64(job.CPUs), 1))),
				pricing.EnergyTerm: 0,
			}
			energy := overHours(job.Bill.Start, job.Bill.Ran, func(hour int) int64 { return prices[hour] * int64(protocol.Unit) })
			want[pricing.EnergyTerm] = rounded(energy.Mul(energy, big.NewRat(int64(job.CPUs)*power, 1_000_000_000)))
			for _, term := range job.Bill.Terms {
				if term.Amount != want[term.Name] {
					rt.Fatalf("job %v: %s is %d, want %d", id, term.Name, term.Amount, want[term.Name])
				}
			}
		}
	})
}

// overHours adds up prices of an hour, hour by hour from the epoch on.
func overHours(start protocol.Instant, d protocol.Duration, price func(hour int) int64) *big.Rat {
	sum := new(big.Rat)
	for from, end := start, start.Add(d); from < end; {
		hour := int(from.Sub(peertest.Epoch) / protocol.Hour)
		until := min(end, peertest.Epoch.Add(protocol.Duration(hour+1)*protocol.Hour))
		sum.Add(sum, big.NewRat(price(hour)*int64(until.Sub(from)), int64(protocol.Hour)))
		from = until
	}
	return sum
}

// rounded is a number rounded, halves away from zero.
func rounded(r *big.Rat) protocol.Micro {
	half := big.NewRat(int64(r.Sign()), 2)
	r = new(big.Rat).Add(r, half)
	return protocol.Micro(new(big.Int).Quo(r.Num(), r.Denom()).Int64())
}
