package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
)

// instance is one life of a plugin: from a start to its end.
type instance struct {
	spec    *Spec
	process *process
	client  *plugin.Client
	dir     *socketDir
	conn    *grpc.ClientConn

	faults faults
	broken chan error // why it must be ended; holds one
}

// launch starts the process and connects to it, within Timing.Start.
func launch(ctx context.Context, spec *Spec, log *output) (*instance, error) {
	file, err := spec.checkFile()
	if err != nil {
		return nil, err
	}
	dir, err := newSocketDir()
	if err != nil {
		return nil, err
	}
	log.begin()
	i := &instance{spec: spec, process: newProcess(spec, file, log), dir: dir, broken: make(chan error, 1)}
	i.client = plugin.NewClient(i.clientConfig(log))

	limited, cancel := context.WithTimeout(ctx, spec.Timing.Start)
	defer cancel()
	// A plugin may also hang after its first line, where go-plugin has no time-out.
	stop := context.AfterFunc(limited, i.process.kill)
	client, err := i.client.Client()
	if !stop() && err == nil {
		err = limited.Err() // it was killed meanwhile
	}
	if err != nil {
		err = i.whyNot(limited, err)
		i.end()
		return nil, err
	}
	connected, ok := client.(*plugin.GRPCClient)
	if !ok {
		i.end()
		return nil, errors.New("it does not speak gRPC")
	}
	i.conn = connected.Conn
	return i, nil
}

func (i *instance) clientConfig(log *output) *plugin.ClientConfig {
	return &plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: sdk.CookieKey, MagicCookieValue: sdk.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{sdk.ProtocolVersion: {}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         !i.spec.Plain,
		SkipHostEnv:      true,
		StartTimeout:     2 * i.spec.Timing.Start, // ours comes first
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: i.dir.path},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			i.process.command, i.process.dir = cmd, dir
			return i.process, nil
		},
		SyncStdout: &lineWriter{to: log},
		SyncStderr: &lineWriter{to: log},
		Logger:     hclog.NewNullLogger(),
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(sdk.MaxMessage), grpc.MaxCallSendMsgSize(sdk.MaxMessage)),
			grpc.WithInitialWindowSize(sdk.Window), grpc.WithInitialConnWindowSize(sdk.Window),
			grpc.WithReadBufferSize(sdk.Buffer), grpc.WithWriteBufferSize(sdk.Buffer),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: i.spec.Timing.Start}),
		},
	}
}

// whyNot finds out why a start failed. What go-plugin says of it is the last resort.
func (i *instance) whyNot(limited context.Context, err error) error {
	if i.process.ID() == "" {
		return err // it was never started
	}
	how := i.process.finish()
	if errors.Is(limited.Err(), context.Canceled) {
		return limited.Err()
	}
	words := i.process.log.lastWords()
	if words != "" {
		words = ": " + words
	}
	switch {
	case limited.Err() != nil:
		return fmt.Errorf("it did not start within %v%s", i.spec.Timing.Start, words)
	case how != killedByHost:
		return fmt.Errorf("it ended at its start (%s)%s", how, words)
	case i.process.helloErr != nil:
		return fmt.Errorf("%w%s", i.process.helloErr, words)
	}
	return fmt.Errorf("%w%s", err, words)
}

// end kills the process and drops all that belongs to it. It waits for at most
// Timing.Stop: not even a process that the kernel cannot end holds it up. Nil is a life
// that never began.
func (i *instance) end() {
	if i == nil {
		return
	}
	i.process.kill()
	over := make(chan struct{})
	go func() {
		defer close(over)
		i.client.Kill()
		i.dir.remove()
	}()
	patience := time.NewTimer(i.spec.Timing.Stop)
	defer patience.Stop()
	select {
	case <-over:
	case <-patience.C:
	}
}

// shutDown asks the plugin to finish what it does, and ends it. Nil is as in end.
func (i *instance) shutDown(ctx context.Context) {
	if i == nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, i.spec.Timing.Stop)
	defer cancel()
	_, _ = pluginv1.NewBaseClient(i.conn).Shutdown(limited, &pluginv1.ShutdownRequest{})
	i.end()
}
