package api_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

type anyUser struct{}

func (anyUser) Local(user string) (string, error)                      { return user, nil }
func (anyUser) Guest(_ protocol.SiteName, user string) (string, error) { return user, nil }

// idle is a batch system that takes every job and never starts one. What it does
// not have is not called here.
type idle struct {
	localsched.Scheduler
	policy.Policy
	node.Deliverer
}

func (idle) Load(context.Context) (protocol.Load, error) { return protocol.Load{CPUs: 8}, nil }

func (idle) Quote(_ context.Context, query localsched.Query) ([]protocol.Quote, error) {
	return make([]protocol.Quote, len(query.Jobs)), nil
}

func (idle) Submit(context.Context, localsched.Submission) (localsched.LocalID, error) {
	return "1", nil
}

func (idle) Watch(ctx context.Context, _ localsched.Cursor) (localsched.Watched, error) {
	<-ctx.Done()
	return localsched.Watched{}, ctx.Err()
}

// liveNode is a peer in a node on a real store.
func liveNode(b *testing.B) *node.Node {
	b.Helper()
	file, err := store.Open(filepath.Join(b.TempDir(), "peer.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	n, err := node.New(node.Config{
		Peer: rules.Config{
			Site: "here", Number: 1, PublicKey: "U", Software: "bench",
			Capacity:   protocol.Capacity{CPUs: 1 << 20, Nodes: 1 << 10},
			Policy:     policy.Description{Name: "fake", Initiations: []policy.Initiation{policy.Sender}, Can: []policy.Capability{policy.SkipRoundBelowThreshold}},
			Initiation: policy.Sender, Accounts: anyUser{},
		},
		Store: file, Scheduler: idle{}, Policy: idle{}, Deliverer: idle{},
	})
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

// BenchmarkSubmit measures durable submissions of 64 clients over the socket, one
// job each, clients and server on the same machine.
func BenchmarkSubmit(b *testing.B) {
	client := serve(b, liveNode(b))
	body := oneJob()
	body.Key = ""
	body.Jobs[0].Payload.Script = make([]byte, 512)
	copy(body.Jobs[0].Payload.Script, "#!/bin/sh\n")
	var left atomic.Int64
	left.Store(int64(b.N))
	var callers sync.WaitGroup
	b.ResetTimer()
	for range 64 {
		callers.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := client.Submit(b.Context(), body); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	callers.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
