package node_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// forbidden is a delivery that repeating cannot help.
type forbidden struct{}

func (forbidden) Error() string   { return "the folder is not the user's" }
func (forbidden) Permanent() bool { return true }

func described(stream protocol.Stream, data []byte) protocol.File {
	return protocol.File{Stream: stream, Size: int64(len(data)), SHA256: sha256.Sum256(data)}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("0123456789abcdef"), node.MaxChunk/16*2+5)
	short := []byte("warning: all is well\n")
	serve := func(stream protocol.Stream, offset int64, size int) ([]byte, error) {
		data := long
		if stream == protocol.Stderr {
			data = short
		}
		if offset > int64(len(data)) {
			return nil, errors.New("beyond the end")
		}
		return data[offset:min(len(data), int(offset)+size)], nil
	}
	both := []protocol.File{described(protocol.Stdout, long), described(protocol.Stderr, short)}
	tests := map[string]struct {
		files          []protocol.File
		stdout, stderr string
		fetch          func(protocol.Stream, int64, int) ([]byte, error)
		deliver        func(path string) error
		want           map[string][]byte
		problem, kept  string
		err            string
	}{
		"two files": {
			files: both, stdout: "/u/out", stderr: "/u/err",
			want: map[string][]byte{"/u/out": long, "/u/err": short},
		},
		"both in one": {
			files: both, stdout: "/u/all", stderr: "/u/all",
			want: map[string][]byte{"/u/all": append(bytes.Clone(long), short...)},
		},
		"nothing to do": {stdout: "/u/out", stderr: "/u/err"},
		"an empty file": {files: []protocol.File{described(protocol.Stdout, nil)}, stdout: "/u/out", want: map[string][]byte{"/u/out": nil}},
		"not deliverable": {
			files: both, stdout: "/u/out", stderr: "/u/err",
			deliver: func(path string) error {
				if path == "/u/out" {
					return forbidden{}
				}
				return nil
			},
			want:    map[string][]byte{"/kept/stdout": long, "/u/err": short},
			problem: "the folder is not the user's", kept: "/kept/stdout",
		},
		"no path": {
			files: both[:1], want: map[string][]byte{"/kept/stdout": long},
			problem: "names no file", kept: "/kept/stdout",
		},
		"the disk is full now": {
			files: both, stdout: "/u/out", stderr: "/u/err",
			deliver: func(string) error { return errors.New("no space left") }, err: "no space left",
		},
		"one never, the other not now": {
			files: both, stdout: "/u/out", stderr: "/u/err",
			deliver: func(path string) error {
				if path == "/u/out" {
					return forbidden{}
				}
				return errors.New("no space left")
			},
			err: "no space left",
		},
		"the site is away": {
			files: both, stdout: "/u/out", stderr: "/u/err",
			fetch: func(protocol.Stream, int64, int) ([]byte, error) { return nil, errors.New("no session") }, err: "no session",
		},
		"the file is cut short": {
			files: both, stdout: "/u/out", stderr: "/u/err",
			fetch: func(protocol.Stream, int64, int) ([]byte, error) { return nil, nil }, err: "sent 0 of",
		},
		"more than asked for": {
			files: both, stdout: "/u/out", stderr: "/u/err",
			fetch: func(_ protocol.Stream, _ int64, size int) ([]byte, error) { return make([]byte, size+1), nil }, err: "the site sent",
		},
		"other content": {
			files: both, stdout: "/u/out", stderr: "/u/err",
			fetch: func(_ protocol.Stream, _ int64, size int) ([]byte, error) { return make([]byte, size), nil }, err: "SHA-256",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				core := caller(event.CollectOp{
					Tag: protocol.Tag{Job: 5, Epoch: 2}, From: "there", Files: test.files, User: "ann",
					Payload: &protocol.Payload{Stdout: test.stdout, Stderr: test.stderr, Shell: &protocol.Shell{Umask: 0o27}},
				})
				r := startWith(t, core, func(o *outside) {
					o.fetch, o.deliver = serve, test.deliver
					if test.fetch != nil {
						o.fetch = test.fetch
					}
				})
				synctest.Wait()
				_ = r.end()
				got := answers(core)
				if len(got) != 1 {
					t.Fatalf("%d answers", len(got))
				}
				for _, noted := range r.out.noted() {
					if strings.HasPrefix(noted, "deliver") && !strings.HasSuffix(noted, " under 027") {
						t.Error(noted)
					}
				}
				checkCollected(t, got[0], r.out.files, test.want, test.err)
				if result, ok := got[0].Result.(event.CollectResult); ok {
					if !strings.Contains(result.Problem, test.problem) || (result.Problem == "") != (test.problem == "") {
						t.Errorf("problem %q, want %q", result.Problem, test.problem)
					}
					if result.Kept() != test.kept {
						t.Errorf("kept %q, want %q", result.Kept(), test.kept)
					}
				}
			})
		})
	}
}

