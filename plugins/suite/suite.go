// Package suite is what every plugin of a kind must do, run against a plugin's process: repeated
// calls, restarts, races, extreme and senseless input, equal output for equal input.
package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/localschedtest"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policytest"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/pricetest"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Suite is the suite of one plugin.
type Suite struct {
	Spec     pluginhost.Spec // of its host only what Run leaves: the software
	Account  string          // that runs the jobs of a local scheduler; empty: one that may
	Patience time.Duration   // how long a local scheduler may take for what must happen at once
	Log      io.Writer       // gets what the plugin writes

	dir string // where jobs of the suite write
}

// Run runs the suite of the plugin's kind, which it writes into the spec, and tells how each
// case went as soon as it did. An error says why the suite cannot be run.
func (s *Suite) Run(ctx context.Context, show func(conformance.Result)) (results []conformance.Result, err error) {
	scratch, err := os.MkdirTemp("", "switchyard-check-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err = os.Chmod(scratch, 0o711); err != nil { //nolint:gosec // the jobs' account passes through
		return nil, err
	}
	s.Spec.Host.Site, s.Spec.Host.StateDir = "check", filepath.Join(scratch, "state")
	if err = os.Mkdir(s.Spec.Host.StateDir, 0o711); err != nil { //nolint:gosec // the account of jobs passes through
		return nil, err
	}
	s.dir = filepath.Join(scratch, "jobs")
	cases, err := s.cases(ctx)
	if err != nil {
		return nil, err
	}
	return conformance.Run(ctx, cases, show), nil
}

// open starts the plugin again.
func (s *Suite) open(ctx context.Context) (*pluginhost.Plugin, error) {
	return pluginhost.Start(ctx, s.Spec, s.Log)
}

// cases are those of the plugin's kind, and those of every plugin.
func (s *Suite) cases(ctx context.Context) ([]conformance.Case, error) {
	first, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	info := first.Info()
	if err = first.Close(); err != nil {
		return nil, err
	}
	s.Spec.Kind = info.Kind
	common := []conformance.Case{{Name: "an unknown key of the configuration is reported", Run: s.unknownKey}}
	switch info.Kind {
	case pluginhost.PolicyKind:
		return append(common, policytest.Cases(policytest.Target{Open: s.openPolicy})...), nil
	case pluginhost.FeedKind:
		return append(common, pricetest.Cases(pricetest.Target{Open: s.openFeed})...), nil
	case pluginhost.SchedulerKind, pluginhost.AnyKind:
	}
	schedulers, err := s.schedulerCases(ctx)
	if err != nil {
		return nil, err
	}
	all := append(common, schedulers...)
	if info.Can(pluginhost.Simulate) {
		all = append(all, localschedtest.EngineCases(localschedtest.EngineTarget{Open: s.openEngine})...)
	}
	return all, nil
}

func (s *Suite) schedulerCases(ctx context.Context) ([]conformance.Case, error) {
	account, err := testbed.JobAccount(ctx)
	if err != nil {
		return nil, err
	}
	if err := testbed.MakeShared(ctx, s.dir); err != nil {
		return nil, err
	}
	if s.Account == "" {
		s.Account = account.Name
	}
	return localschedtest.Cases(localschedtest.Target{
		Open: s.openScheduler, Account: s.Account, Dir: s.dir, Timeout: s.Patience, Restart: true,
	}), nil
}

// unknownKey checks that a plugin does not pass over what it does not know.
func (s *Suite) unknownKey(ctx context.Context) error {
	const key = "no_such_key_anywhere"
	spec := s.Spec
	spec.Config = key + " = 1\n" + spec.Config
	started, err := pluginhost.Start(ctx, spec, io.Discard)
	if err == nil {
		return errors.Join(errors.New("the plugin takes a configuration with a key that it cannot know"), started.Close())
	}
	if !strings.Contains(err.Error(), key) {
		return fmt.Errorf("the plugin refuses the configuration, but does not name the key %s: %w", key, err)
	}
	return nil
}

// ownProcess ends with what a suite opened: each has a process of its own.
type ownProcess struct{ plugin *pluginhost.Plugin }

// Close implements [io.Closer].
func (o ownProcess) Close() error { return o.plugin.Close() }

// ownPolicy is a policy in a process of its own.
type ownPolicy struct {
	policy.Policy
	ownProcess
}

// Describe implements [policy.Describer].
func (o ownPolicy) Describe() policy.Description { return policy.Describe(o.Policy) }

func (s *Suite) openPolicy(ctx context.Context) (policy.Policy, error) {
	started, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return ownPolicy{started.Policy(), ownProcess{started}}, nil
}

func (s *Suite) openFeed(ctx context.Context) (price.Feed, error) {
	started, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return struct {
		price.Feed
		ownProcess
	}{started.Feed(), ownProcess{started}}, nil
}

func (s *Suite) openScheduler(ctx context.Context) (localsched.Scheduler, error) {
	started, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	scheduler, own := started.Scheduler(), ownProcess{started}
	if reserver, holds := scheduler.(localsched.Reserver); holds {
		return struct {
			localsched.Scheduler
			localsched.Reserver
			ownProcess
		}{scheduler, reserver, own}, nil
	}
	return struct {
		localsched.Scheduler
		ownProcess
	}{scheduler, own}, nil
}

func (s *Suite) openEngine(machine protocol.Capacity) (localsched.Engine, error) {
	spec := s.Spec
	spec.Host.Site, spec.Host.StateDir = "", "" // as in the simulator
	started, err := pluginhost.Start(context.Background(), spec, io.Discard)
	if err != nil {
		return nil, err
	}
	made, err := started.Engine(machine)
	if err != nil {
		return nil, errors.Join(err, started.Close())
	}
	return struct {
		localsched.Engine
		ownProcess
	}{made, ownProcess{started}}, nil
}
