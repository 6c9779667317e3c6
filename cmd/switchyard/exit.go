package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// The exit codes. wait, and submit with --wait, exit as the jobs did instead.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitDenied      = 4
	exitNoSite      = 5
	exitUnreachable = 6
	exitTimeout     = 124
	exitInterrupted = 130
)

const exitCodes = "Exit codes: 0 done, 1 failed, 2 usage error, 3 not found, 4 not permitted,\n" +
	"5 no site can run the job, 6 the peer cannot be reached."

// exitError is an error with an exit code. Its err may be nil: nothing is
// printed then.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// exitCode tells the user what went wrong and returns the code for it.
func (a *app) exitCode(err error) int {
	var known *exitError
	var script *batchscript.Error
	var refused *api.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &known):
		if known.err != nil {
			a.notice("%s", known.err)
		}
		return known.code
	case errors.As(err, &script):
		for _, problem := range script.List {
			a.notice("%s", console.Plain(problem.String()))
		}
		return exitUsage
	case errors.As(err, &refused):
		a.printRefusal(refused.Refusal)
		return refusalExit(refused.Code)
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, api.ErrUnreachable):
		a.notice("%s", err)
		return exitUnreachable
	}
	a.notice("%s", err)
	return exitFailed
}

func (a *app) printRefusal(why view.Refusal) {
	a.notice("%s", console.Plain(why.Reason))
	for _, site := range why.Sites {
		a.notice("  %s: %s", console.Plain(string(site.Site)), console.Plain(site.Reason))
	}
}

func refusalExit(code view.RefusalCode) int {
	switch code {
	case view.BadRequest:
		return exitUsage
	case view.NotFound:
		return exitNotFound
	case view.Denied:
		return exitDenied
	case view.NoSite:
		return exitNoSite
	case view.Conflict, view.Unavailable:
	}
	return exitFailed
}
