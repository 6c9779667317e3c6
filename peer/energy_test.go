package peer_test

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// priced is site a, whose CPUs draw 250 W, at 10, 30 and -20 a MWh; the two prices are
// -20 and 30, in turn.
func priced(t *testing.T, quote func(protocol.Request) protocol.Quote) *lone {
	t.Helper()
	answers, prices := idle(peertest.Greedy{}, quote), peertest.HourlyPrices("EUR", 10, 30, -20)
	return newLone(t, func(c *rules.Config) { c.Area, c.Power = "a", 250_000 }, func(op event.Op) (event.Result, error) {
		if op, ok := op.(event.PriceOp); ok {
			return prices.Answer(op)
		}
		return answers(op)
	})
}

// TestEnergyTerms: a job of 4 CPUs draws 1 kW, so that an hour at 10 a MWh costs 0.01, to
// the millionth ([MC] equations 5 and 7).
func TestEnergyTerms(t *testing.T) {
	t.Parallel()
	const half = 30 * protocol.Minute
	for name, tt := range map[string]struct {
		quote   protocol.Quote
		pricing protocol.EnergyPricing
		power   int
		want    []protocol.Term
	}{
		"an hour at once":                {quote: protocol.Quote{ERT: protocol.Hour}, want: energy(10_000)},
		"parts of two hours":             {quote: protocol.Quote{AWT: half, ERT: protocol.Hour}, want: energy(5_000 + 15_000)},
		"as if it started now":           {quote: protocol.Quote{AWT: half, ERT: protocol.Hour}, pricing: protocol.AtOnce, want: energy(10_000)},
		"by two prices":                  {quote: protocol.Quote{AWT: half, ERT: protocol.Hour}, pricing: protocol.TwoPrice, want: energy(-10_000 + 15_000)},
		"by what nobody knows: hourly":   {quote: protocol.Quote{ERT: protocol.Hour}, pricing: "moon", want: energy(10_000)},
		"a minute and a half":            {quote: protocol.Quote{ERT: 90 * protocol.Second}, want: energy(250)},
		"a negative hour":                {quote: protocol.Quote{AWT: 2 * protocol.Hour, ERT: protocol.Hour}, want: energy(-20_000)},
		"a job of 60 %":                  {quote: protocol.Quote{ERT: protocol.Hour}, power: 600_000, want: energy(6_000)},
		"a job of 140 %":                 {quote: protocol.Quote{ERT: protocol.Hour}, power: 1_400_000, want: energy(14_000)},
		"beyond all prices: their mean":  {quote: protocol.Quote{AWT: protocol.Day, ERT: protocol.Hour}, want: energy(6_667)},
		"beside a term in this currency": {quote: protocol.Quote{ERT: protocol.Hour, Currency: "EUR", Terms: cpu()}, want: append(cpu(), energy(10_000)...)},
		"not beside another currency":    {quote: protocol.Quote{ERT: protocol.Hour, Currency: "USD", Terms: cpu()}, want: cpu()},
		"the scheduler's own stands":     {quote: protocol.Quote{ERT: protocol.Hour, Currency: "EUR", Terms: energy(7)}, want: energy(7)},
		"31 terms leave a place":         {quote: protocol.Quote{ERT: protocol.Hour, Currency: "EUR", Terms: terms(31)}, want: append(terms(31), energy(10_000)...)},
		"32 terms leave none":            {quote: protocol.Quote{ERT: protocol.Hour, Currency: "EUR", Terms: terms(32)}, want: terms(32)},
		"nor for what is declined":       {quote: protocol.Quote{Declined: "full"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := priced(t, func(r protocol.Request) protocol.Quote {
				q := tt.quote
				q.Job = r.Job
				return q
			})
			spec := guest(1, 4)
			spec.Power = tt.power
			reply := l.quote(protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{spec}, EnergyPricing: tt.pricing})
			if _, err := peerv1.Encode(reply); err != nil {
				t.Error(err)
			}
			got := reply.Quotes[0]
			if !reflect.DeepEqual(got.Terms, tt.want) {
				t.Errorf("terms %+v, want %+v", got.Terms, tt.want)
			}
			if len(tt.want) > 0 && got.Currency != max(tt.quote.Currency, "EUR") {
				t.Errorf("currency %q", got.Currency)
			}
		})
	}
}

