package process

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
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
	dir      string   // of the job, as it is called in the spool
	opened   string   // the same, as [opened] has it
	command  []string // of this shim, without the directory
	record   jobRecord
	where    placeRecord
	group    cgroup.Group
	start    time.Time // monotonic: neither a clock that is set nor a suspended machine uses the limit up
	started  protocol.Instant
	asked    <-chan os.Signal
	children <-chan os.Signal
	meter    *usage.Meter
	space    *outputSpace

	pid         int            // of the job, which leads its process group
	verdict     protocol.State // why the shim ended the job; 0: it did not
	reason      string
	late        bool   // the job has not begun, as it was too late
	uncontained string // how the job is not contained as it should be; empty: it is
}

// follow brings the job that [watch.startJob] has started to its end. How it has ended is durable before files are packed that
// go back.
func (w *watch) follow(trouble *os.File) exitRecord {
	w.space = openOutputSpace(w.record.Job, w.opened)
	w.untilEnd()
	w.killGroup(unix.SIGKILL)
	end := w.judge(w.reap(), readTrouble(trouble))
	w.endAll(&end)
	w.space.close(w.record.Job, &end)
	exit := w.exit(end)
	if w.record.ComesBack() {
		if err := spool.ReplaceRecord(w.opened, spool.VerdictFile, exit); err != nil {
			fmt.Fprintln(os.Stderr, "write how the job ended before its files are packed:", err)
		}
	}
	w.describeOutput(&exit.End)
	exit.Reason = spool.Noted(exit.Reason, w.uncontained)
	return exit
}

// exit is the record of how the job has ended, now.
func (w *watch) exit(end spool.End) exitRecord {
	exit := exitRecord{End: end, Uncontained: w.uncontained}
	exit.Ended = w.started.Add(protocol.Duration(time.Since(w.start).Milliseconds()))
	if !w.late {
		exit.Started, exit.Ran = w.started, exit.Ended.Sub(w.started)
	}
	exit.Usage, exit.Notice = w.usage()
	return exit
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
	addOutput(ctx, w.record.Job, w.opened, end, func() {
		fmt.Fprintln(os.Stderr, "no room in the spool for the files that go back with the job; trying again")
	})
}

// addOutput adds to a job's end what output it has left. While there is no room for what is packed of it, that is said, and
// tried again until the context ends.
func addOutput(ctx context.Context, job spool.Job, dir string, end *spool.End, noRoom func()) {
	full := job.AddOutputFiles(ctx, dir, end)
	for pause := firstFullPause; full; pause = min(2*pause, lastFullPause) {
		noRoom()
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		if ctx.Err() != nil {
			job.GiveUpArchive(end)
			return
		}
		full = job.AddArchive(ctx, dir, end)
	}
}

// The pauses in which room is waited for on a full disk.
const (
	firstFullPause = 5 * time.Second
	lastFullPause  = time.Minute
)

// startJob starts the second stage as the account. On the pipe it says what keeps it
// from becoming the job; nothing when nothing does.
func (w *watch) startJob() (trouble *os.File, err error) {
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
	closed := w.join()
	order, err := json.Marshal(planOf(w.dir, w.record, w.where, closed, w.times()))
	if err != nil {
		panic(err) // it is a struct of texts and numbers
	}
	go sendPlan(planW, order)
	return troubleR, child.Release()
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

// readTrouble is what a second stage that has ended has said. It does not wait for the end of
// the pipe: a process of the account's may have opened it in /proc before the job began,
// and keep it open.
func readTrouble(trouble *os.File) string {
	defer trouble.Close() //nolint:errcheck // it was only read
	said := make([]byte, maxTrouble)
	n := 0
	if conn, err := trouble.SyscallConn(); err == nil {
		_ = conn.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), said)
			return true
		})
	}
	return string(said[:max(0, n)])
}

