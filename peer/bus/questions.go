package bus

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/tokens"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Bounds of the quote requests of one partner. What a request costs is a token for each job
// and questionCost for itself. The largest rounds of an honest partner have 16,384 jobs and
// come once a minute.
const (
	questionRate  = 2048 // tokens a second
	questionBurst = 32_768
	questionCost  = 16

	maxQuestions     = 4 // that wait
	maxQuestionBytes = 8 << 20
)

// questions are quote requests of one partner as they came. They are decoded when their turn
// has come, so that a flood of them costs little: of those that wait the newest stay.
type questions struct {
	waiting []question // oldest first
	bytes   int
	allowed tokens.Bucket
}

type question struct {
	body []byte
	came time.Time
}

func newQuestions() questions { return questions{allowed: tokens.New(questionRate, questionBurst)} }

// ask adds a quote request and says how many older ones it has superseded.
func (i *inbox) ask(body []byte, now time.Time) (superseded int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	q := &i.questions
	q.waiting, q.bytes = append(q.waiting, question{body, now}), q.bytes+len(body)
	for len(q.waiting) > maxQuestions || (len(q.waiting) > 1 && q.bytes > maxQuestionBytes) {
		q.drop()
		superseded++
	}
	i.ring()
	return superseded
}

// drop takes the oldest away.
func (q *questions) drop() question {
	first := q.waiting[0]
	q.waiting[0] = question{}
	q.waiting, q.bytes = q.waiting[1:], q.bytes-len(first.body)
	return first
}

// question is the next one to be decoded, and how long to wait before the one after it may be
// looked for; ok is false when none may be now.
func (i *inbox) question(now time.Time) (next question, wait time.Duration, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	q := &i.questions
	if len(q.waiting) == 0 {
		return question{}, 0, false
	}
	if wait = q.allowed.Wait(protocol.InstantOf(now)).Std(); wait > 0 {
		return question{}, wait, false
	}
	return q.drop(), 0, true
}

// spent notes how many jobs a request had.
func (i *inbox) spent(now time.Time, jobs int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.questions.allowed.Take(protocol.InstantOf(now), int64(questionCost+jobs))
}

// deliver hands what arrives to the handler until the context ends: messages in order, and
// quote requests beside them as their bounds allow.
func (p *partner) deliver(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.inbox.filled:
		case <-timer.C:
		}
		for _, e := range p.inbox.take() {
			if ctx.Err() != nil {
				return
			}
			p.handOver(e)
		}
		next, wait, ok := p.inbox.question(time.Now())
		if ok {
			p.handOverQuestion(next)
			p.inbox.ring() // perhaps there are more
		} else if wait > 0 {
			timer.Reset(wait)
		}
	}
}

func (p *partner) handOver(e event) {
	handler := p.bus.cfg.Handler
	switch {
	case e.message != nil:
		handler.Received(p.Site, e.message)
	case e.connected != nil:
		p.reported = true
		handler.Connected(*e.connected)
	default:
		p.reported = false
		handler.Disconnected(p.Site, e.why)
	}
}

// handOverQuestion decodes a quote request and passes it to the handler, unless the reply
// would come too late.
func (p *partner) handOverQuestion(q question) {
	m, err := p.bus.unpack(p.Partner, protocol.QuoteRequest{}.Kind(), q.body)
	if err != nil {
		p.inbox.spent(time.Now(), 0)
		p.reject(err)
		return
	}
	request, _ := m.(protocol.QuoteRequest)
	p.inbox.spent(time.Now(), len(request.Jobs))
	if late := time.Since(q.came); request.Deadline > 0 && late >= request.Deadline.Std() {
		p.reject(reject(Late, "a quote request waited for %v", late))
		return
	}
	p.bus.cfg.Handler.Received(p.Site, request)
}
