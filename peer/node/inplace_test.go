package node_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestInPlaceIsChecked: a guest runs in its own directory only if its origin finds there what was just written here.
func TestInPlaceIsChecked(t *testing.T) {
	t.Parallel()
	const x, logs = "/home/ann/x/.switchyard-shared-7.2.0", "/home/ann/logs/.switchyard-shared-7.2.1"
	op := event.StageInOp{Tag: protocol.Tag{Job: 7, Epoch: 2}, From: "there", Account: "guest1", Dirs: []string{"/home/ann/x", "/home/ann/logs"}}
	for name, tt := range map[string]struct {
		mark    map[string]error // by directory
		there   func(marks []byte) ([]byte, error)
		refused string // with this; empty: it is not
		failed  bool   // for now
	}{
		"shared":           {there: func(marks []byte) ([]byte, error) { return marks, nil }},
		"no right":         {mark: map[string]error{x: forbidden{}}, refused: "its account cannot write in /home/ann/x here: the folder is not the user's"},
		"no right of logs": {mark: map[string]error{logs: forbidden{}}, refused: "its account cannot write in /home/ann/logs here: the folder is not the user's"},
		"full disk":        {mark: map[string]error{logs: errors.New("no space left")}, failed: true},
		"another one":      {there: func(marks []byte) ([]byte, error) { return bytes.Repeat([]byte("0"), len(marks)), nil }, refused: "/home/ann/x is not the same directory"},
		"logs elsewhere": {there: func(marks []byte) ([]byte, error) {
			return slices.Concat(marks[:node.MarkSize], marks[:node.MarkSize]), nil
		}, refused: "/home/ann/logs is not the same directory"},
		"not there":     {there: func([]byte) ([]byte, error) { return nil, &protocol.StageInError{Reason: "nothing there"} }, refused: "nothing there"},
		"an older mark": {there: func([]byte) ([]byte, error) { return nil, nil }, refused: "not the same directory"},
		"cut":           {there: func([]byte) ([]byte, error) { return nil, errors.New("no session") }, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var written []byte
				left := map[string]bool{}
				core := caller(op)
				r := startWith(t, core, func(o *outside) {
					o.mark = func(path string, content []byte) error {
						written = append(written, content...)
						left[path] = tt.mark[path] == nil
						return tt.mark[path]
					}
					o.unmark = func(path string) { left[path] = false }
					o.fetch = func(stream protocol.Stream, offset int64, size int) ([]byte, error) {
						if stream != protocol.StageInArchive || offset != 0 || size != len(written) {
							t.Errorf("asked for is %v at %d of %d", stream, offset, size)
						}
						return tt.there(written)
					}
				})
				synctest.Wait()
				_ = r.end()
				all := answers(core)
				if len(all) != 1 {
					t.Fatalf("%d answers", len(all))
				}
				done := all[0]
				got, _ := done.Result.(event.StageInResult)
				if (done.Err != nil) != tt.failed || got.Failed != "" || !strings.Contains(got.Refused, tt.refused) || (tt.refused == "") != (got.Refused == "") {
					t.Errorf("%+v", done)
				}
				if left[x] || left[logs] {
					t.Errorf("marks are left: %v", left)
				}
				if noted := strings.Join(r.out.noted(), "; "); !strings.Contains(noted, "mark "+x+" as guest1") {
					t.Errorf("%s", noted)
				}
			})
		})
	}
}

// TestMarkIsServed: what a site asks of the files of a job that is to run in place there is what stands in the job's directories.
func TestMarkIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
			if ask, ok := ev.(event.AskOutput); ok {
				return event.Ready{Answers: []event.Answer{{Asked: ask.Asked, Reply: view.Done{}}}}
			}
			return event.Ready{}
		}}
		const x, logs = "/home/ann/x/.switchyard-shared-7.2.0", "/home/ann/logs/.switchyard-shared-7.2.1"
		marks := map[string]string{x: strings.Repeat("x", node.MarkSize), logs: strings.Repeat("l", node.MarkSize)}
		both := marks[x] + marks[logs]
		var missing error
		r := startWith(t, core, func(o *outside) {
			o.packed = []byte("an archive for another site")
			o.marked = func(path string) ([]byte, error) { return []byte(marks[path]), missing }
		})
		r.store.put(row.JobTable, row.JobKey(7), row.Job{
			Spec:    protocol.Spec{Request: protocol.Request{Job: 7, CPUs: 1}, User: "ann", InPlace: true},
			WorkDir: "/home/ann/x", Stdout: "/home/ann/logs/out", Stderr: "/home/ann/logs/err", Phase: row.JobHandedOff, Site: "there", Epoch: 2, State: protocol.Pending,
		})
		ask := func() (string, error) {
			data, err := r.Fetch(t.Context(), "there", protocol.Tag{Job: 7, Epoch: 2}, protocol.StageInArchive, 0, 2*node.MarkSize)
			return string(data), err
		}
		if got, err := ask(); err != nil || got != both || !strings.Contains(strings.Join(r.out.noted(), "; "), "read "+logs+" as ann") {
			t.Errorf("%q, %v, %q", got, err, r.out.noted())
		}
		delete(marks, logs)
		if got, err := ask(); !errors.Is(err, protocol.ErrOutputGone) || !strings.Contains(err.Error(), "/home/ann/logs is not the same directory") {
			t.Errorf("%q, %v", got, err)
		}
		missing = forbidden{}
		if got, err := ask(); !errors.Is(err, protocol.ErrOutputGone) || !strings.Contains(err.Error(), "/home/ann/x is not the same directory") {
			t.Errorf("%q, %v", got, err)
		}
		missing = errors.New("the file server does not answer")
		if got, err := ask(); err == nil || errors.Is(err, protocol.ErrOutputGone) {
			t.Errorf("%q, %v", got, err)
		}
		_ = r.end()
	})
}
