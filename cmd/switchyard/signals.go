package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal is a context that ends with the first SIGTERM or SIGINT, for a peer.
// Later ones change nothing, so that they do not cut the stopping short.
func untilSignal(ctx context.Context) context.Context {
	ctx, _ = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	return ctx
}

// hangups gets each SIGHUP, by which a peer reads its configuration again. The
// signal is never ignored, because jobs would inherit that.
func hangups() <-chan os.Signal {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP)
	return received
}

// untilLeft is a context that ends when the user goes, by Ctrl-C or with the
// terminal. A reader that goes, as head(1) does, must not kill this process, which
// has others to stop.
func untilLeft(ctx context.Context) context.Context {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, _ = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return ctx
}
