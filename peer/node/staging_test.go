package node_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// onDisk keeps what is on its way in a directory, as a live peer does, and unpacks archives.
type onDisk struct {
	*outside

	dir *results.Dir
	cut func(io.Reader) io.Reader // breaks what is being unpacked
}

func (d *onDisk) Part(tag protocol.Tag, stream protocol.Stream) (node.Part, error) {
	return d.dir.Part(tag, stream)
}

func (d *onDisk) Unpack(ctx context.Context, _, dir string, patterns []string, r io.Reader) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	_, err = staging.Unpack(ctx, d.cut(r), staging.Into{Root: root, Patterns: patterns})
	return errors.Join(err, root.Close())
}

// breaking is what a partner gives of an archive, before its link breaks after some chunks; the last one may
// have a wrong byte.
func breaking(draw *rand.Rand, data []byte) func(protocol.Stream, int64, int) ([]byte, error) {
	var mu sync.Mutex
	chunks, lies := draw.IntN(6)-1, draw.IntN(4) == 0 // fewer than none: it does not break
	return func(_ protocol.Stream, offset int64, size int) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if chunks == 0 {
			return nil, errors.New("the link broke")
		}
		chunks--
		got := bytes.Clone(data[offset:min(offset+int64(size), int64(len(data)))])
		if lies && chunks == 0 {
			got[len(got)/2] ^= 1
		}
		return got, nil
	}
}

// stopping is a reader that fails after a number of bytes.
type stopping struct {
	r    io.Reader
	left int
}

func (b *stopping) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("killed")
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// tree makes files of any size in a directory, and says what is in them.
func tree(t *testing.T, draw *rand.Rand, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for i := range 2 + draw.IntN(4) {
		name := fmt.Sprintf("d%d/f%d", draw.IntN(3), i)
		content := make([]byte, draw.IntN(2*node.MaxChunk)*draw.IntN(2)+draw.IntN(600))
		for at := range content {
			content[at] = byte(draw.Uint32())
		}
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(dir, name), content, 0o600)); err != nil {
			t.Fatal(err)
		}
		files[name] = content
	}
	return files
}

// wholeFiles says which of the files below a directory are not as they are to be; done: none may be missing, and
// nothing else may be there.
func wholeFiles(dir string, want map[string][]byte, done bool) error {
	found := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if !done && strings.HasPrefix(entry.Name(), ".switchyard-") {
			return nil
		}
		got, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content, known := want[name]
		if !known || !bytes.Equal(got, content) {
			return fmt.Errorf("%s has %d bytes, want %d", name, len(got), len(content))
		}
		found++
		return nil
	})
	if err == nil && done && found != len(want) {
		err = fmt.Errorf("%d files are there, want %d", found, len(want))
	}
	return err
}

// TestStagingIsCutAnywhere interrupts the files of jobs on their way to another site, and home, 200 times: the
// link breaks, a byte is wrong, the peer is killed while it fetches, with a torn end of what it was writing, or
// while it unpacks. No file is ever there in part, and in the end each is as it was.
func TestStagingIsCutAnywhere(t *testing.T) {
	draw := rand.New(rand.NewPCG(20, 3))
	cuts, jobs := 0, 0
	for ; cuts < 200; jobs++ {
		from, work, home := t.TempDir(), t.TempDir(), t.TempDir()
		want := tree(t, draw, from)
		found, err := staging.Find(t.Context(), from, []string{"."})
		if err != nil {
			t.Fatal(err)
		}
		var archive bytes.Buffer
		if err = staging.Pack(t.Context(), &archive, from, found.Inputs); err != nil {
			t.Fatal(err)
		}
		tag := protocol.Tag{Job: protocol.JobID(jobs + 1), Epoch: 1}
		way := &onDisk{outside: &outside{}, dir: &results.Dir{Path: filepath.Join(t.TempDir(), "kept")}}
		in := protocol.File{Stream: protocol.StageInArchive, Size: found.Bytes, SHA256: found.SHA256}
		cuts += until(t, draw, way, archive.Bytes(), event.StageInOp{Tag: tag, From: "there", File: in}, func() error { return nil })

		// The batch system unpacks it, and is killed meanwhile.
		for done := false; !done; {
			var part *results.Part
			if part, err = way.dir.Part(tag, protocol.StageInArchive); err != nil {
				t.Fatal(err)
			}
			way.cut = cutter(draw, archive.Len())
			err = way.Unpack(t.Context(), "", work, nil, io.NewSectionReader(part, 0, part.Size()))
			if done = err == nil; !done {
				cuts++
			}
			if err = errors.Join(wholeFiles(work, want, done), part.Close()); err != nil {
				t.Fatal(err)
			}
		}

		out := protocol.File{Stream: protocol.StageOutArchive, Size: int64(archive.Len()), SHA256: sha256.Sum256(archive.Bytes())}
		cuts += until(t, draw, way, archive.Bytes(), event.CollectOp{
			Tag: tag, From: "there", Files: []protocol.File{out}, User: "ann",
			Payload: &protocol.Payload{WorkDir: home, Staging: &protocol.Staging{Out: []string{"."}}},
		}, func() error { return wholeFiles(home, want, false) })
		if err = errors.Join(wholeFiles(work, want, true), wholeFiles(home, want, true)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d cuts of the files of %d jobs", cuts, jobs)
}

// cutter breaks what is read of an archive at any place, or not.
func cutter(draw *rand.Rand, size int) func(io.Reader) io.Reader {
	left := draw.IntN(2 * size)
	return func(r io.Reader) io.Reader { return &stopping{r, left} }
}

// until has peers carry out a call, each killed in another way, until one has done it, and says how many it
// took.
func until(t *testing.T, draw *rand.Rand, way *onDisk, data []byte, op event.Op, check func() error) (cuts int) {
	t.Helper()
	for ; ; cuts++ {
		if cuts > 1000 {
			t.Fatal("it never comes to its end")
		}
		way.cut = cutter(draw, len(data))
		way.fetch = breaking(draw, data)
		done := false
		synctest.Test(t, func(t *testing.T) {
			core := caller(op)
			r := startAround(t, core, way.outside, func(cfg *node.Config) { cfg.Deliverer = way })
			synctest.Wait()
			got := answers(core)
			done = len(got) == 1 && got[0].Err == nil
			_ = r.end()
			if stage, ok := op.(event.StageInOp); ok && done && got[0].Result != (event.StageInResult{}) {
				t.Errorf("%v: %+v", stage.Tag, got[0].Result)
			}
		})
		if err := check(); err != nil {
			t.Fatal(err)
		}
		if done {
			return cuts
		}
		tear(t, draw, way)
	}
}

// tear makes the end of a file that was being written another one: what a kill of the machine may leave.
func tear(t *testing.T, draw *rand.Rand, way *onDisk) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(way.dir.Path, "*.part"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		info, err := os.Stat(part)
		if err != nil {
			t.Fatal(err)
		}
		size := info.Size()
		switch draw.IntN(4) {
		case 0:
			err = os.Truncate(part, size-draw.Int64N(min(size, 5000)+1))
		case 1:
			err = os.Truncate(part, size+draw.Int64N(5000)) // zeros that were never written
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
