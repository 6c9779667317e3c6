package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a plugin's process, as go-plugin's runner.Runner. It leads a process
// group of its own and is killed by the kernel when this process ends, however that
// happens.
type process struct {
	spec *Spec
	file string // that is run: Spec.Path without symbolic links
	log  *output

	command *exec.Cmd // as go-plugin made it: only its environment counts
	dir     string    // of its socket

	hello    *io.PipeReader // the first line of its standard output
	helloIn  *io.PipeWriter
	heard    sync.WaitGroup // until its output has ended
	helloErr error          // then: what is wrong with the line

	mu     sync.Mutex
	pid    int  // 0: not started
	killed bool // it must not start, or not go on
	reaped bool

	ended chan struct{} // closed when it is reaped
	how   string        // then: "exit status 1"

	said  sync.Once
	words string // then: its last
}

func newProcess(spec *Spec, file string, log *output) *process {
	p := &process{spec: spec, file: file, log: log, ended: make(chan struct{})}
	p.hello, p.helloIn = io.Pipe()
	return p
}

// Start implements runner.Runner.
func (p *process) Start(context.Context) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close() //nolint:errcheck // nothing was written
	stdout, stdoutIn, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdoutIn.Close() //nolint:errcheck // the plugin's end
	stderr, stderrIn, err := os.Pipe()
	if err != nil {
		return errors.Join(err, stdout.Close())
	}
	defer stderrIn.Close() //nolint:errcheck // the plugin's end

	started := make(chan error, 1)
	go p.live(&os.ProcAttr{
		Dir:   "/",
		Env:   environment(p.command.Env),
		Files: []*os.File{null, stdoutIn, stderrIn},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}, started)
	if err = <-started; err != nil {
		return errors.Join(err, p.helloIn.Close(), stdout.Close(), stderr.Close())
	}
	p.heard.Go(func() { p.hear(stdout, p.readHello) })
	p.heard.Go(func() { p.hear(stderr, p.log.copy) })
	return nil
}

// live starts the process and waits for its end. The kernel kills the process when
// the thread ends that started it, so this one stays.
func (p *process) live(attr *os.ProcAttr, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	child, err := p.spawn(attr)
	started <- err
	if err != nil {
		return
	}
	for errors.Is(unix.Waitid(unix.P_PID, child.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// Until it is reaped no other process has its number or that of its group.
	_ = unix.Kill(-child.Pid, unix.SIGKILL)
	state, err := child.Wait()
	if err != nil {
		p.how = err.Error()
	} else {
		p.how = state.String()
	}
	p.reaped = true
	close(p.ended)
}

func (p *process) spawn(attr *os.ProcAttr) (*os.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return nil, errors.New("it was ended before it started")
	}
	// Programs that are several, or have their files around a link, go by the name.
	child, err := os.StartProcess(p.file, slices.Concat([]string{p.spec.Path}, p.spec.Args), attr)
	if err != nil {
		return nil, fmt.Errorf("its file cannot be run: %w", unpath(err))
	}
	p.pid = child.Pid
	return child, nil
}

// kill ends the process and its group, if it has not ended, and keeps it from
// starting.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.pid != 0 && !p.reaped {
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
}

// hasEnded is whyEnded if the process has ended, or does so within the moment
// between the end of its connections and its own.
func (p *process) hasEnded() error {
	const moment = 100 * time.Millisecond
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-p.ended:
		return p.whyEnded()
	case <-timer.C:
		return nil
	}
}

// whyEnded says how the process ended, with its last words. The supervisor asks before it
// starts another process, whose words would be the last in the log.
func (p *process) whyEnded() error {
	p.said.Do(func() {
		p.heard.Wait()
		p.words = p.log.lastWords()
	})
	if p.words != "" {
		return fmt.Errorf("it ended (%s): %s", p.how, p.words)
	}
	return fmt.Errorf("it ended (%s)", p.how)
}

// killedByHost is how a process ended that was killed as this package does it.
const killedByHost = "signal: killed"

// finish kills the process, which has started, and waits until all that it wrote is
// read. It returns how the process ended.
func (p *process) finish() string {
	p.kill()
	<-p.ended
	_ = p.whyEnded()
	return p.how
}

// environment is what go-plugin tells the plugin and the few variables of this
// process that programs need to find their way.
func environment(own []string) []string {
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "SLURM_CONF"} {
		if value, ok := os.LookupEnv(name); ok {
			own = append(own, name+"="+value)
		}
	}
	return own
}
