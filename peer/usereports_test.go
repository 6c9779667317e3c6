package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// exchanging has use be exchanged among a, b and c.
func exchanging(cfg *rules.Config) {
	cfg.FairShare = rules.FairShare{
		HalfLife: 7 * protocol.Day, Weights: fairshare.Weights{FairShare: 10_000, MaxAge: 7 * protocol.Day},
		ExchangeInterval: protocol.Minute, CommonNames: []protocol.SiteName{"a", "b", "c"},
	}
}

// sharesAt is what a site answers about shares.
func sharesAt(t *testing.T, w *peertest.World, site protocol.SiteName) view.Shares {
	t.Helper()
	asked := w.Ask(site, func(asked event.AskID) event.Event { return event.AskShares{Asked: asked} })
	got, ok := w.Site(site).Answer(asked).(view.Shares)
	if !ok {
		t.Fatalf("%s answers %+v", site, w.Site(site).Answer(asked))
	}
	return got
}

// TestUseIsExchanged: sites know what users have used at others and, as long as they hear of it, what their running jobs may still
// use there, also after a restart and once a partition is over; how old that is they say.
func TestUseIsExchanged(t *testing.T) {
	t.Parallel()
	lasting := func(cfg *rules.Config) { // the rows of partners are kept
		exchanging(cfg)
		cfg.Watermark = 10 * protocol.Second
	}
	w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: protocol.Capacity{CPUs: 2, Nodes: 2}, Config: lasting},
		{Name: "b", Capacity: protocol.Capacity{CPUs: 2, Nodes: 2}, Config: lasting},
		{Name: "c", Capacity: protocol.Capacity{CPUs: 2, Nodes: 2}, Config: lasting},
	}})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, w, peertest.Plan{Run: 10 * protocol.Hour}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 2, WallTime: 20 * protocol.Hour}, Sites: []protocol.SiteName{"b"}, // submitted at a
	}))
	knows := func(site protocol.SiteName, hours int64) {
		t.Helper()
		got := sharesAt(t, w, site)
		if len(got.Users) != 1 || len(got.Reports) != 2 {
			t.Fatalf("%s knows %+v", site, got)
		}
		low, high := 2*(hours-1)*int64(protocol.Hour), 2*(hours+1)*int64(protocol.Hour)
		for _, one := range got.Users[0].Sites {
			if one.Site == "b" && one.Use >= low && one.Use <= high && one.Age != nil {
				return
			}
		}
		t.Errorf("%s knows %+v, want %d hours of 2 CPUs at b", site, got.Users[0], hours)
	}
	w.Advance(3 * protocol.Hour)
	knows("c", 20) // all that the job asks for
	restarted(t, w, "c")
	knows("c", 3) // until the next report
	w.Cut("b", "c")
	w.Advance(3 * protocol.Hour)
	knows("c", 3)
	for _, r := range sharesAt(t, w, "c").Reports {
		if r.Stale != (r.Site == "b") || r.Age == nil || *r.Age >= 3*protocol.Hour-2*protocol.Minute != r.Stale {
			t.Errorf("after three hours without a link to b: %+v", r)
		}
	}
	w.Heal("b", "c")
	w.Advance(10 * protocol.Minute)
	knows("c", 20)
	w.Advance(20 * protocol.Hour)
	knows("c", 10)
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
}

// TestReportsOfPartner: what a partner says lowers the priority of a user no more than its machine can do, and only of users
// and with the half-life that are common; and it writes no more rows than it may.
func TestReportsOfPartner(t *testing.T) {
	t.Parallel()
	l := newLone(t, exchanging, idle(peertest.Greedy{}, atOnce))
	period := fairshare.PeriodOf(l.now)
	says := func(change func(*protocol.UseReport)) (use int64, rows int) {
		m := protocol.UseReport{At: l.now, HalfLife: 7 * protocol.Day, Uses: []protocol.Use{{Origin: "b", User: "ann", Period: period, Amount: 1 << 62}}}
		change(&m)
		before := len(l.records)
		l.step(event.MessageIn{From: "b", Body: m})
		for _, rec := range l.records[before:] {
			if rec.Table == row.UseTable {
				rows++
			}
		}
		l.step(event.AskShares{Asked: 5})
		got, _ := l.answers[len(l.answers)-1].(view.Shares)
		for _, u := range got.Users {
			use += u.Use
		}
		return use, rows
	}
	for name, change := range map[string]func(*protocol.UseReport){
		"another half-life":           func(m *protocol.UseReport) { m.HalfLife = protocol.Day },
		"of tomorrow":                 func(m *protocol.UseReport) { m.Uses[0].Period += 24 },
		"of jobs of this site":        func(m *protocol.UseReport) { m.Uses[0].Origin = "a" },
		"of a site without its names": func(m *protocol.UseReport) { m.Uses[0].Origin = "d" },
	} {
		if use, rows := says(change); use != 0 || rows != 0 {
			t.Errorf("%s: %d CPU·ms count, and %d rows are written", name, use, rows)
		}
	}
	most := fairshare.NewDecay(7 * protocol.Day).Most(8) // as the card of b says
	same := func(*protocol.UseReport) {}
	if use, rows := says(same); use > most || use < most/100*99 || rows != 1 {
		t.Errorf("%d CPU·ms count, want %d, and %d rows are written", use, most, rows)
	}
	got, _ := l.answers[len(l.answers)-1].(view.Shares)
	if want := int(float64(most) / float64(1<<62) * float64(protocol.PPM)); len(got.Reports) != 2 || got.Reports[0].Counted != want {
		t.Errorf("%+v: want %d parts per million to count", got.Reports, want)
	} else if c := got.Reports[1]; c.Site != "c" || !strings.Contains(c.Refused, "no partner") {
		t.Errorf("of a common name that is no partner: %+v", c)
	}
	if _, rows := says(same); rows != 0 {
		t.Errorf("the same again writes %d rows", rows)
	}
	written := 0
	for i := range 1000 {
		_, rows := says(func(m *protocol.UseReport) {
			m.Uses[0].User = "u" + strings.Repeat("x", i%200) + string(rune('a'+i/200))
		})
		written += rows
	}
	if written > 100 || written < 10 {
		t.Errorf("1000 reports at once write %d rows", written)
	}
}

