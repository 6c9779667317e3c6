package sdk

import (
	"context"
	"errors"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// MaxFetch bounds a piece of a job's output, in bytes.
const MaxFetch = 256 << 10

// schedulerServer serves a local scheduler.
type schedulerServer struct {
	localschedv1.UnimplementedSchedulerServer
	made  func() (localsched.Scheduler, error)
	turns *turns // of Submit, FindByTag, Withdraw, Reserve and Release
}

func newSchedulerServer(made func() (localsched.Scheduler, error)) *schedulerServer {
	return &schedulerServer{made: made, turns: newTurns()}
}

// Describe implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Describe(ctx context.Context, _ *localschedv1.DescribeRequest) (*localschedv1.DescribeResponse, error) {
	scheduler, err := s.made()
	if err != nil {
		return nil, err
	}
	description, err := scheduler.Describe(ctx)
	if err != nil {
		return nil, err
	}
	description.Capabilities = without(description.Capabilities, scheduler)
	return localschedv1.EncodeDescription(description), nil
}

// Load implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Load(ctx context.Context, _ *localschedv1.LoadRequest) (*localschedv1.LoadResponse, error) {
	scheduler, err := s.made()
	if err != nil {
		return nil, err
	}
	load, err := scheduler.Load(ctx)
	if err != nil {
		return nil, err
	}
	return localschedv1.EncodeLoad(load), nil
}

// Quote implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Quote(ctx context.Context, in *localschedv1.QuoteRequest) (*localschedv1.QuoteResponse, error) {
	scheduler, err := s.made()
	if err != nil {
		return nil, err
	}
	query, err := localschedv1.DecodeQuery(in)
	if err != nil {
		return nil, badRequest(err)
	}
	quotes, err := scheduler.Quote(ctx, query)
	if err != nil {
		return nil, err
	}
	out, err := localschedv1.EncodeQuotes(query.Jobs, quotes)
	if err != nil {
		return nil, badAnswer(err)
	}
	return out, nil
}

// Submit implements [localschedv1.SchedulerServer]. A refusal is an answer.
func (s *schedulerServer) Submit(ctx context.Context, in *localschedv1.SubmitRequest) (*localschedv1.SubmitResponse, error) {
	scheduler, err := s.made()
	if err != nil {
		return nil, err
	}
	job, err := localschedv1.DecodeSubmission(in)
	if err != nil {
		return nil, badRequest(err)
	}
	end, err := s.turns.take(ctx, job.Tag)
	if err != nil {
		return nil, err
	}
	defer end()
	id, err := scheduler.Submit(ctx, job)
	if refused, ok := errors.AsType[*localsched.RefusedError](err); ok {
		return localschedv1.EncodeRefused(refused), nil
	}
	if err != nil {
		return nil, err
	}
	return localschedv1.EncodeSubmitted(id), nil
}

// FindByTag implements [localschedv1.SchedulerServer].
func (s *schedulerServer) FindByTag(ctx context.Context, in *localschedv1.TagRequest) (*localschedv1.FindByTagResponse, error) {
	scheduler, tag, err := s.about(in.GetTag())
	if err != nil {
		return nil, err
	}
	end, err := s.turns.take(ctx, tag)
	if err != nil {
		return nil, err
	}
	defer end()
	presence, id, err := scheduler.FindByTag(ctx, tag)
	if err != nil {
		return nil, err
	}
	return localschedv1.EncodePresence(presence, id), nil
}

// Withdraw implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Withdraw(ctx context.Context, in *localschedv1.TagRequest) (*localschedv1.WithdrawResponse, error) {
	scheduler, tag, err := s.about(in.GetTag())
	if err != nil {
		return nil, err
	}
	end, err := s.turns.take(ctx, tag)
	if err != nil {
		return nil, err
	}
	defer end()
	withdrawal, err := scheduler.Withdraw(ctx, tag)
	if err != nil {
		return nil, err
	}
	return localschedv1.EncodeWithdrawal(withdrawal), nil
}

// Kill implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Kill(ctx context.Context, in *localschedv1.TagRequest) (*localschedv1.KillResponse, error) {
	scheduler, tag, err := s.about(in.GetTag())
	if err != nil {
		return nil, err
	}
	return &localschedv1.KillResponse{}, scheduler.Kill(ctx, tag)
}

// Forget implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Forget(ctx context.Context, in *localschedv1.TagRequest) (*localschedv1.ForgetResponse, error) {
	scheduler, tag, err := s.about(in.GetTag())
	if err != nil {
		return nil, err
	}
	return &localschedv1.ForgetResponse{}, scheduler.Forget(ctx, tag)
}

// about is the scheduler and the job that a call is about.
func (s *schedulerServer) about(in *commonv1.Tag) (localsched.Scheduler, protocol.Tag, error) {
	scheduler, err := s.made()
	if err != nil {
		return nil, protocol.Tag{}, err
	}
	tag, err := localschedv1.DecodeTag(in)
	if err != nil {
		return nil, protocol.Tag{}, badRequest(err)
	}
	return scheduler, tag, nil
}

// Watch implements [localschedv1.SchedulerServer]. When nothing happens as long as
// the host waits, that is the answer.
func (s *schedulerServer) Watch(ctx context.Context, in *localschedv1.WatchRequest) (*localschedv1.WatchResponse, error) {
	scheduler, err := s.made()
	if err != nil {
		return nil, err
	}
	after := localsched.Cursor(in.GetAfter())
	patient, cancel := context.WithTimeout(ctx, protocol.Duration(max(0, in.GetWaitMs())).Std())
	defer cancel()
	watched, err := scheduler.Watch(patient, after)
	if err != nil && patient.Err() != nil && ctx.Err() == nil {
		watched = localsched.Watched{Cursor: after}
		watched.Load, err = scheduler.Load(ctx)
	}
	if err != nil {
		return nil, err
	}
	return localschedv1.EncodeWatched(watched), nil
}

// Fetch implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Fetch(ctx context.Context, in *localschedv1.FetchRequest) (*localschedv1.FetchResponse, error) {
	scheduler, tag, err := s.about(in.GetTag())
	if err != nil {
		return nil, err
	}
	stream := commonv1.DecodeStream(in.GetStream())
	if err = commonv1.CheckStream(stream); err != nil {
		return nil, badRequest(err)
	}
	if in.GetOffset() < 0 || in.GetSize() < 0 {
		return nil, badRequest(errors.New("fetch: offset and size must not be negative"))
	}
	data, err := scheduler.Fetch(ctx, tag, stream, in.GetOffset(), int(min(in.GetSize(), MaxFetch)))
	if err != nil {
		return nil, err
	}
	return &localschedv1.FetchResponse{Data: data}, nil
}
