package step

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Calls are the calls that are not answered yet, by their numbers, and what is done with the
// answer of each. P is data as well: it says what the call is about and points at nothing.
type Calls[P any] struct {
	open map[event.CallID]P
	last event.CallID
}

// Open numbers a call that is made now.
func (c *Calls[P]) Open(then P) event.CallID {
	if c.open == nil {
		c.open = map[event.CallID]P{}
	}
	c.last++
	c.open[c.last] = then
	return c.last
}

// Close takes out a call that is answered. It is false for one that was answered already, or
// was made in an earlier life.
func (c *Calls[P]) Close(id event.CallID) (then P, ok bool) {
	then, ok = c.open[id]
	delete(c.open, id)
	return then, ok
}

// Pending are the calls that are not answered, by their numbers. It must not be changed.
func (c *Calls[P]) Pending() map[event.CallID]P { return c.open }

// ResultAs reads a call's answer. An answer of the wrong kind is an error of the
// shell, and counts as no answer.
func ResultAs[R event.Result](result event.Result, err error) (R, error) {
	var none R
	if err != nil {
		return none, err
	}
	r, ok := result.(R)
	if !ok {
		return none, fmt.Errorf("the call was answered with %T instead of %T", result, none)
	}
	return r, nil
}

// QuotesFor reads the answer to a query about a number of jobs. Another number of quotes is an error of the
// local scheduler.
func QuotesFor(jobs int, result event.Result, err error) (event.QuoteResult, error) {
	quoted, err := ResultAs[event.QuoteResult](result, err)
	if err == nil && len(quoted.Quotes) != jobs {
		err = fmt.Errorf("the local scheduler gave %d quotes for %s", len(quoted.Quotes), protocol.Count(jobs, "job"))
	}
	return quoted, err
}

// Instance tells those of one name apart: a call may be answered when what it was about has gone
// and another one has its name. Those of the rows that a life begins with have none, 0.
type Instance uint64

// Next is the instance of one that has just come.
func (i *Instance) Next() Instance {
	*i++
	return *i
}
