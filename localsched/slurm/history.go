package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// history knows jobs that have ended from beside the queue: from the log of
// jobcomp/filetxt, which is read as it grows, from the accounting database, and,
// for the exit code of one that the queue still shows, from the controller.
type history struct {
	commands *commands
	path     string // of the log; empty: none
	sacct    bool
	log      *slog.Logger

	mu     sync.Mutex
	offset int64
	file   os.FileInfo         // the log as it was last read
	ended  map[string][]ending // by name
}

// farBack is how much of the log is read at the beginning.
const farBack = 64 << 20

func newHistory(c *commands, facts siteFacts, log *slog.Logger) *history {
	return &history{commands: c, path: facts.jobComp, sacct: facts.sacct, log: log, ended: map[string][]ending{}}
}

// read reads what is new in the log about names that are wanted.
func (h *history) read(wanted func(name string) bool) {
	if h.path == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.readOn(wanted); err != nil {
		h.log.Warn("jobcomp_read_failed", "error", err,
			"advice", "let the account of the peer read that file, or name the right one in [localsched.slurm] jobcomp_log")
	}
}

func (h *history) readOn(wanted func(name string) bool) error {
	info, err := os.Stat(h.path)
	if err != nil {
		return err
	}
	switch {
	case h.file == nil:
		h.offset = max(0, info.Size()-farBack)
	case !os.SameFile(h.file, info) || info.Size() < h.offset:
		h.offset = 0 // it was rotated
	case info.Size() == h.offset:
		return nil
	}
	h.file = info
	file, err := os.Open(h.path)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.NewSectionReader(file, h.offset, min(info.Size()-h.offset, farBack)))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	whole := strings.LastIndexByte(string(data), '\n') + 1
	for line := range strings.Lines(string(data[:whole])) {
		if e, ok := parseEnding(line); ok && wanted(e.name) {
			h.ended[e.name] = append(h.ended[e.name], e)
		}
	}
	h.offset += int64(whole)
	return nil
}

// forget drops what is known of a name.
func (h *history) forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ended, name)
}

// find looks for the end of a job that the queue does not show any more. After an error nothing is
// known: it may have ended in any way.
func (h *history) find(ctx context.Context, j *job, is native, past []native) (_ entry, ok bool, err error) {
	known, err := h.known(ctx, j.name, is.ID)
	if err != nil {
		return entry{}, false, err
	}
	for _, e := range slices.Backward(known) {
		if e.matches(j, is) && !slices.ContainsFunc(past, e.is) {
			return e.inUTC(j, is).entry, true, nil
		}
	}
	return entry{}, false, nil
}

// known lists the ends of jobs of a name, the latest last. The database is asked
// for a number as well, once it has all that the controller has for it.
func (h *history) known(ctx context.Context, name string, id uint32) ([]ending, error) {
	h.mu.Lock()
	known := slices.Clone(h.ended[name])
	h.mu.Unlock()
	if len(known) > 0 || !h.sacct {
		return known, nil
	}
	behind, err := h.commands.unsentToDatabase(ctx)
	if err == nil && behind > 0 {
		err = errors.New("slurmctld still has messages for slurmdbd, of which one may be about this job; see whether slurmdbd and its database run")
	}
	if err != nil {
		return nil, err
	}
	known, err = h.commands.accounted(ctx, id, name)
	if err != nil {
		return nil, fmt.Errorf("%w; see whether slurmdbd and its database run", err)
	}
	return known, nil
}

// status is the exit code and signal of a job that has ended, from wherever they
// are known; zeros when nowhere.
func (h *history) status(ctx context.Context, j *job, is entry) (code, signal int) {
	known, err := h.known(ctx, j.name, is.ID)
	if err != nil && ctx.Err() == nil {
		h.log.Warn("exit_code_unknown", "job", j.tag.String(), "error", err)
	}
	for _, e := range slices.Backward(known) {
		if e.matches(j, is.native) {
			return e.code, e.signal
		}
	}
	out, _, err := h.commands.run(ctx, "", "scontrol", "show", "job", "-o", strconv.FormatUint(uint64(is.ID), 10))
	if err != nil {
		return 0, 0
	}
	return parseStatus(out, j.name)
}
