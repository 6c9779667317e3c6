package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The second stage's ends of its pipes.
const (
	planFD    = 3
	troubleFD = 4
)

// maxTrouble is how much a second stage may say, in bytes: what the smallest pipe holds,
// so that it does not wait for a shim that listens only at its end.
const maxTrouble = 4096

// The exit codes of jobs that could not be started, as shells give them.
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// execMain is the second stage of a shim. It has the rights of the account, and
// becomes the job. What keeps it from that goes to the shim.
func execMain() int {
	unix.CloseOnExec(troubleFD)
	trouble := os.NewFile(troubleFD, "trouble")
	err := becomeJob()
	said := err.Error()
	_, _ = trouble.WriteString(said[:min(len(said), maxTrouble)]) // a shim that is gone hears nothing
	if errors.Is(err, unix.ENOENT) {
		return exitNotFound
	}
	return exitCannotRun
}

// becomeJob returns only if it fails.
func becomeJob() error {
	p, err := readPlan()
	if err != nil {
		return err
	}
	if err = dieWith(p.Parent); err != nil {
		return err
	}
	unix.Umask(p.Umask)
	if err = limitFiles(p.Limit); err != nil {
		return err
	}
	if err = openInput(p.Stdin); err != nil {
		return err
	}
	if err = openOutputs(p); err != nil {
		return err
	}
	if err = unix.Chdir(p.Dir); err != nil {
		return fmt.Errorf("cannot change to the working directory %s: %w", p.Dir, err)
	}
	return execScript(p)
}

func readPlan() (p plan, err error) {
	file := os.NewFile(planFD, "plan")
	data, err := io.ReadAll(file)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return plan{}, fmt.Errorf("read the shim's orders: %w", err)
	}
	return p, nil
}

// dieWith lets the kernel kill the job when its shim dies: no process would watch it.
func dieWith(shim int) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tie the job to its shim: %w", err)
	}
	if os.Getppid() != shim {
		return errors.New("the shim is gone")
	}
	return nil
}

// limitFiles bounds the size of each file that the job writes, its output too: what it
// writes beyond that fails, and SIGXFSZ ends who does not expect it. 0: no bound.
func limitFiles(size int64) error {
	if size == 0 {
		return nil
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &now); err != nil {
		return fmt.Errorf("ask for the limit of the sizes of files: %w", err)
	}
	most := min(uint64(size), now.Max) //nolint:gosec // it is not negative
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("limit the sizes of files: %w", err)
	}
	return nil
}

// openInput puts the input file in the place of stdin, which else has nothing to read.
func openInput(path string) error {
	if path == "" {
		return nil
	}
	fd, err := open(path, unix.O_RDONLY)
	if err != nil {
		return fmt.Errorf("cannot open the stdin file %s: %w", path, err)
	}
	return unix.Dup3(fd, 0, 0)
}

// openOutputs puts the output files in the places of stdout and stderr. The
// system's own calls are used because os.File would make pipes non-blocking.
func openOutputs(p plan) error {
	stdout, err := openOutput("stdout", p.Stdout, p.Append)
	if err != nil {
		return err
	}
	stderr := stdout
	if p.Stderr != p.Stdout {
		if stderr, err = openOutput("stderr", p.Stderr, p.Append); err != nil {
			return err
		}
	}
	if err = errors.Join(unix.Dup3(stdout, 1, 0), unix.Dup3(stderr, 2, 0)); err != nil || p.Limit == 0 {
		return err
	}
	for _, fd := range []int{1, 2} {
		if err = reserveSpace(fd, 0, p.Limit); err != nil {
			return fmt.Errorf("there is no room for its output: %w", spool.ExplainFull(err))
		}
	}
	return nil
}

func openOutput(name, path string, behind bool) (fd int, err error) {
	if path == "" {
		path = os.DevNull
	}
	start := unix.O_TRUNC
	if behind {
		start = unix.O_APPEND
	}
	fd, err = open(path, unix.O_WRONLY|unix.O_CREAT|start)
	if err != nil {
		return -1, fmt.Errorf("cannot open the %s file %s: %w", name, path, err)
	}
	return fd, nil
}

func open(path string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Open(path, flags|unix.O_NOCTTY|unix.O_CLOEXEC, 0o666)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// errLate is what a second stage says that comes too late to become the job.
var errLate = errors.New("it would have started later than it may, and never began")

// execScript becomes the script, if it is not too late by now: the shim has looked at the time before it
// claimed the job, which takes as long as the disk and the machine like. For a moment after it was written, a process
// that the peer was just forking may still hold it open: ETXTBSY.
func execScript(p plan) error {
	// The script must not inherit a mask that this thread happens to have.
	runtime.LockOSThread()
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil); err != nil {
		return fmt.Errorf("unblock the signals: %w", err)
	}
	setLimits(p.Limits)                                                            // as the last: this program may need more
	env := append(slices.Clip(p.Env), "SLURM_TASK_PID="+strconv.Itoa(os.Getpid())) // the script keeps this process's number
	for pause := time.Millisecond; ; pause *= 2 {
		if p.StartBy != 0 && protocol.InstantOf(time.Now()) > p.StartBy {
			return errLate
		}
		err := syscall.Exec(p.Command[0], p.Command, env) //nolint:gosec // to run scripts is what it is for
		if !errors.Is(err, unix.ETXTBSY) || pause > 2*time.Second {
			return explainExec(p, err)
		}
		time.Sleep(pause)
	}
}

// explainExec names what is missing, which for a script is mostly not the script.
func explainExec(p plan, err error) error {
	if p.Command[0] != p.Script {
		return fmt.Errorf("cannot run the site's container command %s: %w", p.Command[0], err)
	}
	data, unread := os.ReadFile(p.Script)
	if unread != nil {
		return fmt.Errorf("cannot run the script %s: %w", p.Script, errors.Join(err, unread))
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	interpreter, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return fmt.Errorf("cannot run the script: its first line does not begin with #! and name an interpreter: %w", err)
	}
	return fmt.Errorf("cannot run the script's interpreter %.200q: %w", bytes.TrimSpace(interpreter), err)
}
