package pluginhost_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// memory is a batch system that runs nothing. It does as a job's number says.
type memory struct {
	mu      sync.Mutex
	changes []localsched.Change
	news    chan struct{}
	closing string // file that is written when it is closed
}

func (m *memory) Close() error {
	if m.closing == "" {
		return nil
	}
	return os.WriteFile(m.closing, nil, 0o600)
}

// The numbers of jobs that it minds.
const (
	good = iota + 1
	refusedJob
	unknownJob
	troubled
	greedy
	restless
	stuck
)

var errTrouble = errors.New("the batch system is on fire")

func (m *memory) Describe(context.Context) (localsched.Description, error) {
	return localsched.Description{Name: "memory", Capacity: protocol.Capacity{CPUs: 64, Nodes: 4}}, nil
}

func (m *memory) Load(context.Context) (protocol.Load, error) {
	return protocol.Load{CPUs: 64, Busy: 3, QueuedJobs: 2, QueuedWork: 5}, nil
}

func (m *memory) Quote(_ context.Context, query localsched.Query) ([]protocol.Quote, error) {
	quotes := make([]protocol.Quote, len(query.Jobs))
	for i, job := range query.Jobs {
		wait := protocol.Duration(len(query.Ahead)) * protocol.Minute
		quotes[i] = protocol.Quote{Job: job.Job, AWT: wait, AWTLow: wait, AWTHigh: wait, ERT: job.WallTime, Currency: "EUR", Terms: []protocol.Term{{Name: "cpu", Amount: -7}}}
		switch job.Job.Seq() {
		case refusedJob:
			quotes[i] = protocol.Quote{Job: job.Job, Declined: "no"}
		case restless:
			quotes[i].Job++
		}
	}
	return quotes, nil
}

func (m *memory) Submit(ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
	if job.Tag.Job.Seq() == stuck {
		<-ctx.Done()
		return "", ctx.Err()
	}
	if err := m.about(job.Tag); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes = append(m.changes, localsched.Change{Tag: job.Tag, State: protocol.Pending, Reason: string(job.Payload.Script)})
	close(m.news)
	m.news = make(chan struct{})
	return "mem." + localsched.LocalID(job.Tag.String()), nil
}

func (m *memory) about(tag protocol.Tag) error {
	switch tag.Job.Seq() {
	case refusedJob:
		return &localsched.RefusedError{Reason: "too odd"}
	case unknownJob:
		return localsched.ErrUnknownJob
	case troubled:
		return errTrouble
	}
	return nil
}

func (m *memory) FindByTag(_ context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
	if tag.Job.Seq() == good {
		return localsched.Present, "mem.1", nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.changes, func(c localsched.Change) bool { return c.Tag == tag }) {
		return localsched.Present, "mem." + localsched.LocalID(tag.String()), nil
	}
	return localsched.Absent, "", nil
}

func (m *memory) Withdraw(_ context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
	return localsched.Started, m.about(tag)
}

func (m *memory) Kill(_ context.Context, tag protocol.Tag) error   { return m.about(tag) }
func (m *memory) Forget(_ context.Context, tag protocol.Tag) error { return m.about(tag) }

func (m *memory) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	for {
		m.mu.Lock()
		changes, news := m.changes[min(len(after), len(m.changes)):], m.news
		m.mu.Unlock()
		if len(changes) > 0 {
			cursor := after + localsched.Cursor(strings.Repeat("x", len(changes)))
			if changes[0].Tag.Job.Seq() == restless {
				cursor = after
			}
			return localsched.Watched{Changes: changes, Cursor: cursor, Load: protocol.Load{CPUs: 64}}, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return localsched.Watched{}, ctx.Err()
		}
	}
}

func (m *memory) Fetch(_ context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
	if tag.Job.Seq() == greedy {
		return make([]byte, size+1), nil
	}
	return []byte(strings.Repeat(stream.String()[:1], max(0, min(size, 300_000-int(offset))))), m.about(tag)
}

// memoryConfig has nothing in it.
type memoryConfig struct{}

// memoryPlugin is memory as a plugin, with the built-in engine for the simulator.
func memoryPlugin(args ...string) sdk.Plugin {
	return sdk.Scheduler[memoryConfig]{
		Name: "memory", Version: "1.0.0",
		Make: func(memoryConfig, sdk.Host) (localsched.Scheduler, error) {
			return &memory{news: make(chan struct{}), closing: strings.Join(args, "")}, nil
		},
		Engine: func(_ memoryConfig, capacity protocol.Capacity) (localsched.Engine, error) {
			return engine.New(engine.PerCPU(capacity), engine.EASY()).Fallible(), nil
		},
	}
}

func tagOf(seq uint64) protocol.Tag { return protocol.Tag{Job: protocol.NewJobID(1, seq), Epoch: 1} }

func submission(seq uint64) localsched.Submission {
	tag := tagOf(seq)
	return localsched.Submission{
		Tag: tag, Origin: "south", Account: "alice", Guest: true,
		Spec: protocol.Spec{
			Request: protocol.Request{Job: tag.Job, CPUs: 2, WallTime: protocol.Hour}, Name: "n", User: "u", Submitted: 5,
		},
		Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")},
	}
}

