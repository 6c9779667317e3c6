package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/localsched/usage"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// watch is a shim's watch over one job.
type watch struct {
	dir      string
	command  []string // of this shim, without the folder
	record   jobRecord
	place    string
	group    cgroup.Group
	start    time.Time // monotonic: a suspended machine does not use the limit up
	asked    <-chan os.Signal
	children <-chan os.Signal
	meter    *usage.Meter

	pid     int            // of the job, which leads its process group
	verdict protocol.State // why the shim ended the job; 0: it did not
	reason  string
}

// run runs the job to its end.
func (w *watch) run() spool.End {
	trouble, err := w.startJob()
	if err != nil {
		return spool.End{State: protocol.Failed, Reason: fmt.Sprintf("cannot start the job: %v", err)}
	}
	w.untilEnd()
	w.killGroup(unix.SIGKILL)
	end := w.judge(w.reap(), <-trouble)
	w.endAll(&end)
	w.describeOutput(&end)
	return end
}

// describeOutput adds what output a guest has left. Who has asked for the job's end waits
// twice the grace time for it at most, and who asks meanwhile no longer than for a job that
// runs.
func (w *watch) describeOutput(end *spool.End) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if w.verdict == protocol.Cancelled {
		time.AfterFunc(2*w.record.Grace.Std(), cancel)
	}
	go func() {
		select {
		case <-w.asked:
			time.AfterFunc(w.record.Grace.Std(), cancel)
		case <-ctx.Done():
		}
	}()
	w.record.AddFiles(ctx, w.dir, end)
}

// startJob starts the second stage as the account. The channel gives what keeps
// it from becoming the job; that is "" when nothing does.
func (w *watch) startJob() (trouble <-chan string, err error) {
	order, err := json.Marshal(planOf(w.dir, w.record.Job, w.place, os.Getpid()))
	if err != nil {
		return nil, err
	}
	credential, err := w.credential()
	if err != nil {
		return nil, err
	}
	null, err := devNull()
	if err != nil {
		return nil, err
	}
	defer null.Close() //nolint:errcheck // nothing was written
	planR, planW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer planR.Close() //nolint:errcheck // the second stage's end
	troubleR, troubleW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, planW.Close())
	}
	defer troubleW.Close() //nolint:errcheck // the second stage's end
	// This very file, also when it was replaced by an upgrade, or lies where the
	// account may not look.
	child, err := os.StartProcess("/proc/self/exe", append(slices.Clip(w.command), execWord), &os.ProcAttr{
		Dir:   "/",
		Env:   shimEnv(),
		Files: []*os.File{null, null, null, planR, troubleW},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Credential: credential},
	})
	if err != nil {
		return nil, errors.Join(err, planW.Close(), troubleR.Close())
	}
	w.pid = child.Pid
	if err = w.join(); err != nil {
		w.killGroup(unix.SIGKILL)
		w.reap()
		return nil, errors.Join(err, planW.Close(), troubleR.Close(), w.group.Remove())
	}
	go sendPlan(planW, order)
	return hear(troubleR), child.Release()
}

// credential is whom the job runs as: nil for this process's own account.
func (w *watch) credential() (*syscall.Credential, error) {
	a := w.record.Account
	if reason := a.Forbidden(os.Geteuid()); reason != "" {
		return nil, errors.New(reason)
	}
	if os.Geteuid() != 0 {
		return nil, nil
	}
	return &syscall.Credential{Uid: a.UID, Gid: a.GID, Groups: a.Groups}, nil
}

// sendPlan writes to a second stage, which may die before it has read.
func sendPlan(to *os.File, order []byte) {
	_, _ = to.Write(order)
	_ = to.Close()
}

func hear(from *os.File) <-chan string {
	heard := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(io.LimitReader(from, 4096))
		_ = from.Close()
		heard <- string(data)
	}()
	return heard
}

// untilEnd waits until the script has ended, and ends it if it must.
func (w *watch) untilEnd() {
	limit := time.NewTimer(w.record.Submission.Spec.WallTime.Std() - time.Since(w.start))
	defer limit.Stop()
	var grace <-chan time.Time
	look := newLook()
	defer look.Stop()
	end := func(verdict protocol.State, reason string) {
		if w.verdict == 0 {
			w.verdict, w.reason = verdict, reason
			w.killGroup(unix.SIGTERM)
			w.killGroup(unix.SIGCONT)
			grace = time.After(w.record.Grace.Std())
		}
	}
	for !w.reapOthers() {
		select {
		case <-w.children:
		case <-w.asked:
			end(protocol.Cancelled, "killed on request")
		case <-limit.C:
			end(protocol.Timeout, fmt.Sprintf("reached its wall-time limit of %v", w.record.Submission.Spec.WallTime))
		case <-grace:
			w.killGroup(unix.SIGKILL)
		case <-look.C:
			w.measure()
			look.again()
		}
	}
}

// killGroup signals the job's process group, and the job itself should it have
// left that. As long as the job is not reaped, nobody else gets its number.
func (w *watch) killGroup(sig unix.Signal) {
	_ = unix.Kill(-w.pid, sig)
	_ = unix.Kill(w.pid, sig)
}

// reapOthers reaps processes that the job has left behind, as long as it runs. It
// returns true when the job has ended; that is not reaped.
func (w *watch) reapOthers() (ended bool) {
	for {
		pid, err := peekEnded()
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || pid == w.pid:
			return true
		case pid == 0:
			return false
		default:
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
}

// reap is how the script ended.
func (w *watch) reap() (status unix.WaitStatus) {
	for {
		_, err := unix.Wait4(w.pid, &status, 0, nil)
		if !errors.Is(err, unix.EINTR) {
			return status
		}
	}
}

// killStrays kills processes that the job has left behind in process groups of
// their own. The kernel has made them this process's children.
func (w *watch) killStrays() {
	deadline := time.Now().Add(w.record.Grace.Std())
	for pause := time.Millisecond; ; pause *= 2 {
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if errors.Is(err, unix.ECHILD) || time.Now().After(deadline) {
				return
			}
			if pid <= 0 {
				break
			}
		}
		killWhere(func(st stat) bool { return st.parent == os.Getpid() })
		time.Sleep(pause)
	}
}

// judge says how the job ended.
func (w *watch) judge(status unix.WaitStatus, trouble string) spool.End {
	end := spool.End{State: protocol.Completed, Reason: w.reason}
	if status.Signaled() {
		end.Signal = int(status.Signal())
	} else {
		end.ExitCode = status.ExitStatus()
	}
	switch {
	case w.verdict != 0:
		end.State = w.verdict
	case trouble != "":
		end.State, end.Reason = protocol.Failed, trouble
	case end.Signal != 0:
		end.State, end.Reason = protocol.Failed, "ended by signal "+unix.SignalName(status.Signal())
	case end.ExitCode != 0:
		end.State, end.Reason = protocol.Failed, fmt.Sprintf("the script ended with exit code %d", end.ExitCode)
	}
	return end
}
