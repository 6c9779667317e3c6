package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/internal/sparse"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
)

// allFD is the pipe on which a delivery hears that it has got everything.
const allFD = 3

// What a delivery hears on it.
const (
	byteAll   = 'a' // that was everything
	byteBegin = 'b' // what is appended may be written now
)

// errCut says that a delivery ended before it was whole.
var errCut = errors.New("the delivery was cut off")

// deliverMain writes its input to a path. It has the rights of the account.
func deliverMain(path, umask string) int {
	unix.CloseOnExec(allFD)
	if err := setUmask(umask); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	return placed(place(path, os.Stdin, os.NewFile(allFD, "all")))
}

// placed is the exit code of a delivery.
func placed(err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(os.Stderr, err)
	if permanent(err) {
		return exitPermanent
	}
	return exitFailed
}

// permanent reports whether the same would fail again.
func permanent(err error) bool {
	return slices.ContainsFunc([]error{
		unix.EACCES, unix.EPERM, unix.EROFS, unix.ENOENT, unix.ENOTDIR, unix.EISDIR,
		unix.ENAMETOOLONG, unix.ELOOP, unix.ENXIO, unix.EINVAL, unix.EDQUOT, unix.EFBIG,
	}, func(e error) bool { return errors.Is(err, e) })
}

// place writes a file as a whole, through a link to where that leads.
func place(path string, from, all io.Reader) error {
	info, err := writable(path)
	switch {
	case err != nil:
		return err
	case info == nil:
		return placeFile(path, newFile&^CurrentUmask(), from, all)
	case info.Mode()&fs.ModeCharDevice != 0:
		return writeDevice(path, from)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	return placeFile(target, info.Mode().Perm(), from, all)
}

// writable describes a file or device that output may go to; nil: there is none yet.
func writable(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s: %w", path, unix.EISDIR)
	case info.Mode()&fs.ModeCharDevice == 0 && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is neither a file nor a device: %w", path, unix.EINVAL)
	}
	return info, nil
}

// newFile is the mode of a file that was not there, less the umask, as for a job that runs at
// home. One that was there keeps its mode.
const newFile = 0o666

// CurrentUmask is the umask of this process, which must make no files meanwhile.
func CurrentUmask() fs.FileMode {
	mask := unix.Umask(0) // the only way to read it sets it
	unix.Umask(mask)
	return fs.FileMode(mask) //nolint:gosec // at most 0777
}

func writeDevice(path string, from io.Reader) error {
	device, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(device, from)
	return errors.Join(err, device.Close())
}

// placeFile writes under another name and renames once it knows that it has
// everything. Being ended removes the other name too.
func placeFile(path string, mode fs.FileMode, from, all io.Reader) error {
	dir, name := filepath.Split(path)
	temp, err := os.CreateTemp(dir, ".switchyard-*")
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM, unix.SIGHUP, unix.SIGINT)
	done := make(chan error, 1)
	go func() { done <- copyAll(temp, mode, from, all) }()
	select {
	case err = <-done:
	case <-stop:
		err = errCut
	}
	if err == nil {
		err = os.Rename(temp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	if err = spool.SyncPath(dir); errors.Is(err, fs.ErrPermission) {
		return nil // a directory that may be written and not read
	}
	return err
}

func copyAll(temp *os.File, mode fs.FileMode, from, all io.Reader) error {
	err := sparse.Copy(temp, from) // zeros count against no quota
	if err == nil {
		_, err = io.ReadFull(all, make([]byte, 1))
	}
	if errors.Is(err, io.EOF) {
		err = errCut
	}
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	return errors.Join(err, temp.Close())
}
