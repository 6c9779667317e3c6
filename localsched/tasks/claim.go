package tasks

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// turnByte is the byte of the file of the steps that is locked by the step whose turn it is to take CPUs.
const turnByte = maxCPUs

// claimPause is the pause between two looks whether the CPUs are free, of the step whose turn it is.
const claimPause = 20 * time.Millisecond

// claim is the CPUs that a step has taken, until it is closed or its process ends.
type claim struct {
	file *os.File
	step int // its number
}

// Begin waits until the CPUs of a step are free, and gives it its number. With immediate it does not wait. busy is called if it
// has to, at its beginning. The CPUs are the step's until release is called or this process ends.
func (a Allocation) Begin(place Place, immediate bool, busy func()) (number int, release func() error, err error) {
	c, err := a.claim(place.CPUs, immediate, busy)
	if errors.Is(err, errBusy) {
		err = a.stepError(errBusy)
	}
	if err != nil {
		return 0, nil, err
	}
	return c.step, c.close, nil
}

// claim waits for the CPUs of a step, in the order in which steps asked. With immediate it does not wait: the error
// wraps errBusy then. busy is called once, when it begins to wait.
func (a Allocation) claim(cpus []int, immediate bool, busy func()) (*claim, error) {
	file, err := os.OpenFile(a.File, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open the file of the job's steps: %w", err)
	}
	c := &claim{file: file}
	if err = c.take(a.CPUs, cpus, immediate, sync.OnceFunc(busy)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return c, nil
}

func (c *claim) take(all, cpus []int, immediate bool, busy func()) error {
	mine, err := c.lock(turnByte, unix.F_WRLCK)
	if err == nil && !mine && !immediate {
		busy()
		mine, err = c.set(unix.F_OFD_SETLKW, at(turnByte, unix.F_WRLCK))
	}
	for err == nil {
		if mine {
			if mine, err = c.lockAll(all, cpus); mine || err != nil {
				break
			}
		}
		if immediate {
			return errBusy
		}
		busy()
		time.Sleep(claimPause)
		mine = true // the turn still is
	}
	if err == nil {
		c.step, err = c.number()
	}
	if err == nil {
		_, err = c.lock(turnByte, unix.F_UNLCK)
	}
	return err
}

// lockAll takes as many CPUs of each node as stated, or none.
func (c *claim) lockAll(all, cpus []int) (mine bool, err error) {
	first := 0
	for i, n := range cpus {
		for cpu := first; cpu < first+all[i] && n > 0; cpu++ {
			if mine, err = c.lock(cpu, unix.F_WRLCK); err != nil {
				return false, err
			}
			if mine {
				n--
			}
		}
		if n > 0 {
			return false, c.free()
		}
		first += all[i]
	}
	return true, nil
}

// lock locks a byte of the file, or gives it back. false: another step has it.
func (c *claim) lock(offset int, kind int16) (mine bool, err error) {
	return c.set(unix.F_OFD_SETLK, at(offset, kind))
}

func at(offset int, kind int16) unix.Flock_t {
	return unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: int64(offset), Len: 1}
}

// free gives all CPUs back.
func (c *claim) free() error {
	_, err := c.set(unix.F_OFD_SETLK, unix.Flock_t{Type: unix.F_UNLCK, Whence: io.SeekStart, Start: 0, Len: maxCPUs})
	return err
}

// set changes locks of the open file, not of this process.
func (c *claim) set(command int, lock unix.Flock_t) (mine bool, err error) {
	for {
		err = unix.FcntlFlock(c.file.Fd(), command, &lock)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, fmt.Errorf("lock the file of the job's steps: %w", err)
		}
	}
}

// number takes the number of the step. It is this one's turn.
func (c *claim) number() (int, error) {
	data := make([]byte, len(strconv.Itoa(maxSteps))+1)
	n, err := c.file.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read the file of the job's steps: %w", err)
	}
	next := 0
	if text := strings.TrimSpace(string(data[:n])); text != "" {
		if next, err = strconv.Atoi(text); err != nil || next < 0 || next >= maxSteps {
			return 0, fmt.Errorf("%s has no number of a step below %d: %q", c.file.Name(), maxSteps, text)
		}
	}
	if _, err = c.file.WriteAt([]byte(strconv.Itoa(next+1)), 0); err != nil {
		return 0, fmt.Errorf("number the step: %w", err)
	}
	return next, nil
}

// maxSteps bounds the numbers of steps: above are those with which Slurm names its own.
const maxSteps = 1 << 30

func (c *claim) close() error { return c.file.Close() }
