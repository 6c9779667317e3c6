package tasks

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Programs reads what each task runs from the configuration of srun --multi-prog: lines of task numbers ("0-3,7", or * for
// all others), a program and its arguments, in which %t is the task's number and %o its number within the line, but for
// arguments that are quoted. # begins a comment. The errors are in Slurm's words where it has some.
func Programs(name string, from io.Reader, tasks int) ([][]string, error) {
	programs := make([][]string, tasks)
	var others []word
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		words, err := split(lines.Text())
		switch {
		case err == nil && len(words) == 0:
			continue
		case err == nil && len(words) == 1:
			err = errors.New("it has no program")
		case err == nil && words[0].text == "*":
			others = words[1:]
			continue
		case err == nil:
			err = assign(programs, words[0].text, words[1:])
		}
		if err != nil {
			return nil, fmt.Errorf("%w\nLine %d of configuration file %s invalid", err, number, name)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", name, err)
	}
	var left []int
	for rank, program := range programs {
		if program == nil {
			left = append(left, rank)
		}
	}
	for i, rank := range left {
		if others == nil {
			return nil, fmt.Errorf("Configuration file %s invalid, no record for task id %d", name, rank) //nolint:staticcheck // Slurm's words
		}
		programs[rank] = filled(others, rank, i)
	}
	return programs, nil
}

func assign(programs [][]string, ranks string, words []word) error {
	these, err := protocol.ParseIndexes(ranks)
	if err != nil {
		return fmt.Errorf("numbers of tasks: %w", err)
	}
	if last := these.Last(); last >= len(programs) {
		return fmt.Errorf("Invalid task id, %d >= ntasks", last) //nolint:staticcheck // Slurm's words
	}
	offset := 0
	for rank := range these.All() {
		if programs[rank] != nil {
			return fmt.Errorf("task %d has a program already", rank)
		}
		programs[rank] = filled(words, rank, offset)
		offset++
	}
	return nil
}

func filled(words []word, rank, offset int) []string {
	program := []string{words[0].text}
	replace := strings.NewReplacer("%t", strconv.Itoa(rank), "%o", strconv.Itoa(offset))
	for _, w := range words[1:] {
		if !w.quoted {
			w.text = replace.Replace(w.text)
		}
		program = append(program, w.text)
	}
	return program
}

// word is one of a line, without its quotes.
type word struct {
	text   string
	quoted bool // a part of it
}

// split splits a line into words. Quotes of both kinds keep blanks together, and a backslash keeps the next character as it is.
func split(line string) (words []word, err error) {
	var text strings.Builder
	w := splitter{text: &text}
	for _, r := range line {
		if r == '#' && !w.open {
			return w.words, nil
		}
		w.take(r)
	}
	if w.quote != 0 || w.escaped {
		return nil, errors.New("it ends within a quotation")
	}
	w.end()
	return w.words, nil
}

// splitter is where split is in its line.
type splitter struct {
	words   []word
	text    *strings.Builder // of a word that has begun
	open    bool             // one has
	quoted  bool             // a part of it
	quote   rune             // within which it is, or 0
	escaped bool             // the next character counts as it is
}

func (w *splitter) take(r rune) {
	switch {
	case w.escaped:
		w.text.WriteRune(r)
		w.escaped = false
	case r == '\\' && w.quote != '\'':
		w.open, w.escaped = true, true
	case w.quote != 0 && r == w.quote:
		w.quote = 0
	case w.quote != 0:
		w.text.WriteRune(r)
	case r == '\'' || r == '"':
		w.open, w.quoted, w.quote = true, true, r
	case r == ' ' || r == '\t' || r == '\r':
		w.end()
	default:
		w.open = true
		w.text.WriteRune(r)
	}
}

func (w *splitter) end() {
	if w.open {
		w.words = append(w.words, word{w.text.String(), w.quoted})
		w.text.Reset()
		w.open, w.quoted = false, false
	}
}

// find looks a program up as execvpe(3) does, in the PATH of the task and its working directory. The error is a
// [syscall.Errno].
func find(program, path, dir string) (found string, err error) {
	if strings.Contains(program, "/") {
		found = within(dir, program)
		return found, runnable(found)
	}
	err = syscall.ENOENT
	for _, of := range filepath.SplitList(path) {
		candidate := within(dir, filepath.Join(of, program))
		if info, absent := os.Stat(candidate); absent != nil || info.IsDir() {
			continue
		}
		if err = runnable(candidate); err == nil {
			return candidate, nil
		}
	}
	return "", err
}

func runnable(path string) error {
	info, err := os.Stat(path)
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	if err == nil && info.IsDir() {
		return syscall.EACCES
	}
	return unix.Access(path, unix.X_OK)
}
