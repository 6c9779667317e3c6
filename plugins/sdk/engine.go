package sdk

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// engineServer serves the engines that the host has opened.
type engineServer[C any] struct {
	localschedv1.UnimplementedEngineServer
	settings func() (C, error)
	open     func(C, protocol.Capacity) (localsched.Engine, error)

	mu      sync.Mutex
	engines map[uint64]*engine
	last    uint64
}

// engine is one that is open; it is used by one call at a time.
type engine struct {
	mu sync.Mutex
	localsched.Engine
}

func newEngineServer[C any](settings func() (C, error), open func(C, protocol.Capacity) (localsched.Engine, error)) *engineServer[C] {
	return &engineServer[C]{settings: settings, open: open, engines: map[uint64]*engine{}}
}

// Open implements [localschedv1.EngineServer].
func (s *engineServer[C]) Open(_ context.Context, in *localschedv1.OpenRequest) (*localschedv1.OpenResponse, error) {
	config, err := s.settings()
	if err != nil {
		return nil, err
	}
	capacity, err := localschedv1.DecodeCapacity(in.GetCapacity())
	if err != nil {
		return nil, badRequest(err)
	}
	opened, err := s.open(config, capacity)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.engines[s.last] = &engine{Engine: opened}
	return &localschedv1.OpenResponse{Engine: s.last}, nil
}

// Close implements [localschedv1.EngineServer].
func (s *engineServer[C]) Close(_ context.Context, in *localschedv1.CloseRequest) (*localschedv1.CloseResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.engines, in.GetEngine())
	return &localschedv1.CloseResponse{}, nil
}

// use finds an engine.
func (s *engineServer[C]) use(id uint64) (*engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.engines[id]
	if e == nil {
		return nil, status.Errorf(codes.InvalidArgument, "engine %d is not open", id)
	}
	return e, nil
}

// act makes a call of an engine that returns actions.
func (s *engineServer[C]) act(id uint64, call func(localsched.Engine) (localsched.Actions, error)) (*localschedv1.ActionsResponse, error) {
	e, err := s.use(id)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	actions, err := call(e.Engine)
	refused, isRefused := errors.AsType[*localsched.RefusedError](err)
	if err != nil && !isRefused {
		return nil, err
	}
	load, err := e.Load()
	if err != nil {
		return nil, err
	}
	if isRefused {
		return localschedv1.EncodeRefusal(refused, load), nil
	}
	return localschedv1.EncodeActions(actions, load), nil
}

// Submit implements [localschedv1.EngineServer].
func (s *engineServer[C]) Submit(_ context.Context, in *localschedv1.EngineSubmitRequest) (*localschedv1.ActionsResponse, error) {
	now, job, err := localschedv1.DecodeQueued(in)
	if err != nil {
		return nil, badRequest(err)
	}
	return s.act(in.GetEngine(), func(e localsched.Engine) (localsched.Actions, error) { return e.Submit(now, job) })
}

// Withdraw implements [localschedv1.EngineServer].
func (s *engineServer[C]) Withdraw(_ context.Context, in *localschedv1.EngineTagRequest) (*localschedv1.ActionsResponse, error) {
	tag, err := localschedv1.DecodeTag(in.GetTag())
	if err != nil {
		return nil, badRequest(err)
	}
	return s.act(in.GetEngine(), func(e localsched.Engine) (localsched.Actions, error) {
		return e.Withdraw(protocol.Instant(in.GetNowMs()), tag)
	})
}

// Finished implements [localschedv1.EngineServer].
func (s *engineServer[C]) Finished(_ context.Context, in *localschedv1.EngineTagRequest) (*localschedv1.ActionsResponse, error) {
	tag, err := localschedv1.DecodeTag(in.GetTag())
	if err != nil {
		return nil, badRequest(err)
	}
	return s.act(in.GetEngine(), func(e localsched.Engine) (localsched.Actions, error) {
		return e.Finished(protocol.Instant(in.GetNowMs()), tag)
	})
}

// Tick implements [localschedv1.EngineServer].
func (s *engineServer[C]) Tick(_ context.Context, in *localschedv1.TickRequest) (*localschedv1.ActionsResponse, error) {
	return s.act(in.GetEngine(), func(e localsched.Engine) (localsched.Actions, error) {
		return e.Tick(protocol.Instant(in.GetNowMs()))
	})
}

// Plan implements [localschedv1.EngineServer].
func (s *engineServer[C]) Plan(_ context.Context, in *localschedv1.PlanRequest) (*localschedv1.PlanResponse, error) {
	ahead, err := localschedv1.DecodeRequests("ahead", in.GetAhead())
	if err != nil {
		return nil, badRequest(err)
	}
	jobs, err := localschedv1.DecodeRequests("jobs", in.GetJobs())
	if err != nil {
		return nil, badRequest(err)
	}
	e, err := s.use(in.GetEngine())
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	planned, err := e.Plan(protocol.Instant(in.GetNowMs()), ahead, jobs)
	if err != nil {
		return nil, err
	}
	return localschedv1.EncodePlanned(planned), nil
}