// terms are that number of the local scheduler's own.
func terms(n int) (out []protocol.Term) {
	for i := range n {
		out = append(out, protocol.Term{Name: strconv.Itoa(i), Amount: 1})
	}
	return out
}

func energy(amount protocol.Micro) []protocol.Term {
	return []protocol.Term{{Name: pricing.EnergyTerm, Amount: amount}}
}

func cpu() []protocol.Term { return []protocol.Term{{Name: "cpu", Amount: 5}} }

// TestOwnQuotesHaveTheSameTerms: a placing round calculates as its policy wants, at the own
// site and at partners; users who ask get hourly prices.
func TestOwnQuotesHaveTheSameTerms(t *testing.T) {
	t.Parallel()
	place := peertest.Greedy{EnergyPricing: protocol.AtOnce}
	later := func(r protocol.Request) protocol.Quote {
		return protocol.Quote{Job: r.Job, AWT: 30 * protocol.Minute, ERT: protocol.Hour}
	}
	answers, prices := idle(place, later), peertest.HourlyPrices("EUR", 10, 30, -20)
	var cost protocol.Micro
	change := func(c *rules.Config) { c.Area, c.Power, c.Policy = "a", 250_000, policy.Describe(place) }
	l := newLone(t, change, func(op event.Op) (event.Result, error) {
		switch op := op.(type) {
		case event.PriceOp:
			return prices.Answer(op)
		case event.DecideOp:
			cost = op.Snapshot.Cost[0]
		default:
		}
		return answers(op)
	})
	l.step(submission(1))
	request, ok := l.sent[len(l.sent)-1].Body.(protocol.QuoteRequest)
	if !ok || request.EnergyPricing != protocol.AtOnce {
		t.Fatalf("the partner is asked %+v", l.sent)
	}
	l.step(event.MessageIn{From: "b", Body: protocol.QuoteReply{
		Round: request.Round, MaxJobs: 1, Quotes: []protocol.Quote{{Job: request.Jobs[0].Job, Declined: "full"}},
	}})
	if cost != 2_500 { // one CPU, for an hour from now
		t.Errorf("the policy sees a cost of %d", cost)
	}
	l.sent = nil
	l.step(event.TestSubmit{Asked: 1, User: "ada", Jobs: []protocol.Job{{Spec: submission(1).Jobs[0].Spec}}})
	if request, ok = l.sent[0].Body.(protocol.QuoteRequest); !ok || request.EnergyPricing != protocol.Hourly {
		t.Errorf("asked by people: %+v", l.sent)
	}
}

// TestPricesComeAndGo: asked for at the beginning and again after an hour, for seven days
// ahead; sooner after a failure. What was known serves until there is something new.
func TestPricesComeAndGo(t *testing.T) {
	t.Parallel()
	var answer event.PriceResult
	failure := errors.New("the feed is down")
	answers := idle(peertest.Greedy{}, atOnce)
	change := func(c *rules.Config) { c.Area, c.Power, c.CheckInterval = "FR", 250_000, 5*protocol.Minute }
	l := newLone(t, change, func(op event.Op) (event.Result, error) {
		if _, ok := op.(event.PriceOp); ok {
			return answer, failure
		}
		return answers(op)
	})
	op, ok := l.asked[len(l.asked)-1].(event.PriceOp)
	if want := (event.PriceOp{Area: "FR", From: l.now, Until: l.now.Add(7 * protocol.Day)}); !ok || op != want {
		t.Errorf("asked for %+v, want %+v", op, want)
	}
	check := func(calls int, sites string, terms []protocol.Term) {
		t.Helper()
		if got := count[event.PriceOp](l); got != calls {
			t.Errorf("prices were asked for %d times, want %d", got, calls)
		}
		l.step(event.AskSites{Asked: 5})
		view, _ := l.answers[len(l.answers)-1].(view.Sites)
		if view.Sites[0].Prices != sites {
			t.Errorf("sites says %q, want %q", view.Sites[0].Prices, sites)
		}
		reply := l.quote(protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{guest(1, 4)}})
		if got := reply.Quotes[0].Terms; !reflect.DeepEqual(got, terms) {
			t.Errorf("terms %+v, want %+v", got, terms)
		}
	}
	const span = 5 * protocol.Minute // σ, of which 75 to 125 % pass after a failure
	check(1, "no prices of FR: the feed is down", nil)
	l.advance(span * 3 / 4)
	failure = nil // and an answer without any price
	l.advance(span / 2)
	check(2, "no prices of FR: none are known of this time", nil)
	answer, _ = peertest.HourlyPrices("EUR", 10, 10, 10).Answer(op)
	l.advance(span * 5 / 4)
	check(3, "FR in EUR, known until 2026-11-21 15:00Z", energy(10_000))
	answer = event.PriceResult{Currency: "EUR"}
	l.advance(protocol.Hour)
	check(4, "old prices of FR: none are known of this time", energy(10_000))
	failure = errors.New("gone")
	l.advance(span * 5 / 4)
	check(5, "old prices of FR: gone", energy(10_000))
	answer, failure = event.PriceResult{Prices: price.Series{Slots: []price.Slot{
		{Start: peertest.Epoch, Length: protocol.Day, Price: 40 * protocol.Unit},
	}}, PublishedUntil: peertest.Epoch.Add(protocol.Day), Currency: "EUR"}, nil
	l.advance(span * 5 / 4)
	check(6, "FR in EUR, known until 2026-11-22 12:00Z", energy(40_000))
	missing := 0
	for _, f := range l.facts {
		if f.Kind == event.LogPricesMissing {
			missing++
		}
	}
	if missing != 4 {
		t.Errorf("%d facts tell of missing prices", missing)
	}
	// Its two prices are not known, and nothing is not the same as for nothing.
	reply := l.quote(protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{guest(1, 4)}, EnergyPricing: protocol.TwoPrice})
	if q := reply.Quotes[0]; len(q.Terms) > 0 || q.Currency != "" {
		t.Errorf("by two prices: %+v", q)
	}
}

