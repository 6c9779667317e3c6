package store

import (
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// small is the content of a store with some rows in a tree of pages.
func small(tb testing.TB) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "peer.db")
	s, err := Open(path, Options{AllowNetworkFS: true})
	if err != nil {
		tb.Fatal(err)
	}
	for i := range 60 {
		s.Enqueue([]Put{{Table: "job", Key: strconv.Itoa(i), Value: make([]byte, 100)}, {Table: "one", Key: "1", Value: []byte{}}}, nil)
	}
	if err = s.Close(); err != nil {
		tb.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// FuzzWalk changes a store at any place, with checksums of the meta pages that are right, and
// expects that the walk ends without a panic, and passes on no row twice.
func FuzzWalk(f *testing.F) {
	whole := small(f)
	f.Add(uint32(4096*2+10), []byte{0xff, 0xff}, uint32(0), []byte{})
	f.Add(uint32(4096+16+16), []byte{1, 0, 0, 0}, uint32(4096*3), []byte{3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 9, 0, 0xff, 0xff, 0xff, 0xff})
	f.Add(uint32(16+8), []byte{0, 2, 0, 0}, uint32(4096+16+8), []byte{0, 2, 0, 0})
	f.Fuzz(func(t *testing.T, at uint32, change []byte, secondAt uint32, second []byte) {
		data := append([]byte(nil), whole...)
		copy(data[int(at)%len(data):], change)
		copy(data[int(secondAt)%len(data):], second)
		for _, begin := range []int{pageHeader, 4096 + pageHeader} {
			sum := fnv.New64a()
			sum.Write(data[begin : begin+metaLength-8])
			binary.NativeEndian.PutUint64(data[begin+metaLength-8:], sum.Sum64())
		}
		type name struct{ table, key string }
		seen := map[name]bool{}
		_, _ = walk(data, 0, func(table string, key, _ []byte) {
			if seen[name{table, string(key)}] {
				t.Errorf("table %s, key %q: twice", table, key)
			}
			seen[name{table, string(key)}] = true
		})
	})
}

// BenchmarkWalk checks a file of 100,000 rows, as every start does.
func BenchmarkWalk(b *testing.B) {
	path := filepath.Join(b.TempDir(), "peer.db")
	s, err := Open(path, Options{AllowNetworkFS: true})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 100_000 {
		s.Enqueue([]Put{{Table: "job", Key: strconv.Itoa(1_000_000_000_000 + i), Value: make([]byte, 512)}}, nil)
	}
	if err = s.Close(); err != nil {
		b.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		found, err := walk(data, 1, func(string, []byte, []byte) {})
		if err != nil || len(found.damage) > 0 || found.found["job"].rows != 100_000 {
			b.Fatalf("%+v, %v", found, err)
		}
	}
}
