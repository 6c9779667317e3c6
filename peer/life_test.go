package peer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// tidy is a site alone with a partner b that is only heard, and distinguishes lives.
func tidy(t *testing.T) *lone {
	t.Helper()
	return newLone(t, guarded, func(event.Op) (event.Result, error) { return nil, errLater })
}

// again starts the peer once more on the rows that it has written.
func (l *lone) again() {
	l.t.Helper()
	var rows []row.Record
	for _, table := range row.Tables() {
		last := map[string]row.Record{}
		for _, rec := range l.records {
			if rec.Table == table {
				last[rec.Key] = rec
			}
		}
		for _, rec := range last { // one of each table: nothing was submitted
			rows = append(rows, rec)
		}
	}
	cfg := goodConfig()
	cfg.Partners = []rules.Partner{{Site: "b", MaxJobs: 1000}}
	guarded(&cfg)
	p, err := peer.New(cfg, 1, rows)
	if err != nil {
		l.t.Fatal(err)
	}
	l.now = l.now.Add(protocol.Minute)
	l.peer = p
	l.step(event.Tick{})
}

// life is what the peer says of itself.
func (l *lone) life() protocol.Life {
	card := l.peer.Card("b")
	return card.Life()
}

// says is a watermark of b.
func (l *lone) says(m protocol.Watermark) {
	l.t.Helper()
	m.Life = protocol.Life{Incarnation: 1, Boot: 1, Begun: 1, Generation: 1}
	l.step(event.MessageIn{From: "b", Body: m})
}

// stopped says whether an operator is needed.
func (l *lone) stopped() bool {
	l.t.Helper()
	l.answers = nil
	l.step(event.AskRecovery{Asked: 1})
	view, ok := l.answers[0].(view.Recovery)
	if !ok {
		l.t.Fatalf("answered %+v", l.answers[0])
	}
	return view.Needed
}

// TestALifeOfItsOwnStopsNothing: a partner repeats a life that these rows come from, which the
// site has stated indeed, and claims jobs that it cannot have seen. Only a life that has gone
// on beside this one stops the site.
func TestALifeOfItsOwnStopsNothing(t *testing.T) {
	t.Parallel()
	l := tidy(t)
	before := l.life()
	l.again()
	l.says(protocol.Watermark{Seen: before, Twin: before, SeenSeq: uint64(l.now-1_767_225_600_000) + 1000})
	if l.stopped() {
		t.Error("its own past stops it")
	}
	before.Generation += 1000
	l.says(protocol.Watermark{Seen: l.life(), Twin: before})
	if !l.stopped() {
		t.Error("a life that went on beside it stops nothing")
	}
}

// TestWhatIsSettledStopsNothing: after an operator has said that the store goes on, what was
// said of the lost lives stops nothing any more, however often a partner repeats it.
func TestWhatIsSettledStopsNothing(t *testing.T) {
	t.Parallel()
	l := tidy(t)
	lost, twin := l.life(), l.life()
	lost.Generation += 1000
	twin.Boot, twin.Begun = twin.Boot+7, twin.Begun+1
	l.again()
	l.says(protocol.Watermark{Seen: lost, Twin: twin})
	if !l.stopped() {
		t.Fatal("a newer life stops nothing")
	}
	l.step(event.Recover{Asked: 2, User: "root", Admin: true})
	for range 2 {
		if l.stopped() {
			t.Error("what is settled stops it")
		}
		l.says(protocol.Watermark{Seen: lost, Twin: twin})
		l.again()
		l.says(protocol.Watermark{Seen: lost, Twin: twin})
	}
	if l.life().Boot <= twin.Boot || l.life().Generation <= lost.Generation {
		t.Errorf("it is at %v, and %v and %v are known", l.life(), lost, twin)
	}
}

// TestAPartnerPutsAStartOffOnce: an earlier life that may still run is waited for 3 s, however
// often a partner says so.
func TestAPartnerPutsAStartOffOnce(t *testing.T) {
	t.Parallel()
	l := tidy(t)
	l.again()
	l.answers = nil
	l.step(event.Submit{Asked: 1, User: "ada", Jobs: []protocol.Job{at("a", 1, 1)}})
	if len(l.answers) > 0 {
		t.Fatalf("it does not listen: %+v", l.answers)
	}
	for range 4 {
		l.advance(protocol.Second)
		l.says(protocol.Watermark{Overlapped: true})
	}
	if len(l.answers) != 1 {
		t.Errorf("3 s after its partner has said so first, a submission has %d answers, want 1", len(l.answers))
	}
}

