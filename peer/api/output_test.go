package api_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// slow is a writer that tells when it has got something.
type slow struct {
	bytes.Buffer
	wrote func()
}

func (s *slow) Write(p []byte) (int, error) {
	defer s.wrote()
	return s.Buffer.Write(p)
}

func TestOutputOfAFinishedJobIsItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "err")
	if err := os.WriteFile(path, []byte("the end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	node := &peerFake{}
	node.set(view.Job{ID: jobA, User: me(t), Origin: "here", Site: "there", State: protocol.Completed, Stdout: "/nowhere", Stderr: path})
	client := serve(t, node)
	var out bytes.Buffer
	if _, err := client.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stderr, true, &out); err != nil || out.String() != "the end\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if _, err := client.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, false, &out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is away: %v", err)
	}
}

func TestOutputOfAJobAtHomeIsFollowed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	job := view.Job{ID: jobA, User: me(t), Origin: "here", Site: "here", State: protocol.Running, Stdout: path}
	node := &peerFake{}
	node.set(job)
	client := serve(t, node)
	out := &slow{wrote: func() {
		if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
			t.Error(err)
		}
		job.State = protocol.Completed
		node.set(job)
	}}
	if _, err := client.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, true, out); err != nil || out.String() != "one\ntwo\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestOutputOfAJobElsewhereIsFollowedIntoItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	job := view.Job{ID: jobA, User: me(t), Origin: "here", State: protocol.Pending, Stdout: path}
	node := &peerFake{}
	node.set(job)
	const there = "one\ntwo\n" // as much as its site gives
	var asked atomic.Int64
	node.output = func(offset int64) ([]byte, error) {
		if asked.Add(1) == 1 {
			return []byte(there[:4]), nil
		}
		return []byte(there[offset:]), nil
	}
	client := serve(t, node)
	var out bytes.Buffer
	if _, err := client.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, false, &out); refusal(err) != view.Unavailable {
		t.Errorf("before it starts: %v", err)
	}
	job.State, job.Site = protocol.Running, "there"
	node.set(job)
	if _, err := client.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, false, &out); err != nil || out.String() != there {
		t.Errorf("without following: %q, %v", out.String(), err)
	}
	followed := &slow{}
	followed.wrote = func() {
		if followed.String() != there {
			return
		}
		if err := os.WriteFile(path, []byte(there+"three\n"), 0o600); err != nil {
			t.Error(err)
		}
		job.State = protocol.Failed
		node.set(job)
	}
	_, err := client.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, true, followed)
	if err != nil || followed.String() != there+"three\n" {
		t.Errorf("followed: %q, %v", followed.String(), err)
	}
}

// TestOutputThatComesHomeMeanwhile: a site that has given a job away refuses to read its output, which is at home then.
func TestOutputThatComesHomeMeanwhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, before := range map[string]string{"at once": "", "after a piece": "one\n"} {
		for _, follow := range []bool{false, true} {
			job := view.Job{ID: jobA, User: me(t), Origin: "here", Site: "there", State: protocol.Running, Stdout: path}
			node := &peerFake{}
			node.set(job)
			node.output = func(offset int64) ([]byte, error) {
				if int(offset) < len(before) {
					return []byte(before), nil
				}
				ended := job
				ended.State = protocol.Completed
				node.set(ended)
				return nil, errors.New("the job is not here")
			}
			var out bytes.Buffer
			_, err := serve(t, node).Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, follow, &out)
			if err != nil || out.String() != "one\ntwo\n" {
				t.Errorf("%s, follow %v: %q, %v", name, follow, out.String(), err)
			}
		}
	}
}

// TestOutputThatIsKept: output that could not be put where its user wants it is what the peer keeps of it, and not what is in that
// file. It is all of it only if no more is missing.
func TestOutputThatIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("of an earlier job\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	const content = "one\ntwo\n"
	for name, tt := range map[string]struct {
		left            view.Undelivered
		gone            bool
		printed         string
		missing, notice string
		code            view.RefusalCode
		reason          string
	}{
		"kept":            {left: view.Undelivered{File: "stdout", Kept: "/k"}, printed: content, notice: "this output is not in " + path + ", but kept by the peer"},
		"a part":          {left: view.Undelivered{File: "stdout", Kept: "/k", Partial: true}, printed: content, missing: "is incomplete: no space"},
		"nothing":         {left: view.Undelivered{File: "stdout"}, code: view.NotFound, reason: "there is no output of job " + jobA.String() + ": no space"},
		"removed":         {left: view.Undelivered{File: "stdout", Kept: "/k"}, gone: true, code: view.NotFound, reason: "the peer has removed what it kept"},
		"of another file": {left: view.Undelivered{File: "stderr"}, printed: "of an earlier job\n"},
	} {
		for _, follow := range []bool{false, true} {
			node := &peerFake{output: func(offset int64) ([]byte, error) {
				if tt.gone {
					return nil, protocol.ErrOutputGone
				}
				return []byte(content[offset:]), nil
			}}
			node.set(view.Job{
				ID: jobA, User: me(t), Origin: "here", Site: "there", State: protocol.Completed, Stdout: path, Reason: "no space", Undelivered: []view.Undelivered{tt.left},
			})
			var out bytes.Buffer
			fetched, err := serve(t, node).Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, follow, &out)
			if refusal(err) != tt.code || (err == nil) != (tt.code == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("%s, follow %v: %v", name, follow, err)
			}
			if out.String() != tt.printed {
				t.Errorf("%s, follow %v: printed %q", name, follow, out.String())
			}
			for _, one := range [][2]string{{fetched.Missing, tt.missing}, {fetched.Notice, tt.notice}} {
				if !strings.Contains(one[0], one[1]) || (one[0] == "") != (one[1] == "") {
					t.Errorf("%s, follow %v: said %q, want %q", name, follow, one[0], one[1])
				}
			}
		}
	}
}

