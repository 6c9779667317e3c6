package peer_test

import (
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// experienced is a peer that begins with runs of components 0, 1, 2 … of ada's, and of bob's of
// the same names.
func experienced(tb testing.TB, components int) *peer.Peer {
	tb.Helper()
	machine := protocol.Machine{Flops: 5e9, Words: 8e8, Network: 1e8, Latency: 5000}
	rows := row.Rows{}
	for i := range 2 * components {
		stored := row.Executions{User: [...]string{"ada", "bob"}[i%2], Component: strconv.Itoa(i / 2), Site: "a"}
		for run := range 10 {
			stored.Runs = append(stored.Runs, row.Execution{Execution: gamma.Execution{
				Site: "a", Machine: machine, CPUs: 2 << (run % 4), Ran: protocol.Duration(60_000 + 1000*run), At: protocol.Instant(run),
				Stated: protocol.Behavior{Mflop: 1e6, Mwords: 1e5, Sent: 1e8, CPUs: 4}, Usage: protocol.Usage{CPU: 100_000},
			}})
		}
		rows.Commit(row.Record{Table: row.ExecutionTable, Key: stored.User + "\x00" + stored.Component + "\x00a", Row: stored})
	}
	records, err := rows.Records()
	if err != nil {
		tb.Fatal(err)
	}
	p, err := peer.New(goodConfig(), 1, records)
	if err != nil {
		tb.Fatal(err)
	}
	p.Step(peertest.Epoch, event.Tick{})
	return p
}

// askRunHistory is what a peer tells of a component of a user; empty: of all.
func askRunHistory(tb testing.TB, p *peer.Peer, user, component string) []view.ComponentHistory {
	tb.Helper()
	ready := p.Step(peertest.Epoch, event.AskRunHistory{Asked: 1, User: user, Component: component})
	known, ok := ready.Answers[0].Reply.(view.RunHistory)
	if !ok {
		tb.Fatalf("got %+v", ready.Answers)
	}
	return known.Components
}

// A component is known by user and name. All runs of it are fitted only when it is asked for:
// the list of thousands must not stop the peer for seconds.
func TestRunHistoryFitsWhatIsNamed(t *testing.T) {
	t.Parallel()
	p := experienced(t, 3)
	all := askRunHistory(t, p, "", "")
	if len(all) != 6 {
		t.Errorf("the list has %d components", len(all))
	}
	for _, c := range all {
		if c.Behavior != (protocol.Behavior{}) || len(c.Sites[0].Runs) != 10 || c.Sites[0].Runs[9].Rate == 0 {
			t.Errorf("in the list %s of %s is %+v", c.Name, c.User, c)
		}
	}
	one := askRunHistory(t, p, "ada", "1")
	if len(one) != 1 || one[0].User != "ada" || one[0].Name != "1" || !one[0].Behavior.Stated() {
		t.Errorf("asked for one: %+v", one)
	}
}

// BenchmarkRunHistory lists what is known of 10,000 components from 100,000 runs.
func BenchmarkRunHistory(b *testing.B) {
	p := experienced(b, 5000)
	for b.Loop() {
		askRunHistory(b, p, "", "")
	}
}