// TestProofsAreReturned: what a partner has stated of its life goes back with its proof, also
// after a restart, and so does the other life of a partner that runs twice.
func TestProofsAreReturned(t *testing.T) {
	t.Parallel()
	l := tidy(t)
	card := func(boot uint64, proof byte) protocol.Card {
		return protocol.Card{
			Site: "b", Number: 2, Protocol: protocol.ProtocolVersion, Incarnation: 9, FirstStart: 1,
			Capacity: protocol.Capacity{CPUs: 8, Nodes: 8},
			Boot:     boot, Begun: protocol.Instant(boot), Generation: boot, Proof: protocol.Proof{proof},
		}
	}
	first, second := card(1, 11), card(2, 22)
	for _, one := range []protocol.Card{first, second} {
		l.step(event.Connected{Card: one})
		if mark, ok := l.last().(protocol.Watermark); !ok || mark.Seen != one.Life() {
			t.Errorf("sent %+v, want %+v to be seen", l.last(), one.Life())
		}
	}
	l.step(event.Connected{Card: first})
	if mark, ok := l.last().(protocol.Watermark); !ok || mark.Twin != second.Life() {
		t.Errorf("sent %+v, want the twin %+v", l.last(), second.Life())
	}
	l.again()
	if mine := l.peer.Card("b"); mine.Seen != second.Life() {
		t.Errorf("after a restart %+v is seen, want %+v", mine.Seen, second.Life())
	}
}

// holding is a site with a number of jobs that its partner b has, and a number of jobs that have ended there
// and whose output is on its way for ever.
func holding(t *testing.T, handed, collecting int) *lone {
	t.Helper()
	cfg := goodConfig()
	cfg.Partners = []rules.Partner{{Site: "b", MaxJobs: 1000}}
	guarded(&cfg)
	rows := []row.Record{{Table: row.SiteTable, Key: "site", Row: row.Site{
		FirstStart: 1, Incarnation: 1, FirstSeq: 1, NextSeq: 1_000_000, Boot: 1, Begun: 1,
	}}}
	for i := range handed + collecting {
		id := protocol.NewJobID(1, uint64(i+1))
		job := row.Job{
			Spec:  protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1, WallTime: protocol.Hour}, User: "ada"},
			Phase: row.JobHandedOff, Epoch: 1, Site: "b",
		}
		if i >= handed {
			job.Phase, job.Outcome = row.JobStagingOut, &protocol.Outcome{State: protocol.Completed, Files: []protocol.File{{Size: 1}}}
		}
		key := fmt.Sprintf("%016d", uint64(id))
		rows = append(rows,
			row.Record{Table: row.PayloadTable, Key: key, Row: row.Payload{Payload: peertest.Plan{Run: 1}.Payload()}},
			row.Record{Table: row.JobTable, Key: key, Row: job})
	}
	p, err := peer.New(cfg, 1, rows)
	if err != nil {
		t.Fatal(err)
	}
	l := &lone{t: t, peer: p, now: peertest.Epoch, calls: func(event.Op) (event.Result, error) { return nil, errLater }}
	l.step(event.Tick{})
	l.renewed(1)
	l.accept()
	l.advance(protocol.Hour)
	l.sent = nil
	return l
}

// renewed has b say that its store is another one.
func (l *lone) renewed(incarnation uint64) {
	l.t.Helper()
	life := protocol.Life{Incarnation: incarnation, Boot: incarnation, Begun: 1, Generation: incarnation}
	if incarnation == 1 {
		l.step(event.Connected{Card: protocol.Card{
			Site: "b", Number: 2, Protocol: protocol.ProtocolVersion, FirstStart: 1, Capacity: protocol.Capacity{CPUs: 8, Nodes: 8},
			Incarnation: 1, Boot: 1, Begun: 1, Generation: 1,
		}})
	}
	l.step(event.MessageIn{From: "b", Body: protocol.Watermark{Life: life}})
}

// accept has b accept all that it was granted, and returns how many grants there were.
func (l *lone) accept() (grants int) {
	l.t.Helper()
	sent := l.sent
	l.sent = nil
	for _, m := range sent {
		if grant, ok := m.Body.(protocol.Grant); ok {
			grants++
			l.step(event.MessageIn{From: "b", Body: protocol.Accept(grant)})
		}
	}
	return grants
}

