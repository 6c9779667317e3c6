package process

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// spool is the folder with the jobs' folders. Names that begin with a dot are
// folders being made or removed.
type spool struct {
	jobs string
	lock *os.File
	log  *slog.Logger
}

// openSpool makes the spool if need be, takes it, and removes what was half made
// or half removed.
func openSpool(dir string, log *slog.Logger) (sp spool, err error) {
	sp.log = log
	sp.jobs = filepath.Join(dir, "jobs")
	for _, folder := range []string{dir, sp.jobs} {
		if err = makeFolder(folder); err != nil {
			return spool{}, fmt.Errorf("spool %s: %w", dir, err)
		}
	}
	if err = checkLocal(dir); err != nil {
		return spool{}, fmt.Errorf("spool %s: %w", dir, err)
	}
	sp.lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return spool{}, fmt.Errorf("spool %s: %w", dir, err)
	}
	if err = sp.take(); err == nil {
		err = sp.sweep()
	}
	if err != nil {
		return spool{}, errors.Join(fmt.Errorf("spool %s: %w", dir, err), sp.lock.Close())
	}
	return sp, nil
}

// makeFolder makes a folder through which accounts can pass, and checks that
// nobody else can put anything in it.
func makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o711); err != nil { //nolint:gosec // accounts pass through
		return err
	}
	if err := os.Chmod(path, 0o711); err != nil { //nolint:gosec // accounts pass through
		return err
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || int(st.Uid) != os.Geteuid() {
		return errors.Join(fmt.Errorf("%s must belong to the account of the peer; its owner can change what runs", path), err)
	}
	return syncPath(filepath.Dir(path))
}

// closedTo is the first folder above the spool through which accounts in general
// cannot pass; empty when there is none.
func closedTo(dir string) string {
	for above := filepath.Dir(dir); ; above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && info.Mode()&0o001 == 0 {
			return above
		}
		if above == filepath.Dir(above) {
			return ""
		}
	}
}

// take locks the spool. A process that a killed peer was just starting may hold
// the lock for a moment longer.
func (sp spool) take() error {
	for pause := time.Millisecond; ; pause *= 2 {
		err := unix.Flock(int(sp.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if pause > 100*time.Millisecond {
			return errors.New("another peer uses it; stop that one, or give this peer a spool of its own")
		}
		time.Sleep(pause)
	}
}

// close gives the spool free, also if a process just being started holds a copy
// of the file.
func (sp spool) close() error {
	err := unix.Flock(int(sp.lock.Fd()), unix.LOCK_UN)
	return errors.Join(err, sp.lock.Close())
}

func (sp spool) sweep() error {
	entries, err := os.ReadDir(sp.jobs)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			sp.sweepOne(filepath.Join(sp.jobs, e.Name()))
		}
	}
	return nil
}

// sweepOne removes what is left of a folder. What cannot be removed, because a job
// left a mount in it, is no reason not to start.
func (sp spool) sweepOne(path string) {
	if err := removeTree(path); err != nil {
		sp.log.Warn("leftover_not_removed", "path", path, "error", err, "remedy", "unmount what is mounted below it, then remove it")
	}
}

// folder is where a job's folder is or would be.
func (sp spool) folder(tag protocol.Tag) string {
	return filepath.Join(sp.jobs, folderOf(tag))
}

// add makes a job's folder, durably. After an error it is not there, unless the
// error says that it could not be removed.
func (sp spool) add(record jobRecord, script []byte) error {
	return sp.make(record.Submission.Tag, func(dir string) error {
		data, err := encode(record)
		if err != nil {
			return err
		}
		job, code := filepath.Join(dir, jobFile), filepath.Join(dir, scriptFile)
		if err = os.WriteFile(job, data, 0o600); err != nil {
			return err
		}
		if err = os.WriteFile(code, script, 0o600); err != nil {
			return err
		}
		if err = errors.Join(os.Chmod(code, 0o500), chown(code, record.Account)); err != nil { //nolint:gosec // it is run
			return err
		}
		if err = addRoom(dir, record); err != nil {
			return err
		}
		return syncPaths(job, code)
	})
}

// addRoom makes a guest's working folder, and its output files where the guest
// cannot put others in their place.
func addRoom(dir string, record jobRecord) error {
	if !record.Submission.Guest {
		return nil
	}
	work := filepath.Join(dir, workDir)
	if err := errors.Join(os.Mkdir(work, 0o700), chown(work, record.Account)); err != nil {
		return err
	}
	stdout, stderr := outputs(dir, record.Submission)
	for _, path := range []string{stdout, stderr} {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		if err = errors.Join(chown(path, record.Account), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// addTombstone makes the folder of a job that never came and never may.
func (sp spool) addTombstone(tag protocol.Tag) error {
	return sp.make(tag, func(dir string) error {
		data, err := encode(startedRecord{Withdrawn: true})
		if err != nil {
			return err
		}
		started := filepath.Join(dir, startedFile)
		return errors.Join(os.WriteFile(started, data, 0o600), syncPath(started))
	})
}

func (sp spool) make(tag protocol.Tag, content func(dir string) error) error {
	temp, err := os.MkdirTemp(sp.jobs, ".new-*")
	if err != nil {
		return explainFull(err)
	}
	if err = content(temp); err == nil {
		err = os.Chmod(temp, 0o711) //nolint:gosec // accounts pass through
	}
	if err == nil {
		err = syncPath(temp)
	}
	if err == nil {
		err = os.Rename(temp, sp.folder(tag))
	}
	if err != nil {
		return explainFull(errors.Join(err, os.RemoveAll(temp)))
	}
	if err = syncPath(sp.jobs); err != nil {
		return explainFull(errors.Join(err, sp.remove(tag)))
	}
	return nil
}

// remove takes a job's folder away. Once it is renamed it is gone for good.
func (sp spool) remove(tag protocol.Tag) error {
	temp := filepath.Join(sp.jobs, ".gone-"+folderOf(tag))
	err := os.Rename(sp.folder(tag), temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return removeTree(temp)
}

// presence says whether a folder is there of which no job is known.
func (sp spool) presence(tag protocol.Tag) (localsched.Presence, error) {
	_, err := os.Lstat(sp.folder(tag))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return localsched.Absent, nil
	case err != nil:
		return localsched.Unclear, err
	}
	return localsched.Unclear, nil
}

// chown gives a file of the spool to the account, if this process is root.
func chown(path string, to account) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(to.UID), int(to.GID))
}

// removeTree removes a folder, also where a job of the peer's own account has
// taken the rights away.
func removeTree(path string) error {
	err := os.RemoveAll(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) || os.Geteuid() == 0 {
		return err // root needs no rights, and must not follow an account's links
	}
	// What cannot be changed shows in the second removal.
	_ = filepath.WalkDir(path, func(p string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(p, 0o700) //nolint:gosec // a folder needs x; it is removed next
		}
		return nil
	})
	return os.RemoveAll(path)
}

func explainFull(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf("the spool's disk is full; free space there: %w", err)
	}
	return err
}
