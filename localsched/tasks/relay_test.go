package tasks

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func TestRelay(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*maxLine+5)
	for _, c := range []struct {
		label      string
		unbuffered bool
		text, want string
	}{
		{"", false, "a\nb\n", "a\nb\n"},
		{"", false, "a\nb", "a\nb"},
		{"1: ", false, "a\n\nb", "1: a\n1: \n1: b\n"},
		{"1: ", false, "", ""},
		{"", true, "a\nb", "a\nb"},
		{"1: ", true, "a\nb", "1: a\n1: b\n"},
		{"1: ", false, long + "\ny\n", "1: " + long + "\n1: y\n"},
		{"", false, long, long},
	} {
		var out bytes.Buffer
		(&sink{to: &out}).relay(iotest.OneByteReader(strings.NewReader(c.text)), c.label, c.unbuffered)
		if out.String() != c.want {
			t.Errorf("%q, %v: %.80q became %.80q, want %.80q", c.label, c.unbuffered, c.text, out.String(), c.want)
		}
	}
}

// TestRelaysKeepLines: tasks that write at once do not mix their lines.
func TestRelaysKeepLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	all := &sink{to: &out}
	var relays sync.WaitGroup
	for _, letter := range []string{"a", "b", "c"} {
		read, write := io.Pipe()
		relays.Go(func() { all.relay(read, "", false) })
		relays.Go(func() {
			for range 300 {
				for range 9 {
					_, _ = io.WriteString(write, letter)
				}
				_, _ = io.WriteString(write, "\n")
			}
			_ = write.Close()
		})
	}
	relays.Wait()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		if line != strings.Repeat(line[:1], 9) {
			t.Fatalf("a line is %q", line)
		}
	}
	if len(lines) != 900 {
		t.Errorf("%d lines", len(lines))
	}
}

// TestSinkFails: what cannot be written is kept as an error, and the tasks are read on.
func TestSinkFails(t *testing.T) {
	t.Parallel()
	read, write := io.Pipe()
	_ = read.Close()
	s := &sink{to: write}
	s.relay(strings.NewReader("a\nb\n"), "", false)
	if !errors.Is(s.failed, io.ErrClosedPipe) {
		t.Errorf("%v", s.failed)
	}
}

func TestFileName(t *testing.T) {
	t.Parallel()
	s := &Step{Allocation: Allocation{Job: "12", Host: "h"}, Number: 3, JobName: "a/b", User: "u", Index: "7"}
	for pattern, want := range map[string]string{
		"o": "o", "%j.%s-%t": "12.3-5", "%J": "12.3", "%3t%2n": "00501", "%99t": "0000000005", "%N%u%x%a%A%%": "hua_b712%",
		"%z": "", "a%": "", "a%3": "",
	} {
		got, err := s.fileName(pattern, task{rank: 5, node: 1})
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v, want %q", pattern, got, err, want)
		}
	}
}