// TestAPartnerWithEverNewStoresIsAskedAtAPace: each new store of a partner may have lost what
// was handed to it. It is asked for all of that once, and once more when some time has passed.
func TestAPartnerWithEverNewStoresIsAskedAtAPace(t *testing.T) {
	t.Parallel()
	const jobs, stores = 100, 50
	l := holding(t, jobs, 0)
	for i := range uint64(stores) {
		l.renewed(i + 2)
	}
	if grants := l.accept(); grants != jobs {
		t.Errorf("%d jobs are asked for with %d grants", jobs, grants)
	}
	l.advance(5 * protocol.Second) // guarded's RetryMax
	if grants := l.accept(); grants != jobs {
		t.Errorf("for the last store %d jobs are asked for with %d grants", jobs, grants)
	}
	l.advance(protocol.Hour)
	if grants := l.accept(); grants != 0 {
		t.Errorf("then there are %d more grants", grants)
	}
}

// TestAPartnerWithoutJobsIsNotAskedForAny is alone, because it counts allocations: the new
// stores of such a partner cost the same, however many other
// jobs there are.
func TestAPartnerWithoutJobsIsNotAskedForAny(t *testing.T) {
	cost := func(others int) float64 {
		l := holding(t, 0, others)
		incarnation := uint64(1)
		return testing.AllocsPerRun(100, func() {
			incarnation++
			l.renewed(incarnation)
		})
	}
	if none, many := cost(0), cost(1000); many > none+1 {
		t.Errorf("a new store costs %v allocations with 1000 jobs of others, and %v without", many, none)
	}
}

// TestAPartnersFactsAreFew: unexpected messages of a partner make five facts an hour,
// and then how often it was; and so are its two lives that speak by turns, and the numbers of
// its cards. All of it is counted.
func TestAPartnersFactsAreFew(t *testing.T) {
	t.Parallel()
	const messages = 300
	card := func(boot uint64, number protocol.SiteNumber) event.Event {
		return event.Connected{Card: protocol.Card{
			Site: "b", Number: number, Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1,
			Capacity: protocol.Capacity{CPUs: 8, Nodes: 8}, Boot: boot, Begun: protocol.Instant(boot), Generation: boot,
		}}
	}
	for kind, says := range map[event.LogKind]func(l *lone, i uint64){
		event.LogUnexpectedMessage: func(l *lone, _ uint64) { l.says(protocol.Watermark{SeenSeq: 1 << 60}) },
		event.LogTwoPeers: func(l *lone, i uint64) {
			l.step(card(i+2, 2))
			l.step(card(1, 2))
		},
		event.LogSiteIDConflict: func(l *lone, _ uint64) {
			l.step(card(1, 1))
			l.step(card(1, 2))
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			l := tidy(t)
			l.step(card(1, 2))
			l.facts = nil
			var texts []string
			said := func() (of int) {
				texts = nil
				for _, f := range l.facts {
					if f.Kind == kind {
						of += max(1, f.OmittedQuotes)
						texts = append(texts, f.Text)
					}
				}
				return of
			}
			for i := range uint64(messages) {
				says(l, i)
			}
			if n := said(); n != 5 {
				t.Errorf("at once there are %d facts of %d: %q", n, messages, texts)
			}
			l.advance(protocol.Hour)
			if n := said(); n != messages || len(texts) != 6 || !strings.HasPrefix(texts[5], "295 more of this kind since 2026-11-21 12:00:00Z") {
				t.Errorf("after an hour there are facts of %d of %d: %q", n, messages, texts)
			}
			says(l, messages)
			l.advance(2 * protocol.Hour)
			if n := said(); n != messages+1 || len(texts) != 7 {
				t.Errorf("a later one makes %d: %q", n, texts)
			}
		})
	}
}

// TestClaimedJobIDsTakeNoSpace: a partner may claim ever more job ids of this site.
func TestClaimedJobIDsTakeNoSpace(t *testing.T) {
	t.Parallel()
	l := tidy(t)
	l.step(event.Submit{Asked: 1, User: "ada", Jobs: []protocol.Job{at("a", 1, 1)}})
	for i := range uint64(10) {
		l.says(protocol.Watermark{SeenSeq: uint64(l.now-1_767_225_600_000) + 1000*i + 1000})
	}
	var gaps []row.Gap
	for _, rec := range l.records {
		if row, ok := rec.Row.(row.Site); ok {
			gaps = row.Gaps
		}
	}
	if len(gaps) != 1 {
		t.Errorf("the gaps %v are kept, want one", gaps)
	}
}
