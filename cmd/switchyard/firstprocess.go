package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// isFirstProcess says whether this is the first process of a container, or of the machine.
func isFirstProcess() bool { return os.Getpid() == 1 }

// runAsFirstProcess is the first process of a container with a peer. The kernel makes it the parent of all processes there that
// lose their own, such as those that a job, Slurm's munged or docker exec leaves behind, and it has to wait for each, or they stay in the table of
// processes. In the peer that would take the ends of its own children away from os/exec. So the peer is a child of this
// process: this program once more, with the same arguments.
//
// It returns when the peer has ended, with an [*exitError] unless that exited with 0: the exit code is that of the peer, or 128 and
// the number of the signal that killed it, as shells say it. The container then ends with whatever still runs in it.
func runAsFirstProcess() error {
	const waiting = 64 // signals
	received := make(chan os.Signal, waiting)
	signal.Notify(received) // before the peer is there: its end must not be missed
	defer signal.Stop(received)
	program, err := os.Executable()
	var peer int
	if err == nil {
		peer, err = syscall.ForkExec(program, os.Args, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}}) //nolint:gosec // this program
	}
	if err != nil {
		return fmt.Errorf("start the peer as a child of the container's first process: %w", err)
	}
	for {
		if got := <-received; isForPeer(got) {
			// It is still there, or not yet waited for: no other process has its number.
			_ = syscall.Kill(peer, got.(syscall.Signal)) //nolint:errcheck,forcetypeassert // its only kind on this system
		}
		// After every signal: while as many wait as may, those for ends are not kept.
		if status, ended := reap(peer); ended {
			return endedWith(status)
		}
	}
}

// isForPeer says whether a signal is passed on to the peer: all are but those that are for each process itself.
func isForPeer(got os.Signal) bool {
	return got != syscall.SIGCHLD && got != syscall.SIGURG // by which Go's runtime interrupts its threads
}

// reap waits for all processes that have ended, and returns how the peer did, if it is one of them.
func reap(peer int) (status syscall.WaitStatus, ended bool) {
	for {
		var one syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &one, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil || pid == 0:
			return status, ended
		case pid == peer:
			status, ended = one, true
		}
	}
}

// endedWith is how this process ends when the peer has. What was wrong, the peer has said, unless a signal ended it.
func endedWith(status syscall.WaitStatus) error {
	const killed = 128
	switch {
	case status.Signaled():
		return &exitError{code: killed + int(status.Signal()), err: fmt.Errorf("the peer was ended by signal %d (%[1]v)", status.Signal())}
	case status.ExitStatus() != 0:
		return &exitError{code: status.ExitStatus()}
	}
	return nil
}