// What a scheduler in another process answers is what it answered there, errors that
// stand for something included; and the same for one that is built in.
func TestScheduler(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "memory")
	spec.Kind = pluginhost.SchedulerKind
	remote := up(t, spec).Scheduler()
	name := "plugin memory (" + spec.Path + "): "
	t.Run("plugin", func(t *testing.T) {
		t.Parallel()
		checkScheduler(t, remote, name)
	})
	t.Run("built in", func(t *testing.T) {
		t.Parallel()
		checkScheduler(t, pluginhost.CheckedScheduler(&memory{news: make(chan struct{})}), "local scheduler: ")
	})
}

func checkScheduler(t *testing.T, s localsched.Scheduler, name string) {
	t.Helper()
	ctx := t.Context()
	plain := &memory{news: make(chan struct{})}
	description, err := s.Describe(ctx)
	if want, _ := plain.Describe(ctx); err != nil || !reflect.DeepEqual(description, want) {
		t.Errorf("Describe: %+v, %v", description, err)
	}
	load, err := s.Load(ctx)
	if want, _ := plain.Load(ctx); err != nil || load != want {
		t.Errorf("Load: %+v, %v", load, err)
	}
	query := localsched.Query{
		Jobs:  []protocol.Request{{Job: tagOf(good).Job, CPUs: 1, WallTime: protocol.Hour}, {Job: tagOf(refusedJob).Job, CPUs: 1, WallTime: protocol.Hour}},
		Ahead: []localsched.Tentative{{Tag: tagOf(7), Request: protocol.Request{Job: tagOf(7).Job, CPUs: 1, WallTime: protocol.Hour}}},
	}
	quotes, err := s.Quote(ctx, query)
	if want, _ := plain.Quote(ctx, query); err != nil || !reflect.DeepEqual(quotes, want) {
		t.Errorf("Quote: %+v, %v", quotes, err)
	}
	query.Jobs[0].Job = tagOf(restless).Job
	_, err = s.Quote(ctx, query)
	wants(t, err, name+"Quote: ", "quotes[0]: is for job")

	id, err := s.Submit(ctx, submission(good))
	if err != nil || id != "mem.1000000000001:1" {
		t.Errorf("Submit: %q, %v", id, err)
	}
	_, err = s.Submit(ctx, submission(refusedJob))
	if refused, ok := errors.AsType[*localsched.RefusedError](err); !ok || refused.Reason != "too odd" {
		t.Errorf("Submit refused: %#v", err)
	}
	_, err = s.Submit(ctx, submission(troubled))
	wants(t, err, name+"Submit: the batch system is on fire")

	presence, id, err := s.FindByTag(ctx, tagOf(good))
	if presence != localsched.Present || id != "mem.1" || err != nil {
		t.Errorf("FindByTag: %v, %q, %v", presence, id, err)
	}
	withdrawal, err := s.Withdraw(ctx, tagOf(good))
	if withdrawal != localsched.Started || err != nil {
		t.Errorf("Withdraw: %v, %v", withdrawal, err)
	}
	for call, err := range map[string]error{
		"Kill":   s.Kill(ctx, tagOf(unknownJob)),
		"Forget": s.Forget(ctx, tagOf(unknownJob)),
	} {
		wants(t, err, name+call+": "+localsched.ErrUnknownJob.Error())
		if !errors.Is(err, localsched.ErrUnknownJob) {
			t.Errorf("%s: %#v", call, err)
		}
	}
	if err = s.Kill(ctx, tagOf(good)); err != nil {
		t.Errorf("Kill: %v", err)
	}
	data, err := s.Fetch(ctx, tagOf(good), protocol.Stderr, 100, 50)
	if err != nil || string(data) != strings.Repeat("s", 50) {
		t.Errorf("Fetch: %q, %v", data, err)
	}
	_, err = s.Fetch(ctx, tagOf(greedy), protocol.Stdout, 0, 50)
	wants(t, err, name+"Fetch: ", "51 bytes, though 50 were asked for")
	checkWatch(t, s, name)
}

// checkWatch: a Watch tells what is there, waits for more, wakes up, and ends with
// its context.
func checkWatch(t *testing.T, s localsched.Scheduler, name string) {
	t.Helper()
	watched, err := s.Watch(t.Context(), "")
	if err != nil || len(watched.Changes) != 1 || watched.Changes[0].Reason != "#!/bin/sh\n" || watched.Cursor != "x" {
		t.Fatalf("Watch: %+v, %v", watched, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond) // longer than one poll
	defer cancel()
	_, err = s.Watch(short, watched.Cursor)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Watch without news: %v", err)
	}
	woken := make(chan error, 1)
	go func() {
		_, failed := s.Watch(t.Context(), watched.Cursor)
		woken <- failed
	}()
	if _, err = s.Submit(t.Context(), submission(restless)); err != nil {
		t.Fatal(err)
	}
	wants(t, <-woken, name+"Watch: ", "the cursor does not move")
}

