package node_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// archivedRows are rows of the archive, as an earlier version has written them, and of the earlier runs.
func archivedRows(t interface{ Fatal(...any) }, jobs ...view.Job) (puts []node.Put) {
	for _, job := range jobs {
		put, content := node.Put{Table: string(row.ArchiveTable), Key: archiveKey(job.ID)}, row.Row(row.Archived{View: job})
		if job.Earlier {
			put = node.Put{Table: string(row.EarlierTable), Key: row.RunKey(protocol.Tag{Job: job.ID, Epoch: job.Epoch})}
			content = row.EarlierRun{View: job}
		}
		var err error
		if put.Value, err = row.Encode(content); err != nil {
			t.Fatal(err)
		}
		puts = append(puts, put)
	}
	return puts
}

// TestHistoryIsTheArchiveInOrder: the pages of a history are the jobs of the archive that a filter wants, and their earlier runs
// if it wants them, by their ends, each once, whatever the size of the pages.
func TestHistoryIsTheArchiveInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		memory := newMemory()
		var jobs []view.Job
		for i := range rapid.IntRange(0, 40).Draw(rt, "jobs") {
			job := view.Job{
				ID: protocol.JobID(1000 + i), State: protocol.Completed, User: rapid.SampledFrom([]string{"ann", "bob"}).Draw(rt, "user"),
				Guest: rapid.Bool().Draw(rt, "guest"), Ended: protocol.Instant(rapid.IntRange(0, 20).Draw(rt, "ended")),
			}
			for range rapid.IntRange(0, 3).Draw(rt, "earlier runs") {
				run := job
				run.Epoch, run.Earlier, run.Ended = job.Epoch+1, true, protocol.Instant(rapid.IntRange(0, 20).Draw(rt, "the run ended"))
				job.Epoch = run.Epoch
				jobs = append(jobs, run)
			}
			if rapid.Bool().Draw(rt, "has ended") { // else it runs again
				job.Epoch++
				jobs = append(jobs, job)
			}
		}
		memory.apply(archivedRows(rt, jobs...))
		n, err := node.New(liveConfig(memory))
		if err != nil {
			rt.Fatal(err)
		}
		wanted := view.HistoryFilter{
			Since:  protocol.Instant(rapid.IntRange(0, 20).Draw(rt, "since")),
			Until:  protocol.Instant(rapid.IntRange(0, 20).Draw(rt, "until")),
			Guests: rapid.SampledFrom([]view.GuestFilter{view.WithGuests, view.WithoutGuests, view.OnlyGuests}).Draw(rt, "guests"),
			Users:  rapid.SampledFrom([][]string{nil, {"ann"}}).Draw(rt, "users"), Earlier: rapid.Bool().Draw(rt, "all runs"),
		}
		if rapid.Bool().Draw(rt, "by IDs") {
			wanted.Jobs = []protocol.JobID{1003, 1001, 1003, 5}
		}
		want := slices.DeleteFunc(slices.Clone(jobs), func(job view.Job) bool { return !wanted.Matches(&job) })
		slices.SortFunc(want, func(a, b view.Job) int {
			of := func(job view.Job) (n int) {
				if n = (int(job.Ended)*1000 + int(job.ID)) * 10; job.Earlier {
					n += int(job.Epoch)
				}
				return n
			}
			return of(b) - of(a)
		})
		limit := rapid.IntRange(1, 50).Draw(rt, "limit")
		var got []view.Job
		for after, more := "", true; more; {
			page, err := n.History(t.Context(), &wanted, after, limit)
			if err != nil || len(page.Jobs) > limit && len(wanted.Jobs) == 0 {
				rt.Fatalf("after %q: %d jobs, %v", after, len(page.Jobs), err)
			}
			got, after, more = append(got, page.Jobs...), page.Next, page.Next != ""
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf("%+v\ngot  %+v\nwant %+v", wanted, got, want)
		}
	})
}

