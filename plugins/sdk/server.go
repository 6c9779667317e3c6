package sdk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/price"
)

// MaxMessage bounds a message between host and plugin, in bytes, both ways.
const MaxMessage = 256 << 20

// The sizes of gRPC's windows and buffers, in bytes, for one connection with large
// messages: with its own sizes both sides wake each other up hundreds of times for one
// snapshot.
const (
	Window = 64 << 20
	Buffer = 1 << 20
)

// newServer makes the server of a plugin process.
func newServer(opts []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(opts,
		grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage),
		grpc.InitialWindowSize(Window), grpc.InitialConnWindowSize(Window),
		grpc.ReadBufferSize(Buffer), grpc.WriteBufferSize(Buffer),
		grpc.ChainUnaryInterceptor(guarded),
	)...)
}

// guarded turns a panic into an error, with the stack on standard error, and the
// errors of the nouns into their status.
func guarded(ctx context.Context, in any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (out any, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintf(os.Stderr, "panic in %s: %v\n%s", info.FullMethod, fault, debug.Stack())
			out, err = nil, status.Errorf(codes.Internal, "panic: %s", clip(fmt.Sprint(fault)))
		}
	}()
	out, err = next(ctx, in)
	if err != nil {
		return nil, statusOf(err)
	}
	return out, nil
}

// statusOf is the status that the protocols name for an error.
func statusOf(err error) error {
	if _, is := status.FromError(err); is {
		return err
	}
	code := codes.Unknown
	switch {
	case errors.Is(err, localsched.ErrUnknownJob), errors.Is(err, price.ErrUnknownArea):
		code = codes.NotFound
	case errors.Is(err, localsched.ErrDuplicate):
		code = codes.AlreadyExists
	case errors.Is(err, localsched.ErrStarted):
		code = codes.FailedPrecondition
	case errors.Is(err, context.Canceled):
		code = codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		code = codes.DeadlineExceeded
	}
	return status.Error(code, clip(err.Error()))
}

// clip keeps a text within what the headers of gRPC hold.
func clip(text string) string {
	const most = 4096
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// answer makes a call of what the plugin made, once its request is read; one that cannot be read
// is the host's fault. What is returned beside an error is not sent.
func answer[T, In, Q, Out any](made func() (T, error), in In, read func(In) (Q, error), call func(T, Q) (Out, error)) (out Out, err error) {
	of, err := made()
	if err != nil {
		return out, err
	}
	query, err := read(in)
	if err != nil {
		return out, badRequest(err)
	}
	return call(of, query)
}

// nothing reads a request that says nothing.
func nothing[In any](In) (struct{}, error) { return struct{}{}, nil }

// badRequest is the status of an invalid request of the host.
func badRequest(err error) error { return status.Error(codes.InvalidArgument, clip(err.Error())) }

// badAnswer is the status of an invalid answer of the plugin itself.
func badAnswer(err error) error { return status.Error(codes.Internal, clip(err.Error())) }
