package node_test

import (
	"context"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/witness"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// allUsers are accounts with which all users may run jobs, under their own names.
type allUsers struct{}

func (allUsers) Local(user string) (string, error)                      { return user, nil }
func (allUsers) Guest(_ protocol.SiteName, user string) (string, error) { return user, nil }

// idle is a batch system that takes every job and never starts one.
type idle struct{ outside }

func (*idle) Submit(context.Context, localsched.Submission) (localsched.LocalID, error) {
	return "1", nil
}

// liveConfig is a peer's configuration on a real store.
func liveConfig(file node.Store) node.Config {
	surroundings := &idle{}
	return node.Config{
		Peer: rules.Config{
			Site: "here", Number: 1, PublicKey: "U", Software: "bench",
			Capacity:   protocol.Capacity{CPUs: 1 << 20, Nodes: 1 << 10},
			Policy:     policy.Description{Name: "fake", Initiations: []policy.Initiation{policy.Sender}, Can: []policy.Capability{policy.SkipRoundBelowThreshold}},
			Initiation: policy.Sender, Accounts: allUsers{},
		},
		Store: file, Scheduler: surroundings, Policy: surroundings, Deliverer: surroundings,
	}
}

// liveNode is a peer.Peer in a node on a real store.
func liveNode(b *testing.B) *node.Node {
	b.Helper()
	file, err := store.Open(filepath.Join(b.TempDir(), "peer.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	cfg := liveConfig(file)
	cfg.Peer.Watermark, cfg.Witness = 10*protocol.Second, witnessFile(b, cfg.Peer.PublicKey)
	n, err := node.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		if err := file.Close(); err != nil {
			b.Error(err)
		}
	})
	return n
}

// witnessFile is a new file that remembers how far a store has come, as a live peer has one.
func witnessFile(b *testing.B, publicKey string) *witness.File {
	b.Helper()
	file, _, err := witness.Open([]string{publicKey}, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = file.Close() })
	return file
}

func newJobs(count int) []protocol.Job {
	jobs := make([]protocol.Job, count)
	for i := range jobs {
		jobs[i] = protocol.Job{
			Spec: protocol.Spec{Request: protocol.Request{CPUs: 4, WallTime: protocol.Hour}, Name: "bench"},
			Payload: &protocol.Payload{
				Script: make([]byte, 256), WorkDir: "/home/ann", Stdout: "/home/ann/out", Stderr: "/home/ann/out",
			},
		}
	}
	return jobs
}

// BenchmarkSubmit measures durable submissions, through the whole node and a real
// store, while what was submitted goes on into the local queue.
func BenchmarkSubmit(b *testing.B) {
	for _, shape := range []struct{ callers, jobs int }{{1, 1}, {64, 1}, {1, 100}, {64, 100}} {
		b.Run(strconv.Itoa(shape.callers)+"x"+strconv.Itoa(shape.jobs), func(b *testing.B) {
			n := liveNode(b)
			jobs := newJobs(shape.jobs)
			var left atomic.Int64
			left.Store(int64(b.N))
			var callers sync.WaitGroup
			b.ResetTimer()
			for range shape.callers {
				callers.Go(func() {
					for left.Add(-1) >= 0 {
						_, err := n.Ask(b.Context(), func(asked event.AskID) event.Event {
							return event.Submit{Asked: asked, User: "ann", Jobs: jobs}
						})
						if err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			callers.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N*shape.jobs)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}
