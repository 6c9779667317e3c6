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
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
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

func (d *onDisk) Unpack(ctx context.Context, _, dir string, _ int, files *protocol.Staging, r io.Reader) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	_, err = staging.Unpack(ctx, d.cut(r), staging.Into{Root: root, Patterns: files.Out})
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
			err = way.Unpack(t.Context(), "", work, protocol.DefaultUmask, new(protocol.Staging), io.NewSectionReader(part, 0, part.Size()))
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

// TestInputsAreServed: the archive of a job's files is made when a partner first asks for it, once, its pieces are
// counted for who looks at the job, and it goes when the job runs. Files that have changed end the asking.
func TestInputsAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const id = protocol.JobID(7)
		tag := protocol.Tag{Job: id, Epoch: 1}
		core := &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
			switch ev := ev.(type) {
			case event.AskOutput:
				if !ev.Inputs || ev.From != "there" || ev.Tag != tag {
					t.Errorf("asked is %+v", ev)
				}
				return event.Ready{Answers: []event.Answer{{Asked: ev.Asked, Reply: view.Done{}}}}
			case event.AskJob:
				return event.Ready{Answers: []event.Answer{{Asked: ev.Asked, Reply: view.Job{ID: id, State: protocol.Pending, StageIn: 10}}}}
			case event.Submit: // stands for whatever lets the job run
				running := row.Job{Spec: protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1}, StageIn: 10}, Phase: row.JobHandedOff, Site: "there", Epoch: 1, State: protocol.Running}
				return event.Ready{
					Records: []row.Record{{Table: row.JobTable, Key: row.JobKey(id), Row: running}},
					Answers: []event.Answer{{Asked: ev.Asked, Reply: view.Submitted{}}},
				}
			default:
				return event.Ready{}
			}
		}}
		var failed error
		free := uint64(64<<20 + 9)
		r := startWith(t, core, func(o *outside) {
			o.pack = func(files *protocol.Staging) error {
				if files.Bytes != 10 || len(files.Inputs) != 1 {
					t.Errorf("packed are %+v", files)
				}
				if failed == nil {
					o.mu.Lock()
					o.packed = []byte("0123456789")
					o.mu.Unlock()
				}
				return failed
			}
		}, func(cfg *node.Config) { cfg.Space = func() (uint64, error) { return free, nil } })
		files := &protocol.Staging{Bytes: 10, SHA256: [32]byte{1}, Inputs: []protocol.StagedFile{{Name: "a"}}}
		r.store.put(row.JobTable, row.JobKey(id), row.Job{
			Spec: protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1}, User: "ann", StageIn: 10}, Phase: row.JobHandedOff, Site: "there", Epoch: 1, State: protocol.Pending,
		})
		r.store.put(row.PayloadTable, row.JobKey(id), row.Payload{Payload: &protocol.Payload{WorkDir: "/home/ann", Staging: files}})

		_, err := r.Fetch(t.Context(), "there", tag, protocol.StageInArchive, 0, 4)
		if err == nil || !strings.Contains(err.Error(), "64 MiB left for 1 MB of a job's files") {
			t.Errorf("of files for which there is no room: %v", err)
		}
		free++
		failed = forbidden{}
		_, err = r.Fetch(t.Context(), "there", tag, protocol.StageInArchive, 0, 4)
		if gone, ok := errors.AsType[*protocol.StageInError](err); !ok || gone.Reason != failed.Error() {
			t.Errorf("of files that have changed: %v", err)
		}
		failed = nil
		for _, at := range []int64{4, 0, 4} {
			var data []byte
			data, err = r.Fetch(t.Context(), "there", tag, protocol.StageInArchive, at, 4)
			if want := "0123456789"[at : at+4]; err != nil || string(data) != want {
				t.Errorf("at %d: %q, %v", at, data, err)
			}
		}
		shown, err := r.Job(t.Context(), id)
		if err != nil || shown.Transfer == nil || *shown.Transfer != (view.Transfer{File: "stage-in", Bytes: 8, Of: 10}) {
			t.Errorf("%+v, %v", shown.Transfer, err)
		}
		if _, err = r.Ask(t.Context(), func(asked event.AskID) event.Event { return event.Submit{Asked: asked} }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if shown, err = r.Job(t.Context(), id); err != nil || shown.Transfer != nil {
			t.Errorf("of a job that runs: %+v, %v", shown.Transfer, err)
		}
		noted := r.out.noted()
		packs := slices.DeleteFunc(slices.Clone(noted), func(what string) bool { return what != fmt.Sprintf("pack %v", id) })
		if len(packs) != 2 || !slices.Contains(noted, fmt.Sprintf("drop packed %v", id)) {
			t.Errorf("%q", noted)
		}
		_ = r.end()
	})
}

