package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilTold is a context that ends with the first SIGTERM or SIGINT, for a peer.
// Later ones change nothing, so that they do not cut the stopping short. SIGHUP is
// caught rather than ignored, because jobs would inherit that.
func untilTold(ctx context.Context) context.Context {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	ctx, _ = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	return ctx
}

// untilLeft is a context that ends when the user goes, by Ctrl-C or with the
// terminal. A reader that goes, as head(1) does, must not kill this process, which
// has others to stop.
func untilLeft(ctx context.Context) context.Context {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, _ = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return ctx
}
