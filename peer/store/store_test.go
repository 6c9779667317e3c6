package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/store"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		commitForever(path)
	}
	goleak.VerifyTestMain(m)
}

// open opens a store that is closed at the end of the test.
func open(t testing.TB, path string) *store.Store {
	t.Helper()
	return openWith(t, path, store.Options{})
}

func openWith(t testing.TB, path string, options store.Options) *store.Store {
	t.Helper()
	options.AllowNetworkFS = true
	s, err := store.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func fresh(t testing.TB) *store.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "peer.db"))
}

func commit(t testing.TB, s *store.Store, puts ...store.Put) {
	t.Helper()
	if err := s.Commit(t.Context(), puts); err != nil {
		t.Fatal(err)
	}
}

// rows reads a whole table.
func rows(t testing.TB, s *store.Store, table string) []store.Row {
	t.Helper()
	var all []store.Row
	for row, err := range s.Load(table) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

func keys(rows []store.Row) string {
	var names []string
	for _, row := range rows {
		names = append(names, row.Key)
	}
	return strings.Join(names, " ")
}

func put(key, value string) store.Put {
	return store.Put{Table: "job", Key: key, Value: []byte(value)}
}

func TestRowsSurviveReopening(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	s := open(t, path)
	commit(t, s, put("2", "b"), put("1", "a"), put("3", ""), put("4", "gone"))
	commit(t, s, store.Put{Table: "job", Key: "4"}, store.Put{Table: "none", Key: "x"}, put("2", "B"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	again := open(t, path)
	got := rows(t, again, "job")
	if keys(got) != "1 2 3" || string(got[1].Value) != "B" || got[2].Value == nil {
		t.Errorf("after reopening: %q", got)
	}
	if value, found, err := again.Get("job", "2"); err != nil || !found || string(value) != "B" {
		t.Errorf("Get(2) = %q, %t, %v", value, found, err)
	}
	for _, table := range []string{"job", "nowhere", "switchyard"} {
		for _, key := range []string{"4", "format"} {
			if _, found, err := again.Get(table, key); err != nil || found {
				t.Errorf("Get(%s, %s) = %t, %v; want no row", table, key, found, err)
			}
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	commit(t, s, put("b", ""), put("d", ""), put("f", ""), put("h", ""))
	for _, c := range []struct {
		from    string
		reverse bool
		limit   int
		want    string
	}{
		{"", false, 10, "b d f h"},
		{"", false, 2, "b d"},
		{"d", false, 2, "d f"},
		{"e", false, 2, "f h"},
		{"i", false, 2, ""},
		{"", false, 0, ""},
		{"", true, 3, "h f d"},
		{"z", true, 2, "h f"},
		{"f", true, 10, "f d b"},
		{"e", true, 10, "d b"},
		{"a", true, 10, ""},
	} {
		got, err := s.Scan("job", c.from, c.reverse, c.limit)
		if err != nil || keys(got) != c.want {
			t.Errorf("Scan(%q, %t, %d) = %q, %v; want %q", c.from, c.reverse, c.limit, keys(got), err, c.want)
		}
	}
	if got, err := s.Scan("nowhere", "", false, 1); err != nil || len(got) != 0 {
		t.Errorf("Scan of no table = %v, %v", got, err)
	}
}

// TestTally: a row can have the tally of another table, as it is after the transaction and at all later times until that
// changes, whichever way its rows came to be.
func TestTally(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	of := store.Put{Table: "of", Key: "job", Tally: "job"}
	is := func(why string, want bool) {
		t.Helper()
		stored, found, err := s.Get("of", "job")
		now, tallyErr := s.Tally("job")
		if err != nil || tallyErr != nil || !found || bytes.Equal(stored, now) != want {
			t.Errorf("%s: %x (%t) is stored, it is %x, %v, %v", why, stored, found, now, err, tallyErr)
		}
	}
	commit(t, s, of)
	is("of no table", true)
	commit(t, s, put("b", "1"), of, put("c", "1"))
	is("before the last of its rows", true)
	empty, _ := s.Tally("nowhere")
	if now, _ := s.Tally("job"); bytes.Equal(now, empty) {
		t.Error("two rows have the tally of none")
	}
	commit(t, s, put("b", "2"))
	is("after a row changed", false)
	commit(t, s, put("b", "1"))
	is("after it changed back", true)
	commit(t, s, store.Put{Table: "job", Key: "b"}, put("d", "1"))
	is("as many rows, but others", false)
	commit(t, s, of)
	is("again", true)
	if err := s.Commit(t.Context(), []store.Put{{Table: "job", Key: "x", Tally: "job"}}); !errors.Is(err, store.ErrPut) {
		t.Errorf("a tally of its own table: %v", err)
	}
}

func TestCommitInsideLoad(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	const n = 3000 // several pages
	var puts []store.Put
	for i := range n {
		puts = append(puts, put(fmt.Sprintf("%05d", i), "old"))
	}
	commit(t, s, puts...)
	seen := 0
	for row, err := range s.Load("job") {
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%05d", seen); row.Key != want {
			t.Fatalf("row %d has key %s", seen, row.Key)
		}
		if seen%500 == 0 { // grows the file beyond its map, which waits for readers
			commit(t, s, store.Put{Table: "big", Key: row.Key, Value: make([]byte, 1<<20)})
		}
		seen++
	}
	if seen != n {
		t.Errorf("saw %d rows of %d", seen, n)
	}
	for range s.Load("job") {
		break // an early end must not hold a transaction
	}
}

func TestBadRowsFailAlone(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for name, bad := range map[string]store.Put{
		"no table":   {Key: "k"},
		"long table": {Table: strings.Repeat("t", store.MaxTable+1), Key: "k"},
		"own table":  {Table: "switchyard", Key: "format"},
		"no key":     {Table: "job"},
		"long key":   {Table: "job", Key: strings.Repeat("k", store.MaxKey+1)},
		"long value": {Table: "job", Key: "k", Value: make([]byte, store.MaxValue+1)},
	} {
		var order []string
		var done sync.WaitGroup
		done.Add(3)
		note := func(who string) func(error) {
			return func(err error) {
				order = append(order, fmt.Sprint(who, errors.Is(err, store.ErrPut)))
				done.Done()
			}
		}
		s.Enqueue([]store.Put{put("1 "+name, "")}, note("before "))
		s.Enqueue([]store.Put{put("2 "+name, ""), bad}, note("bad "))
		s.Enqueue([]store.Put{put("3 "+name, "")}, note("after "))
		done.Wait()
		if want := []string{"before false", "bad true", "after false"}; !slices.Equal(order, want) {
			t.Errorf("%s: %q", name, order)
		}
		if got, err := s.Scan("job", "2 "+name, false, 1); err != nil || keys(got) == "2 "+name {
			t.Errorf("%s: a row of the refused request was written", name)
		}
	}
}

func TestOrderAndGroups(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	const n = 2000
	var order []int // written by the writer goroutine only
	finished := make(chan struct{})
	for i := range n {
		s.Enqueue([]store.Put{put("last", strconv.Itoa(i))}, func(err error) {
			if err != nil {
				t.Error(err)
			}
			if order = append(order, i); len(order) == n {
				close(finished)
			}
		})
	}
	<-finished
	if !slices.IsSorted(order) {
		t.Error("answers out of order")
	}
	if value, _, err := s.Get("job", "last"); err != nil || string(value) != strconv.Itoa(n-1) {
		t.Errorf("the last write gave %q, %v", value, err)
	}
	stats := s.Stats()
	if stats.Requests != n || stats.Rows != n || stats.Queued != 0 || stats.FileBytes == 0 || stats.LastCommit <= 0 {
		t.Errorf("stats: %+v", stats)
	}
	var counted uint64
	for _, transactions := range stats.BatchSizes {
		counted += transactions
	}
	if counted != stats.Commits || stats.Commits < n/512 || stats.Commits > n/2 {
		t.Errorf("%d requests in %d transactions, %d by size", n, stats.Commits, counted)
	}
}

func TestLargeRequestsShareNoTransaction(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	hold, held := make(chan struct{}), make(chan struct{})
	s.Enqueue([]store.Put{put("first", "")}, func(error) { close(held); <-hold })
	<-held
	var done sync.WaitGroup
	for i := range 3 {
		done.Add(1)
		s.Enqueue([]store.Put{{Table: "big", Key: strconv.Itoa(i), Value: make([]byte, 3<<20)}}, func(error) { done.Done() })
	}
	close(hold)
	done.Wait()
	if stats := s.Stats(); stats.Commits != 4 || stats.LastBatch != 1 {
		t.Errorf("three requests of 3 MiB and one small: %+v", stats)
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Commit(ended, []store.Put{put("never", "")}); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit with an ended context: %v", err)
	}

	hold, held := make(chan struct{}), make(chan struct{})
	s.Enqueue(nil, func(error) { close(held); <-hold })
	<-held
	waiting, cancelWaiting := context.WithCancel(t.Context())
	answer := make(chan error)
	go func() { answer <- s.Commit(waiting, []store.Put{put("withdrawn", "")}) }()
	for s.Stats().Queued == 0 {
		runtime.Gosched() // until the request is in line
	}
	cancelWaiting()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("Commit whose context ends in line: %v", err)
	}
	close(hold)
	commit(t, s, put("kept", ""))
	if got := keys(rows(t, s, "job")); got != "kept" {
		t.Errorf("rows %q, want only kept", got)
	}
}

func TestClosedStore(t *testing.T) {
	t.Parallel()
	s, err := store.Open(filepath.Join(t.TempDir(), "peer.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := errors.New("not called")
	for i := range 100 {
		s.Enqueue([]store.Put{put(strconv.Itoa(i), "")}, func(err error) { last = err })
	}
	if err := s.Close(); err != nil || last != nil {
		t.Errorf("Close: %v; the last request in line: %v", err, last)
	}
	s.Enqueue(nil, func(err error) { last = err })
	_, _, getErr := s.Get("job", "1")
	for _, err := range []error{last, s.Commit(t.Context(), nil), getErr} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	s.Enqueue(nil, nil)
}

// TestAgainstMap compares random requests, with reopening in between, to a map.
func TestAgainstMap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprintf("%d.db", n))
		model := map[string]string{}
		key := rapid.StringMatching(`[a-e]{1,2}`)
		var s *store.Store
		reopen := func() {
			var err error
			if s != nil {
				err = s.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			if s, err = store.Open(path, store.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		reopen()
		defer func() { _ = s.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"commit": func(t *rapid.T) {
				var puts []store.Put
				for range rapid.IntRange(0, 5).Draw(t, "rows") {
					p := put(key.Draw(t, "key"), rapid.String().Draw(t, "value"))
					model[p.Key] = string(p.Value)
					if rapid.Bool().Draw(t, "delete") {
						p.Value = nil
						delete(model, p.Key)
					}
					puts = append(puts, p)
				}
				if err := s.Commit(context.Background(), puts); err != nil {
					t.Fatal(err)
				}
			},
			"reopen": func(*rapid.T) { reopen() },
			"": func(t *rapid.T) {
				got := map[string]string{}
				for row, err := range s.Load("job") {
					if err != nil {
						t.Fatal(err)
					}
					got[row.Key] = string(row.Value)
				}
				if !maps.Equal(got, model) {
					t.Fatalf("stored %q, want %q", got, model)
				}
			},
		})
	})
}
