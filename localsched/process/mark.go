package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
)

// MarkSize is how many bytes a mark has.
const MarkSize = 64

// Mark writes a file of [MarkSize] bytes as the account, which shows that the account can write in its directory. It stays until
// remove is called, or this process ends. The error is a *[DeliverError], or the context's.
func (d *Deliverer) Mark(ctx context.Context, name, path string, content []byte) (remove func() error, err error) {
	as, err := d.account(ctx, name, path)
	if err != nil {
		return nil, err
	}
	said := new(bytes.Buffer)
	cmd := d.command(ctx, as, markWord, path)
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel = in.Close // it removes the file then
	if err = cmd.Start(); err != nil {
		return nil, err
	}
	remove = func() error {
		if ended := errors.Join(in.Close(), cmd.Wait()); ended != nil {
			return deliverError(path, as, ended, said.String())
		}
		return nil
	}
	_, sent := in.Write(content)
	if _, err = io.ReadFull(out, make([]byte, 1)); err == nil && sent == nil {
		return remove, nil
	}
	err = cmp.Or(remove(), sent, err)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, err
}

// ReadMark reads what [Deliverer.Mark] has written, perhaps at another site, as the account. The error is a *[DeliverError]: a
// permanent one if it is not there.
func (d *Deliverer) ReadMark(ctx context.Context, name, path string) ([]byte, error) {
	as, err := d.account(ctx, name, path)
	if err != nil {
		return nil, err
	}
	content, said := new(bytes.Buffer), new(bytes.Buffer)
	cmd := d.command(ctx, as, readWord, path)
	cmd.Stdout, cmd.Stderr = content, said
	if err = cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, deliverError(path, as, err, said.String())
	}
	return content.Bytes(), nil
}

// command is a shim that does something as an account.
func (d *Deliverer) command(ctx context.Context, as spool.Account, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, executable(d.Shim[0]), append(slices.Clone(d.Shim[1:]), words...)...) //nolint:gosec // the peer's own command
	cmd.Dir, cmd.Env = "/", shimEnv()
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: as.UID, Gid: as.GID, Groups: as.Groups}}
	}
	return cmd
}

// markMain makes the file with what its input begins with, says so, and removes it when its input ends.
func markMain(path string) int {
	content := make([]byte, MarkSize)
	_, err := io.ReadFull(os.Stdin, content)
	if err == nil {
		err = writeMark(path, content)
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err // who asked says where
		}
	}
	if err == nil {
		_, err = os.Stdout.Write([]byte{byteAll})
	}
	if err == nil {
		_, err = io.Copy(io.Discard, os.Stdin)
		err = errors.Join(err, os.Remove(path))
	}
	return placed(err)
}

// writeMark makes a new file: one that is there was left by a process that was killed.
func writeMark(path string, content []byte) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Chmod(0o644) // the origin reads it, perhaps as another account
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil { // closed, so that others see it over NFS
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// readMarkMain prints the file, which must be an ordinary one.
func readMarkMain(path string) int {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err == nil {
		var info fs.FileInfo
		if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
			err = &fs.PathError{Op: "open", Path: path, Err: unix.EACCES}
		}
	}
	if err == nil {
		_, err = io.Copy(os.Stdout, io.LimitReader(file, MarkSize))
	}
	return placed(err)
}