// untilEnd waits until the script has ended, and ends it if it must.
func (w *watch) untilEnd() {
	most := w.limit()
	limit := time.NewTimer(most.Std() - time.Since(w.start))
	defer limit.Stop()
	signal := w.record.Submission.Payload.LimitSignal
	warning := newWarningTimer(signal, most, w.start)
	defer warning.Stop()
	var grace <-chan time.Time
	look := newSampleTimer()
	defer look.Stop()
	room := time.NewTicker(spaceCheckInterval)
	defer room.Stop()
	end := func(verdict protocol.State, reason string) {
		if w.verdict == 0 {
			w.verdict, w.reason = verdict, reason
			w.killGroup(unix.SIGTERM)
			w.killGroup(unix.SIGCONT)
			grace = time.After(w.record.Grace.Std())
		}
	}
	timeout := func() { end(protocol.Timeout, "reached its wall-time limit of "+most.Text()) }
	for !w.reapOthers() {
		select {
		case <-w.children:
		case <-w.asked:
			if time.Since(w.start) >= most.Std() { // by the peer, as this shim was stopped
				timeout()
			}
			end(protocol.Cancelled, "killed on request")
		case <-warning.C:
			w.warn(signal)
		case <-limit.C:
			timeout()
		case <-grace:
			w.killGroup(unix.SIGKILL)
		case <-look.C:
			w.measure()
			look.again()
		case <-room.C:
			w.space.reserve()
		}
	}
}

// limit is the time limit with which the job runs.
func (w *watch) limit() protocol.Duration {
	return cmp.Or(w.where.Limit, w.record.Submission.Spec.WallTime)
}

// times are when the job has started, and when it ends at the latest, as Slurm says it.
func (w *watch) times() []string {
	env := []string{"SLURM_JOB_START_TIME=" + unixSeconds(w.started)}
	if limit := w.limit(); limit != protocol.Never {
		env = append(env, "SLURM_JOB_END_TIME="+unixSeconds(w.started.Add(limit)))
	}
	return env
}

func unixSeconds(at protocol.Instant) string { return strconv.FormatInt(at.Time().Unix(), 10) }

// newWarningTimer runs out when a job that began at start is to get its signal before the limit; never
// if it gets none. On a fast machine the limit may be shorter than that time before it: the signal then
// comes halfway, when the script can be expected to handle it.
func newWarningTimer(signal protocol.LimitSignal, limit protocol.Duration, start time.Time) *time.Timer {
	due := limit - signal.Before
	if due <= 0 {
		due = limit / 2
	}
	timer := time.NewTimer(due.Std() - time.Since(start))
	if signal.Signal == 0 {
		timer.Stop()
	}
	return timer
}

// warn sends a job the signal that it asked for before its limit.
func (w *watch) warn(signal protocol.LimitSignal) {
	sig := unix.Signal(signal.Signal)
	if signal.ScriptOnly {
		_ = unix.Kill(w.pid, sig) // it may have ended by itself meanwhile
		return
	}
	signalDescendants(os.Getpid(), w.pid, sig)
}

// killGroup signals the job's process group, and the job itself should it have
// left that. As long as the job is not reaped, no other process gets its number.
func (w *watch) killGroup(sig unix.Signal) {
	_ = unix.Kill(-w.pid, sig)
	_ = unix.Kill(w.pid, sig)
}

// reapOthers reaps processes that the job has left behind, as long as it runs. It
// returns true when the job has ended; that is not reaped.
func (w *watch) reapOthers() (ended bool) {
	for {
		pid, err := findEnded()
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

// killRemaining kills processes that the job has left behind in process groups of
// their own. The kernel has made them this process's children.
func (w *watch) killRemaining() {
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
	case trouble == errLate.Error():
		end.State, end.ExitCode, end.Reason = protocol.Cancelled, 0, trouble
		w.late = true
	case trouble != "":
		end.State, end.Reason = protocol.Failed, trouble
	case end.Signal != 0:
		end.State, end.Reason = protocol.Failed, "ended by signal "+unix.SignalName(status.Signal())
	case end.ExitCode != 0:
		end.State, end.Reason = protocol.Failed, fmt.Sprintf("the script ended with exit code %d", end.ExitCode)
	}
	return end
}
