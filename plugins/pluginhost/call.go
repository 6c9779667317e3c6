package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// pluginClient is how the calls of a service, with a client of type C, reach a plugin.
type pluginClient[C any] struct {
	life   func() (*instance, error)        // the one to be called
	client func(grpc.ClientConnInterface) C // of the service
	means  func(codes.Code) error           // the error that a status stands for, nil if none
	limit  time.Duration                    // of a call
}

// rpc is a call of a client, as it is generated.
type rpc[C, In, Out any] = func(C, context.Context, In, ...grpc.CallOption) (Out, error)

// ask makes a call, reads the answer, judges the plugin by both, and names it in the
// error.
func ask[C, In, Out, T any](ctx context.Context, d pluginClient[C], name string, call rpc[C, In, Out], in In, read func(Out) (T, error)) (T, error) {
	var none T
	life, err := d.life()
	if err != nil {
		return none, err
	}
	limited, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	began := time.Now()
	reply, err := call(d.client(life.conn), limited, in)
	if err != nil {
		return none, life.judge(name, life.explain(ctx, limited, time.Since(began), d.means, err))
	}
	answer, err := read(reply)
	if err != nil {
		return none, life.judge(name, &faultError{invalidAnswer(err)})
	}
	return answer, life.judge(name, nil)
}

// done reads an answer that says nothing.
func done[Out any](Out) (struct{}, error) { return struct{}{}, nil }

// invalidAnswer says that an answer is wrong, if it is.
func invalidAnswer(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("invalid response: %w", err)
}

// faultError is a failure that the plugin is to blame for.
type faultError struct{ why error }

func (e *faultError) Error() string { return e.why.Error() }

// Unwrap implements errors.Is.
func (e *faultError) Unwrap() error { return e.why }

// saidError is what the plugin answered, with what that stands for.
type saidError struct {
	text string
	is   error // may be nil
}

func (e *saidError) Error() string { return e.text }

// Unwrap implements errors.Is.
func (e *saidError) Unwrap() error { return e.is }

// patience is how long a call must have been under way for its caller's own deadline
// to count against the plugin.
const patience = time.Second

// explain says what a failed call means: a [*faultError], a [*saidError], or the end
// of the caller's own patience.
func (i *instance) explain(ctx, limited context.Context, took time.Duration, means func(codes.Code) error, err error) error {
	if why := over(limited); why != nil {
		late := fmt.Errorf("no answer within %v: %w", took.Round(time.Millisecond), why)
		if errors.Is(why, context.DeadlineExceeded) && (over(ctx) == nil || took >= patience) {
			return &faultError{late}
		}
		return late
	}
	code := status.Code(err)
	if is := means(code); is != nil {
		return &saidError{text: plain(err).Error(), is: is}
	}
	switch code { //nolint:exhaustive // the rest is what a plugin may say
	case codes.Unavailable, codes.Canceled:
		if gone := i.process.hasEnded(); gone != nil {
			return &faultError{gone}
		}
		return &faultError{plain(err)}
	case codes.Internal, codes.ResourceExhausted, codes.Unimplemented, codes.DataLoss, codes.DeadlineExceeded:
		return &faultError{plain(err)}
	}
	return &saidError{text: plain(err).Error()}
}

// judge counts a fault, and forgets earlier ones of the call when the plugin answered
// it. It returns the error with the names of the plugin and the call.
func (i *instance) judge(name string, err error) error {
	if err == nil {
		i.faults.forgive(name)
		return nil
	}
	if _, ok := errors.AsType[*saidError](err); ok {
		i.faults.forgive(name)
	}
	if _, ok := errors.AsType[*faultError](err); ok {
		i.count(name, err)
	}
	return fmt.Errorf("%s: %s: %w", i.spec, name, err)
}

// count counts a fault; too many in a row break the plugin.
func (i *instance) count(name string, fault error) {
	n := i.faults.add(name)
	if n < i.spec.Timing.Faults {
		return
	}
	select {
	case i.broken <- fmt.Errorf("%d calls of %s in a row failed; the last one: %w", n, name, fault):
	default: // it is broken already
	}
}

// over is why a call had to end, nil if it had not. Near its deadline the other side
// may have given it up first.
func over(ctx context.Context) error {
	const near = 20 * time.Millisecond
	if deadline, ok := ctx.Deadline(); ok && ctx.Err() == nil && time.Until(deadline) < near {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// plain is the text of a status error, without gRPC's own words.
func plain(err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	if s.Message() == "" {
		return errors.New(s.Code().String())
	}
	return errors.New(s.Message())
}

// meansNothing is for services whose statuses stand for nothing.
func meansNothing(codes.Code) error { return nil }
