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
func (s *schedulerServer) Describe(ctx context.Context, in *localschedv1.DescribeRequest) (*localschedv1.DescribeResponse, error) {
	return answer(s.made, in, nothing, func(of localsched.Scheduler, _ struct{}) (*localschedv1.DescribeResponse, error) {
		description, err := of.Describe(ctx)
		description.Capabilities = without(description.Capabilities, of)
		return localschedv1.EncodeDescription(description), err
	})
}

// Load implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Load(ctx context.Context, in *localschedv1.LoadRequest) (*localschedv1.LoadResponse, error) {
	return answer(s.made, in, nothing, func(of localsched.Scheduler, _ struct{}) (*localschedv1.LoadResponse, error) {
		load, err := of.Load(ctx)
		return localschedv1.EncodeLoad(load), err
	})
}

// Quote implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Quote(ctx context.Context, in *localschedv1.QuoteRequest) (*localschedv1.QuoteResponse, error) {
	return answer(s.made, in, localschedv1.DecodeQuery, func(of localsched.Scheduler, query localsched.Query) (*localschedv1.QuoteResponse, error) {
		quotes, err := of.Quote(ctx, query)
		if err != nil {
			return nil, err
		}
		out, err := localschedv1.EncodeQuotes(query.Jobs, quotes)
		if err != nil {
			return nil, badAnswer(err)
		}
		return out, nil
	})
}

// Submit implements [localschedv1.SchedulerServer]. A refusal is an answer.
func (s *schedulerServer) Submit(ctx context.Context, in *localschedv1.SubmitRequest) (*localschedv1.SubmitResponse, error) {
	return answer(s.made, in, localschedv1.DecodeSubmission, func(of localsched.Scheduler, job localsched.Submission) (*localschedv1.SubmitResponse, error) {
		end, err := s.turns.take(ctx, job.Tag)
		if err != nil {
			return nil, err
		}
		defer end()
		id, err := of.Submit(ctx, job)
		if refused, ok := errors.AsType[*localsched.RefusedError](err); ok {
			return localschedv1.EncodeRefused(refused), nil
		}
		return localschedv1.EncodeSubmitted(id), err
	})
}

// FindByTag implements [localschedv1.SchedulerServer].
func (s *schedulerServer) FindByTag(ctx context.Context, in *localschedv1.TagRequest) (*localschedv1.FindByTagResponse, error) {
	return answer(s.made, in.GetTag(), localschedv1.DecodeTag, func(of localsched.Scheduler, tag protocol.Tag) (*localschedv1.FindByTagResponse, error) {
		end, err := s.turns.take(ctx, tag)
		if err != nil {
			return nil, err
		}
		defer end()
		presence, id, err := of.FindByTag(ctx, tag)
		return localschedv1.EncodePresence(presence, id), err
	})
}

// Withdraw implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Withdraw(ctx context.Context, in *localschedv1.TagRequest) (*localschedv1.WithdrawResponse, error) {
	return answer(s.made, in.GetTag(), localschedv1.DecodeTag, func(of localsched.Scheduler, tag protocol.Tag) (*localschedv1.WithdrawResponse, error) {
		end, err := s.turns.take(ctx, tag)
		if err != nil {
			return nil, err
		}
		defer end()
		withdrawal, err := of.Withdraw(ctx, tag)
		return localschedv1.EncodeWithdrawal(withdrawal), err
	})
}

// Kill implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Kill(ctx context.Context, in *localschedv1.TagRequest) (*localschedv1.KillResponse, error) {
	return answer(s.made, in.GetTag(), localschedv1.DecodeTag, func(of localsched.Scheduler, tag protocol.Tag) (*localschedv1.KillResponse, error) {
		return &localschedv1.KillResponse{}, of.Kill(ctx, tag)
	})
}

// Forget implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Forget(ctx context.Context, in *localschedv1.TagRequest) (*localschedv1.ForgetResponse, error) {
	return answer(s.made, in.GetTag(), localschedv1.DecodeTag, func(of localsched.Scheduler, tag protocol.Tag) (*localschedv1.ForgetResponse, error) {
		return &localschedv1.ForgetResponse{}, of.Forget(ctx, tag)
	})
}

// Watch implements [localschedv1.SchedulerServer]. When nothing happens as long as
// the host waits, that is the answer.
func (s *schedulerServer) Watch(ctx context.Context, in *localschedv1.WatchRequest) (*localschedv1.WatchResponse, error) {
	return answer(s.made, in, nothing, func(of localsched.Scheduler, _ struct{}) (*localschedv1.WatchResponse, error) {
		after := localsched.Cursor(in.GetAfter())
		patient, cancel := context.WithTimeout(ctx, protocol.Duration(max(0, in.GetWaitMs())).Std())
		defer cancel()
		watched, err := of.Watch(patient, after)
		if err != nil && patient.Err() != nil && ctx.Err() == nil {
			watched = localsched.Watched{Cursor: after}
			watched.Load, err = of.Load(ctx)
		}
		return localschedv1.EncodeWatched(watched), err
	})
}

// Fetch implements [localschedv1.SchedulerServer].
func (s *schedulerServer) Fetch(ctx context.Context, in *localschedv1.FetchRequest) (*localschedv1.FetchResponse, error) {
	return answer(s.made, in.GetTag(), localschedv1.DecodeTag, func(of localsched.Scheduler, tag protocol.Tag) (*localschedv1.FetchResponse, error) {
		stream := commonv1.DecodeStream(in.GetStream())
		if err := commonv1.CheckStream(stream); err != nil {
			return nil, badRequest(err)
		}
		if in.GetOffset() < 0 || in.GetSize() < 0 {
			return nil, badRequest(errors.New("fetch: offset and size must not be negative"))
		}
		data, err := of.Fetch(ctx, tag, stream, in.GetOffset(), int(min(in.GetSize(), MaxFetch)))
		return &localschedv1.FetchResponse{Data: data}, err
	})
}
