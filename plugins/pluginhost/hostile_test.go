package pluginhost_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
)

// beHostile is a plugin that means no good.
func beHostile(name string, args []string) {
	socket := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "plugin1")
	hello := func(line string, args ...any) {
		fmt.Printf(line+"\n", args...)
		time.Sleep(time.Hour)
	}
	cert := strings.Repeat("A", 100)
	switch name {
	case "silent":
		fmt.Fprintln(os.Stderr, "thinking")
		time.Sleep(time.Hour)
	case "exits":
		fmt.Fprintln(os.Stderr, "no license found")
		os.Exit(3)
	case "garbage":
		hello("Hello, world!")
	case "flood":
		out := bufio.NewWriterSize(os.Stdout, 1<<16)
		for {
			_, _ = out.WriteString("garbage without an end ")
		}
	case "old-core":
		hello("7|1|unix|%s|grpc|%s", socket, cert)
	case "v99":
		hello("1|99|unix|%s|grpc|%s", socket, cert)
	case "netrpc":
		hello("1|1|unix|%s|netrpc|%s", socket, cert)
	case "tcp":
		hello("1|1|tcp|127.0.0.1:9|grpc|%s", cert)
	case "elsewhere":
		hello("1|1|unix|/tmp/elsewhere|grpc|%s", cert)
	case "no-tls":
		hello("1|1|unix|%s|grpc|", socket)
	case "bad-cert":
		hello("1|1|unix|%s|grpc|%s", socket, cert)
	case "deaf":
		if _, err := new(net.ListenConfig).Listen(context.Background(), "unix", socket); err != nil {
			panic(err)
		}
		hello("1|1|unix|%s|grpc|", socket)
	case "parent":
		haveChildren(args[0])
		if args[1] == "dies" {
			os.Exit(4)
		}
		serveRaw("")
	case "raw":
		serveRaw(rawMood(args[0]))
	}
}

// haveChildren starts two processes that hold standard output and error open: one in
// the plugin's process group, one that has left it. It writes their pids to the file.
func haveChildren(file string) {
	var pids strings.Builder
	for _, leaves := range []bool{false, true} {
		cmd := exec.CommandContext(context.Background(), "sleep", "600")
		cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, &syscall.SysProcAttr{Setsid: leaves}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(&pids, cmd.Process.Pid)
	}
	if err := os.WriteFile(file, []byte(pids.String()), 0o600); err != nil {
		panic(err)
	}
}

// rawMood is what is wrong with a plugin that does not use the sdk.
type rawMood string

// serveRaw is a policy plugin without the sdk.
func serveRaw(mood rawMood) {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: sdk.CookieKey, MagicCookieValue: sdk.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{1: {"policy": &rawPlugin{mood: mood}}},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.MaxSendMsgSize(2<<30-1), grpc.UnaryInterceptor(mood.intercept))...)
		},
	})
}

type rawPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	pluginv1.UnimplementedBaseServer
	policyv1.UnimplementedPolicyServer
	mood rawMood
}

// intercept hangs in the call that the mood names.
func (m rawMood) intercept(ctx context.Context, in any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if m != "" && strings.HasSuffix(info.FullMethod, "/"+string(m)) {
		time.Sleep(time.Hour)
	}
	return next(ctx, in)
}

func (r *rawPlugin) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	pluginv1.RegisterBaseServer(server, r)
	policyv1.RegisterPolicyServer(server, r)
	return nil
}

func (*rawPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("no host")
}

func (r *rawPlugin) Info(context.Context, *pluginv1.InfoRequest) (*pluginv1.InfoResponse, error) {
	info := &pluginv1.InfoResponse{Kind: "policy", Name: "raw", Version: "1", Services: pluginv1.Services("policy", nil)}
	switch r.mood {
	case "bad-name":
		info.Name = "Raw Policy"
	case "bad-services":
		info.Services = []string{"switchyard.policy.v9.Policy"}
	}
	return info, nil
}

func (r *rawPlugin) Validate(context.Context, *pluginv1.ValidateRequest) (*pluginv1.ValidateResponse, error) {
	if r.mood == "bad-note" {
		return &pluginv1.ValidateResponse{Notes: []*pluginv1.Note{{Text: "no severity"}}}, nil
	}
	return &pluginv1.ValidateResponse{}, nil
}

