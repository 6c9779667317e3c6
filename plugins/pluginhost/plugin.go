package pluginhost

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc/grpclog"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// Plugin is a plugin that is kept running. Its methods may be called from several
// goroutines at once.
type Plugin struct {
	spec   Spec
	log    *slog.Logger
	output *output
	cancel context.CancelFunc
	done   chan struct{} // closed when it is not watched over any more

	mu       sync.Mutex
	status   Status
	changed  chan struct{} // closed at the next state
	life     *instance     // in the state Up
	first    *identity     // of the first life that was up
	reserves bool          // a life has had the capability [localsched.Reserve]
}

// quiet keeps gRPC from writing to standard error by itself.
var quiet = sync.OnceFunc(func() { //nolint:gochecknoglobals // gRPC has one logger, to be set once
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
})

// Open checks the plugin's file and starts it in the background. An error says what
// is wrong with the spec or the file. The plugin is to be closed.
func Open(spec Spec, log *slog.Logger) (*Plugin, error) {
	quiet()
	spec.Timing = spec.Timing.withDefaults()
	if err := spec.Check(); err != nil {
		return nil, err
	}
	log = log.With("plugin", spec.Name)
	if spec.SHA256 == "" {
		log.Warn("plugin_unpinned", "path", spec.Path, "remedy", "configure the SHA-256 of its file")
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Plugin{
		spec: spec, log: log, output: newOutput(log), cancel: cancel, done: make(chan struct{}),
		status: Status{State: Starting, Since: time.Now()}, changed: make(chan struct{}),
	}
	go p.supervise(ctx)
	return p, nil
}

// Close ends the plugin. Calls under way fail; later ones as well, with a
// [DownError].
func (p *Plugin) Close() error {
	p.cancel()
	<-p.done
	return nil
}

// Status is how the plugin is now.
func (p *Plugin) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// Wait waits until the plugin is up, or a start has failed. It returns a
// [*DownError] with the reason then.
func (p *Plugin) Wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		status, changed := p.status, p.changed
		p.mu.Unlock()
		switch status.State {
		case Up:
			return nil
		case Down, Closed:
			return status.down(p.spec.String())
		case Starting:
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", status.down(p.spec.String()), ctx.Err())
		}
	}
}

// Info is what the plugin says of itself; of one that was never up, only what was
// configured.
func (p *Plugin) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == nil {
		return Info{Kind: p.spec.Kind, Name: p.spec.Name}
	}
	return p.first.Info
}

// description is what a policy says of itself.
func (p *Plugin) description() policy.Description {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == nil {
		return policy.Description{Name: p.spec.Name}
	}
	return p.first.policy
}

// become enters a state and tells of it.
func (p *Plugin) become(status Status, life *instance) {
	p.mu.Lock()
	status.Since = time.Now()
	p.status, p.life = status, life
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	if p.spec.OnState != nil {
		p.spec.OnState(status)
	}
}

// running is the plugin's present life, or a [*DownError].
func (p *Plugin) running() (*instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life == nil {
		return nil, p.status.down(p.spec.String())
	}
	return p.life, nil
}
