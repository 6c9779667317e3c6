package tasks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// Stream is where the input of tasks comes from, or their output goes to: "" or "all" for those of srun, "none", the number of a
// task, which alone has srun's, or the name of a file with patterns.
type Stream string

// of says what the stream is for a task: srun's own, or a file.
func (s Stream) of(t task, tasks int) (own bool, file string) {
	if s == "" || s == "all" {
		return true, ""
	}
	if s == "none" {
		return false, os.DevNull
	}
	if n, err := strconv.Atoi(string(s)); err == nil && n >= 0 && n < tasks {
		if n == t.rank {
			return true, ""
		}
		return false, os.DevNull
	}
	return false, string(s)
}

// streams has the open ends of the tasks' inputs and outputs.
type streams struct {
	files  map[string]*os.File // what tasks write to, by name
	starts []io.Closer         // what is of the tasks alone, once they have been started
	relays []func()            // copy the output of tasks until it ends
	reads  []*os.File          // what the relays read
	inputs []io.WriteCloser    // what srun's input is copied to
	sinks  [3]*sink            // by file descriptor
}

// open makes the three descriptors of a task.
func (s *Step) open(st *streams, t task) (files []*os.File, err error) {
	in, err := s.openInput(st, t)
	if err != nil {
		return nil, err
	}
	out, err := s.openOutput(st, t, 1, s.Stdout)
	if err != nil {
		return nil, err
	}
	if s.Stderr == "" {
		if own, _ := s.Stdout.of(t, s.count()); !own {
			return []*os.File{in, out, out}, nil
		}
	}
	fail, err := s.openOutput(st, t, 2, s.Stderr)
	return []*os.File{in, out, fail}, err
}

func (s *Step) openInput(st *streams, t task) (*os.File, error) {
	own, name := s.Stdin.of(t, s.count())
	switch {
	case own && (s.count() == 1 || s.Stdin != "" && s.Stdin != "all"):
		return os.Stdin, nil
	case own:
		read, write, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		st.starts, st.inputs = append(st.starts, read), append(st.inputs, write)
		return read, nil
	}
	path, err := s.path(name, t)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, streamError("stdin", err)
	}
	st.starts = append(st.starts, file)
	return file, nil
}

func (s *Step) openOutput(st *streams, t task, fd int, stream Stream) (*os.File, error) {
	own, name := stream.of(t, s.count())
	if own {
		if s.count() == 1 && !s.Label {
			return []*os.File{nil, os.Stdout, os.Stderr}[fd], nil
		}
		return s.openRelay(st, t, fd)
	}
	path, err := s.path(name, t)
	if err != nil {
		return nil, err
	}
	if file := st.files[path]; file != nil {
		return file, nil
	}
	how := os.O_TRUNC
	if s.Append {
		how = 0
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|how, 0o666) //nolint:gosec // the umask is the job's
	if err != nil {
		return nil, streamError([]string{"", "stdout", "stderr"}[fd], err)
	}
	st.files[path] = file
	st.starts = append(st.starts, file)
	return file, nil
}

func (s *Step) openRelay(st *streams, t task, fd int) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	label := ""
	if s.Label {
		label = fmt.Sprintf("%*d: ", len(strconv.Itoa(s.count()-1)), t.rank)
	}
	st.starts, st.reads = append(st.starts, write), append(st.reads, read)
	st.relays = append(st.relays, func() { st.sinks[fd].relay(read, label, s.Unbuffered) })
	return write, nil
}

// path is the file of a pattern.
func (s *Step) path(pattern string, t task) (string, error) {
	name, err := s.fileName(pattern, t)
	if err != nil {
		return "", err
	}
	return within(s.Dir, name), nil
}

func streamError(name string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		if errno, ok := errors.AsType[syscall.Errno](at); ok {
			return fmt.Errorf("Could not open %s file %s: %s", name, at.Path, errnoText(errno)) //nolint:staticcheck // Slurm's words
		}
	}
	return fmt.Errorf("Could not open %s file: %w", name, err) //nolint:staticcheck // Slurm's words
}