func (r *rawPlugin) Configure(context.Context, *pluginv1.ConfigureRequest) (*pluginv1.ConfigureResponse, error) {
	if r.mood == "chatter" {
		if _, err := os.NewFile(1, "stdout").Write(make([]byte, 4<<20)); err != nil {
			panic(err)
		}
	}
	if r.mood == "dies-in-configure" {
		println("cannot bear it") // os.Stderr is go-plugin's here, which loses it
		os.Exit(5)
	}
	return &pluginv1.ConfigureResponse{}, nil
}

func (*rawPlugin) Shutdown(context.Context, *pluginv1.ShutdownRequest) (*pluginv1.ShutdownResponse, error) {
	return &pluginv1.ShutdownResponse{}, nil
}

func (r *rawPlugin) Describe(context.Context, *policyv1.DescribeRequest) (*policyv1.DescribeResponse, error) {
	if r.mood == "bad-describe" {
		return &policyv1.DescribeResponse{Name: "raw", Initiations: []policyv1.Initiation{17}}, nil
	}
	return policyv1.EncodeDescription(policy.Description{Name: "raw", Initiations: []policy.Initiation{policy.Cycle}}), nil
}

func (r *rawPlugin) Decide(context.Context, *policyv1.DecideRequest) (*policyv1.DecideResponse, error) {
	out := &policyv1.DecideResponse{Job: []uint32{0}, Site: []uint32{0}, Wait: []int64{0}, Reason: []string{"so"}}
	switch r.mood {
	case "short-column":
		out.Wait = nil
	case "long-column":
		out.Reason = append(out.Reason, "more")
	case "big-reason":
		out.Reason[0] = strings.Repeat("why ", 1<<19)
	case "huge":
		out.Hint = make([]byte, 300<<20)
	case "negative":
		out.Wait[0] = -9
	}
	return out, nil
}

// A plugin that cannot be started says why, at the latest after its start time, and
// leaves nothing behind.
func TestBadStarts(t *testing.T) {
	t.Parallel()
	const late = 3 * time.Second
	raw := func(mood string) []string { return []string{"raw", mood} }
	tests := []struct {
		args  []string
		start time.Duration
		plain bool
		want  string
	}{
		{[]string{"silent"}, late, false, "it did not start within 3s: thinking"},
		{[]string{"exits"}, 0, false, "it ended at its start (exit status 3): no license found"},
		{[]string{"garbage"}, 0, false, `does not speak the protocol of plugins: its first line is "Hello, world!`},
		{[]string{"flood"}, 0, false, "does not speak the protocol of plugins"},
		{[]string{"old-core"}, 0, false, `version "7" of go-plugin's own protocol, this host 1`},
		{[]string{"v99"}, 0, false, `version "99" of Switchyard's plugin protocol, this host 1`},
		{[]string{"netrpc"}, 0, false, `it speaks "netrpc", not gRPC`},
		{[]string{"tcp"}, 0, false, `it listens at tcp "127.0.0.1:9"`},
		{[]string{"elsewhere"}, 0, false, `it listens at unix "/tmp/elsewhere"`},
		{[]string{"no-tls"}, 0, false, "it offers no TLS"},
		{[]string{"bad-cert"}, 0, true, "it offers TLS, but was to be spoken with without"},
		{[]string{"bad-cert"}, 0, false, "error parsing server cert"},
		{[]string{"deaf"}, late, true, "it did not start within 3s"},
		{raw("bad-name"), 0, false, `Info: info: name: "Raw Policy" is not the name of a plugin`},
		{raw("bad-services"), 0, false, "switchyard.policy.v1.Policy is not among them"},
		{raw("bad-note"), 0, false, "Configure: notes[0]: severity"},
		{raw("bad-describe"), 0, false, "Describe: initiations[0]: 17 is unknown"},
		{raw("dies-in-configure"), 0, false, "Configure: it ended (exit status 5): cannot bear it"},
		{raw("Info"), late, false, "Info: no answer within 3s"},
		{raw("Configure"), late, false, "Configure: no answer within 3s"},
		{raw("Describe"), late, false, "Describe: no answer within 3s"},
		{[]string{"tc"}, 0, false, "it is a policy plugin, not a price plugin"},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, "/"), func(t *testing.T) {
			t.Parallel()
			spec := specOf(t, tt.args[0], tt.args[1:]...)
			spec.Timing.Start = cmp.Or(tt.start, spec.Timing.Start)
			if tt.start == 0 {
				spec.Timing.Backoff, spec.Timing.BackoffMax = time.Hour, time.Hour
			}
			if tt.args[0] == "tc" {
				spec.Kind = pluginhost.FeedKind
			}
			if tt.plain {
				spec.Plain, spec.SHA256 = true, sumOf(t, spec.Path)
			}
			plugin := opened(t, spec)
			if tt.start != 0 {
				// On a busy machine some tries may be late in another way.
				until(t, tt.want, func() bool { return strings.Contains(plugin.Status().Failure, tt.want) })
				return
			}
			err := plugin.Wait(t.Context())
			wants(t, err, "plugin "+spec.Name+" ("+spec.Path+") is down (", tt.want, "next try in")
			if down, ok := errors.AsType[*pluginhost.DownError](err); !ok || time.Until(down.RetryAt) < time.Minute {
				t.Errorf("the error is %#v", err)
			}
		})
	}
}

