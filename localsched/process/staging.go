package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Pack writes the archive of the files of a submitter below a directory, read as the account. The error is a
// *[DeliverError]: a permanent one if a file is not as it was noted, or cannot be read.
func (d *Deliverer) Pack(ctx context.Context, name, dir string, files []protocol.StagedFile, w io.Writer) error {
	from, err := d.account(ctx, name, dir)
	if err != nil {
		return err
	}
	list, err := json.Marshal(files)
	if err != nil {
		return err
	}
	cmd := d.command(ctx, from, packWord, dir)
	said := new(bytes.Buffer)
	to := &notedWriter{w: w}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(list), to, said
	err = cmd.Run()
	switch {
	case to.err != nil:
		return fmt.Errorf("keep the files of the job: %w", to.err)
	case ctx.Err() != nil && err != nil:
		return context.Cause(ctx)
	case err != nil:
		return deliverError(dir, from, err, said.String())
	}
	return nil
}

// notedWriter notes how the writing went.
type notedWriter struct {
	w   io.Writer
	err error
}

func (n *notedWriter) Write(p []byte) (int, error) {
	count, err := n.w.Write(p)
	n.err = err
	return count, err
}

// packMain writes the archive of the files that its input lists, with the rights of the account.
func packMain(dir string) int {
	var files []protocol.StagedFile
	err := json.NewDecoder(os.Stdin).Decode(&files)
	if err == nil {
		out := bufio.NewWriterSize(os.Stdout, 1<<18)
		err = errors.Join(staging.Pack(context.Background(), out, dir, files), out.Flush())
	}
	if changed, ok := errors.AsType[*staging.ChangedError](err); ok {
		fmt.Fprintln(os.Stderr, changed)
		return exitPermanent
	}
	return placed(err)
}

// Unpack puts the files of an archive into a directory as the account, each as a whole; only those that one of
// the patterns of what comes back names may be in it. All of them get less of their modes than they have in the archive, by the umask. The error is a *[DeliverError], or what r or the context gave.
func (d *Deliverer) Unpack(ctx context.Context, name, dir string, umask int, files *protocol.Staging, r io.Reader) error {
	to, err := d.account(ctx, name, dir)
	if err != nil {
		return err
	}
	words := append([]string{unpackWord, dir, umaskWord(umask), strconv.Itoa(len(files.Out))}, files.Out...)
	return deliver(ctx, d.Shim, to, append(words, files.Links...), r, Appending{})
}

// Place puts all files of an archive into a directory as the account, each as a whole, and makes the directory if there is none. Their
// modes are as those of [Deliverer.Unpack], and so is the error.
func (d *Deliverer) Place(ctx context.Context, name, dir string, umask int, r io.Reader) error {
	to, err := d.account(ctx, name, dir)
	if err != nil {
		return err
	}
	return deliver(ctx, d.Shim, to, []string{placeWord, dir, umaskWord(umask)}, r, Appending{})
}

// placeMain makes a directory, and puts the files of an archive into it, with the rights of the account.
func placeMain(dir, umask string) int {
	if err := setUmask(umask); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // the umask decides
		return placed(err)
	}
	return unpackMain(dir, umask, []string{"0"})
}

// Collected is what [Deliverer.Collect] says of the files that it has not taken.
type Collected struct {
	Missing string   `json:"missing,omitempty"` // of those that are wanted by name, or too many, and why
	Notices []string `json:"notices,omitempty"` // of others
}

// Collect writes the archive of the files below a directory that patterns name, as [staging.Collect] does, read as the account, which they must
// belong to. It has at most the given number of bytes, as a limit says. The error is a *[DeliverError], or what w or the context gave.
func (d *Deliverer) Collect(ctx context.Context, name, dir string, patterns []string, most int64, limit string, w io.Writer) (said Collected, err error) {
	as, err := d.account(ctx, name, dir)
	if err != nil {
		return said, err
	}
	words := append([]string{collectWord, dir, strconv.FormatInt(most, 10), limit}, patterns...)
	to, report := &notedWriter{w: w}, &bounded{most: 1 << 20}
	cmd := d.command(ctx, as, words...)
	cmd.Stdout, cmd.Stderr = to, report
	err = cmd.Run()
	switch {
	case to.err != nil:
		return said, to.err
	case ctx.Err() != nil && err != nil:
		return said, context.Cause(ctx)
	case err != nil:
		return said, deliverError(dir, as, err, string(report.data))
	}
	return said, json.Unmarshal(report.data, &said)
}

// collectMain writes the archive of what is below a directory, and on its standard error what is not in it.
func collectMain(dir, most string, words []string) int {
	bytes, err := strconv.ParseInt(most, 10, 64)
	if err != nil {
		return exitUsage
	}
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return placed(err)
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<18)
	files, notices, err := staging.Collect(context.Background(), out, staging.Left{
		Root: root, Patterns: words[1:], Owner: uint32(os.Geteuid()), //nolint:gosec // an ID of 32 bits
		MaxBytes: bytes, Limit: words[0], Fetched: true,
	})
	said := Collected{Notices: notices}
	missing, some := errors.AsType[*staging.MissingError](err)
	switch {
	case some && len(files) == 0: // the archive is of no use
		fmt.Fprintln(os.Stderr, missing.Reason)
		return exitPermanent
	case some:
		said.Missing, err = missing.Reason, nil
	}
	if err = errors.Join(err, out.Flush(), root.Close()); err == nil {
		err = json.NewEncoder(os.Stderr).Encode(said)
	}
	return placed(err)
}

// unpackMain puts the files of an archive into a directory, with the rights of the account. The words are the number of
// patterns, these, and the names of links.
func unpackMain(dir, umask string, words []string) int {
	unix.CloseOnExec(allFD)
	if err := setUmask(umask); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGHUP, unix.SIGINT)
	defer stop()
	patterns, err := strconv.Atoi(words[0])
	if words = words[1:]; err == nil && (patterns < 0 || patterns > len(words)) {
		err = unix.EINVAL
	}
	if err == nil {
		err = unpack(ctx, dir, words[:patterns], words[patterns:])
	}
	if errors.Is(err, staging.ErrArchive) || errors.Is(err, staging.ErrLink) {
		fmt.Fprintln(os.Stderr, err)
		return exitPermanent
	}
	return placed(err)
}

func unpack(ctx context.Context, dir string, patterns, links []string) error {
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return err
	}
	_, err = staging.Unpack(ctx, bufio.NewReaderSize(os.Stdin, 1<<18), staging.Into{Root: root, Patterns: patterns, Links: links, Umask: CurrentUmask()})
	if err == nil {
		_, err = io.Copy(io.Discard, os.Stdin) // what pads the archive; the peer sends all of it
	}
	return errors.Join(err, root.Close())
}
