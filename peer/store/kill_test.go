package store_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/store"
)

// The environment variables that make the test binary the victim of TestKill: where the
// store is, and over which size it is compacted, which also makes it grow and shrink.
const (
	childPath    = "STORE_TEST_CHILD_PATH"
	childCompact = "STORE_TEST_CHILD_COMPACT"
)

const (
	callers   = 8
	callerGap = 1_000_000_000 // between the ids of two callers
)

// commitForever prints each id after its row is committed.
func commitForever(path string) {
	compactOver, _ := strconv.ParseInt(os.Getenv(childCompact), 10, 64)
	s, err := store.Open(path, store.Options{CompactOver: compactOver})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var all sync.WaitGroup
	if compactOver > 0 {
		all.Go(func() { growAndShrink(s, int(2*compactOver)) })
	}
	for caller := range callers {
		all.Go(func() {
			for id := caller*callerGap + os.Getpid()*1000; ; id++ {
				row := store.Put{Table: "job", Key: strconv.Itoa(id), Value: fmt.Append(nil, "value of ", id)}
				twin := store.Put{Table: "outbox", Key: row.Key, Value: row.Value}
				if err := s.Commit(context.Background(), []store.Put{row, twin}); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Println(id) // one write(2), so that lines do not mix
			}
		})
	}
	all.Wait()
}

// growAndShrink writes and deletes size bytes again and again, so that the file is
// compacted again and again.
func growAndShrink(s *store.Store, size int) {
	ballast := store.Put{Table: "ballast", Key: "1", Value: make([]byte, size)}
	for {
		for _, put := range []store.Put{ballast, {Table: ballast.Table, Key: ballast.Key}} {
			if err := s.Commit(context.Background(), []store.Put{put}); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
}

// TestKill ends a writing process with SIGKILL at random moments and expects
// every acknowledged row, and no half request, in what it leaves.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	random := rand.New(rand.NewPCG(7, 7))
	acknowledged := map[string]bool{}
	for round := range 5 {
		before := len(acknowledged)
		killAfter(t, path, 1+random.IntN(3000), acknowledged)
		verifyRows(t, path, acknowledged)
		t.Logf("round %d: %d rows acknowledged, none lost", round, len(acknowledged)-before)
	}
}

// TestKillWhileCompacting does so while the file is replaced all the time.
func TestKillWhileCompacting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	random := rand.New(rand.NewPCG(8, 8))
	acknowledged := map[string]bool{}
	caught := 0
	for range 12 {
		killAfter(t, path, 1+random.IntN(60), acknowledged, childCompact+"=1000000")
		if _, err := os.Stat(path + ".compact"); err == nil {
			caught++
		}
		verifyRows(t, path, acknowledged)
	}
	t.Logf("%d of 12 kills in the middle of a copy; %d rows acknowledged, none lost", caught, len(acknowledged))
}

// killAfter runs a child, kills it once it has acknowledged n rows, and notes
// all that it has acknowledged.
func killAfter(t *testing.T, path string, n int, acknowledged map[string]bool, environment ...string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(append(os.Environ(), childPath+"="+path), environment...)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for seen := 0; lines.Scan(); seen++ {
		acknowledged[lines.Text()] = true
		if seen == n {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || child.ProcessState.Exited() {
		t.Fatalf("the child was to be killed, but: %v", err)
	}
}

func verifyRows(t *testing.T, path string, acknowledged map[string]bool) {
	t.Helper()
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for row, err := range s.Load("job") {
		if err != nil {
			t.Fatal(err)
		}
		if string(row.Value) != "value of "+row.Key {
			t.Errorf("row %s holds %q", row.Key, row.Value)
		}
		found[row.Key] = true
	}
	for id := range acknowledged {
		if !found[id] {
			t.Errorf("row %s was acknowledged and is lost", id)
		}
	}
	for row := range s.Load("outbox") {
		if !found[row.Key] {
			t.Errorf("row %s is only half there", row.Key)
		}
		delete(found, row.Key)
	}
	if len(found) > 0 {
		t.Errorf("%d requests are only half there", len(found))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