// TestOutputThatIsKeptAtLast: who follows the output of a job elsewhere gets the rest from what is kept of it, or hears that there may be more.
func TestOutputThatIsKeptAtLast(t *testing.T) {
	t.Parallel()
	for kept, want := range map[string]string{"/k": "one\ntwo\n", "": "one\n"} {
		running := view.Job{ID: jobA, User: me(t), Origin: "here", Site: "there", State: protocol.Running, Stdout: "/nowhere/out"}
		node := &peerFake{}
		node.set(running)
		ended := running
		ended.State, ended.Reason = protocol.Completed, "no directory"
		ended.Undelivered = []view.Undelivered{{File: "stdout", Kept: kept}}
		var asked atomic.Int64
		node.output = func(offset int64) ([]byte, error) {
			switch asked.Add(1) {
			case 1:
				return []byte("one\n"), nil
			case 2:
				node.set(ended)
				return nil, errors.New("the job is not here")
			}
			return []byte("one\ntwo\n"[offset:]), nil
		}
		var out bytes.Buffer
		fetched, err := serve(t, node).Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, true, &out)
		if err != nil || out.String() != want || (fetched.Missing == "") != (kept != "") {
			t.Errorf("kept %q: %q, %+v, %v", kept, out.String(), fetched, err)
		}
	}
}

func TestOutputOfALostSiteIsAnError(t *testing.T) {
	t.Parallel()
	node := &peerFake{output: func(int64) ([]byte, error) { return nil, errors.New("no session with there") }}
	node.set(view.Job{ID: jobA, User: me(t), Origin: "here", Site: "there", State: protocol.Running, Stdout: "/x"})
	client := serve(t, node)
	_, err := client.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, false, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "no session with there") {
		t.Errorf("error %v", err)
	}
	node.output = func(offset int64) ([]byte, error) {
		if offset > 0 {
			return nil, errors.New("no session with there")
		}
		return []byte("half"), nil
	}
	if _, err = client.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, false, &bytes.Buffer{}); err == nil {
		t.Error("half an output passed for the whole")
	}
}

// stopper is a node whose server stops while it is asked.
type stopper struct {
	*peerFake

	stop func()
	at   int64 // so many looks for the job or its output are answered before
	seen atomic.Int64
}

func (s *stopper) look() {
	if s.seen.Add(1) > s.at {
		s.stop()
	}
}

func (s *stopper) Job(ctx context.Context, id protocol.JobID) (view.Job, error) {
	s.look()
	return s.peerFake.Job(ctx, id)
}

func (s *stopper) WaitJob(ctx context.Context, id protocol.JobID) (view.Job, error) {
	s.look()
	return s.peerFake.WaitJob(ctx, id)
}

func (s *stopper) Output(
	ctx context.Context, job view.Job, stream protocol.Stream, offset int64, size int,
) ([]byte, error) {
	s.look()
	return s.peerFake.Output(ctx, job, stream, offset, size)
}

// An answer that a stopping peer does not finish is an error to its caller, whether nothing
// of it has come or some.
func TestAStoppingPeerCutsItsAnswersOff(t *testing.T) {
	t.Parallel()
	follow := func(out *bytes.Buffer) func(*testing.T, *api.Client) error {
		return func(t *testing.T, c *api.Client) error {
			t.Helper()
			_, err := c.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, true, out)
			return err
		}
	}
	var none, some bytes.Buffer
	cases := map[string]struct {
		job  view.Job
		at   int64
		ask  func(*testing.T, *api.Client) error
		got  *bytes.Buffer
		want string // of the output
		says string
	}{
		"output of a job that waits": {
			job: view.Job{State: protocol.Pending}, ask: follow(&none), got: &none, says: "cannot reach the peer",
		},
		"output of a job that runs": {
			job: view.Job{State: protocol.Running, Site: "there"}, at: 2, ask: follow(&some), got: &some,
			want: "one\n", says: "is incomplete: the peer stopped",
		},
		"the end of a job": {
			job: view.Job{State: protocol.Running}, got: new(bytes.Buffer), says: "cannot reach the peer",
			ask: func(t *testing.T, c *api.Client) error {
				t.Helper()
				_, err := c.Wait(t.Context(), protocol.JobName{Job: jobA})
				return err
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &stopper{at: c.at, peerFake: &peerFake{output: func(offset int64) ([]byte, error) {
				return []byte("one\n")[min(4, offset):], nil
			}}}
			c.job.ID, c.job.User, c.job.Origin = jobA, me(t), "here"
			node.set(c.job)
			client, stop := serveUntil(t, node)
			node.stop = stop
			err := c.ask(t, client)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
			if c.got.String() != c.want {
				t.Errorf("the output is %q, want %q", c.got.String(), c.want)
			}
		})
	}
}

// Without a reason nothing follows the colon, and there is none.
func TestOutputOfAJobThatHasNotStarted(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"":               "job 1000000000001 has no output yet, it has not started; `switchyard logs -f 1000000000001` waits for it",
		"NoEligibleSite": "job 1000000000001 has no output yet, it has not started: NoEligibleSite; `switchyard logs -f 1000000000001` waits for it",
	} {
		node := &peerFake{}
		node.set(view.Job{ID: jobA, User: me(t), State: protocol.Pending, Reason: reason, Origin: "here"})
		_, err := serve(t, node).Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, false, io.Discard)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
