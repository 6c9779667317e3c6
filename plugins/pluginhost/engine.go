package pluginhost

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// engineClient is that of engines.
type engineClient = localschedv1.EngineClient

// Engine opens an engine in a scheduler plugin with the capability [Simulate]. It is
// an [io.Closer]. It lives as long as the plugin's process: after a restart all its
// calls fail.
func (p *Plugin) Engine(capacity protocol.Capacity) (localsched.Engine, error) {
	life, err := p.running()
	if err != nil {
		return nil, err
	}
	if info := p.Info(); !info.Can(Simulate) {
		return nil, fmt.Errorf("%s: it cannot be simulated: it lacks the capability %s", &p.spec, Simulate)
	}
	same := func() (*instance, error) {
		now, down := p.running()
		if down == nil && now != life {
			return nil, fmt.Errorf("%s: the engine is lost: the plugin was restarted", &p.spec)
		}
		return now, down
	}
	e := &remoteEngine{
		spec: &p.spec, load: protocol.Load{CPUs: capacity.CPUs}, ledger: newLedger(),
		door: pluginClient[engineClient]{life: same, client: localschedv1.NewEngineClient, means: engineMeans, limit: p.spec.Timing.Call},
	}
	request := &localschedv1.OpenRequest{Capacity: commonv1.EncodeCapacity(capacity)}
	read := func(reply *localschedv1.OpenResponse) (uint64, error) { return reply.GetEngine(), nil }
	if e.id, err = ask(context.Background(), e.door, "Engine.Open", engineClient.Open, request, read); err != nil {
		return nil, err
	}
	return e, nil
}

// remoteEngine is an engine in another process.
type remoteEngine struct {
	spec   *Spec
	door   pluginClient[engineClient]
	id     uint64
	load   protocol.Load // after the last call
	ledger *engineAudit
}

func engineMeans(code codes.Code) error {
	switch code { //nolint:exhaustive // the others stand for nothing
	case codes.NotFound:
		return localsched.ErrUnknownJob
	case codes.AlreadyExists:
		return localsched.ErrDuplicate
	case codes.FailedPrecondition:
		return localsched.ErrStarted
	}
	return nil
}

// timed is a request that says what time it is.
type timed interface{ GetNowMs() int64 }

// act makes a call that is answered by actions. What the call does is noted in the
// audit before these are checked.
func act[In timed](e *remoteEngine, name string, call rpc[engineClient, In, *localschedv1.ActionsResponse], in In, note func()) (localsched.Actions, error) {
	var refused *localsched.RefusedError
	read := func(reply *localschedv1.ActionsResponse) (localsched.Actions, error) {
		actions, load, err := localschedv1.DecodeActions(reply)
		switch {
		case errors.As(err, &refused): // an answer like others
			err = checkLoad(load)
		case err == nil:
			note()
			err = cmp.Or(e.ledger.check(protocol.Instant(in.GetNowMs()), actions), checkLoad(load))
		}
		if err != nil {
			return localsched.Actions{}, err
		}
		e.load = load
		return actions, nil
	}
	actions, err := ask(context.Background(), e.door, name, call, in, read)
	if err == nil && refused != nil {
		return localsched.Actions{}, fmt.Errorf("%s: %s: %w", e.spec, name, refused)
	}
	return actions, err
}

// Submit implements [localsched.Engine].
func (e *remoteEngine) Submit(now protocol.Instant, job localsched.Queued) (localsched.Actions, error) {
	queue := func() { e.ledger.jobs[job.Tag] = waits }
	return act(e, "Engine.Submit", engineClient.Submit, localschedv1.EncodeQueued(now, job, e.id), queue)
}

// Withdraw implements [localsched.Engine].
func (e *remoteEngine) Withdraw(now protocol.Instant, tag protocol.Tag) (localsched.Actions, error) {
	return act(e, "Engine.Withdraw", engineClient.Withdraw, e.about(now, tag), func() { delete(e.ledger.jobs, tag) })
}

// Finished implements [localsched.Engine].
func (e *remoteEngine) Finished(now protocol.Instant, tag protocol.Tag) (localsched.Actions, error) {
	return act(e, "Engine.Finished", engineClient.Finished, e.about(now, tag), func() { delete(e.ledger.jobs, tag) })
}

// Tick implements [localsched.Engine].
func (e *remoteEngine) Tick(now protocol.Instant) (localsched.Actions, error) {
	request := &localschedv1.TickRequest{Engine: e.id, NowMs: int64(now)}
	return act(e, "Engine.Tick", engineClient.Tick, request, func() { e.ledger.wake = 0 })
}

// Plan implements [localsched.Engine].
func (e *remoteEngine) Plan(now protocol.Instant, ahead, jobs []protocol.Request) ([]localsched.Planned, error) {
	request := &localschedv1.PlanRequest{
		Engine: e.id, NowMs: int64(now),
		Ahead: localschedv1.EncodeRequests(ahead), Jobs: localschedv1.EncodeRequests(jobs),
	}
	read := func(reply *localschedv1.PlanResponse) ([]localsched.Planned, error) {
		planned, err := localschedv1.DecodePlanned(reply, len(jobs))
		if err == nil {
			err = e.ledger.checkPlanned(now, planned)
		}
		return planned, err
	}
	return ask(context.Background(), e.door, "Engine.Plan", engineClient.Plan, request, read)
}

// Load implements [localsched.Engine]: every call that changes the load returns it.
func (e *remoteEngine) Load() (protocol.Load, error) { return e.load, nil }

// Close drops the engine.
func (e *remoteEngine) Close() error {
	_, err := ask(context.Background(), e.door, "Engine.Close", engineClient.Close, &localschedv1.CloseRequest{Engine: e.id}, done)
	return err
}

func (e *remoteEngine) about(now protocol.Instant, tag protocol.Tag) *localschedv1.EngineTagRequest {
	return &localschedv1.EngineTagRequest{Engine: e.id, NowMs: int64(now), Tag: commonv1.EncodeTag(tag)}
}
