package api_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
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
	node.set(peer.JobView{ID: jobA, User: me(t), Origin: "here", Site: "there", State: protocol.Completed, Stdout: "/nowhere", Stderr: path})
	client := serve(t, node)
	var out bytes.Buffer
	if err := client.Output(t.Context(), jobA, protocol.Stderr, true, &out); err != nil || out.String() != "the end\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := client.Output(t.Context(), jobA, protocol.Stdout, false, &out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is away: %v", err)
	}
}

func TestOutputOfAJobAtHomeIsFollowed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	job := peer.JobView{ID: jobA, User: me(t), Origin: "here", Site: "here", State: protocol.Running, Stdout: path}
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
	if err := client.Output(t.Context(), jobA, protocol.Stdout, true, out); err != nil || out.String() != "one\ntwo\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestOutputOfAJobElsewhereIsFollowedIntoItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	job := peer.JobView{ID: jobA, User: me(t), Origin: "here", State: protocol.Pending, Stdout: path}
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
	refusal := func(err error) peer.RefusalCode {
		refused, _ := errors.AsType[*api.Error](err)
		if refused == nil {
			return ""
		}
		return refused.Code
	}
	var out bytes.Buffer
	if err := client.Output(t.Context(), jobA, protocol.Stdout, false, &out); refusal(err) != peer.NotNow {
		t.Errorf("before it starts: %v", err)
	}
	job.State, job.Site = protocol.Running, "there"
	node.set(job)
	if err := client.Output(t.Context(), jobA, protocol.Stdout, false, &out); err != nil || out.String() != there {
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
	err := client.Output(t.Context(), jobA, protocol.Stdout, true, followed)
	if err != nil || followed.String() != there+"three\n" {
		t.Errorf("followed: %q, %v", followed.String(), err)
	}
}

func TestOutputOfALostSiteIsAnError(t *testing.T) {
	t.Parallel()
	node := &peerFake{output: func(int64) ([]byte, error) { return nil, errors.New("no session with there") }}
	node.set(peer.JobView{ID: jobA, User: me(t), Origin: "here", Site: "there", State: protocol.Running, Stdout: "/x"})
	client := serve(t, node)
	err := client.Output(t.Context(), jobA, protocol.Stdout, false, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "no session with there") {
		t.Errorf("error %v", err)
	}
	node.output = func(offset int64) ([]byte, error) {
		if offset > 0 {
			return nil, errors.New("no session with there")
		}
		return []byte("half"), nil
	}
	if err = client.Output(t.Context(), jobA, protocol.Stdout, false, &bytes.Buffer{}); err == nil {
		t.Error("half an output passed for the whole")
	}
}
