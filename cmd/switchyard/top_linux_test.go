package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// screenOf is a command on a terminal of its own, and what it has written to it.
type screenOf struct {
	t       *testing.T
	keys    func(string)
	written chan []byte
	seen    bytes.Buffer
}

// onTerminal runs a command on a terminal of 120 by 24.
func onTerminal(t *testing.T, cmd *exec.Cmd) *screenOf {
	t.Helper()
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	s := &screenOf{t: t, written: make(chan []byte, 1)}
	s.keys = func(text string) {
		t.Helper()
		if _, err := terminal.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		defer close(s.written)
		for {
			part := make([]byte, 4096)
			n, err := terminal.Read(part)
			if n > 0 {
				s.written <- part[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		for range s.written { // until its last user has closed the terminal
		}
		_ = terminal.Close()
	})
	return s
}

// shows waits until the word is on the terminal. Only what changes is written, so Ctrl-L has all of it written again.
func (s *screenOf) shows(ctx context.Context, word string) {
	s.t.Helper()
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for !strings.Contains(s.seen.String(), word) {
		select {
		case part, ok := <-s.written:
			if !ok {
				s.t.Fatalf("the command has ended without %q, last: %q", word, tail(s.seen.Bytes()))
			}
			s.seen.Write(part)
		case <-pause.C:
			s.keys("\f")
		case <-ctx.Done():
			s.t.Fatalf("the terminal never shows %q, last: %q", word, tail(s.seen.Bytes()))
		}
	}
	s.seen.Reset()
}

// tail is the end of what was written.
func tail(written []byte) []byte { return written[max(0, len(written)-4096):] }

// TestTop: at a terminal, a user sees the grid and his job, opens its story, cancels it, and leaves.
func TestTop(t *testing.T) {
	t.Parallel()
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 2}, testbed.Machine{Name: "borealis", CPUs: 4})
	site, ctx := g.Sites[0], patience(t)
	id := g.submit(t, site, "#!/bin/sh\nsleep 600\n", "--job-name=longest", "--ntasks=2", "--time=30")
	g.until(t, site, id, func(job view.Job) bool { return job.State == protocol.Running })
	cmd := g.process(ctx, t, site, "top")
	s := onTerminal(t, cmd)
	s.shows(ctx, "borealis")
	s.keys("2")
	s.shows(ctx, "longest")
	s.keys("\r")
	s.shows(ctx, "submitted:")
	s.keys("c")
	s.shows(ctx, id.String()+"?")
	s.keys("y")
	s.shows(ctx, "accepted")
	g.until(t, site, id, func(job view.Job) bool { return job.State == protocol.Cancelled })
	s.keys("q")
	for range s.written { // until it has ended
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after q: %v", err)
	}
}