// TestHistoryReadsItsPeriodOnly: of the archive no more is read than what ended in the period.
func TestHistoryReadsItsPeriodOnly(t *testing.T) {
	t.Parallel()
	memory := newMemory()
	for i := range protocol.JobID(3000) {
		memory.apply(archivedRows(t, view.Job{ID: 1 + i, State: protocol.Completed, Ended: protocol.Instant(i)}))
	}
	n, err := node.New(liveConfig(memory))
	if err != nil {
		t.Fatal(err)
	}
	memory.gets.Store(0)
	page, err := n.History(t.Context(), &view.HistoryFilter{Since: 1000, Until: 1010}, "", 100)
	if err != nil || len(page.Jobs) != 10 || page.Next != "" || page.Jobs[0].Ended != 1009 {
		t.Errorf("%d jobs, next %q, %v", len(page.Jobs), page.Next, err)
	}
	if read := memory.gets.Load(); read != 10+2 { // and until when jobs and guests were pruned
		t.Errorf("%d rows were read for 10 jobs", read)
	}
	var refused *node.RefusedError
	if _, err = n.History(t.Context(), &view.HistoryFilter{}, "nowhere", 1); !errors.As(err, &refused) || refused.Code != view.BadRequest {
		t.Errorf("a page after nowhere: %v", err)
	}
}

// TestHistoryListsAJobOnce: a job is listed with the transaction that archives it, and a guest that
// runs here again by its last end, unless all runs are wanted.
func TestHistoryListsAJobOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := protocol.Instant(0)
		machine := &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
			if _, ok := ev.(event.MessageIn); !ok {
				return event.Ready{}
			}
			at += 5
			return event.Ready{Records: []row.Record{
				{Table: row.ArchiveTable, Key: archiveKey(7), Row: row.Archived{View: view.Job{ID: 7, State: protocol.Completed, Guest: true, Ended: at, Epoch: protocol.Epoch(at)}}},
			}}
		}}
		r := start(t, machine)
		for range 2 {
			r.Received("there", result(7))
			synctest.Wait()
		}
		page, err := r.History(t.Context(), &view.HistoryFilter{}, "", 10)
		if err != nil || len(page.Jobs) != 1 || page.Jobs[0].Ended != 10 || page.Jobs[0].Epoch != 10 {
			t.Errorf("%+v, %v", page.Jobs, err)
		}
		for name, wanted := range map[string]view.HistoryFilter{"all": {Earlier: true}, "by its ID": {Earlier: true, Jobs: []protocol.JobID{7}}} {
			page, err = r.History(t.Context(), &wanted, "", 10)
			if err != nil || len(page.Jobs) != 2 || page.Jobs[1].Ended != 5 || page.Jobs[1].Epoch != 5 || !page.Jobs[1].Earlier || page.Jobs[0].Earlier {
				t.Errorf("%s runs: %+v, %v", name, page.Jobs, err)
			}
		}
		if listed := count(t, r.store, "ended"); listed != 2 {
			t.Errorf("%d ends are listed of two runs", listed)
		}
		_ = r.end()
	})
}

// TestRequeuedLeavesTheArchive: a job that is requeued after its end is listed by its earlier run only, and by its next end once it
// has that, be it in the transaction in which it was requeued.
func TestRequeuedLeavesTheArchive(t *testing.T) {
	for name, atOnce := range map[string]bool{"later": false, "at once": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := func(epoch protocol.Epoch, at protocol.Instant) row.Record {
					return row.Record{Table: row.ArchiveTable, Key: archiveKey(7), Row: row.Archived{View: view.Job{ID: 7, State: protocol.Failed, Ended: at, Epoch: epoch}}}
				}
				requeued := []row.Record{
					{Table: row.EarlierTable, Key: archiveKey(7) + ".1", Row: row.EarlierRun{View: view.Job{ID: 7, State: protocol.Failed, Ended: 5, Epoch: 1, Earlier: true}}},
					{Table: row.ArchiveTable, Key: archiveKey(7)},
				}
				steps := [][]row.Record{{ended(1, 5)}, requeued, {ended(2, 9)}}
				if atOnce {
					steps = [][]row.Record{{ended(1, 5)}, append(requeued, ended(2, 9))}
				}
				wants := [][]protocol.Epoch{{1}, {1}, {2, 1}}
				if atOnce {
					wants = [][]protocol.Epoch{{1}, {2, 1}}
				}
				at := -1
				r := start(t, &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
					if _, ok := ev.(event.MessageIn); !ok {
						return event.Ready{}
					}
					at++
					return event.Ready{Records: steps[at]}
				}})
				for i, want := range wants {
					r.Received("there", result(7))
					synctest.Wait()
					page, err := r.History(t.Context(), &view.HistoryFilter{Earlier: true}, "", 10)
					var got []protocol.Epoch
					for _, job := range page.Jobs {
						got = append(got, job.Epoch)
					}
					if err != nil || !slices.Equal(got, want) || count(t, r.store, "ended") != len(want) {
						t.Errorf("after step %d: epochs %v, want %v; %d ends are listed, %v", i, got, want, count(t, r.store, "ended"), err)
					}
				}
				_ = r.end()
			})
		})
	}
}

