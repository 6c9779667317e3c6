package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// atOnce is how many commands run at the same time. More would only queue in
// the controller.
const atOnce = 8

// lastWords is how long the output of a command that has ended is waited for, which takes long on a busy machine.
const lastWords = 10 * time.Second

// commands runs Slurm's programs, in UTC, in English, and with nothing of the
// peer's environment that would change what they do.
type commands struct {
	bin     string
	env     []string
	timeout time.Duration
	slots   chan struct{}
}

func newCommands(c Config) *commands {
	env := []string{"PATH=" + os.Getenv("PATH"), "TZ=UTC", "LC_ALL=C", "SLURM_TIME_FORMAT=standard"}
	conf := c.Conf
	if conf == "" {
		conf = os.Getenv("SLURM_CONF")
	}
	if conf != "" {
		env = append(env, "SLURM_CONF="+conf)
	}
	return &commands{bin: c.Bin, env: env, timeout: c.Timeout, slots: make(chan struct{}, atOnce)}
}

// commandError says that one of Slurm's commands failed.
type commandError struct {
	command string
	code    int    // -1: it did not end by itself
	words   string // what it said, on one line
	cause   error
}

func (e *commandError) Error() string {
	text := e.command + ": "
	switch {
	case e.words != "":
		text += e.words
	case e.cause != nil:
		text += e.cause.Error()
	}
	if advice := e.advice(); advice != "" {
		text += " (" + advice + ")"
	}
	return text
}

// advice is what to do about the controller; empty when it is not at fault.
func (e *commandError) advice() string {
	if e.words == "" && e.code > 0 {
		return "it does not say why: see with scontrol ping whether slurmctld answers"
	}
	return adviceFor(e.words)
}

func (e *commandError) Unwrap() error { return e.cause }

// adviceFor is the advice for what a command has said.
func adviceFor(words string) string {
	switch {
	case strings.Contains(words, "Socket timed out"), strings.Contains(words, "Zero Bytes"),
		strings.Contains(words, "missing socket"), strings.Contains(words, "Connection reset"): // it has ended meanwhile
		return "slurmctld does not answer: see whether it is stopped or overloaded"
	case strings.Contains(words, "Unable to contact slurm controller"), strings.Contains(words, "Connection refused"):
		return "no slurmctld answers: start it"
	case strings.Contains(words, "temporarily unable to accept job"):
		return "the queue is full, see MaxJobCount in slurm.conf; try later"
	}
	return ""
}

// unreachable reports whether a command failed because the controller does not answer.
func unreachable(err error) bool {
	failed, ok := errors.AsType[*commandError](err)
	return ok && (strings.Contains(failed.advice(), "slurmctld") || failed.code < 0)
}

// run runs a command and returns what it printed on each stream.
func (c *commands) run(ctx context.Context, stdin, name string, args ...string) (stdout, stderr string, err error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return "", "", ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path(name), args...) //nolint:gosec // the operator chooses the directory
	cmd.Env, cmd.Dir, cmd.WaitDelay = c.env, "/", lastWords
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	said := &impatient{giveUp: cancel}
	cmd.Stdout, cmd.Stderr = &out, said
	if err = cmd.Run(); err == nil {
		return out.String(), said.said.String(), nil
	}
	failed := &commandError{command: name, code: -1, words: oneLine(said.said.String()), cause: err}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		failed.code = exit.ExitCode()
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && failed.words == "" {
		failed.words = fmt.Sprintf("no answer within %v: Socket timed out", c.timeout)
	}
	return out.String(), said.said.String(), failed
}

func (c *commands) path(name string) string {
	if c.bin == "" {
		return name
	}
	return filepath.Join(c.bin, name)
}

// check says which of the commands is missing.
func (c *commands) check(names ...string) error {
	for _, name := range names {
		if _, err := exec.LookPath(c.path(name)); err != nil {
			return fmt.Errorf("the command %s is missing; install Slurm's client commands or say in which directory they are: %w", name, err)
		}
	}
	return nil
}

// impatient keeps what a command says. One that says that it sleeps and tries
// again, for minutes, is ended.
type impatient struct {
	said   bytes.Buffer
	giveUp func()
}

func (w *impatient) Write(p []byte) (int, error) {
	n, err := w.said.Write(p)
	if bytes.Contains(w.said.Bytes(), []byte("sleeping and retrying")) {
		w.giveUp()
	}
	return n, err
}

// oneLine joins the lines of an error message, without their prefixes.
func oneLine(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"sbatch: ", "squeue: ", "sinfo: ", "scontrol: ", "scancel: ", "sacct: ", "error: ", "fatal: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		if line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "; ")
}
