package sdk

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/grpclog"

	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
)

// What host and plugin say to each other before they speak gRPC.
const (
	// CookieKey and CookieValue are in the environment of a plugin that a host
	// started, so that one started by hand can say what it is.
	CookieKey   = "SWITCHYARD_PLUGIN"
	CookieValue = "4d6f7665206a6f62732c206e6f7420706170657273"
	// ProtocolVersion is the version of the plugin protocols that this package
	// speaks.
	ProtocolVersion = 1
)

const exitUsage = 2

// Main serves a plugin until its host ends it. It never returns. Started by hand, the
// program says what it is, and exits with 2.
func Main(p Plugin) {
	served := p.parts()
	if err := pluginv1.CheckInfo(served.info); err != nil {
		fmt.Fprintf(os.Stderr, "%s: the plugin cannot be served: %v\n", os.Args[0], err)
		os.Exit(exitUsage)
	}
	if os.Getenv(CookieKey) != CookieValue {
		fmt.Fprint(os.Stderr, usage(served.info, os.Args[0]))
		os.Exit(exitUsage)
	}
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	served.ready = sync.OnceFunc(keepStreams(os.Stderr))
	go served.endAlone()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: CookieKey, MagicCookieValue: CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{ProtocolVersion: {served.info.GetKind(): &registrar{parts: served}}},
		GRPCServer:       newServer,
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr, JSONFormat: true}),
	})
	served.end()
}

// keepStreams undoes, at the first call, what go-plugin does to the standard streams:
// it sends both through gRPC, where the last words of a plugin that dies are lost.
func keepStreams(stderr *os.File) func() {
	return func() { os.Stdout, os.Stderr = stderr, stderr }
}

// usage is what a plugin says to who starts it by hand.
func usage(info *pluginv1.InfoResponse, program string) string {
	if path, err := filepath.Abs(program); err == nil {
		program = path
	}
	about := info.GetAbout()
	if about != "" {
		about = ": " + about
	}
	return fmt.Sprintf(`%s %s, a %s plugin of Switchyard%s

It is started by a peer or the simulator, and is no command for people. To see
whether it works:

    switchyard plugin check %s
`, info.GetName(), info.GetVersion(), info.GetKind(), about, program)
}

// endAlone ends the program when it is asked to, or when its host has gone: no second
// host will find it.
func (p parts) endAlone() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for host := os.Getppid(); os.Getppid() == host; {
		select {
		case <-asked:
			p.end()
		case <-look.C:
		}
	}
	p.end()
}

// end closes what the plugin made and exits.
func (p parts) end() {
	if err := p.configured.close(); err != nil {
		fmt.Fprintf(os.Stderr, "close: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}
