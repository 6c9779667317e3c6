package tasks

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// killWait is how long tasks that are asked to end may take, as KillWait of Slurm is by default.
	killWait = 30 * time.Second
	// drainTime is how long output is read after all tasks have ended, of processes that have left their groups.
	drainTime = 2 * time.Second
)

// Step is what one srun starts.
type Step struct {
	Allocation Allocation
	Place      Place
	Number     int
	JobName    string
	User       string
	Index      string // of an element of an array

	Programs    [][]string // of each task: the program and its arguments
	Env         []string
	Dir         string // absolute
	CPUsPerTask int    // 0: not stated

	Stdin, Stdout, Stderr Stream
	Append                bool // to files, instead of emptying them
	Label                 bool // each line of output with the number of its task
	Unbuffered            bool // do not wait for the ends of lines

	KillOnBadExit bool
	Wait          time.Duration // after the first task has ended, until the others are killed; 0: for ever
	Limit         time.Duration // of the step's run time; 0: none

	Say func(line string) // prints a line on the standard error
}

// task is one of a step.
type task struct {
	rank, node, local int
}

// ended is how a task has ended.
type ended struct {
	rank   int
	status syscall.WaitStatus
}

func (s *Step) count() int { return len(s.Programs) }

func (s *Step) id() string { return s.Allocation.Job + "." + strconv.Itoa(s.Number) }

// tasks lists the tasks, node by node. Nodes without tasks do not count.
func (s *Step) tasks() (all []task) {
	node := 0
	for _, n := range s.Place.Tasks {
		for local := range n {
			all = append(all, task{rank: len(all), node: node, local: local})
		}
		if n > 0 {
			node++
		}
	}
	return all
}

// run is a step that runs.
type run struct {
	*Step

	streams   streams
	processes []*os.Process // nil: it was not started, or has ended
	groups    []int         // of processes, which are the pids of the tasks
	ends      chan ended
	code      int
}

// Run starts the tasks, waits for all of them, and returns the exit code of srun: the highest of the tasks', where one that
// a signal has ended has 128 and the signal. It must not be called twice in a process.
func (s *Step) Run() (code int, err error) {
	runtime.LockOSThread() // the kernel kills the tasks at the end of the thread that has started them
	r := &run{Step: s, ends: make(chan ended, s.count()), processes: make([]*os.Process, s.count())}
	r.streams = streams{files: map[string]*os.File{}, sinks: [3]*sink{1: {to: os.Stdout}, 2: {to: os.Stderr}}}
	var files [][]*os.File
	for _, t := range s.tasks() {
		three, err := s.open(&r.streams, t)
		if err != nil {
			return 0, err
		}
		files = append(files, three)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGCONT)
	defer signal.Stop(signals)
	for i, t := range s.tasks() {
		r.start(t, files[i])
	}
	for _, file := range r.streams.starts {
		_ = file.Close()
	}
	var output sync.WaitGroup
	for _, relay := range r.streams.relays {
		output.Go(relay)
	}
	if len(r.streams.inputs) > 0 {
		go broadcast(os.Stdin, r.streams.inputs)
	}
	r.watch(signals)
	for _, group := range r.groups {
		_ = unix.Kill(-group, unix.SIGKILL) // what the tasks have left
	}
	late := time.AfterFunc(drainTime, func() {
		for _, read := range r.streams.reads {
			_ = read.Close()
		}
	})
	output.Wait()
	late.Stop()
	for _, sink := range r.streams.sinks[1:] {
		if sink.failed != nil {
			s.Say("srun: error: write the output of tasks: " + sink.failed.Error())
			r.code = max(r.code, 1)
		}
	}
	return r.code, nil
}

// start starts a task, or enters that it cannot be.
func (r *run) start(t task, files []*os.File) {
	words := r.Programs[t.rank]
	env := r.environment(t)
	program, err := find(words[0], lookup(env, "PATH"), r.Dir)
	if err == nil {
		var process *os.Process
		process, err = os.StartProcess(program, words, &os.ProcAttr{
			Dir: r.Dir, Env: env, Files: files,
			Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL},
		})
		if err == nil {
			r.processes[t.rank], r.groups = process, append(r.groups, process.Pid)
			go func() {
				state, _ := process.Wait()                                // it fails only if somebody else has waited
				r.ends <- ended{t.rank, state.Sys().(syscall.WaitStatus)} //nolint:errcheck,forcetypeassert // of this system it is one
			}()
			return
		}
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		errno = unix.EIO
	}
	r.Say(fmt.Sprintf("slurmstepd-%s: error: execve(): %s: %v", r.Allocation.Host, words[0], errnoText(errno)))
	r.ends <- ended{t.rank, syscall.WaitStatus(int(errno) << 8)}
}
