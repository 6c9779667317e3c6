package localschedtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// quote asks, and checks the answer against all that holds for every query.
func (s *session) quote(ctx context.Context, query localsched.Query) ([]protocol.Quote, error) {
	quotes, err := s.Quote(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("quote: %w", err)
	}
	if len(quotes) != len(query.Jobs) {
		return nil, fmt.Errorf("%d jobs have %d quotes", len(query.Jobs), len(quotes))
	}
	for i, q := range quotes {
		if err = s.soundQuote(query.Jobs[i], q); err != nil {
			return nil, fmt.Errorf("quote %d of %d, %+v: %w", i+1, len(quotes), q, err)
		}
	}
	return quotes, nil
}

// soundQuote says what is wrong with a quote, if anything.
func (s *session) soundQuote(request protocol.Request, q protocol.Quote) error {
	fits := s.capacity.CanRun(request)
	switch {
	case q.Job != request.Job:
		return fmt.Errorf("it should be for job %v", request.Job)
	case !fits && q.Declined == "":
		return fmt.Errorf("%d CPUs are not declined, though there are %d", request.CPUs, s.capacity.CPUs)
	case fits && q.Declined != "":
		return errors.New("the job fits the machine")
	case !fits && len(q.Terms) > 0:
		return errors.New("it has a price, though it is declined")
	case !fits && q.Note != "":
		return errors.New("it has a note, though it is declined; the reason says it all")
	case fits:
		return soundOffer(q)
	}
	return nil
}

// soundOffer says what is wrong with a quote for a job that the site would take, if
// anything.
func soundOffer(q protocol.Quote) error {
	switch {
	case q.AWTLow < 0 || q.AWT < q.AWTLow || q.AWTHigh < q.AWT:
		return errors.New("its waits are not 0 ≤ low ≤ median ≤ high")
	case q.ERT < 1:
		return errors.New("it expects the job to run no time")
	case len(q.Terms) > 0 && q.Currency == "":
		return errors.New("its price has no currency")
	}
	return nil
}

// shapes are requests with ids of their own.
func (s *session) shapes(requests ...protocol.Request) []protocol.Request {
	for i := range requests {
		requests[i].Job = s.newTag().Job
	}
	return requests
}

// tentative is room promised to a job that has not come.
func (s *session) tentative(request protocol.Request) localsched.Tentative {
	tag := s.newTag()
	request.Job = tag.Job
	return localsched.Tentative{Tag: tag, Request: request}
}

func quotesInOrder(ctx context.Context, s *session) error {
	jobs := s.shapes(s.one(), s.all(), s.tooLarge(), s.one(), s.tooLarge(), s.all(), s.one())
	for range 5 {
		if _, err := s.quote(ctx, localsched.Query{Jobs: jobs}); err != nil {
			return err
		}
	}
	return nil
}

func neverFitsIsDeclined(ctx context.Context, s *session) error {
	nodes, memory, wall := s.one(), s.one(), s.one()
	nodes.Nodes = s.capacity.Nodes + 1
	memory.MemoryMB = s.capacity.MemoryMB + 1 // both fit where no limit is stated
	wall.WallTime = s.capacity.MaxWallTime + protocol.Minute
	_, err := s.quote(ctx, localsched.Query{Jobs: s.shapes(s.tooLarge(), nodes, memory, wall)})
	return err
}

func noQuotes(ctx context.Context, s *session) error {
	if _, err := s.quote(ctx, localsched.Query{}); err != nil {
		return err
	}
	_, err := s.quote(ctx, localsched.Query{Ahead: []localsched.Tentative{s.tentative(s.all())}})
	return err
}

// quotesChangeNothing quotes for jobs, and behind promises, that then are not there.
func quotesChangeNothing(ctx context.Context, s *session) error {
	before, err := s.loadAtRest(ctx)
	if err != nil {
		return err
	}
	query := localsched.Query{Jobs: s.shapes(s.one(), s.all())}
	for range 5 {
		query.Ahead = append(query.Ahead, s.tentative(s.one()))
		if _, err = s.quote(ctx, query); err != nil {
			return err
		}
	}
	for _, promise := range query.Ahead {
		if err = s.present(ctx, promise.Tag, localsched.Absent); err != nil {
			return err
		}
	}
	for _, request := range query.Jobs {
		if err = s.present(ctx, protocol.Tag{Job: request.Job, Epoch: 1}, localsched.Absent); err != nil {
			return err
		}
	}
	after, err := s.load(ctx)
	if err == nil && after != before {
		err = fmt.Errorf("the load was %+v before, and is %+v after", before, after)
	}
	return err
}

// aheadCounts promises the whole machine to another job.
func aheadCounts(ctx context.Context, s *session) error {
	query := localsched.Query{Jobs: s.shapes(s.one())}
	alone, err := s.quote(ctx, query)
	if err != nil {
		return err
	}
	query.Ahead = []localsched.Tentative{s.tentative(s.all())}
	behind, err := s.quote(ctx, query)
	if err == nil && behind[0].AWT <= alone[0].AWT && behind[0].AWTHigh <= alone[0].AWTHigh {
		err = fmt.Errorf("a job waits %v alone, and no longer (%v) behind one that was promised the whole machine for %v",
			alone[0].AWT, behind[0].AWT, query.Ahead[0].Request.WallTime)
	}
	return err
}

// aheadCountsOnce names a job as promised that stands in the queue by now.
func aheadCountsOnce(ctx context.Context, s *session) error {
	if _, err := s.full(ctx); err != nil {
		return err
	}
	job := s.logging(s.all())
	if _, err := s.submit(ctx, job); err != nil {
		return err
	}
	if err := s.waiting(ctx, job.Tag); err != nil {
		return err
	}
	query := localsched.Query{Jobs: s.shapes(s.one())}
	plain, err := s.quote(ctx, query)
	if err != nil {
		return err
	}
	query.Ahead = []localsched.Tentative{{Tag: job.Tag, Request: job.Spec.Request}}
	named, err := s.quote(ctx, query)
	if err == nil && named[0].AWT-plain[0].AWT > job.Spec.WallTime/2 {
		err = fmt.Errorf("a job waits %v, and %v when one that is in the queue is named as promised", plain[0].AWT, named[0].AWT)
	}
	return err
}

func manyQuotes(ctx context.Context, s *session) error {
	ctx, cancel := context.WithTimeout(ctx, s.bench.target.Timeout)
	defer cancel()
	const many = 10_000
	jobs := make([]protocol.Request, many)
	for i := range jobs {
		jobs[i] = protocol.Request{CPUs: 1 + i%(s.capacity.CPUs+1), WallTime: s.wall(protocol.Duration(1+i%97) * protocol.Minute)}
	}
	_, err := s.quote(ctx, localsched.Query{Jobs: s.shapes(jobs...)})
	return err
}
