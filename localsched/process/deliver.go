package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
)

// Deliverer puts files where submitters want them. Its field does not change once it is used;
// its method may be called from any goroutine.
type Deliverer struct {
	// Shim is as in [Config]. Accounts must be able to run the file, unless it is
	// the program that calls.
	Shim []string

	accounts spool.Accounts
}

// DeliverError says that a file could not be put where the submitter wants it.
type DeliverError struct {
	Path      string
	Account   string
	Permanent bool // trying again is of no use: no such directory, no right
	Reason    string
}

func (e *DeliverError) Error() string {
	return fmt.Sprintf("cannot put %s there as %s: %s", e.Path, e.Account, e.Reason)
}

// Appending is what keeps an append from being made twice, however often it is tried.
type Appending struct {
	Began *int64                 // the size of the file when an earlier try began to write; nil: none has
	Begin func(size int64) error // notes that size durably, before anything is written
	Undo  func() error           // forgets it: nothing of the append is in the file
}

// Append writes all of r behind what is in the file at the path, as the account. What an earlier try has
// written there is not written again, unless others have written behind a part of it meanwhile. If the
// peer was killed during an earlier try, what others have since written there is taken for its own if it is
// the same.
// The umask and the error are as those of [Deliverer.Deliver].
func (d *Deliverer) Append(ctx context.Context, name, path string, umask int, r io.Reader, a Appending) error {
	to, err := d.account(ctx, name, path)
	if err != nil {
		return err
	}
	words := []string{appendWord, path, umaskWord(umask)}
	if a.Began != nil {
		words = append(words, strconv.FormatInt(*a.Began, 10))
	}
	return deliver(ctx, d.Shim, to, words, r, a)
}

// Deliver writes all of r to the path as the account: under another name in the
// same directory, synced, then renamed, so that the file is there as a whole or not
// at all. Only a device, such as /dev/null, is written to as it is. A file that was there keeps its
// mode; another one has that of a new file under the umask. The error is a
// *[DeliverError], or what r or the context gave.
func (d *Deliverer) Deliver(ctx context.Context, name, path string, umask int, r io.Reader) error {
	to, err := d.account(ctx, name, path)
	if err != nil {
		return err
	}
	return deliver(ctx, d.Shim, to, []string{deliverWord, path, umaskWord(umask)}, r, Appending{})
}

// umaskWord is how a shim reads a umask.
func umaskWord(umask int) string { return strconv.FormatInt(int64(umask), 8) }

// setUmask has a shim create files under the umask that a word says.
func setUmask(word string) error {
	umask, err := strconv.ParseUint(word, 8, 9)
	if err == nil {
		unix.Umask(int(umask))
	}
	return err
}

// account is whom files at the path are written as.
func (d *Deliverer) account(ctx context.Context, name, path string) (spool.Account, error) {
	found, err := d.accounts.RunnableWithGroups(ctx, name)
	if refused := new(localsched.RefusedError); errors.As(err, &refused) {
		return found, &DeliverError{Path: path, Account: name, Permanent: true, Reason: refused.Reason}
	}
	if err == nil && (!filepath.IsAbs(path) || strings.ContainsRune(path, 0) || len(d.Shim) == 0) {
		err = &DeliverError{Path: path, Account: name, Permanent: true, Reason: "the path is not absolute"}
	}
	return found, err
}

// deliver has a shim write all of r; the words for it begin with what to do and the path. The shim asks
// before it appends.
func deliver(ctx context.Context, shim []string, to spool.Account, words []string, r io.Reader, a Appending) error {
	allR, allW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer allW.Close() //nolint:errcheck // closed for good below; a second time is no harm

	cmd := exec.CommandContext(ctx, executable(shim[0]), append(slices.Clone(shim[1:]), words...)...) //nolint:gosec // the peer's own command
	cmd.Dir, cmd.Env, cmd.ExtraFiles = "/", shimEnv(), []*os.File{allR}
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: to.UID, Gid: to.GID, Groups: to.Groups}}
	}
	said := new(bytes.Buffer)
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return errors.Join(err, allR.Close())
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return errors.Join(err, allR.Close())
	}
	if err = errors.Join(cmd.Start(), allR.Close()); err != nil {
		return err
	}
	noted := make(chan error, 1)
	go func() { noted <- note(out, allW, a) }()
	read, copied := feed(in, allW, r)
	if read != nil {
		copied = errors.Join(copied, allW.Close()) // so that the shim gives up
	}
	refused := <-noted
	copied = errors.Join(copied, allW.Close())
	ended := cmd.Wait()
	switch {
	case read != nil:
		return fmt.Errorf("read what is to go to %s: %w", words[1], read)
	case ctx.Err() != nil && ended != nil:
		return ctx.Err()
	case refused != nil:
		return fmt.Errorf("note what is appended to %s: %w", words[1], refused)
	case ended != nil:
		return deliverError(words[1], to, ended, said.String())
	}
	return copied
}

// note notes where a shim begins to append, if it does, until the shim has ended. Without an answer the shim
// gives up.
func note(from io.Reader, answers io.WriteCloser, a Appending) error {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if lines.Text() == undone && a.Undo != nil {
			return a.Undo()
		}
		size, err := strconv.ParseInt(lines.Text(), 10, 64)
		switch {
		case err != nil || a.Begin == nil:
			err = fmt.Errorf("the shim said %.80q", lines.Text())
		default:
			err = a.Begin(size)
		}
		if err != nil {
			return errors.Join(err, answers.Close())
		}
		_, _ = answers.Write([]byte{byteBegin}) // a shim that is gone hears nothing, and its exit code says why
	}
	return nil // it has ended, and its exit code says how
}

// executable is the path by which an account starts the shim. If that is this very
// program, the account need not be able to pass through the directories above it.
func executable(path string) string {
	const me = "/proc/self/exe"
	mine, err := os.Stat(me)
	if err != nil {
		return path
	}
	if named, err := os.Stat(path); err == nil && os.SameFile(mine, named) {
		return me
	}
	return path
}

// feed sends all of r and then, on the other pipe, that it was all. The errors
// are those of the reading and of the sending.
func feed(to io.WriteCloser, all *os.File, r io.Reader) (read, sent error) {
	from := &noted{r: r}
	_, sent = io.Copy(to, from)
	sent = errors.Join(sent, to.Close())
	if from.err == nil && sent == nil {
		_, sent = all.Write([]byte{byteAll})
	}
	return from.err, sent
}

// noted notes how the reading went, to tell it from the writing.
type noted struct {
	r   io.Reader
	err error
}

func (n *noted) Read(p []byte) (int, error) {
	count, err := n.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return count, err
}

func deliverError(path string, to spool.Account, ended error, said string) error {
	code := new(exec.ExitError)
	permanent := errors.As(ended, &code) && code.ExitCode() == exitPermanent
	reason := strings.TrimSpace(said)
	if reason == "" {
		reason = ended.Error()
	}
	return &DeliverError{Path: path, Account: to.Name, Permanent: permanent, Reason: reason}
}
