package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/localsched/usage"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The exit codes of shims. The first three are for people; no program reads them.
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitPermanent = 3 // of deliver and append: trying again is of no use
	exitAbsent    = 4 // of read-file: there is no such file
	exitForbidden = 5 // of read-file: the account may not read it
)

// The words that come after the shim's command line. A directory of the spool, an
// absolute path, cannot be taken for one.
const (
	execWord    = "exec"
	deliverWord = "deliver"
	appendWord  = "append"
	packWord    = "pack"
	unpackWord  = "unpack"
	markWord    = "mark"
	readWord    = "read-mark"

	readFileWord = "read-file"
	placeWord    = "place"
	collectWord  = "collect"
)

// ShimMain is the shim's main function; the process must end with the code that
// it returns. The arguments are what follows the command line of [Config.Shim].
// It must be called before the program does anything else, on the main goroutine.
func ShimMain(args []string) int {
	// The kernel signals a job at the death of the thread that started it, not of the process.
	runtime.LockOSThread()
	// Nor does it inherit what the peer was started with; older kernels cannot do it.
	_ = unix.CloseRange(answerFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	switch {
	case len(args) == 1 && args[0] == execWord:
		return execMain()
	case len(args) == 1 && args[0] != deliverWord:
		return watchMain(args[0], os.Args[:len(os.Args)-1])
	}
	if code, ok := filesMain(args); ok {
		return code
	}
	fmt.Fprintln(os.Stderr, "the shim is started by the peer; it is no command for people")
	return exitUsage
}

// filesMain does something with files as an account; false: the words are of nothing like that.
func filesMain(args []string) (code int, ok bool) {
	switch {
	case len(args) == 3 && args[0] == deliverWord:
		return deliverMain(args[1], args[2]), true
	case (len(args) == 3 || len(args) == 4) && args[0] == appendWord:
		return appendMain(args[1], args[2], args[3:]), true
	case len(args) == 2 && args[0] == packWord:
		return packMain(args[1]), true
	case len(args) >= 4 && args[0] == unpackWord:
		return unpackMain(args[1], args[2], args[3:]), true
	case len(args) == 3 && args[0] == placeWord:
		return placeMain(args[1], args[2]), true
	case len(args) >= 4 && args[0] == collectWord:
		return collectMain(args[1], args[2], args[3:]), true
	}
	return smallFilesMain(args)
}

// smallFilesMain is the part of filesMain about marks, and files that are read.
func smallFilesMain(args []string) (code int, ok bool) {
	switch {
	case len(args) == 2 && args[0] == markWord:
		return markMain(args[1]), true
	case len(args) == 2 && args[0] == readWord:
		return readMarkMain(args[1]), true
	case len(args) == 4 && args[0] == readFileWord:
		return readFileMain(args[1], args[2], args[3]), true
	}
	return 0, false
}

// watchMain runs the job of a directory, if no other shim has, and writes down how
// it ended.
func watchMain(dir string, command []string) int {
	asked := make(chan os.Signal, 4)
	signal.Notify(asked, unix.SIGTERM)
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	// Heard and not ignored, because a job would inherit that.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGPIPE)

	syscall.CloseOnExec(answerFD)
	pipe := os.NewFile(answerFD, "answer")
	jobDir, err := os.Open(dir)
	if err != nil {
		sayAnswer(pipe, shimAnswer{Error: err.Error()})
		return exitFailed
	}
	start, clock := time.Now(), wallclock.System()()
	record, where, answer := claimJob(dir, clock)
	claim := answer.startedRecord
	if answer.Error != "" || answer.Lost {
		sayAnswer(pipe, answer)
		return exitFailed
	}
	w := watch{
		dir: dir, opened: opened(jobDir), command: command, record: record, where: where, group: claim.Group, start: start, started: claim.Started,
		asked: asked, children: children, meter: usage.NewMeter(usage.Kernel(), os.Getpid()),
	}
	trouble, err := w.startJob()
	answer.Uncontained = w.uncontained
	sayAnswer(pipe, answer)
	var exit exitRecord
	if err == nil {
		exit = w.follow(trouble)
	} else {
		exit = w.exit(spool.End{State: protocol.Failed, Reason: fmt.Sprintf("cannot start the job: %v", err)})
	}
	return writeExit(jobDir, exit, asideTimeout)
}

// claimJob makes the file started, for a shim that was started at the time that is read. A job that
// must not start as late as that is withdrawn instead.
func claimJob(dir string, clock wallclock.Reading) (record jobRecord, where placeRecord, answer shimAnswer) {
	fail := func(err error) (jobRecord, placeRecord, shimAnswer) {
		return jobRecord{}, placeRecord{}, shimAnswer{Error: err.Error()}
	}
	var claim startedRecord
	record, err := spool.ReadRecord[jobRecord](dir, spool.JobFile)
	if err != nil {
		return fail(err)
	}
	if err = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fail(fmt.Errorf("become the reaper of the job's processes: %w", err))
	}
	if claim.processID, err = self(); err != nil {
		return fail(err)
	}
	where, err = spool.ReadRecord[placeRecord](dir, placedFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	claim.Place, claim.Limit, claim.Devices, claim.Began = where.Place, where.Limit, where.Devices, whenBegan()
	claim.Started, claim.Launched = clock.Wall, clock.Steady
	if by := record.Submission.StartBy; by != 0 && clock.Wall > by {
		if _, err = createStarted(dir, startedRecord{Withdrawn: true}); err != nil {
			return fail(err)
		}
		return record, where, shimAnswer{Lost: true}
	}
	if claim.Group, err = groupFor(record.Submission.Tag); err != nil {
		return fail(err)
	}
	won, err := claim.create(dir, where.Claim)
	if err != nil {
		return fail(err)
	}
	return record, where, shimAnswer{startedRecord: claim, Lost: !won}
}

// create makes the file started by way of a directory in that of the job; empty: of that itself.
func (r startedRecord) create(dir, claim string) (won bool, err error) {
	if claim == "" {
		return createStarted(dir, r)
	}
	won, err = createStartedFrom(filepath.Join(dir, claim), dir, r)
	if errors.Is(err, fs.ErrNotExist) {
		// A new peer has withdrawn the claim, perhaps after it was made and before it was tidied up.
		if first, unread := spool.ReadRecord[startedRecord](dir, startedFile); unread == nil && first.processID == r.processID {
			won, err = true, spool.SyncPath(dir)
		}
	}
	_ = os.Remove(filepath.Join(dir, claim)) // it is empty now, and goes with the job at the latest
	return won, err
}

// sayAnswer tells the peer, which may be dead by now.
func sayAnswer(pipe *os.File, answer shimAnswer) {
	err := json.NewEncoder(pipe).Encode(answer)
	if closed := pipe.Close(); err == nil {
		err = closed
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "answer the peer:", err)
	}
}

