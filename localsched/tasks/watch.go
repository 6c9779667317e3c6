package tasks

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// watch waits until all tasks have ended.
func (r *run) watch(signals <-chan os.Signal) {
	left := r.count()
	var first, kill <-chan time.Time
	var limit <-chan time.Time
	if r.Limit > 0 {
		limit = time.After(r.Limit)
	}
	terminate := func() {
		if kill == nil {
			r.signal(unix.SIGTERM)
			kill = time.After(killWait)
		}
	}
	for left > 0 {
		select {
		case one := <-r.ends:
			some := append([]ended{one}, r.alsoEnded()...)
			left -= len(some)
			bad := r.report(some)
			if left == 0 {
				break
			}
			if bad && r.KillOnBadExit && kill == nil {
				r.Say("srun: launch/slurm: _step_signal: Terminating StepId=" + r.id())
				terminate()
			}
			if r.Wait > 0 && first == nil {
				first = time.After(r.Wait)
			}
		case <-first:
			r.sayLeft()
			terminate()
		case <-limit:
			r.Say(fmt.Sprintf("slurmstepd-%s: error: *** STEP %s ON %s CANCELLED AT %s DUE TO TIME LIMIT ***",
				r.Allocation.Host, r.id(), r.Allocation.Host, time.Now().Format("2006-01-02T15:04:05")))
			r.code = max(r.code, 1)
			terminate()
		case <-kill:
			r.signal(unix.SIGKILL)
		case one := <-signals:
			r.signal(one.(unix.Signal)) //nolint:errcheck,forcetypeassert // of this system it is one
		}
	}
}

// alsoEnded are tasks that have ended meanwhile.
func (r *run) alsoEnded() (some []ended) {
	for {
		select {
		case one := <-r.ends:
			some = append(some, one)
		default:
			return some
		}
	}
}

// signal sends a signal to all tasks that run.
func (r *run) signal(which unix.Signal) {
	for _, process := range r.processes {
		if process != nil {
			_ = unix.Kill(-process.Pid, which) // it may be ending
		}
	}
}

// report says how tasks have ended that did not end well, together those that have ended alike.
func (r *run) report(some []ended) (bad bool) {
	alike := map[string][]int{}
	for _, one := range some {
		r.processes[one.rank] = nil
		var how string
		switch status := one.status; {
		case status.Signaled():
			how = signalText(status)
			r.code = max(r.code, 128+int(status.Signal()))
		case status.ExitStatus() != 0:
			how = "Exited with exit code " + strconv.Itoa(status.ExitStatus())
			r.code = max(r.code, status.ExitStatus())
		default:
			continue
		}
		bad = true
		alike[how] = append(alike[how], one.rank)
	}
	for _, how := range slices.Sorted(maps.Keys(alike)) {
		ranks := alike[how]
		word := "task"
		if len(ranks) > 1 {
			word = "tasks"
		}
		r.Say(fmt.Sprintf("srun: error: %s: %s %s: %s", r.Allocation.Host, word, numbers(ranks), how))
	}
	return bad
}

func (r *run) sayLeft() {
	r.Say(fmt.Sprintf("srun: First task exited %ds ago", int(r.Wait/time.Second)))
	var running, gone []int
	for rank, process := range r.processes {
		if process != nil {
			running = append(running, rank)
		} else {
			gone = append(gone, rank)
		}
	}
	r.Say(fmt.Sprintf("srun: StepId=%s task %s: running", r.id(), numbers(running)))
	r.Say(fmt.Sprintf("srun: StepId=%s task %s: exited", r.id(), numbers(gone)))
	r.Say("srun: launch/slurm: _step_signal: Terminating StepId=" + r.id())
}

// numbers prints numbers of tasks as Slurm does.
func numbers(ranks []int) string { return protocol.IndexesOf(ranks...).String() }

// signalText says what signal has ended a task, in the words of strsignal(3).
func signalText(status syscall.WaitStatus) string {
	text := capital(status.Signal().String())
	if status.CoreDump() {
		text += " (core dumped)"
	}
	return text
}

// errnoText says what an error of the system is, in the words of strerror(3).
func errnoText(errno syscall.Errno) string { return capital(errno.Error()) }

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
