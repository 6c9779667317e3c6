package partner

import "github.com/switchyard-hpc/switchyard/protocol"

// maxQuestions is how many quote requests of one partner are worked on at once: that of its
// open round and one of its users'. However many it sends, the local scheduler is asked for no
// more, and one more waits.
const maxQuestions = 2

// Questions are a partner's quote requests here.
type Questions struct {
	Answering int       // that are worked on
	Waiting   *Question // the newest that found all places taken; nil: none
	Marginal  bool      // one of those about marginal waits is worked on
}

// Question is a quote request.
type Question struct {
	Request protocol.QuoteRequest
	Until   protocol.Instant // a reply is ignored from then on
}

// Full says whether all places are taken.
func (q *Questions) Full() bool { return q.Answering >= maxQuestions }

// Begin takes a place for a question that the local scheduler is asked about.
func (q *Questions) Begin() { q.Answering++ }

// PutOff has a question wait for a place, and returns the one that has waited so far, if there is
// one. The newest wins, since its round is the one that the partner still has open.
func (q *Questions) PutOff(newest Question) (before *Question) {
	before, q.Waiting = q.Waiting, &newest
	return before
}

// Answered gives the place of an answered question up, and returns the one that waits for it; nil:
// none does.
func (q *Questions) Answered() (next *Question) {
	q.Answering--
	next, q.Waiting = q.Waiting, nil
	return next
}