// TestPackingIsBounded: no partner has many archives made at once, and what is made for a job that has ended meanwhile
// goes again.
func TestPackingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
			if ask, ok := ev.(event.AskOutput); ok {
				return event.Ready{Answers: []event.Answer{{Asked: ask.Asked, Reply: view.Done{}}}}
			}
			return event.Ready{}
		}}
		goOn := make(chan struct{})
		r := startWith(t, core, func(o *outside) {
			o.pack = func(*protocol.Staging) error {
				<-goOn
				return nil
			}
		})
		running := func(job protocol.JobID, state protocol.State) row.Job {
			return row.Job{
				Spec:  protocol.Spec{Request: protocol.Request{Job: job, CPUs: 1}, User: "ann", StageIn: 10},
				Phase: row.JobHandedOff, Site: "there", Epoch: 1, State: state,
			}
		}
		for job := range protocol.JobID(10) {
			r.store.put(row.JobTable, row.JobKey(job), running(job, protocol.Pending))
			r.store.put(row.PayloadTable, row.JobKey(job), row.Payload{Payload: &protocol.Payload{WorkDir: "/home/ann", Staging: &protocol.Staging{Bytes: 10}}})
		}
		for job := range protocol.JobID(10) {
			site := protocol.SiteName([]string{"there", "elsewhere"}[job/5])
			if _, err := r.Fetch(t.Context(), site, protocol.Tag{Job: job, Epoch: 1}, protocol.StageInArchive, 0, 4); err == nil {
				t.Errorf("job %v is served", job)
			}
		}
		var want []string
		for _, job := range []protocol.JobID{0, 1, 5, 6} {
			want = append(want, fmt.Sprintf("pack %v", job))
		}
		if packed := r.out.noted(); !slices.Equal(slices.Sorted(slices.Values(packed)), want) {
			t.Errorf("at once are done %q, want %q", packed, want)
		}
		r.store.put(row.JobTable, row.JobKey(0), running(0, protocol.Running))
		close(goOn)
		synctest.Wait()
		dropped := slices.DeleteFunc(slices.Clone(r.out.noted()), func(what string) bool { return !strings.HasPrefix(what, "drop packed") })
		if !slices.Equal(dropped, []string{fmt.Sprintf("drop packed %v", protocol.JobID(0))}) {
			t.Errorf("%q", dropped)
		}
		_ = r.end()
	})
}

// TestPackingIsBoundedForEachUser: what is packed of one user's files at once stays below [staging] max_user_bytes, also after a
// reload has changed it. Archives that partners have got, or no longer ask for, make room and are made again where they are asked for;
// other users, and files that are too many alone, do not wait.
func TestPackingIsBoundedForEachUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
			switch ev := ev.(type) {
			case event.AskOutput:
				return event.Ready{Answers: []event.Answer{{Asked: ev.Asked, Reply: view.Done{}}}}
			case event.Reconfigure:
				return event.Ready{Answers: []event.Answer{{Asked: ev.Asked, Reply: view.Done{}}}}
			default:
				return event.Ready{}
			}
		}}
		r := startWith(t, core, func(o *outside) { o.packs = map[protocol.JobID][]byte{} }, func(cfg *node.Config) { cfg.Peer.MaxUserStaging = 25 })
		sizes := map[protocol.JobID]int64{1: 10, 2: 10, 3: 10, 4: 30, 5: 10}
		for job, size := range sizes {
			user := "ann"
			if job == 5 {
				user = "bob"
			}
			r.store.put(row.JobTable, row.JobKey(job), row.Job{
				Spec:  protocol.Spec{Request: protocol.Request{Job: job, CPUs: 1}, User: user, StageIn: size},
				Phase: row.JobHandedOff, Site: "there", Epoch: 1, State: protocol.Pending,
			})
			r.store.put(row.PayloadTable, row.JobKey(job), row.Payload{Payload: &protocol.Payload{WorkDir: "/home/" + user, Staging: &protocol.Staging{Bytes: size}}})
		}
		fetch := func(job protocol.JobID, size int) error {
			data, err := r.Fetch(t.Context(), "there", protocol.Tag{Job: job, Epoch: 1}, protocol.StageInArchive, 0, size)
			if err == nil && len(data) != size {
				t.Errorf("of job %v come %d bytes, want %d", job, len(data), size)
			}
			return err
		}
		served := func(job protocol.JobID, size int) {
			t.Helper()
			if err := fetch(job, size); err != nil {
				t.Errorf("job %v: %v", job, err)
			}
		}
		waits := func(job protocol.JobID) {
			t.Helper()
			if err := fetch(job, 4); err == nil || !strings.Contains(err.Error(), "[staging] max_user_bytes") {
				t.Errorf("job %v, beside too many: %v", job, err)
			}
		}
		served(1, 10) // all of it
		served(2, 4)
		waits(3)
		served(5, 4) // of another user
		time.Sleep(11 * time.Second)
		served(3, 4) // for which the first makes room
		waits(1)
		if err := r.Reconfigure(t.Context(), rules.RuntimeConfig{MaxUserStaging: 30}, nil); err != nil {
			t.Fatal(err)
		}
		served(1, 4)
		waits(4)
		time.Sleep(3 * time.Minute) // nobody asks any more
		served(4, 30)               // alone
		var got []string
		for _, what := range r.out.noted() {
			if strings.Contains(what, "pack") {
				got = append(got, strings.ReplaceAll(what, "000000000000", ""))
			}
		}
		want := []string{"pack 1", "pack 2", "pack 5", "drop packed 1", "pack 3", "pack 1"}
		if len(got) != len(want)+4 || !slices.Equal(got[:len(want)], want) || got[len(got)-1] != "pack 4" {
			t.Errorf("%q", got)
		}
		_ = r.end()
	})
}
