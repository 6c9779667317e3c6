package pluginhost

import (
	"context"
	"io"
	"strconv"
	"strings"
)

// What follows makes a process a runner.Runner of go-plugin, beside Start.

// Kill implements runner.Runner.
func (p *process) Kill(context.Context) error {
	p.kill()
	return nil
}

// Wait implements runner.Runner.
func (p *process) Wait(context.Context) error {
	<-p.ended
	return nil
}

// Stdout implements runner.Runner: the line that go-plugin waits for.
func (p *process) Stdout() io.ReadCloser { return p.hello }

// Stderr implements runner.Runner. What the process writes there is logged here.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name implements runner.Runner.
func (p *process) Name() string { return p.spec.Path }

// ID implements runner.Runner: the process id, empty before the start.
func (p *process) ID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pid == 0 {
		return ""
	}
	return strconv.Itoa(p.pid)
}

// Diagnose implements runner.Runner. The words are found in instance.go.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner: both see the same files.
func (p *process) PluginToHost(network, address string) (net, addr string, err error) {
	return network, address, nil
}

// HostToPlugin implements runner.Runner.
func (p *process) HostToPlugin(network, address string) (net, addr string, err error) {
	return network, address, nil
}
