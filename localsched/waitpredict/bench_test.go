package waitpredict_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// planned quotes by the plan of an engine.
type planned struct {
	localsched.Scheduler
	engine *engine.Engine
}

func (p planned) Quote(_ context.Context, query localsched.Query) ([]protocol.Quote, error) {
	var ahead []protocol.Request
	for _, one := range query.Ahead {
		ahead = append(ahead, one.Request)
	}
	quotes := make([]protocol.Quote, len(query.Jobs))
	for i, plan := range p.engine.Plan(begin, ahead, query.Jobs) {
		quotes[i] = protocol.Quote{Job: query.Jobs[i].Job, AWT: plan.Start.Sub(begin), ERT: query.Jobs[i].WallTime}
	}
	return quotes, nil
}

// BenchmarkQuote asks for one quote after each change of a queue, with and without a tentative
// job ahead, from a predictor that has seen 5,000 jobs.
func BenchmarkQuote(b *testing.B) {
	for _, queued := range []int{100, 1000} {
		for ahead := range 2 {
			for _, method := range []waitpredict.Method{waitpredict.Plan, waitpredict.Auto} {
				b.Run(fmt.Sprintf("queue-%d/ahead-%d/%s", queued, ahead, method), func(b *testing.B) {
					benchmarkQuote(b, queued, ahead, method)
				})
			}
		}
	}
}

func benchmarkQuote(b *testing.B, queued, ahead int, method waitpredict.Method) {
	b.Helper()
	f, err := waitpredict.NewPredictor(method, 256)
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	next := func(n uint64) protocol.Request {
		return protocol.Request{
			Job: protocol.JobID(n), CPUs: 1 + random.IntN(64), WallTime: protocol.Duration(1+random.IntN(600)) * protocol.Minute,
		}
	}
	now := begin.Add(-5000 * protocol.Minute)
	for n := uint64(1); n <= 5000; n++ {
		r, q := next(n), protocol.Quote{Job: protocol.JobID(n), AWT: protocol.Duration(random.IntN(600)) * protocol.Minute}
		f.Annotate(now, r, &q, 0)
		f.Submitted(now, tagOf(n), r)
		f.Changed(now.Add(q.AWT/2), localsched.Change{Tag: tagOf(n), State: protocol.Running})
		f.Changed(now.Add(q.AWT), localsched.Change{Tag: tagOf(n), State: protocol.Completed})
		now = now.Add(protocol.Minute)
	}
	e := engine.New(engine.Of(protocol.Capacity{CPUs: 256, Nodes: 256}), engine.EASY())
	submit := func(n uint64) {
		r := next(n)
		if _, err := e.Submit(begin, localsched.Queued{Request: r, Tag: tagOf(n)}); err != nil {
			b.Fatal(err)
		}
	}
	for n := range uint64(queued) {
		submit(10_000 + n)
	}
	s := waitpredict.New(planned{engine: e}, f, func() protocol.Instant { return begin })
	query := localsched.Query{Jobs: []protocol.Request{next(90_000)}}
	for i := range ahead {
		n := 80_000 + uint64(i)
		query.Ahead = append(query.Ahead, localsched.Tentative{Tag: tagOf(n), Request: next(n)})
	}
	const changing = 70_000
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			submit(changing)
		} else {
			_, _ = e.Withdraw(begin, tagOf(changing))
		}
		if _, err := s.Quote(b.Context(), query); err != nil {
			b.Fatal(err)
		}
	}
}