func checkCollected(t *testing.T, done event.CallDone, got, want map[string][]byte, wrong string) {
	t.Helper()
	if wrong != "" {
		if done.Err == nil || !strings.Contains(done.Err.Error(), wrong) {
			t.Errorf("error %v, want %q", done.Err, wrong)
		}
		if len(got) > 0 {
			t.Errorf("files were made in spite of it: %d", len(got))
		}
		return
	}
	if done.Err != nil {
		t.Fatal(done.Err)
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	for path, data := range want {
		if !bytes.Equal(got[path], data) {
			t.Errorf("%s has %d bytes, want %d", path, len(got[path]), len(data))
		}
	}
}

// stalled is a partner that sends nothing until no caller waits for it.
type stalled struct {
	partnerSide

	mu    sync.Mutex
	asked []protocol.Tag
}

func (s *stalled) Fetch(
	ctx context.Context, _ protocol.SiteName, tag protocol.Tag, _ protocol.Stream, _ int64, _ int,
) ([]byte, error) {
	s.mu.Lock()
	s.asked = append(s.asked, tag)
	s.mu.Unlock()
	<-ctx.Done()
	s.note("fetch of " + tag.String() + " ended")
	return nil, ctx.Err()
}

// A collection that is given up ends at once, while it runs and while it waits for its turn,
// and then what has come of it is removed.
func TestDiscard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const collections = 5 // one more than of a user at once
		tag := func(job int) protocol.Tag { return protocol.Tag{Job: protocol.JobID(job), Epoch: 1} }
		core := &script{}
		core.step = func(_ protocol.Instant, ev event.Event) (ready event.Ready) {
			ask, ok := ev.(event.AskJob)
			if !ok {
				return ready
			}
			if ask.Job == 0 {
				for job := 1; job <= collections; job++ {
					ready.Calls = append(ready.Calls, event.Call{ID: event.CallID(job), Op: event.CollectOp{
						Tag: tag(job), From: "there", User: "ann", Payload: &protocol.Payload{Stdout: "/u/out"},
						Files: []protocol.File{described(protocol.Stdout, []byte("output"))},
					}})
				}
			} else {
				id := int(ask.Job)
				ready.Calls = []event.Call{{ID: event.CallID(100 + id), Op: event.DiscardOp{Tag: tag(id)}}}
			}
			ready.Answers = []event.Answer{{Asked: ask.Asked, Reply: view.Done{}}}
			return ready
		}
		r := start(t, core)
		away := &stalled{partnerSide: partnerSide{r.out}}
		r.Attach(away, nil)
		for _, job := range []protocol.JobID{0, collections, 1} { // all begin, then one that waits and one that runs are given up
			ask := func(asked event.AskID) event.Event { return event.AskJob{Asked: asked, Job: job} }
			if _, err := r.Ask(t.Context(), ask); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		var got []event.CallID
		for _, done := range answers(core) {
			got = append(got, done.ID)
			if done.ID <= collections && (done.Err == nil || !strings.Contains(done.Err.Error(), "not wanted any more")) {
				t.Errorf("a collection that was given up: %+v", done)
			}
		}
		if want := []event.CallID{1, collections, 101, 100 + collections}; !slices.Equal(got, want) {
			t.Errorf("answers to %v, want %v", got, want)
		}
		want := []string{
			"discard " + tag(collections).String(), "fetch of " + tag(1).String() + " ended", "discard " + tag(1).String(),
		}
		if noted := r.out.noted(); !slices.Equal(noted, want) {
			t.Errorf("in order: %q, want %q", noted, want)
		}
		away.mu.Lock()
		if slices.Contains(away.asked, tag(collections)) {
			t.Error("what waited was fetched after it had been given up")
		}
		away.mu.Unlock()
		_ = r.end()
	})
}

// TestDiscardEndsUnpacking: a guest that is not wanted any more is not unpacked to the end.
func TestDiscardEndsUnpacking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		job := localsched.Submission{Tag: protocol.Tag{Job: 1, Epoch: 1}, Guest: true, Spec: protocol.Spec{StageIn: 10}, Payload: &protocol.Payload{}}
		plain := localsched.Submission{Tag: protocol.Tag{Job: 2, Epoch: 1}, Guest: true, Payload: &protocol.Payload{}}
		core := caller(event.SubmitOp{Job: job}, event.SubmitOp{Job: plain}, event.DiscardOp{Tag: job.Tag}, event.DiscardOp{Tag: plain.Tag})
		r := startWith(t, core, func(o *outside) {
			o.submit = func(ctx context.Context, _ localsched.Submission) (localsched.LocalID, error) {
				<-ctx.Done()
				return "", context.Cause(ctx)
			}
		})
		synctest.Wait()
		got := answers(core)
		if len(got) != 3 || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "not wanted any more") || got[0].ID == got[1].ID {
			t.Errorf("%+v", got)
		}
		_ = r.end()
	})
}

// TestFilesLeft: it is said whether the files that come back are among what could not be put where it belongs.
func TestFilesLeft(t *testing.T) {
	t.Parallel()
	archive := []byte("an archive")
	for name, files := range map[string]*protocol.Staging{"wanted": {Out: []string{"."}}, "not wanted": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				core := caller(event.CollectOp{
					Tag: protocol.Tag{Job: 5, Epoch: 2}, From: "there", User: "ann",
					Files:   []protocol.File{described(protocol.Stdout, archive), described(protocol.StageOutArchive, archive)},
					Payload: &protocol.Payload{Stdout: "/u/out", WorkDir: "/u", Staging: files},
				})
				r := startWith(t, core, func(o *outside) {
					o.deliver = func(path string) error {
						if path == "/u/out" {
							return forbidden{}
						}
						return nil
					}
					o.fetch = func(_ protocol.Stream, offset int64, size int) ([]byte, error) {
						return archive[offset : offset+int64(size)], nil
					}
				})
				synctest.Wait()
				_ = r.end()
				result, ok := answers(core)[0].Result.(event.CollectResult)
				want := []view.Undelivered{{File: "stdout", Kept: "/kept/stdout"}}
				if files == nil {
					want = append(want, view.Undelivered{File: "stage-out", Kept: "/kept/stage-out"})
				}
				if !ok || result.Problem == "" || !slices.Equal(result.Left, want) {
					t.Errorf("%+v", answers(core))
				}
			})
		})
	}
}
