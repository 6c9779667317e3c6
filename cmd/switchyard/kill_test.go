package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The kill test: the demo's grid, whose peers are killed at random instants and
// started again at once, while jobs are submitted, placed, handed over and run.
// Nothing may be lost and nothing run twice. SWITCHYARD_KILL_SEED repeats a run's
// choices; the instants depend on the machine too.
const (
	killsEachRun = 12
	killJobs     = 30
)

func killRuns() uint64 {
	if testing.Short() {
		return 1
	}
	return 2
}

// killSeed is what the choices of a run depend on.
func killSeed() uint64 {
	if given, err := strconv.ParseUint(os.Getenv("SWITCHYARD_KILL_SEED"), 10, 64); err == nil {
		return given
	}
	return uint64(time.Now().UnixNano())
}

func TestKilledPeersLoseNothing(t *testing.T) {
	seed := killSeed()
	for run := range killRuns() {
		t.Run(fmt.Sprint("run ", run+1), func(t *testing.T) {
			t.Logf("SWITCHYARD_KILL_SEED=%d, run %d", seed, run+1)
			killRun(t, seed+run)
		})
	}
}

func killRun(t *testing.T, seed uint64) {
	t.Helper()
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 4}, testbed.Machine{Name: "borealis", CPUs: 4},
		testbed.Machine{Name: "cygnus", CPUs: 8})
	tasks := testbed.Work(seed, killJobs, g.work)
	ctx := patience(t)
	var submitting sync.WaitGroup
	ids := make([]protocol.JobID, len(tasks))
	submitting.Go(func() { submitThroughKills(ctx, t, g, tasks, ids, 100*time.Millisecond) })
	killPeers(t, g, rand.New(rand.NewPCG(seed, 2)), killsEachRun, 0)
	submitting.Wait()
	for i, task := range tasks {
		if ids[i] == 0 {
			continue
		}
		job := g.until(t, g.Sites[0], ids[i], ended)
		if job.State != protocol.Completed {
			t.Errorf("%s: %s", task.Name, display.State(job))
		}
		if err := task.Verify(job.Stdout); err != nil {
			t.Errorf("job %s at %s, epoch %d: %v", ids[i], job.Site, job.Epoch, err)
		}
	}
	noneUnknown(ctx, t, g.Sites[0], ids)
}

// killPeers kills and restarts peers, one at a time. Each is down for as long as longest, or less. In
// the end all answer again.
func killPeers(t *testing.T, g *grid, rng *rand.Rand, kills int, longest time.Duration) {
	t.Helper()
	for range kills {
		time.Sleep(time.Duration(50+rng.IntN(950)) * time.Millisecond) // the random instant
		site := g.Sites[rng.IntN(len(g.Sites))]
		if err := site.Kill(); err != nil {
			t.Error(err)
		}
		if longest > 0 {
			time.Sleep(time.Duration(rng.Int64N(int64(longest))))
		}
		if err := site.Start(); err != nil {
			t.Error(err)
		}
	}
	if err := g.Linked(patience(t)); err != nil {
		t.Error(err)
	}
}

// submitThroughKills submits as people do, and tries again when the peer is not
// there at all. It pauses after each job, so that submissions, too, meet kills.
func submitThroughKills(ctx context.Context, t *testing.T, g *grid, tasks []testbed.Task, ids []protocol.JobID, pause time.Duration) {
	t.Helper()
	for i, task := range tasks {
		path := filepath.Join(g.Dir, task.Name+".sh")
		if err := os.WriteFile(path, []byte(task.Script), 0o600); err != nil {
			t.Error(err)
			return
		}
		jobs, err := g.submitFile(ctx, g.Sites[0], path, task.Name)
		if err != nil {
			t.Errorf("submit %s: %v", task.Name, err)
			return
		}
		ids[i] = jobs[0]
		time.Sleep(pause)
	}
}

// submitFile submits a script, or an application, of a name at a site that may be down now and then.
func (g *grid) submitFile(ctx context.Context, site *testbed.Site, path, name string) ([]protocol.JobID, error) {
	a := newApp()
	a.socket = site.Socket
	batch, err := a.readJobs(ctx, []string{path}, &jobOptions{})
	if err != nil {
		return nil, err
	}
	for i := range batch.Jobs {
		job := &batch.Jobs[i]
		files := job.Payload
		files.WorkDir, files.Stdout = g.work, filepath.Join(g.work, name+job.Component.Name+".out")
		files.Stderr = files.Stdout
	}
	var submitted view.Submitted
	err = a.insist(ctx, time.Minute, func() (err error) {
		submitted, err = a.sendSafely(ctx, batch)
		return err
	})
	return submitted.Jobs, err
}

// noneUnknown checks that no job of a site exists twice under two ids.
func noneUnknown(ctx context.Context, t *testing.T, site *testbed.Site, ids []protocol.JobID) {
	t.Helper()
	client := site.Client()
	defer client.Close()
	known := map[protocol.JobID]bool{}
	for _, id := range ids {
		known[id] = true
	}
	queue, err := client.Queue(ctx, api.Listing{Finished: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range queue.Jobs {
		if !job.Guest && !known[job.ID] {
			t.Errorf("job %s (%s) was submitted once, and exists twice", job.ID, job.Name)
		}
	}
}
