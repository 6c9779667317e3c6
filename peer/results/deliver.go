package results

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Deliverer implements [node.Deliverer]: it puts the files of jobs that ran elsewhere where
// their submitters want them. Its methods may be called from any goroutine.
type Deliverer struct {
	Files    process.Deliverer // writes as an account
	Accounts rules.Accounts    // which may change
	Dir      *Dir              // of what is on its way home, and of what cannot be delivered
}

// undeliverable is a failure that may be for good.
type undeliverable struct{ *process.DeliverError }

// Permanent says that repeating cannot help.
func (e undeliverable) Permanent() bool { return e.DeliverError.Permanent }

// Deliver writes as the account that also runs the user's jobs. An error that is for good,
// such as a user without an account, has the method Permanent.
func (d *Deliverer) Deliver(ctx context.Context, user, path string, umask int, r io.Reader) error {
	return d.write(user, path, func(account string) error { return d.Files.Deliver(ctx, account, path, umask, r) })
}

// Append is as Deliver, but for what is in the file already.
func (d *Deliverer) Append(ctx context.Context, user, path string, umask int, tag protocol.Tag, stream protocol.Stream, r io.Reader) error {
	began, err := d.Dir.began(tag, stream)
	if err != nil {
		return err
	}
	noted := process.Appending{
		Began: began,
		Begin: func(size int64) error { return d.Dir.begin(tag, stream, size) },
		Undo:  func() error { return d.Dir.undo(tag, stream) },
	}
	return d.write(user, path, func(account string) error { return d.Files.Append(ctx, account, path, umask, r, noted) })
}

// write writes at a path as a user.
func (d *Deliverer) write(user, path string, as func(account string) error) error {
	account, err := d.Accounts.Local(user)
	if err != nil {
		return undeliverable{&process.DeliverError{Path: path, Account: user, Permanent: true, Reason: err.Error()}}
	}
	err = as(account)
	if failed, ok := errors.AsType[*process.DeliverError](err); ok {
		return undeliverable{failed}
	}
	return err
}

// Unpack puts the files of an archive below a directory as that account.
func (d *Deliverer) Unpack(ctx context.Context, user, dir string, umask int, files *protocol.Staging, r io.Reader) error {
	return d.write(user, dir, func(account string) error { return d.Files.Unpack(ctx, account, dir, umask, files, r) })
}

// Pack makes the archive of the files that go with a job, read as that account, unless it is here.
func (d *Deliverer) Pack(ctx context.Context, user, dir string, job protocol.JobID, files *protocol.Staging) error {
	err := d.write(user, dir, func(account string) error {
		return d.Dir.pack(job, files, func(w io.Writer) error { return d.Files.Pack(ctx, account, dir, files.Inputs, w) })
	})
	if failed, ok := errors.AsType[undeliverable](err); ok {
		return unreadable{failed}
	}
	return err
}

// unreadable is about a file that is read, not written.
type unreadable struct{ undeliverable }

func (e unreadable) Error() string { return e.Reason }

// Mark writes a small file as an account of this machine until remove is called.
func (d *Deliverer) Mark(ctx context.Context, account, path string, content []byte) (remove func() error, err error) {
	remove, err = d.Files.Mark(ctx, account, path, content)
	if failed, ok := errors.AsType[*process.DeliverError](err); ok {
		err = unreadable{undeliverable{failed}} // its reason has the path, and the account is this site's business
	}
	return remove, err
}

// Marked reads a file that [Deliverer.Mark] has written, here or at another site, as the account that runs the user's jobs.
func (d *Deliverer) Marked(ctx context.Context, user, path string) (content []byte, err error) {
	err = d.write(user, path, func(account string) error {
		content, err = d.Files.ReadMark(ctx, account, path)
		return err
	})
	return content, err
}

// ReadFile reads up to size bytes of a file from an offset as the account that runs the user's jobs; behind its end it returns
// nothing. The error wraps [fs.ErrNotExist] if there is no such file, and [fs.ErrPermission] if the account may not read it.
func (d *Deliverer) ReadFile(ctx context.Context, user, path string, offset int64, size int) (data []byte, err error) {
	account, err := d.Accounts.Local(user)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return d.Files.ReadFile(ctx, account, path, offset, size)
}

// Place puts the files of an archive below a directory, which is made if it is not there, as the account that runs the user's jobs. The
// error says why as the caller may know it.
func (d *Deliverer) Place(ctx context.Context, user, dir string, r io.Reader) error {
	err := d.write(user, dir, func(account string) error { return d.Files.Place(ctx, account, dir, protocol.DefaultUmask, r) })
	if failed, ok := errors.AsType[undeliverable](err); ok {
		return unplaced{failed}
	}
	return err
}

// unplaced is about files below a directory.
type unplaced struct{ undeliverable }

func (e unplaced) Error() string {
	return fmt.Sprintf("cannot put the files into %s as %s: %s", e.Path, e.Account, e.Reason)
}

// Collect writes the archive of the files below a directory that patterns name, of at most the given number of bytes as a limit says, read as the
// account that runs the user's jobs. Missing are those that are not in it though they are wanted; notices are about others.
func (d *Deliverer) Collect(ctx context.Context, user, dir string, patterns []string, most int64, limit string, w io.Writer) (missing string, notices []string, err error) {
	var said process.Collected
	err = d.write(user, dir, func(account string) error {
		said, err = d.Files.Collect(ctx, account, dir, patterns, most, limit, w)
		return err
	})
	if failed, ok := errors.AsType[undeliverable](err); ok {
		err = unreadable{failed}
	}
	return said.Missing, said.Notices, err
}

// Packed is a piece of that archive.
func (d *Deliverer) Packed(job protocol.JobID, offset int64, size int) ([]byte, error) {
	return d.Dir.packed(job, offset, size)
}

// DropPacked removes that archive, if it is here.
func (d *Deliverer) DropPacked(job protocol.JobID) error { return dropFile(d.Dir.packOf(job)) }

// InputsPath is where the archive of a guest's files is.
func (d *Deliverer) InputsPath(tag protocol.Tag) string {
	return d.Dir.partOf(tag, protocol.StageInArchive)
}

// DropInputs removes the archive of a guest's files, if it is here.
func (d *Deliverer) DropInputs(tag protocol.Tag) error { return dropFile(d.InputsPath(tag)) }

// Part opens what has come home so far of a file.
func (d *Deliverer) Part(tag protocol.Tag, stream protocol.Stream) (node.Part, error) {
	return d.Dir.Part(tag, stream)
}

// Whole takes a file that came at once.
func (d *Deliverer) Whole(tag protocol.Tag, stream protocol.Stream, data []byte) node.Output {
	return d.Dir.Whole(tag, stream, data)
}

// Kept reads in a file that was kept.
func (d *Deliverer) Kept(tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
	return d.Dir.Kept(tag, stream, offset, size)
}

// Discard removes what has come home of a job's files.
func (d *Deliverer) Discard(tag protocol.Tag) error { return d.Dir.Discard(tag) }
