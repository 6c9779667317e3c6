package pluginhost

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// client is that of local schedulers.
type client = localschedv1.SchedulerClient

// Scheduler is the plugin as a local scheduler; its kind must be that. It is a
// [localsched.Reserver] if the plugin has come up with the capability
// [localsched.Reserve].
func (p *Plugin) Scheduler() localsched.Scheduler {
	calls := pluginClient[client]{
		life: p.running, client: localschedv1.NewSchedulerClient, means: schedulerMeans, limit: p.spec.Timing.Call,
	}
	polls := calls
	polls.limit += p.spec.Timing.Poll
	scheduler := remoteScheduler{spec: &p.spec, calls: calls, polls: polls}
	if p.canReserve() {
		return remoteReserver{scheduler}
	}
	return scheduler
}

// remoteScheduler is a local scheduler in another process.
type remoteScheduler struct {
	spec  *Spec
	calls pluginClient[client]
	polls pluginClient[client] // which wait for something to happen
}

func schedulerMeans(code codes.Code) error {
	if code == codes.NotFound {
		return localsched.ErrUnknownJob
	}
	return nil
}

// Describe implements [localsched.Planner].
func (r remoteScheduler) Describe(ctx context.Context) (localsched.Description, error) {
	return ask(ctx, r.calls, "Describe", client.Describe, &localschedv1.DescribeRequest{}, localschedv1.DecodeDescription)
}

// Load implements [localsched.Planner].
func (r remoteScheduler) Load(ctx context.Context) (protocol.Load, error) {
	read := func(reply *localschedv1.LoadResponse) (protocol.Load, error) {
		load, err := localschedv1.DecodeLoad(reply)
		if err == nil {
			err = checkLoad(load)
		}
		return load, err
	}
	return ask(ctx, r.calls, "Load", client.Load, &localschedv1.LoadRequest{}, read)
}

// Quote implements [localsched.Planner].
func (r remoteScheduler) Quote(ctx context.Context, query localsched.Query) ([]protocol.Quote, error) {
	read := func(reply *localschedv1.QuoteResponse) ([]protocol.Quote, error) {
		return localschedv1.DecodeQuotes(reply, query.Jobs)
	}
	return ask(ctx, r.calls, "Quote", client.Quote, localschedv1.EncodeQuery(query), read)
}

// Submit implements [localsched.Runner]. After any error but a refusal and a
// [*DownError] it is open whether the batch system has the job.
func (r remoteScheduler) Submit(ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
	request, err := localschedv1.EncodeSubmission(job)
	if err != nil {
		return "", r.refused(err)
	}
	var refused *localsched.RefusedError
	read := func(reply *localschedv1.SubmitResponse) (localsched.LocalID, error) {
		id, wrong := localschedv1.DecodeSubmitted(reply)
		if errors.As(wrong, &refused) {
			return "", nil // an answer like others
		}
		return id, wrong
	}
	id, err := ask(ctx, r.calls, "Submit", client.Submit, request, read)
	if err == nil && refused != nil {
		return "", r.refused(refused)
	}
	return id, err
}

func (r remoteScheduler) refused(err error) error { return fmt.Errorf("%s: Submit: %w", r.spec, err) }

// found is what is known of a tag.
type found struct {
	presence localsched.Presence
	id       localsched.LocalID
}

// FindByTag implements [localsched.Runner].
func (r remoteScheduler) FindByTag(ctx context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
	read := func(reply *localschedv1.FindByTagResponse) (f found, err error) {
		f.presence, f.id, err = localschedv1.DecodePresence(reply)
		return f, err
	}
	f, err := ask(ctx, r.calls, "FindByTag", client.FindByTag, about(tag), read)
	return f.presence, f.id, err
}

// Withdraw implements [localsched.Runner].
func (r remoteScheduler) Withdraw(ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
	return ask(ctx, r.calls, "Withdraw", client.Withdraw, about(tag), localschedv1.DecodeWithdrawal)
}

// Kill implements [localsched.Runner].
func (r remoteScheduler) Kill(ctx context.Context, tag protocol.Tag) error {
	_, err := ask(ctx, r.calls, "Kill", client.Kill, about(tag), done)
	return err
}

// Forget implements [localsched.Runner].
func (r remoteScheduler) Forget(ctx context.Context, tag protocol.Tag) error {
	_, err := ask(ctx, r.calls, "Forget", client.Forget, about(tag), done)
	return err
}

// Fetch implements [localsched.Scheduler]. No more than [sdk.MaxFetch] bytes are
// asked for at once.
func (r remoteScheduler) Fetch(ctx context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
	size = min(size, sdk.MaxFetch)
	request := &localschedv1.FetchRequest{
		Tag: commonv1.EncodeTag(tag), Stream: commonv1.EncodeStream(stream), Offset: offset, Size: int64(size),
	}
	read := func(reply *localschedv1.FetchResponse) ([]byte, error) {
		return reply.GetData(), checkFetched(reply.GetData(), size)
	}
	return ask(ctx, r.calls, "Fetch", client.Fetch, request, read)
}

// checkLoad says what is wrong with a load beyond each of its figures.
func checkLoad(load protocol.Load) error {
	if load.Busy > load.CPUs {
		return fmt.Errorf("load: busy: is %d, but the machine has %d CPUs", load.Busy, load.CPUs)
	}
	if idle := load.CPUs - load.Busy; load.PowerIdledCPUs > idle {
		return fmt.Errorf("load: power_idled_cpus: is %d, but %d CPUs are idle", load.PowerIdledCPUs, idle)
	}
	return nil
}

func checkFetched(data []byte, size int) error {
	if len(data) > size {
		return fmt.Errorf("%d bytes, though %d were asked for", len(data), size)
	}
	return nil
}

func about(tag protocol.Tag) *localschedv1.TagRequest {
	return &localschedv1.TagRequest{Tag: commonv1.EncodeTag(tag)}
}
