package node

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits of a batch. Questions may fill only a part of it, so that many callers
// do not hold up the partners and the scheduler.
const (
	batchWeight = 4096
	askWeight   = 1024
)

// batch is what one transaction makes durable and what may happen after it.
type batch struct {
	rows    []row.Record // the last change of each row
	index   map[rowKey]int
	effects []effects
	weight  int // steps, a submission counting its jobs
	asked   int // of that, questions
}

type rowKey struct {
	table row.Table
	key   string
}

// effects are what one step wants done, in order.
type effects struct {
	messages []event.Outgoing
	calls    []event.Call
	policy   policy.Policy // that decides the rounds among the calls
	digest   *protocol.Load
	facts    []event.LogEvent
	answers  []event.Answer
	starts   *bool
	card     *cardAsk
}

func newBatch() *batch { return &batch{index: make(map[rowKey]int)} }

// add takes in what a step brought; decider is the active policy after it.
func (b *batch) add(r event.Ready, decider policy.Policy) {
	for _, record := range r.Records {
		key := rowKey{record.Table, record.Key}
		if i, ok := b.index[key]; ok {
			b.rows[i] = record
			continue
		}
		b.index[key] = len(b.rows)
		b.rows = append(b.rows, record)
	}
	e := effects{
		messages: r.Messages, calls: r.Calls, policy: decider, digest: r.Digest, facts: r.LogEvents, answers: r.Answers, starts: r.Starts,
	}
	if len(e.messages)+len(e.calls)+len(e.facts)+len(e.answers) > 0 || e.digest != nil || e.starts != nil {
		b.effects = append(b.effects, e)
	}
}

// empty says whether there is nothing to write and nothing to do.
func (b *batch) empty() bool { return len(b.rows) == 0 && len(b.effects) == 0 }

func (b *batch) full() bool { return b.weight >= batchWeight }

// puts gives the rows' durable form.
func (b *batch) puts() ([]Put, error) {
	puts := make([]Put, 0, len(b.rows))
	for _, record := range b.rows {
		put := Put{Table: string(record.Table), Key: record.Key}
		if record.Row != nil {
			value, err := row.Encode(record.Row)
			if err != nil {
				return nil, err
			}
			put.Value = value
		}
		puts = append(puts, put)
	}
	return puts, nil
}