// TestNoAreaNoPrices: who names no area, or states no power, has no energy terms.
func TestNoAreaNoPrices(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rules.Config){
		"no area":  func(c *rules.Config) { c.Power = 250_000 },
		"no power": func(c *rules.Config) { c.Area = "a" },
	} {
		l := newLone(t, change, func(op event.Op) (event.Result, error) {
			if op, ok := op.(event.PriceOp); ok {
				return peertest.HourlyPrices("EUR", 10).Answer(op)
			}
			return idle(peertest.Greedy{}, atOnce)(op)
		})
		if got := count[event.PriceOp](l); (got > 0) != strings.HasSuffix(name, "power") {
			t.Errorf("%s: prices were asked for %d times", name, got)
		}
		if q := l.quote(protocol.QuoteRequest{Jobs: []protocol.Spec{guest(1, 1)}}).Quotes[0]; len(q.Terms) > 0 {
			t.Errorf("%s: %+v", name, q)
		}
	}
}

// What runs draws power without a budget, too: each job what is predicted of it, and CPUs that others
// keep busy what the site states. The price of this hour stands beside it.
func TestDrawWithoutABudget(t *testing.T) {
	t.Parallel()
	l := priced(t, atOnce)
	site := func() view.Site {
		l.step(event.AskSites{Asked: 5})
		view, _ := l.answers[len(l.answers)-1].(view.Sites)
		return view.Sites[0]
	}
	if got := site(); got.Draw != 0 || got.Price == nil || *got.Price != 10*protocol.Unit || got.PriceCurrency != "EUR" {
		t.Errorf("idle it is %+v", got)
	}
	ev := submission(1)
	ev.Jobs[0].Spec.CPUs, ev.Jobs[0].Spec.Power = 2, 500_000
	l.step(ev)
	l.advance(10 * protocol.Second) // b does not answer
	l.step(event.CallDone{ID: l.watching, Result: event.WatchResult{Watched: localsched.Watched{
		Load: protocol.Load{CPUs: 4, Busy: 3},
		Changes: []localsched.Change{{
			Tag: protocol.Tag{Job: l.answers[len(l.answers)-1].(view.Submitted).Jobs[0], Epoch: 1}, State: protocol.Running, Started: l.now,
		}},
	}}})
	l.now = l.now.Add(protocol.Hour)
	if got := site(); got.Draw != 500 || *got.Price != 30*protocol.Unit { // 2 of 125 W, and one of 250 W
		t.Errorf("it draws %d W at %d", got.Draw, *got.Price)
	}
}

