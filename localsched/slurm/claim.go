package slurm

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A claim is who has won the file started: the wrapper that runs the job, or the
// adapter, so that no wrapper ever may.
type claim struct {
	by      string           // withdrawnBy, closedBy, or empty: a wrapper
	id      uint32           // of Slurm's job; 0: cannot be read
	restart string           // how many times Slurm had requeued it
	node    string           // where it runs
	started protocol.Instant // by the clock of the node; 0: cannot be read
}

// started reports whether the claim is a wrapper's.
func (c claim) wrapper() bool { return c.by == "" }

// readClaim reads the claim of a job's directory. The error is fs.ErrNotExist while
// there is none. Whatever else is wrong with the file, it is a claim: some wrapper
// may have won it.
func readClaim(dir string, owner spool.Account) (claim, error) {
	text, err := readSmallFile(filepath.Join(dir, claimDir, startedFile), owner)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return claim{}, fs.ErrNotExist
	case errors.Is(err, spool.ErrNotPlain):
		return claim{}, nil
	case err != nil:
		return claim{}, err
	}
	return parseClaim(text), nil
}

// parseClaim reads "id restarts node pid milliseconds", as the wrapper writes it,
// or one of the adapter's words.
func parseClaim(text string) (c claim) {
	f := strings.Fields(text)
	if len(f) == 1 && (f[0] == withdrawnBy || f[0] == closedBy) {
		return claim{by: f[0]}
	}
	if len(f) != 5 {
		return claim{}
	}
	c.restart, c.node, c.started = f[1], f[2], parseMillis(f[4])
	if id, err := strconv.ParseUint(f[0], 10, 32); err == nil {
		c.id = uint32(id)
	}
	return c
}

// exit is what a wrapper writes down at the end.
type exit struct {
	code  int // as shells give it: 128 + n for signal n
	ended protocol.Instant
	cpu   protocol.Duration // of the wrapper and what it has waited for; 0: not known
	term  termNoted
}

// termNoted states whether a wrapper received TERM before its script had ended.
type termNoted uint8

const (
	termUnknown  termNoted = iota // the wrapper is one of an earlier version, which did not note it
	termReceived                  // it got the TERM with which Slurm begins to end a job
	termAbsent                    // it did not: the script came to its own end
)

// readExit reads the exit record of a job's directory. The error is fs.ErrNotExist
// when there is none, or none that makes sense.
func readExit(dir string, owner spool.Account) (exit, error) {
	text, err := readSmallFile(filepath.Join(dir, claimDir, exitFile), owner)
	if errors.Is(err, spool.ErrNotPlain) {
		return exit{}, fs.ErrNotExist
	}
	if err != nil {
		return exit{}, err
	}
	last, ok := parseClaimExit(text)
	if !ok {
		return exit{}, fs.ErrNotExist
	}
	return last, nil
}

// parseClaimExit reads "code milliseconds signal" and what the shell's times has printed, or
// less of that, as wrappers of earlier versions have written it. The account may have written
// anything.
func parseClaimExit(text string) (last exit, ok bool) {
	f := strings.Fields(text)
	const first, timed, noted = 2, 6, 7 // words of the first wrappers, of those with times, of this one
	if len(f) != first && len(f) != timed && len(f) != noted {
		return exit{}, false
	}
	code, err := parseCount(f[0], 255)
	if err != nil {
		return exit{}, false
	}
	last = exit{code: code, ended: parseMillis(f[1])}
	times := f[first:]
	if len(f) == noted {
		if last.term = termAbsent; f[first] == "TERM" {
			last.term = termReceived
		}
		times = f[first+1:]
	}
	last.cpu = parseShellTimes(times)
	return last, true
}

// endedByItself reports whether the script was over before anybody had Slurm end the job at an instant.
// Wrappers that have not noted it have noted when the script was over: then the clocks decide.
func (e exit) endedByItself(end protocol.Instant) bool {
	switch e.term {
	case termReceived:
		return false
	case termAbsent:
		return true
	case termUnknown:
	}
	return e.before(end)
}

// before reports whether the script was over before an instant of the controller's clock, of which the
// node's may be a little apart.
func (e exit) before(end protocol.Instant) bool {
	const apart = 2 * protocol.Second
	return e.ended > 0 && e.ended.Add(apart) < end
}

// status takes an exit code of a shell apart.
func (e exit) status() (code, signal int) {
	const last = 64 // the highest signal of Linux
	if e.code > 128 && e.code <= 128+last {
		return 0, e.code - 128
	}
	return e.code, 0
}

// parseMillis is 0 for what is no time in milliseconds, of the years to 9999.
func parseMillis(text string) protocol.Instant {
	const last = 253_402_300_799_999
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > last {
		return 0
	}
	return protocol.Instant(n)
}

// takeClaim makes the claim for the adapter. It returns the claim that has won.
func takeClaim(dir string, owner spool.Account, by string) (claim, error) {
	won, err := createStarted(dir, by)
	if err != nil {
		return claim{}, err
	}
	if won {
		return claim{by: by}, nil
	}
	return readClaim(dir, owner)
}

// readSmallFile reads the beginning of a small file in a job's claim directory, of the account
// or, for a claim of the adapter's, of the peer. To open the directory first has NFS
// ask its server what is new in it.
func readSmallFile(path string, owner spool.Account) (string, error) {
	const most = 4096
	if parent, err := os.Open(filepath.Dir(path)); err == nil {
		_ = parent.Close()
	}
	file, err := spool.OpenPlain(path, owner.UID, uint32(os.Geteuid())) //nolint:gosec // uids have 32 bits
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(file, most))
	return string(data), errors.Join(err, file.Close())
}