// sumOf is the SHA-256 of a file, in hex.
func sumOf(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Invalid answers are errors that name the plugin, its file and the call, and after a
// few of them in a row it is restarted.
func TestNonsense(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		mood uint64
		want string
	}{
		{[]string{"moody"}, twice, "two decisions for job"},
		{[]string{"moody"}, declined, "which declined it"},
		{[]string{"moody"}, negative, "is negative; -1 is never"},
		{[]string{"moody"}, tooMany, "decision for job 77"},
		{[]string{"moody"}, noSite, "at site -2147483648"},
		{[]string{"moody"}, bigHint, "hint"},
		{[]string{"moody"}, panics, "panic: aargh"},
		{[]string{"raw", "short-column"}, calm, "wait: has 0 entries, not 1"},
		{[]string{"raw", "long-column"}, calm, "reason: has 2 entries, not 1"},
		{[]string{"raw", "big-reason"}, calm, "reason[0]: has 2097152 bytes, at most 512"},
		{[]string{"raw", "negative"}, calm, "is negative"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			spec := specOf(t, tt.args[0], tt.args[1:]...)
			spec.Timing.Faults = 3
			reported := new(states)
			spec.OnState = reported.add
			plugin := up(t, spec)
			pid := plugin.Status().PID
			for range 3 {
				_, _, err := plugin.Policy().Decide(t.Context(), withMood(tt.mood))
				wants(t, err, "plugin "+spec.Name+" ("+spec.Path+"): Decide: ", tt.want)
			}
			until(t, "a restart", func() bool {
				s := plugin.Status()
				return s.State == pluginhost.Up && s.PID != pid
			})
			if !reported.failed("3 calls of Decide in a row failed; the last one: ") {
				t.Errorf("told %+v", reported.seen)
			}
		})
	}
}

// withMood is a round of one job with the mood, and two sites of which the second
// has declined.
func withMood(mood uint64) policy.Snapshot {
	return policy.Snapshot{
		Sites: []policy.Site{{Name: "north", CPUs: 8, MaxJobs: 9}, {Name: "south", CPUs: 8, MaxJobs: 9}},
		Jobs:  []policy.Job{{ID: protocol.NewJobID(1, mood), CPUs: 1, WallTime: protocol.Hour}},
		AWT:   []protocol.Duration{0, protocol.Never}, ERT: []protocol.Duration{protocol.Hour, protocol.Never}, Cost: make([]protocol.Micro, 2),
	}
}

// What a plugin prints on standard output after its first line is read and dropped: it
// does not block.
func TestChatter(t *testing.T) {
	t.Parallel()
	plugin := up(t, specOf(t, "raw", "chatter"))
	if _, _, err := plugin.Policy().Decide(t.Context(), withMood(calm)); err != nil {
		t.Error(err)
	}
}

// A reply above the limit is refused by the length that precedes it, however long.
func TestHugeReply(t *testing.T) {
	t.Parallel()
	plugin := up(t, specOf(t, "raw", "huge"))
	_, _, err := plugin.Policy().Decide(t.Context(), withMood(calm))
	wants(t, err, "received message larger than max")
	if s := plugin.Status(); s.State != pluginhost.Up {
		t.Errorf("status %+v", s)
	}
}
