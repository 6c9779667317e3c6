package pluginhost_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// TestCorrectEnds: a job whose plugin reports an end that no process has ends all the same, as failed and with what was reported;
// other ends stay as they are reported.
func TestCorrectEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		state                  protocol.State
		code, signal           int64
		reason                 string
		wantState              protocol.State
		wantCode, wantSignal   int
		wantReason, wantSaying string
	}{
		"an exit code":            {protocol.Failed, 255, 0, "native", protocol.Failed, 255, 0, "native", ""},
		"a signal":                {protocol.Failed, 0, 9, "", protocol.Failed, 0, 9, "", ""},
		"completed":               {protocol.Completed, 0, 0, "", protocol.Completed, 0, 0, "", ""},
		"above 255":               {protocol.Failed, 300, 0, "native", protocol.Failed, 44, 0, "native; ", "exit code 300 and signal 0"},
		"of which no bit is kept": {protocol.Completed, 256, 0, "", protocol.Failed, 1, 0, "", "exit code 256 and signal 0"},
		"negative":                {protocol.Timeout, -1, 0, "", protocol.Timeout, 255, 0, "", "exit code -1 and signal 0"},
		"no signal":               {protocol.Failed, 0, 200, "", protocol.Failed, 1, 0, "", "exit code 0 and signal 200"},
		"both":                    {protocol.Failed, 137, 9, "", protocol.Failed, 0, 9, "", "exit code 137 and signal 9"},
		"more than an int32":      {protocol.Failed, 1 << 40, 0, "", protocol.Failed, 1, 0, "", "exit code 1099511627776 and signal 0"},
		"a long reason":           {protocol.Failed, 256, 0, strings.Repeat("x", localschedv1.MaxReason), protocol.Failed, 1, 0, "xxx", "exit code 256 and signal 0"},
	} {
		reply := localschedv1.EncodeWatched(localsched.Watched{Cursor: "1", Changes: []localsched.Change{{
			Tag: protocol.Tag{Job: protocol.NewJobID(1, 1), Epoch: 1}, State: tt.state, Outcome: protocol.Outcome{State: tt.state, Reason: tt.reason},
		}}})
		outcome := reply.GetChanges()[0].GetOutcome()
		outcome.ExitCode, outcome.Signal = tt.code, tt.signal
		pluginhost.CorrectEnds(reply)
		watched, err := localschedv1.DecodeWatched(reply)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := watched.Changes[0]
		if got.State != tt.wantState || got.Outcome.State != tt.wantState || got.Outcome.ExitCode != tt.wantCode || got.Outcome.Signal != tt.wantSignal {
			t.Errorf("%s: %v, %+v", name, got.State, got.Outcome)
		}
		if corrected := strings.Contains(got.Outcome.Reason, tt.wantSaying); !corrected || !strings.HasPrefix(got.Outcome.Reason, tt.wantReason) ||
			tt.wantSaying == "" && got.Outcome.Reason != tt.reason {
			t.Errorf("%s: %q", name, got.Outcome.Reason)
		}
	}
}
