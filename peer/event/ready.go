package event

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Ready is what the shell must do after a [peer.Peer.Step], in the order of the
// fields. Records come first and must be durable before anything else of this
// Ready (or a later one) is done; the shell may step many events and commit
// their records together.
type Ready struct {
	// Fault is a broken rule of the peer itself. The rest is empty then: the shell records the
	// step, stops, and says so. The rows are as they were before the step.
	Fault error

	Records   []row.Record
	Messages  []Outgoing // may be lost, doubled, reordered, delayed
	Calls     []Call
	Wake      protocol.Instant // when to Tick next; 0: no need. Replaces the last one
	Digest    *protocol.Load   // to advertise in gossip, when it has changed
	LogEvents []LogEvent       // for logs, metrics and explain
	Answers   []Answer         // to the API
	// Starts says whether the local scheduler may start the jobs of its queue from here on; nil:
	// as before. A peer that distinguishes lives says so in its first step.
	Starts *bool
}

// Outgoing is a message to a partner.
type Outgoing struct {
	To   protocol.SiteName
	Body protocol.Message
}

// Answer goes back to the API question that asked.
type Answer struct {
	Asked AskID
	Reply view.Reply
}
