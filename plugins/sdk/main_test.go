package sdk_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
)

// TestMain: this test binary is also a plugin that is started by hand.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "good" {
		sdk.Main(plugin())
	}
	if len(os.Args) == 2 && os.Args[1] == "nameless" {
		sdk.Main(sdk.Policy[config]{Version: "1"})
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

type config struct {
	Number int            `toml:"number" within:"0,9"`
	Rows   map[string]int `toml:"rows"`
}

// plugin is a policy, a Host and a configuration.
func plugin() sdk.Policy[config] {
	return sdk.Policy[config]{
		Name: "test", Version: "0.1.0", About: "for tests", Defaults: config{Number: 3},
		Make: func(config, sdk.Host) (policy.Policy, error) { return local.New(), nil },
	}
}

// served serves a plugin within this process.
func served(t testing.TB, p sdk.Plugin) *grpc.ClientConn {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	server := sdk.Serve(p)
	over := make(chan error, 1)
	go func() { over <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///plugin",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return conn
}

// configured serves a plugin and configures it.
func configured(t testing.TB, p sdk.Plugin, text string) *grpc.ClientConn {
	t.Helper()
	conn := served(t, p)
	reply, err := pluginv1.NewBaseClient(conn).Configure(t.Context(), &pluginv1.ConfigureRequest{
		Config: text, Site: "north", StateDir: "/var/lib/x", Seed: 9, Host: "host 1",
	})
	if err != nil || len(reply.GetNotes()) != 0 {
		t.Fatalf("Configure: %v, %v", reply, err)
	}
	return conn
}
