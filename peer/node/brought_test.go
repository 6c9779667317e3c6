package node_test

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Files that came with the result are delivered without a question. What is not what the site
// announced, or came from another one, is fetched.
func TestCollectWhatCameWithTheResult(t *testing.T) {
	t.Parallel()
	out, warning := []byte("3.1415926\n"), []byte("warning: all is well\n")
	tag := protocol.Tag{Job: 5, Epoch: 2}
	files := []protocol.File{described(protocol.Stdout, out), described(protocol.Stderr, warning), described(protocol.Stdout, nil)}
	flood := func(r *rig) {
		for job := range 1000 {
			r.Received("there", protocol.Result{
				Tag:      protocol.Tag{Job: protocol.JobID(100 + job), Epoch: 1},
				Contents: [][]byte{make([]byte, protocol.MaxContents)},
			})
		}
	}
	tests := map[string]struct {
		files     []protocol.File
		from      protocol.SiteName
		contents  [][]byte
		then      func(*rig)
		forbidden bool
		fetched   bool
	}{
		"both":              {files: files[:2], from: "there", contents: [][]byte{out, warning}},
		"an empty file":     {files: files[2:], from: "there", contents: [][]byte{nil}},
		"none":              {files: files[:2], from: "there", fetched: true},
		"of another site":   {files: files[:2], from: "elsewhere", contents: [][]byte{out, warning}, fetched: true},
		"another content":   {files: files[:2], from: "there", contents: [][]byte{out, bytes.ToUpper(warning)}, fetched: true},
		"fewer than files":  {files: files[:2], from: "there", contents: [][]byte{out}, fetched: true},
		"pushed out":        {files: files[:2], from: "there", contents: [][]byte{out, warning}, then: flood, fetched: true},
		"cannot be written": {files: files[:1], from: "there", contents: [][]byte{out}, forbidden: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				core := &script{}
				core.step = func(_ protocol.Instant, ev event.Event) (ready event.Ready) {
					if ask, ok := ev.(event.AskJob); ok {
						ready.Calls = []event.Call{{ID: 1, Op: event.CollectOp{
							Tag: tag, From: "there", Files: test.files, User: "ann",
							Payload: &protocol.Payload{Stdout: "/u/out", Stderr: "/u/err"},
						}}}
						ready.Answers = []event.Answer{{Asked: ask.Asked, Reply: view.Done{}}}
					}
					return ready
				}
				var mu sync.Mutex
				fetches := 0
				r := startWith(t, core, func(o *outside) {
					o.fetch = func(stream protocol.Stream, _ int64, _ int) ([]byte, error) {
						mu.Lock()
						defer mu.Unlock()
						fetches++
						if stream == protocol.Stderr {
							return warning, nil
						}
						return out, nil
					}
					if test.forbidden {
						o.deliver = func(string) error { return forbidden{} }
					}
				})
				r.Received(test.from, protocol.Result{Tag: tag, Contents: test.contents})
				if test.then != nil {
					test.then(r)
				}
				ask := func(asked event.AskID) event.Event { return event.AskJob{Asked: asked} }
				if _, err := r.Ask(t.Context(), ask); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				want := map[string][]byte{"/u/out": out, "/u/err": warning}
				switch {
				case test.forbidden:
					want = map[string][]byte{"/kept/stdout": out}
				case len(test.files) == 1:
					want = map[string][]byte{"/u/out": {}}
				}
				checkCollected(t, answers(core)[0], r.out.files, want, "")
				if (fetches > 0) != test.fetched {
					t.Errorf("%d fetches; want some: %t", fetches, test.fetched)
				}
				for _, message := range seenOf[event.MessageIn](core) {
					if result, ok := message.Body.(protocol.Result); ok && result.Contents != nil {
						t.Error("the machine is told what files have")
					}
				}
			})
		})
	}
}

// posted is a partner that takes results.
type posted struct {
	partnerSide

	mu      sync.Mutex
	results []protocol.Result
	others  int // messages
}

// sent are the results that were sent so far, and how many other messages.
func (p *posted) sent() (results []protocol.Result, others int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.results), p.others
}

func (p *posted) Send(_ protocol.SiteName, m protocol.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if result, ok := m.(protocol.Result); ok {
		p.results = append(p.results, result)
	} else {
		p.others++
	}
	return nil
}

// A result brings small files, all or none of them; a local scheduler that does not answer
// holds no result up for long, and no other message at all.
func TestResultBringsSmallFiles(t *testing.T) {
	t.Parallel()
	tag := protocol.Tag{Job: 5, Epoch: 2}
	local := func(stream protocol.Stream) []byte { return []byte("local " + tag.String() + " " + stream.String()) }
	out, warning := described(protocol.Stdout, local(protocol.Stdout)), described(protocol.Stderr, local(protocol.Stderr))
	large, longer := out, warning
	large.Size = protocol.MaxContents + 1
	longer.Size++
	tests := map[string]struct {
		files []protocol.File
		hangs bool
		want  [][]byte
	}{
		"both":                  {files: []protocol.File{out, warning}, want: [][]byte{local(protocol.Stdout), local(protocol.Stderr)}},
		"no files":              {},
		"an empty file":         {files: []protocol.File{described(protocol.Stdout, nil)}, want: [][]byte{nil}},
		"a large one":           {files: []protocol.File{large, warning}},
		"one is shorter here":   {files: []protocol.File{out, longer}},
		"the scheduler is hung": {files: []protocol.File{out}, hangs: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				core := &script{}
				core.step = func(_ protocol.Instant, ev event.Event) (ready event.Ready) {
					if ask, ok := ev.(event.AskJob); ok {
						result := protocol.Result{Tag: tag, Outcome: protocol.Outcome{State: protocol.Completed, Files: test.files}}
						ready.Messages = []event.Outgoing{{To: "there", Body: result}, {To: "there", Body: protocol.UnknownJob{Tag: tag}}}
						ready.Answers = []event.Answer{{Asked: ask.Asked, Reply: view.Done{}}}
					}
					return ready
				}
				r := startWith(t, core, func(o *outside) {
					if test.hangs {
						o.local = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
					}
				})
				partner := &posted{partnerSide: partnerSide{r.out}}
				r.Attach(partner, nil)
				ask := func(asked event.AskID) event.Event { return event.AskJob{Asked: asked} }
				if _, err := r.Ask(t.Context(), ask); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				results, others := partner.sent()
				if others != 1 {
					t.Errorf("%d other messages were sent", others)
				}
				if test.hangs {
					if len(results) > 0 {
						t.Error("the result does not wait for the local scheduler")
					}
					time.Sleep(node.ReadWithin)
					synctest.Wait()
					results, _ = partner.sent()
				}
				if len(results) != 1 || !reflect.DeepEqual(results[0].Contents, test.want) {
					t.Errorf("sent %+v, want contents %q", results, test.want)
				}
			})
		})
	}
}
