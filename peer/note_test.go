package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestNotesTravel: what a site notes of a wait is reported to partners and to local users,
// cut to what the wire takes. A job that is declined has a reason instead.
func TestNotesTravel(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, func(r protocol.Request) protocol.Quote {
		switch q := noted(r); r.CPUs {
		case 1:
			q.Note = "off-peak only"
			return q
		case 2:
			q.Declined = "full"
			return q
		default:
			return q
		}
	}))
	jobs := []protocol.Spec{guest(1, 1), guest(2, 2), guest(3, 3)}
	long := strings.Repeat("é", 120) + "…"
	for i, q := range l.quote(protocol.QuoteRequest{Round: 1, Jobs: jobs}).Quotes {
		if want := []string{"off-peak only", "", long}[i]; q.Note != want {
			t.Errorf("job %d: the partner is told %q, want %q", i, q.Note, want)
		}
	}
	l.step(event.TestSubmit{Asked: 1, User: "ada", Jobs: []protocol.Job{{Spec: jobs[0]}, {Spec: jobs[1]}, {Spec: jobs[2]}}})
	request, _ := l.last().(protocol.QuoteRequest)
	reply := protocol.QuoteReply{Round: request.Round}
	for _, spec := range request.Jobs {
		reply.Quotes = append(reply.Quotes, protocol.Quote{Job: spec.Job, AWT: protocol.Hour, Note: "from b"})
	}
	l.step(event.MessageIn{From: "b", Body: reply})
	quoted, ok := l.answers[len(l.answers)-1].(view.TestSubmitResult)
	if !ok || len(quoted.Jobs) != 3 {
		t.Fatalf("got %+v", l.answers)
	}
	for i, quotes := range quoted.Jobs {
		notes := map[protocol.SiteName]string{}
		for _, q := range quotes {
			notes[q.Site] = q.Note
		}
		if want := []string{"off-peak only", "", long}[i]; notes["a"] != want || notes["b"] != "from b" {
			t.Errorf("job %d: people read %q, want %q", i, notes, want)
		}
	}
}

// TestPowerClassIsStatedAtTheOrigin: jobs of one user with one name are alike wherever they
// are asked about, and whatever the submitter says of it; another name is another
// likeness.
func TestPowerClassIsStatedAtTheOrigin(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	submit := submission(2)
	submit.Jobs[0].Spec.PowerClass, submit.Jobs[1].Spec.Name = 7, "y"
	l.step(submit)
	likes := map[string]uint64{}
	for _, record := range l.records {
		if row, ok := record.Row.(row.Job); ok {
			likes[row.Spec.Name] = row.Spec.PowerClass
		}
	}
	if likes["x"] != protocol.PowerClassOf("a", "ada", "x") || likes["y"] != protocol.PowerClassOf("a", "ada", "y") {
		t.Errorf("the rows say %v", likes)
	}
	l.step(event.TestSubmit{Asked: 1, User: "ada", Jobs: []protocol.Job{{Spec: submit.Jobs[0].Spec}}})
	request, ok := l.last().(protocol.QuoteRequest)
	if !ok || request.Jobs[0].PowerClass != likes["x"] {
		t.Errorf("the partner is told %+v, want the likeness %d", l.last(), likes["x"])
	}
}

// TestSitesTellPower: in watts, of this site as it is and of partners as they said last.
func TestSitesTellPower(t *testing.T) {
	t.Parallel()
	load := protocol.Load{CPUs: 4, Busy: 1, PowerIdledCPUs: 2, Draw: 12_300_001, Budget: protocol.ActiveBudget(50_000_000)}
	l := newLone(t, func(*rules.Config) {}, func(op event.Op) (event.Result, error) {
		if _, ok := op.(event.QuoteOp); ok {
			return event.QuoteResult{Load: load, Quotes: make([]protocol.Quote, 1)}, nil
		}
		return idle(peertest.Greedy{}, atOnce)(op)
	})
	l.quote(protocol.QuoteRequest{Jobs: []protocol.Spec{guest(1, 1)}})
	l.step(event.DigestSeen{Digest: protocol.Digest{Site: "b", Seq: 1, Load: protocol.Load{CPUs: 8, PowerIdledCPUs: 3, Draw: 1, Budget: protocol.ActiveBudget(2000)}}})
	l.step(event.AskSites{})
	view, _ := l.answers[len(l.answers)-1].(view.Sites)
	own, other := view.Sites[0], view.Sites[1]
	if own.PowerIdledCPUs != 2 || own.Draw != 12_301 || own.Budget == nil || *own.Budget != 50_000 || own.RUS != 750_000 {
		t.Errorf("this site: %+v", own)
	}
	if other.PowerIdledCPUs != 3 || other.Draw != 1 || other.Budget == nil || *other.Budget != 2 {
		t.Errorf("the partner: %+v", other)
	}
	if free := l.quote(protocol.QuoteRequest{}).Free; free != 1 {
		t.Errorf("%d CPUs are told to be free", free)
	}
}