// opened is a path of an open directory that stays right when the directory is renamed, as
// "switchyard peer --new-store" does with those of all jobs. It is of use to this process
// alone.
func opened(jobDir *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", jobDir.Fd()) }

// asideTimeout is how long a shim tries to write down how its job ended where no peer looks
// for it any more.
const asideTimeout = 10 * time.Minute

// writeExit writes down how the job ended, in the directory that was opened at the start. The
// result must not be lost: while the disk is full, it tries again for ever. It does not once
// the directory is removed, nor for longer than the patience once the directory has another name.
func writeExit(jobDir *os.File, exit exitRecord, patience time.Duration) int {
	const longest = 30 * time.Second
	inPlace := time.Now() // the directory was, or may have been
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, longest) {
		err := spool.ReplaceRecord(opened(jobDir), exitFile, exit)
		found := named(jobDir)
		if found {
			inPlace = time.Now()
		}
		if err == nil && !found {
			fmt.Fprintf(os.Stderr, "no peer looks at this directory any more, which was %s; how the job ended is in the file %s\n", jobDir.Name(), exitFile)
		}
		if err == nil {
			return exitOK
		}
		fmt.Fprintln(os.Stderr, "write how the job ended:", err)
		if removed(jobDir) {
			return exitFailed
		}
		if time.Since(inPlace) > patience {
			fmt.Fprintf(os.Stderr, "no peer looks at this directory any more, which was %s; the job ended as %v, exit code %d: %s\n",
				jobDir.Name(), exit.State, exit.ExitCode, exit.Reason)
			return exitFailed
		}
		time.Sleep(pause)
	}
}

// named reports whether an open directory still has the name with which it was opened.
func named(jobDir *os.File) bool {
	this, err := jobDir.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(jobDir.Name())
	return err == nil && os.SameFile(this, there)
}

// removed reports whether an open directory has no name any more.
func removed(jobDir *os.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(jobDir.Fd()), &st) == nil && st.Nlink == 0
}
