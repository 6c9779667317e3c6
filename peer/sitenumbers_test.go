package peer_test

import (
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

// cards is site a with the partners b and c, which show their cards.
type cards struct {
	t     *testing.T
	peer  *peer.Peer
	rows  row.Rows
	first event.Ready // what the first step brought
	now   protocol.Instant
	next  event.AskID
}

func newCards(t *testing.T, rows row.Rows) *cards {
	t.Helper()
	cfg := goodConfig()
	cfg.Watermark = protocol.Second
	cfg.PublicKey = peertest.PublicKey("a", 1)
	for i := range cfg.Partners {
		cfg.Partners[i].MaxJobs, cfg.Partners[i].PublicKey = 10, keyOf(cfg.Partners[i].Site)
	}
	return newCardsOf(t, cfg, rows)
}

// keyOf is the key of a partner, whatever number it says.
func keyOf(site protocol.SiteName) string { return peertest.PublicKey(site, 1) }

// newCardsOf starts a peer from the rows, and keeps its records in them.
func newCardsOf(t *testing.T, cfg rules.Config, rows row.Rows) *cards {
	t.Helper()
	records, err := rows.Records()
	if err != nil {
		t.Fatal(err)
	}
	p, err := peer.New(cfg, 1, records)
	if err != nil {
		t.Fatal(err)
	}
	c := &cards{t: t, peer: p, rows: rows, now: peertest.Epoch + protocol.Instant(protocol.Hour)}
	c.first = c.step(event.Tick{})
	return c
}

// ask puts a question and returns the answer.
func (c *cards) ask(ev event.Event) view.Reply {
	answers := c.step(ev).Answers
	if len(answers) != 1 {
		c.t.Fatalf("%T has %d answers", ev, len(answers))
	}
	return answers[0].Reply
}

func (c *cards) step(ev event.Event) event.Ready {
	c.now++
	ready := c.peer.Step(c.now, ev)
	for _, rec := range ready.Records {
		c.rows.Commit(rec)
	}
	return ready
}

// show connects a partner by a card with the number and first start.
func (c *cards) show(site protocol.SiteName, number protocol.SiteNumber, first protocol.Instant) {
	c.step(event.Connected{Card: protocol.Card{
		Site: site, Number: number, PublicKey: keyOf(site), FirstStart: first,
		Incarnation: uint64(first), Protocol: protocol.ProtocolVersion, Capacity: protocol.Capacity{CPUs: 4, Nodes: 4},
	}})
}

// links are the states of the links to b and c.
func (c *cards) links() string {
	c.next++
	ready := c.step(event.AskSites{Asked: c.next})
	sites, ok := ready.Answers[0].Reply.(view.Sites)
	if !ok {
		c.t.Fatalf("answered with %T", ready.Answers[0].Reply)
	}
	var out []string
	for _, one := range sites.Sites {
		out = append(out, string(one.Site)+" "+one.Link)
	}
	return strings.Join(out, ", ")
}

// submits says whether a local user's job is taken.
func (c *cards) submits() bool {
	c.next++
	job := peertest.Plan{Run: 1}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}, Name: "x"})
	ready := c.step(event.Submit{Asked: c.next, User: "ada", Jobs: []protocol.Job{job}})
	_, ok := ready.Answers[0].Reply.(view.Submitted)
	return ok
}

// TestGossipDecidesNothing: a stranger who gossips with this site's number or name, or with a
// partner's, and says to be the oldest of all, changes neither links nor submissions. The
// operator gets one hint, however many strangers there are.
func TestGossipDecidesNothing(t *testing.T) {
	t.Parallel()
	c := newCards(t, row.Rows{})
	c.show("b", 2, peertest.Epoch-100)
	c.show("c", 3, peertest.Epoch-100)
	hints := 0
	for i := range 50 {
		for _, first := range []protocol.Instant{1, peertest.Epoch * 2} {
			for _, seen := range []event.MemberSeen{
				{Site: "z", Number: 1}, {Site: "a", Number: 9}, {Site: "b", Number: 1}, {Site: "z", Number: 2},
			} {
				seen.PublicKey, seen.FirstStart = peertest.PublicKey("z", protocol.SiteNumber(i+1)), first
				for _, f := range c.step(seen).LogEvents {
					if f.Kind != event.LogMemberConflict {
						t.Errorf("a fact %s: %s", f.Kind, f.Text)
					}
					hints++
				}
			}
		}
	}
	if hints != 1 {
		t.Errorf("%d hints, want 1", hints)
	}
	if got := c.links(); got != "a self, b up, c up" {
		t.Errorf("the links are %s", got)
	}
	if !c.submits() {
		t.Error("a local user's job is refused")
	}
}

