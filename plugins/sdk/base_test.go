package sdk_test

import (
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
)

func TestInfo(t *testing.T) {
	t.Parallel()
	got, err := pluginv1.NewBaseClient(served(t, plugin())).Info(t.Context(), &pluginv1.InfoRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if err = pluginv1.CheckInfo(got); err != nil {
		t.Error(err)
	}
	if got.GetKind() != "policy" || got.GetName() != "test" || got.GetVersion() != "0.1.0" || got.GetAbout() != "for tests" {
		t.Errorf("%v", got)
	}
}

// Validate finds every mistake, however often it is asked, and nothing of an earlier
// text stays.
func TestValidate(t *testing.T) {
	t.Parallel()
	p := plugin()
	var seen []config
	p.Check = func(r *sdk.Reader, c *config) {
		seen = append(seen, *c)
		if c.Number == 7 {
			r.Warn("number", "is lucky")
		}
	}
	base := pluginv1.NewBaseClient(served(t, p))
	const bad, warning = pluginv1.Note_SEVERITY_ERROR, pluginv1.Note_SEVERITY_WARNING
	tests := []struct {
		text string
		want []*pluginv1.Note
	}{
		{"[rows]\na = 1", nil},
		{"", nil},
		{"number = 7", []*pluginv1.Note{{Severity: warning, Line: 1, Key: "number", Text: "is lucky"}}},
		{"numbre = 1\n\nnumber = 70", []*pluginv1.Note{{Severity: bad, Line: 1, Key: "numbre"}, {Severity: bad, Line: 3, Key: "number"}}},
		{"number =", []*pluginv1.Note{{Severity: bad, Line: 1}}},
	}
	for _, tt := range tests {
		for range 2 {
			got, err := base.Validate(t.Context(), &pluginv1.ValidateRequest{Config: tt.text})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.GetNotes()) != len(tt.want) {
				t.Fatalf("%q: %v", tt.text, got.GetNotes())
			}
			for i, note := range got.GetNotes() {
				want := tt.want[i]
				if note.GetSeverity() != want.GetSeverity() || note.GetLine() != want.GetLine() || note.GetKey() != want.GetKey() || !strings.Contains(note.GetText(), want.GetText()) || note.GetText() == "" {
					t.Errorf("%q: got %v, want %v", tt.text, note, want)
				}
			}
		}
	}
	if want := []config{{3, map[string]int{"a": 1}}, {3, map[string]int{"a": 1}}, {Number: 3}}; !reflect.DeepEqual(seen[:3], want) {
		t.Errorf("checked %+v", seen)
	}
}

// Make gets the configuration and the host, once; before it, calls fail; what cannot
// be made is a note, and may be tried again.
func TestConfigure(t *testing.T) {
	t.Parallel()
	p := plugin()
	var gotConfig config
	var gotHost sdk.Host
	made := 0
	p.Make = func(c config, host sdk.Host) (policy.Policy, error) {
		if made++; made == 1 {
			return nil, errors.New("the moon is full")
		}
		gotConfig, gotHost = c, host
		return local.New(), nil
	}
	conn := served(t, p)
	base, calls := pluginv1.NewBaseClient(conn), policyv1.NewPolicyClient(conn)
	request := &pluginv1.ConfigureRequest{Config: "number = 4", Site: "north", StateDir: "/d", Seed: 5, Host: "h"}
	wantStatus := func(want codes.Code, err error, word string) {
		t.Helper()
		if status.Code(err) != want || !strings.Contains(err.Error(), word) {
			t.Errorf("got %v, want %v with %q", err, want, word)
		}
	}
	_, err := calls.Decide(t.Context(), &policyv1.DecideRequest{})
	wantStatus(codes.Unavailable, err, "not configured yet")
	reply, err := base.Configure(t.Context(), &pluginv1.ConfigureRequest{Config: "number = 40"})
	if err != nil || len(reply.GetNotes()) != 1 || made != 0 {
		t.Errorf("%v, %v", reply, err)
	}
	reply, err = base.Configure(t.Context(), request)
	if err != nil || len(reply.GetNotes()) != 1 || reply.GetNotes()[0].GetText() != "the moon is full" {
		t.Errorf("%v, %v", reply, err)
	}
	if reply, err = base.Configure(t.Context(), request); err != nil || len(reply.GetNotes()) != 0 {
		t.Errorf("%v, %v", reply, err)
	}
	if gotConfig.Number != 4 || gotHost != (sdk.Host{Site: "north", StateDir: "/d", Seed: 5, Software: "h"}) {
		t.Errorf("%+v, %+v", gotConfig, gotHost)
	}
	_, err = base.Configure(t.Context(), request)
	wantStatus(codes.FailedPrecondition, err, "configured already")
	_, err = calls.Decide(t.Context(), &policyv1.DecideRequest{Self: 4})
	wantStatus(codes.InvalidArgument, err, "snapshot: self: 4 is none")
}

// closer is a policy that can be closed.
type closer struct {
	local.Policy
	closed *atomic.Int32
}

func (c closer) Close() error {
	c.closed.Add(1)
	return errors.New("closed badly")
}

// Shutdown closes what was made, once, and says how that went; afterwards calls fail.
func TestShutdown(t *testing.T) {
	t.Parallel()
	var closed atomic.Int32
	p := plugin()
	p.Make = func(config, sdk.Host) (policy.Policy, error) { return closer{closed: &closed}, nil }
	conn := configured(t, p, "")
	base := pluginv1.NewBaseClient(conn)
	for range 2 {
		_, err := base.Shutdown(t.Context(), &pluginv1.ShutdownRequest{})
		if err == nil || !strings.Contains(err.Error(), "closed badly") {
			t.Error(err)
		}
	}
	if closed.Load() != 1 {
		t.Errorf("closed %d times", closed.Load())
	}
	if _, err := policyv1.NewPolicyClient(conn).Describe(t.Context(), &policyv1.DescribeRequest{}); status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
}

// A plugin that is started by hand says what it is.
func TestByHand(t *testing.T) {
	t.Parallel()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for arg, words := range map[string][]string{
		"good":     {"test 0.1.0, a policy plugin of Switchyard: for tests", "switchyard plugin check " + path},
		"nameless": {"the plugin cannot be served: info: name:"},
	} {
		out, err := exec.CommandContext(t.Context(), path, arg).CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
			t.Errorf("%s: %v", arg, err)
		}
		for _, word := range words {
			if !strings.Contains(string(out), word) {
				t.Errorf("%s: %q lacks %q", arg, out, word)
			}
		}
	}
}
