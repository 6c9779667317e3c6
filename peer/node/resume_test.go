package node_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func collecting(job int, from protocol.SiteName, user string, files ...protocol.File) event.CollectOp {
	return event.CollectOp{
		Tag: protocol.Tag{Job: protocol.JobID(job), Epoch: 1}, From: from, Files: files, User: user,
		Payload: &protocol.Payload{Stdout: fmt.Sprintf("/u/%d", job)},
	}
}

// TestCollectGoesOn has the link break after every eighth chunk and the peer restart each time:
// only what was under way when it broke is fetched twice.
func TestCollectGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 8
		data := bytes.Repeat([]byte("0123456789abcdef"), node.MaxChunk/16*100+3)
		file := described(protocol.Stdout, data)
		surroundings := &outside{}
		fetched, chunks, tries := 0, 0, 0
		surroundings.fetch = func(_ protocol.Stream, offset int64, size int) ([]byte, error) {
			surroundings.mu.Lock()
			defer surroundings.mu.Unlock()
			if chunks++; chunks%every == 0 {
				return nil, errors.New("the link broke")
			}
			fetched += size
			return data[offset : offset+int64(size)], nil
		}
		for done := false; !done; tries++ {
			if tries > 100 {
				t.Fatal("it never comes to its end")
			}
			core := caller(collecting(5, "there", "ann", file))
			r := startAround(t, core, surroundings)
			synctest.Wait()
			got := answers(core)
			done = len(got) == 1 && got[0].Err == nil
			_ = r.end()
		}
		if !bytes.Equal(surroundings.files["/u/5"], data) || len(surroundings.parts) != 0 {
			t.Errorf("%d bytes were delivered, and %d parts stay", len(surroundings.files["/u/5"]), len(surroundings.parts))
		}
		// What is under way when a chunk fails is lost, which may be what came between three failures.
		// The window begins with eight chunks and grows by three with each that comes.
		if most := len(data) + tries*(8+4*(every-1))*node.MaxChunk; fetched > most || tries < 10 {
			t.Errorf("%d bytes were fetched in %d tries, want at most %d", fetched, tries, most)
		}
	})
}

// TestPartOfAnotherFileIsDropped finds more here than the file has, and other content: it
// begins again.
func TestPartOfAnotherFileIsDropped(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 10)
	for name, before := range map[string]struct {
		here  []byte
		wrong string
	}{
		"longer": {here: bytes.Repeat([]byte("x"), 1000)},
		"other":  {here: []byte("x"), wrong: "SHA-256"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				op := collecting(5, "there", "ann", described(protocol.Stdout, data))
				surroundings := &outside{parts: map[string][]byte{op.Tag.String() + "stdout": before.here}}
				surroundings.fetch = func(_ protocol.Stream, offset int64, size int) ([]byte, error) {
					return data[offset : offset+int64(size)], nil
				}
				core := caller(op)
				r := startAround(t, core, surroundings)
				synctest.Wait()
				_ = r.end()
				got := answers(core)[0]
				if before.wrong == "" && (got.Err != nil || !bytes.Equal(surroundings.files["/u/5"], data)) {
					t.Errorf("%v, %d bytes", got.Err, len(surroundings.files["/u/5"]))
				}
				if before.wrong != "" && (got.Err == nil || !strings.Contains(got.Err.Error(), before.wrong)) {
					t.Errorf("error %v", got.Err)
				}
				for name, left := range surroundings.parts {
					if len(left) > 0 {
						t.Errorf("%d bytes of %s stay", len(left), name)
					}
				}
			})
		})
	}
}

// TestSlowResultsHoldUpOnlyTheirOwn has a partner and a user with many results that do not
// come; those of other users at other partners do, and the slow ones are given up when nothing
// has come for a while.
func TestSlowResultsHoldUpOnlyTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := []byte("here I am\n")
		slow := described(protocol.Stderr, data) // fetches of stderr hang
		quick := described(protocol.Stdout, data)
		var ops []event.Op
		for i := range 100 {
			ops = append(ops, collecting(i+1, "slow", fmt.Sprint("user", i), slow))
		}
		for i := range 100 {
			ops = append(ops, collecting(101+i, "there", "ann", slow))
		}
		ops = append(ops, collecting(201, "other", "bob", quick), collecting(202, "there", "bob", quick))
		core := caller(ops...)
		var hanging atomic.Int64
		release := make(chan struct{})
		r := startWith(t, core, func(o *outside) {
			o.fetch = func(stream protocol.Stream, _ int64, _ int) ([]byte, error) {
				if stream == protocol.Stderr {
					hanging.Add(1)
					<-release
				}
				return data, nil
			}
		})
		synctest.Wait()
		got := answers(core)
		if len(got) != 2 || got[0].ID != 201 || got[1].ID != 202 || got[0].Err != nil || got[1].Err != nil {
			t.Errorf("while others are slow: %d answers", len(got))
		}
		if hanging.Load() != 12 {
			t.Errorf("%d slow ones are under way, want 8 of the partner and 4 of the user", hanging.Load())
		}
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		got = answers(core)
		if len(got) < 14 || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "no progress") {
			t.Errorf("after the time-out: %d answers, the first %v", len(got), got[0].Err)
		}
		close(release)
		_ = r.end()
	})
}

// TestSlowButSteadyResultIsNotGivenUp takes far longer than the time that may pass without
// progress.
func TestSlowButSteadyResultIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := bytes.Repeat([]byte("0123456789abcdef"), node.MaxChunk/16*30)
		core := caller(collecting(1, "slow", "ann", described(protocol.Stdout, data)))
		r := startWith(t, core, func(o *outside) {
			o.fetch = func(_ protocol.Stream, offset int64, size int) ([]byte, error) {
				time.Sleep(time.Minute)
				return data[offset : offset+int64(size)], nil
			}
		})
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := answers(core); len(got) != 1 || got[0].Err != nil {
			t.Errorf("%+v", got)
		}
		_ = r.end()
	})
}

// TestWindowGrowsFourfold brings a file over a long way: 8, 32 and 128 chunks in three round trips.
func TestWindowGrowsFourfold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const way = 100 * time.Millisecond
		data := bytes.Repeat([]byte("0123456789abcdef"), node.MaxChunk/16*(8+32+128))
		core := caller(collecting(1, "far", "ann", described(protocol.Stdout, data)))
		begun := time.Now()
		r := startWith(t, core, func(o *outside) {
			o.fetch = func(_ protocol.Stream, offset int64, size int) ([]byte, error) {
				time.Sleep(way)
				return data[offset : offset+int64(size)], nil
			}
		})
		for len(answers(core)) == 0 && time.Since(begun) < time.Minute {
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		if took := time.Since(begun); took < 3*way || took >= 4*way {
			t.Errorf("it took %v, want three times %v", took, way)
		}
		if got := answers(core); len(got) != 1 || got[0].Err != nil {
			t.Errorf("%+v", got)
		}
		_ = r.end()
	})
}

// TestResultsWaitForSpace fetches nothing while the disk is nearly full.
func TestResultsWaitForSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := caller(collecting(1, "there", "ann", described(protocol.Stdout, []byte("text"))))
		r := startWith(t, core, func(o *outside) {
			o.fetch = func(protocol.Stream, int64, int) ([]byte, error) {
				t.Error("fetched")
				return nil, errors.New("no")
			}
		}, func(cfg *node.Config) { cfg.Space = func() (uint64, error) { return 1 << 20, nil } })
		synctest.Wait()
		if got := answers(core); len(got) != 1 || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "1 MiB left") {
			t.Errorf("%+v", got)
		}
		_ = r.end()
	})
}