// Where the start is not certain the electricity is priced over the interval that the quote has; by
// the plan where no interval is stated, it is one point, or the site calculates by plans.
func TestEnergyOverTheInterval(t *testing.T) {
	t.Parallel()
	const half = 30 * protocol.Minute
	for name, tt := range map[string]struct {
		quote   protocol.Quote
		planned bool
		pricing protocol.EnergyPricing
		want    protocol.Micro
	}{
		// half of the starts lie in the hour at 10, and as much of the run in that at 30 as they are late
		"within two hours":    {quote: protocol.Quote{AWT: half, AWTHigh: protocol.Hour, ERT: protocol.Hour}, want: 20_000},
		"all before the plan": {quote: protocol.Quote{AWT: protocol.Hour, AWTHigh: protocol.Hour, ERT: protocol.Hour}, want: 24_000},
		"one point":           {quote: protocol.Quote{AWT: half, AWTLow: half, AWTHigh: half, ERT: protocol.Hour}, want: 20_000},
		"none stated":         {quote: protocol.Quote{AWT: protocol.Hour, ERT: protocol.Hour}, want: 30_000},
		"at once":             {quote: protocol.Quote{AWT: protocol.Hour, AWTHigh: protocol.Hour, ERT: protocol.Hour}, pricing: protocol.AtOnce, want: 10_000},
		"a site that plans":   {quote: protocol.Quote{AWT: protocol.Hour, AWTHigh: protocol.Hour, ERT: protocol.Hour}, planned: true, want: 30_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers, prices := idle(peertest.Greedy{}, func(r protocol.Request) protocol.Quote {
				q := tt.quote
				q.Job = r.Job
				return q
			}), peertest.HourlyPrices("EUR", 10, 30, 90)
			l := newLone(t, func(c *rules.Config) { c.Area, c.Power, c.Spread = "a", 250_000, !tt.planned }, func(op event.Op) (event.Result, error) {
				if op, ok := op.(event.PriceOp); ok {
					return prices.Answer(op)
				}
				return answers(op)
			})
			reply := l.quote(protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{guest(1, 4)}, EnergyPricing: tt.pricing})
			if got := reply.Quotes[0].Terms; !reflect.DeepEqual(got, energy(tt.want)) {
				t.Errorf("terms %+v, want %d", got, tt.want)
			}
		})
	}
}

// A replaced feed is asked at once, and not a second time when the next refresh would have been: the answer to the first
// question would be dropped.
func TestAReplacedFeedIsAskedOnce(t *testing.T) {
	t.Parallel()
	prices, later := peertest.HourlyPrices("EUR", 10, 20, 30), false
	l := newLone(t, func(c *rules.Config) { c.Area, c.Power, c.PriceRefresh = "a", 250_000, protocol.Hour }, func(op event.Op) (event.Result, error) {
		if op, ok := op.(event.PriceOp); ok && !later {
			return prices.Answer(op)
		} else if ok {
			return nil, errLater
		}
		return idle(peertest.Greedy{}, nil)(op)
	})
	later = true
	l.step(event.ChangePrices{Asked: 4})
	l.advance(2 * protocol.Hour)
	if len(l.open) != 1 {
		t.Errorf("the feed was asked %d times", len(l.open))
	}
}

// The feed is replaced while it is being asked: the answer of the old one may come after that of the new
// one, and must not replace it.
func TestALateAnswerOfAReplacedFeed(t *testing.T) {
	t.Parallel()
	old, replacement := peertest.HourlyPrices("EUR", 10), peertest.HourlyPrices("EUR", 50)
	l := newLone(t, func(c *rules.Config) { c.Area, c.Power = "a", 250_000 }, func(op event.Op) (event.Result, error) {
		if _, ok := op.(event.PriceOp); ok {
			return nil, errLater
		}
		return idle(peertest.Greedy{}, nil)(op)
	})
	l.step(event.ChangePrices{Asked: 4})
	for i, prices := range []peertest.Prices{replacement, old} { // the new one answers first
		call := l.open[len(l.open)-1-i]
		result, err := prices.Answer(call.Op.(event.PriceOp))
		l.step(event.CallDone{ID: call.ID, Result: result, Err: err})
	}
	l.step(event.AskSites{Asked: 5})
	sites := l.answers[len(l.answers)-1].(view.Sites)
	if at := sites.Sites[0].Price; at == nil || *at != 50*protocol.Unit {
		t.Errorf("the price is not the 50 of the new feed: %v", sites.Sites[0].Price)
	}
}