// The engine of a plugin starts, kills, plans and refuses as the same engine does
// here.
func TestEngine(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "memory")
	spec.Kind, spec.Host.Site = pluginhost.SchedulerKind, ""
	plugin := up(t, spec)
	_, err := plugin.Scheduler().Load(t.Context())
	wants(t, err, "configured for no site")

	capacity := protocol.Capacity{CPUs: 8, Nodes: 1}
	remote, err := plugin.Engine(capacity)
	if err != nil {
		t.Fatal(err)
	}
	local := engine.New(engine.PerCPU(capacity), engine.EASY()).Fallible()
	drive(t, remote, local)
	if err = remote.(interface{ Close() error }).Close(); err != nil {
		t.Error(err)
	}
	_, err = remote.Tick(1)
	wants(t, err, "Engine.Tick: engine 1 is not open")
}

// drive makes the same calls of both.
func drive(t *testing.T, remote, local localsched.Engine) {
	t.Helper()
	both := func(what string, call func(localsched.Engine) (localsched.Actions, error)) {
		t.Helper()
		got, gotErr := call(remote)
		want, wantErr := call(local)
		if !reflect.DeepEqual(got, want) || (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("%s: got %+v, %v; want %+v, %v", what, got, gotErr, want, wantErr)
		}
		for _, is := range []error{localsched.ErrDuplicate, localsched.ErrStarted, localsched.ErrUnknownJob} {
			if errors.Is(gotErr, is) != errors.Is(wantErr, is) {
				t.Errorf("%s: got %v; want %v", what, gotErr, wantErr)
			}
		}
		_, gotRefused := errors.AsType[*localsched.RefusedError](gotErr)
		if _, wantRefused := errors.AsType[*localsched.RefusedError](wantErr); gotRefused != wantRefused {
			t.Errorf("%s: got %v; want %v", what, gotErr, wantErr)
		}
		gotLoad, _ := remote.Load()
		if wantLoad, _ := local.Load(); gotErr == nil && gotLoad != wantLoad {
			t.Errorf("%s: load %+v; want %+v", what, gotLoad, wantLoad)
		}
	}
	now := protocol.Instant(1000)
	for seq := range uint64(60) {
		tag, cpus := tagOf(seq+1), 1+int(seq*5%11)
		job := localsched.Queued{Tag: tag, Request: protocol.Request{Job: tag.Job, CPUs: cpus, WallTime: protocol.Duration(1+seq%7) * protocol.Minute}}
		submit := func(e localsched.Engine) (localsched.Actions, error) { return e.Submit(now, job) }
		both("Submit", submit)
		both("Submit again", submit)
		if seq%9 == 4 {
			both("Withdraw", func(e localsched.Engine) (localsched.Actions, error) { return e.Withdraw(now, tag) })
		}
		if seq%4 == 2 {
			both("Finished", func(e localsched.Engine) (localsched.Actions, error) { return e.Finished(now, tagOf(seq/2)) })
		}
		now += protocol.Instant(20 * protocol.Second)
		both("Tick", func(e localsched.Engine) (localsched.Actions, error) { return e.Tick(now) })
		asked := []protocol.Request{job.Request, {Job: tagOf(99).Job, CPUs: 9, WallTime: protocol.Hour}}
		got, err := remote.Plan(now, asked[:1], asked)
		want, wantErr := local.Plan(now, asked[:1], asked)
		if !reflect.DeepEqual(got, want) || (err == nil) != (wantErr == nil) {
			t.Fatalf("Plan: got %+v, %v; want %+v, %v", got, err, want, wantErr)
		}
	}
}

// After a restart of the plugin its engines are gone, and say so.
func TestEngineAfterRestart(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "memory")
	spec.Kind = pluginhost.SchedulerKind
	plugin := up(t, spec)
	e, err := plugin.Engine(protocol.Capacity{CPUs: 8, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	restart(t, plugin)
	_, err = e.Tick(1)
	wants(t, err, "the engine is lost: the plugin was restarted")
}

// A scheduler that can be closed is closed in an orderly end, whoever asks for it.
func TestSchedulerIsClosed(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*pluginhost.Plugin) error{
		"Close":   (*pluginhost.Plugin).Close,
		"SIGTERM": func(p *pluginhost.Plugin) error { return syscall.Kill(p.Status().PID, syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "closed")
			spec := specOf(t, "memory", file)
			spec.Kind = pluginhost.SchedulerKind
			if err := end(up(t, spec)); err != nil {
				t.Error(err)
			}
			until(t, "the file", func() bool {
				_, err := os.Stat(file)
				return err == nil
			})
		})
	}
}

// A policy has no engine.
func TestNoEngine(t *testing.T) {
	t.Parallel()
	_, err := up(t, specOf(t, "tc")).Engine(protocol.Capacity{CPUs: 8})
	wants(t, err, "it lacks the capability simulate")
}