// TestStartsAreReported: the start of a job makes partners know, and changes the priorities of what waits, at once; further ones within
// ten seconds of that.
func TestStartsAreReported(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(cfg *rules.Config) {
		exchanging(cfg)
		cfg.FairShare.ExchangeInterval, cfg.Prioritize = protocol.Hour, true
	}, idle(peertest.Greedy{}, atOnce))
	l.submitAs("ann", 3)
	l.submitAs("bob", 1)
	l.advance(10 * protocol.Second) // b does not answer
	var tags []protocol.Tag
	for _, op := range l.asked {
		if op, is := op.(event.SubmitOp); is {
			tags = append(tags, op.Job.Tag)
		}
	}
	if len(tags) != 4 {
		t.Fatalf("submitted are %v", tags)
	}
	starts := func(tag protocol.Tag, cursor localsched.Cursor) {
		l.step(event.CallDone{ID: l.watching, Result: event.WatchResult{Watched: localsched.Watched{
			Cursor: cursor, Changes: []localsched.Change{{Tag: tag, State: protocol.Running, Started: l.now}},
		}}})
		l.step(event.Tick{})
	}
	reported := func() (remaining []int64) {
		for _, m := range l.sent {
			if report, is := m.Body.(protocol.UseReport); is && m.To == "b" {
				for _, u := range report.Uses {
					remaining = append(remaining, u.Remaining)
				}
			}
		}
		l.sent = nil
		return remaining
	}
	reported()
	l.asked = nil
	starts(tags[0], "1")
	first := reported()
	if len(first) != 1 || first[0] == 0 {
		t.Fatalf("after a start b hears of %v", first)
	}
	stated := 0
	for _, op := range l.asked {
		if op, is := op.(event.PrioritizeOp); is {
			stated += len(op.Priorities)
		}
	}
	if stated != 2 { // those of ann
		t.Errorf("%d priorities are stated after a start, want 2", stated)
	}
	starts(tags[1], "2")
	if more := reported(); len(more) != 0 {
		t.Errorf("at once after that b hears of %v", more)
	}
	l.advance(10 * protocol.Second)
	if more := reported(); len(more) != 1 || more[0] <= first[0] {
		t.Errorf("after ten seconds b hears of %v, first of %v", more, first)
	}
}

// TestUseChangesAreSilent: while no job starts or ends, a site that exchanges use reports it every interval and not in between.
func TestUseChangesAreSilent(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(cfg *rules.Config) {
		exchanging(cfg)
		cfg.FairShare.ExchangeInterval, cfg.Prioritize = protocol.Hour, true
	}, idle(peertest.Greedy{}, atOnce))
	l.sent = nil
	l.step(event.MessageIn{From: "b", Body: protocol.UseReport{At: l.now, HalfLife: 7 * protocol.Day, Uses: []protocol.Use{{Origin: "b", User: "ann", Period: fairshare.PeriodOf(l.now), Amount: 1 << 30, Remaining: 1 << 30}}}})
	for range 50 {
		l.advance(protocol.Minute)
	}
	for _, m := range l.sent {
		if _, is := m.Body.(protocol.UseReport); is {
			t.Fatalf("b hears of %v, although no job has started or ended here", m.Body)
		}
	}
}

// TestReportOfUse: with common names a partner gets what users have used here, again and again, and one without gets nothing.
func TestReportOfUse(t *testing.T) {
	t.Parallel()
	for name, common := range map[string][]protocol.SiteName{"common": {"b"}, "others": {"c"}} {
		l := newLone(t, func(cfg *rules.Config) {
			exchanging(cfg)
			cfg.FairShare.CommonNames = common
		}, idle(peertest.Greedy{}, atOnce))
		l.now = l.now.Add(protocol.Minute)
		l.step(event.Tick{})
		l.now = l.now.Add(protocol.Minute)
		l.step(event.Tick{})
		reports := 0
		for _, m := range l.sent {
			if report, is := m.Body.(protocol.UseReport); is && m.To == "b" && report.HalfLife == 7*protocol.Day && report.At != 0 {
				reports++
			}
		}
		if want := map[string]int{"common": 2}[name]; reports != want {
			t.Errorf("%s: %d reports in two intervals, want %d", name, reports, want)
		}
	}
}