// TestAPartnersNumberIsItsFirstHolders: a card with this site's number, or with the number of
// a partner that is known longer, costs its own link only, whatever it says of its age, also
// over restarts; local submissions go on. It ends with the card that says so.
func TestAPartnersNumberIsItsFirstHolders(t *testing.T) {
	t.Parallel()
	rows := row.Rows{}
	c := newCards(t, rows)
	c.show("b", 2, peertest.Epoch-100)
	c.show("c", 2, 1) // claims to be the older
	if got := c.links(); got != "a self, b up, c refused" {
		t.Errorf("c with the number of b: the links are %s", got)
	}
	c = newCards(t, rows)
	c.show("c", 2, 1) // comes first after a restart
	c.show("b", 2, peertest.Epoch-100)
	if got := c.links(); got != "a self, b up, c refused" {
		t.Errorf("after a restart the links are %s", got)
	}
	c.show("c", 1, 1)
	if got := c.links(); got != "a self, b up, c refused" || !c.submits() {
		t.Errorf("c with the number of a: the links are %s, or a local job is refused", got)
	}
	c.show("c", 3, 1)
	if got := c.links(); got != "a self, b up, c up" {
		t.Errorf("c with a number of its own: the links are %s", got)
	}
	c.show("c", 2, 1)
	c.show("b", 3, 1) // they change numbers
	if got := c.links(); got != "a self, b up, c up" {
		t.Errorf("b and c with each other's numbers: the links are %s", got)
	}
}

// TestDependencyOnAClaimedNumber: a partner that comes with the site number of another one, and is barred for that, does not
// get the questions about the other one's jobs, nor keeps its answers from being believed.
func TestDependencyOnAClaimedNumber(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		c := newCards(t, row.Rows{})
		c.show("b", 2, peertest.Epoch-100)
		c.show("c", 3, peertest.Epoch-100)
		if restart {
			c = newCards(t, c.rows)
		}
		c.show("b", 3, peertest.Epoch-200)
		c.show("c", 3, peertest.Epoch-100)
		awaited := protocol.NewJobID(3, 7)
		job := waitsFor(t, "afterok:"+awaited.String(), false)
		job.Spec.CPUs = 1
		ready := c.step(event.Submit{Asked: 99, User: "ada", Jobs: []protocol.Job{job}})
		asked := map[protocol.SiteName]bool{}
		for _, out := range ready.Messages {
			if query, ok := out.Body.(protocol.OutcomeQuery); ok && query.Job == awaited {
				asked[out.To] = true
			}
		}
		submitted, ok := ready.Answers[0].Reply.(view.Submitted)
		if !ok || !asked["c"] || asked["b"] {
			t.Fatalf("after a restart: %t: asked %v, answered %+v", restart, asked, ready.Answers)
		}
		outcome := protocol.JobOutcome{Job: awaited, State: protocol.Completed, Started: protocol.Minute}
		for _, one := range []struct {
			from protocol.SiteName
			met  bool
		}{{"b", false}, {"c", true}} {
			c.step(event.MessageIn{From: one.from, Body: outcome})
			shown, _ := c.ask(event.AskJob{Asked: 100, Job: submitted.Jobs[0]}).(view.Job)
			if got := shown.Conditions.Dependency.MetAt(c.now); got != one.met {
				t.Errorf("after a restart: %t: by the word of %s it is met: %t", restart, one.from, got)
			}
		}
	}
}