// TestEndsAreThoseOfTheArchive: an earlier version, which lists no ends, may run in between, and the archive then has as
// many jobs as before, but others.
func TestEndsAreThoseOfTheArchive(t *testing.T) {
	t.Parallel()
	file, err := store.Open(filepath.Join(t.TempDir(), "peer.db"), store.Options{AllowNetworkFS: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	history := func() string {
		n, startErr := node.New(liveConfig(file))
		if startErr != nil {
			t.Fatal(startErr)
		}
		page, listErr := n.History(t.Context(), &view.HistoryFilter{}, "", 100)
		var got []protocol.JobID
		for _, job := range page.Jobs {
			got = append(got, job.ID)
		}
		return fmt.Sprint(got, listErr, count(t, file, "ended"))
	}
	done := func(id protocol.JobID, ended protocol.Instant) []node.Put {
		return archivedRows(t, view.Job{ID: id, State: protocol.Completed, Ended: ended})
	}
	pruned := node.Put{Table: string(row.ArchiveTable), Key: archiveKey(1)}
	for i, step := range []struct {
		puts []node.Put // by the earlier version
		want string
	}{
		{append(done(1, 10), done(2, 20)...), "[2 1] <nil> 2"},
		{append(done(3, 30), pruned), "[3 2] <nil> 2"},
		{done(2, 40), "[2 3] <nil> 2"}, // a guest that has run here again
		{nil, "[2 3] <nil> 2"},
	} {
		if err = file.Commit(t.Context(), step.puts); err != nil {
			t.Fatal(err)
		}
		if got := history(); got != step.want {
			t.Errorf("after step %d: %s, want %s", i, got, step.want)
		}
	}
}

// TestEarlierRunsArePruned: an earlier run is deleted by the retention of its own end, and leaves what is known of its job.
func TestEarlierRunsArePruned(t *testing.T) {
	t.Parallel()
	const now, day = 1_800_000_000_000, protocol.Instant(protocol.Day)
	memory := newMemory()
	memory.apply(finishedJob(t, 1000, now-day))
	memory.apply(archivedRows(t,
		view.Job{ID: 1000, Epoch: 1, State: protocol.NodeFail, Ended: now - 9*day, Earlier: true},
		view.Job{ID: 1000, Epoch: 2, State: protocol.NodeFail, Ended: now - 2*day, Earlier: true}))
	cfg := liveConfig(memory)
	cfg.Retention = node.Retention{FinishedJobs: 5 * protocol.Day}
	n, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err = n.PruneAt(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	page, err := n.History(t.Context(), &view.HistoryFilter{Earlier: true}, "", 10)
	if err != nil || len(page.Jobs) != 2 || page.Jobs[1].Epoch != 2 || page.Pruned != now-9*day {
		t.Errorf("%+v, %v", page, err)
	}
	if runs, facts := count(t, memory, "earlier"), count(t, memory, "fact"); runs != 1 || facts != 5 {
		t.Errorf("%d earlier runs and %d facts are left", runs, facts)
	}
}

// TestEndsAreNotListedAgain: what the peer archives and prunes itself leaves nothing to rebuild, whatever way it ends.
func TestEndsAreNotListedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := protocol.JobID(0)
		r := start(t, &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
			if _, ok := ev.(event.MessageIn); !ok {
				return event.Ready{}
			}
			id++
			ended := view.Job{ID: id, State: protocol.Completed, Ended: protocol.Instant(id)}
			return event.Ready{Records: []row.Record{{Table: row.ArchiveTable, Key: archiveKey(id), Row: row.Archived{View: ended}}}}
		}}, func(cfg *node.Config) { cfg.Retention = node.Retention{FinishedJobs: protocol.Day, MaxFinishedJobs: 2} })
		for range 4 {
			r.Received("there", result(7))
			synctest.Wait()
		}
		check := func(when string, jobs int) {
			listed, _, _ := r.store.Get("ended-of", "archive")
			if archive, _ := r.store.Tally("archive"); string(listed) != string(archive) || count(t, r.store, "ended") != jobs {
				t.Errorf("%s: %d ends are listed, of the archive %s; it is %s", when, count(t, r.store, "ended"), listed, archive)
			}
		}
		check("after four jobs", 4)
		if err := r.PruneAt(t.Context(), 5); err != nil {
			t.Error(err)
		}
		check("after pruning", 2)
		_ = r.end()
	})
}
