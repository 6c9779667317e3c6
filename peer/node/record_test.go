package node_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/recording"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// recordedLife runs a peer on the directory's store, with a recording, and stops it
// again.
func recordedLife(t *testing.T, dir, name string, during func(*node.Node)) {
	t.Helper()
	file, err := store.Open(filepath.Join(dir, "peer.db"), store.Options{AllowNetworkFS: true})
	if err != nil {
		t.Fatal(err)
	}
	writer, err := recording.Create(filepath.Join(dir, name), recording.Options{Software: "test", Grace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	cfg := liveConfig(file)
	batch := &quoting{wait: protocol.Hour}
	cfg.Scheduler, cfg.Deliverer, cfg.Recorder = batch, batch, writer
	cfg.Policy = tc.New(tc.Config{Epsilon: tc.DefaultEpsilon})
	cfg.Peer.Policy = policy.Describe(cfg.Policy)
	cfg.Peer.Partners = []rules.Partner{{Site: "there", PublicKey: "V", MaxJobs: 10}}
	n, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	during(n)
	stop()
	if err = errors.Join(<-ended, writer.Close(), file.Close()); err != nil {
		t.Error(err)
	}
}

// replayed expects a recording to be replayed without a difference.
func replayed(t *testing.T, path string) (recording.Summary, recording.Header) {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := recording.Replay(r, func(_ string, params []policy.Param) (policy.Policy, error) { return tc.Restore(params) })
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	if sum.First != nil {
		t.Errorf("%s: %d differences, the first: %v", path, sum.Differences, sum.First)
	}
	return sum, r.Header()
}

func submitFive(asked event.AskID) event.Event {
	return event.Submit{Asked: asked, User: "ann", Jobs: newJobs(5)}
}

// recordedDir names the environment variable that makes the test binary the
// victim of TestRecordingOutlivesKill.
const recordedDir = "NODE_TEST_RECORDED_DIR"

// TestRecordedVictim submits jobs until it is killed.
func TestRecordedVictim(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(recordedDir)
	if dir == "" {
		t.Skip("runs only in a process of TestRecordingOutlivesKill")
	}
	recordedLife(t, dir, "first.rec", func(n *node.Node) {
		n.Connected(protocol.Card{Site: "there", Number: 2, PublicKey: "V", Software: "test", Protocol: protocol.ProtocolVersion})
		for {
			ask[view.Submitted](t, n, submitFive)
			n.Received("there", protocol.QuoteRequest{Round: 1, Deadline: 1000})
			fmt.Println("submitted")
		}
	})
}

// TestRecordingOutlivesKill: a peer that is killed leaves a recording that can be
// replayed, and the next one begins with its rows.
func TestRecordingOutlivesKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRecordedVictim$", "-test.v")
	child.Env = append(os.Environ(), recordedDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	said := 0
	for lines.Scan() {
		if lines.Text() != "submitted" {
			continue
		}
		if said++; said == 20 {
			if err = child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err = child.Wait(); err == nil || child.ProcessState.Exited() || said < 20 {
		t.Fatalf("the child was to be killed after 20 submissions, not after %d: %v", said, err)
	}
	first, header := replayed(t, filepath.Join(dir, "first.rec"))
	if first.Cut == "" || first.Jobs < 5 || first.Checked == 0 || header.Rows != 0 {
		t.Errorf("the first life: %+v, %d rows", first, header.Rows)
	}
	recordedLife(t, dir, "second.rec", func(n *node.Node) { ask[view.Submitted](t, n, submitFive) })
	second, header := replayed(t, filepath.Join(dir, "second.rec"))
	if second.Cut != "" || second.End == "" || second.Jobs != 5 || header.Rows < 2*100 {
		t.Errorf("the second life: %+v, %d rows", second, header.Rows)
	}
}
