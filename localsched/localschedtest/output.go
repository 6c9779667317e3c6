package localschedtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// pieces is how many bytes of output are fetched at a time.
const pieces = 700

// maxOutput is far more than any job of the suite writes, in bytes.
const maxOutput = 1 << 20

// fetchAll fetches an output file by pieces, until there is no more.
func (s *session) fetchAll(ctx context.Context, tag protocol.Tag, stream protocol.Stream) ([]byte, error) {
	var all []byte
	for {
		data, err := s.Fetch(ctx, tag, stream, int64(len(all)), pieces)
		if err != nil {
			return nil, fmt.Errorf("fetch %v of job %v from %d: %w", stream, tag, len(all), err)
		}
		if len(data) > pieces {
			return nil, fmt.Errorf("fetch %v of job %v: %d bytes, of at most %d", stream, tag, len(data), pieces)
		}
		if len(data) == 0 {
			return all, nil
		}
		if all = append(all, data...); len(all) > maxOutput {
			return nil, fmt.Errorf("fetch %v of job %v: there is no end after %d bytes", stream, tag, len(all))
		}
	}
}

// guestOutput has a guest write to both streams, and compares what is fetched with
// that and with what its outcome says.
func guestOutput(ctx context.Context, s *session) error {
	job := s.guest(`i=0; while [ $i -lt 500 ]; do echo "line $i of the output"; i=$((i+1)); done; echo oops >&2`)
	ended, err := s.finish(ctx, job)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for i := range 500 {
		fmt.Fprintf(&lines, "line %d of the output\n", i)
	}
	want := []string{lines.String(), "oops\n"}
	if len(ended.Outcome.Files) != len(want) {
		return fmt.Errorf("the outcome names the files %+v, want stdout and stderr", ended.Outcome.Files)
	}
	for i, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
		for range 2 {
			got, err := s.fetchAll(ctx, job.Tag, stream)
			if err != nil {
				return err
			}
			if string(got) != want[i] {
				return fmt.Errorf("%v has %d bytes (%.40q), want %d (%.40q)", stream, len(got), got, len(want[i]), want[i])
			}
		}
		described := protocol.File{Stream: stream, Size: int64(len(want[i])), SHA256: sha256.Sum256([]byte(want[i]))}
		if file := ended.Outcome.Files[i]; file != described {
			return fmt.Errorf("the outcome names the file %+v, want %+v", file, described)
		}
	}
	return s.beyondTheEnd(ctx, job.Tag)
}

// beyondTheEnd fetches where there is nothing.
func (s *session) beyondTheEnd(ctx context.Context, tag protocol.Tag) error {
	data, err := s.Fetch(ctx, tag, protocol.Stdout, 1<<30, pieces)
	if err != nil || len(data) > 0 {
		return fmt.Errorf("fetch beyond the end: %q: %w", data, errOf(err))
	}
	return nil
}

// localOutput checks that a job of the local site writes to the paths that it names.
func localOutput(ctx context.Context, s *session) error {
	job := s.local(s.one(), "pwd; echo oops >&2")
	job.Payload.Stdout, job.Payload.Stderr = s.path(job.Tag, "out"), s.path(job.Tag, "err")
	ended, err := s.finish(ctx, job)
	if err != nil {
		return err
	}
	if len(ended.Outcome.Files) > 0 {
		return fmt.Errorf("the files %+v of a local job are to travel", ended.Outcome.Files)
	}
	for path, want := range map[string]string{
		job.Payload.Stdout: s.bench.target.Dir + "\n",
		job.Payload.Stderr: "oops\n",
	} {
		got, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("the job's output: %w", err)
		}
		if string(got) != want {
			return fmt.Errorf("the job has written %q to %s, want %q", got, path, want)
		}
	}
	return nil
}

// environmentArrives has a job print its arguments, its environment and its script.
func environmentArrives(ctx context.Context, s *session) error {
	job := s.guest(`printf '%s|' "$#" "$@" "$COLOUR" "$EMPTY" "$EQUAL" "ünï"`)
	job.Payload.Args = []string{"one", "two words", "", "$HOME;'\"*", "--help"}
	job.Payload.Env = []string{"COLOUR=blue green", "EMPTY=", "EQUAL=a=b"}
	if _, err := s.finish(ctx, job); err != nil {
		return err
	}
	got, err := s.fetchAll(ctx, job.Tag, protocol.Stdout)
	if err != nil {
		return err
	}
	if want := []byte(`5|one|two words||$HOME;'"*|--help|blue green||a=b|ünï|`); !bytes.Equal(got, want) {
		return fmt.Errorf("the job has printed %q, want %q", got, want)
	}
	return nil
}

func fetchUnknown(ctx context.Context, s *session) error {
	_, err := s.Fetch(ctx, s.newTag(), protocol.Stdout, 0, pieces)
	return isUnknown("fetch from a job that never came", err)
}
