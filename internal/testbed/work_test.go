package testbed_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
)

// The answers that tasks are checked against are those that a shell gives.
func TestAnswersAreRight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kinds := map[string]bool{}
	for _, task := range testbed.Work(7, 12, dir) {
		kind, _, _ := strings.Cut(task.Name, "-")
		if kinds[kind] {
			continue
		}
		kinds[kind] = true
		if runs, err := task.Runs(); err != nil || runs != 0 {
			t.Errorf("%s ran %d times before it ran, %v", task.Name, runs, err)
		}
		sh := exec.CommandContext(t.Context(), "sh")
		sh.Stdin = strings.NewReader(regexp.MustCompile(`(?m)^sleep .*$`).ReplaceAllString(task.Script, ""))
		printed, err := sh.Output()
		if err != nil {
			t.Fatal(err)
		}
		output := filepath.Join(dir, "out")
		if err := os.WriteFile(output, printed, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := task.Verify(output); err != nil {
			t.Error(err)
		}
	}
	if len(kinds) != 3 {
		t.Errorf("saw only %v", kinds)
	}
}

func TestVerifyFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	task := testbed.Work(1, 1, dir)[0]
	output, witness := filepath.Join(dir, "out"), filepath.Join(dir, task.Name)
	cases := []struct {
		printed, witness string
		want             []string
	}{
		{task.Answer, "process 1\n", nil},
		{task.Answer, "process 1\nprocess 2\n", []string{"ran 2 times"}},
		{task.Answer + "x", "process 1\n", []string{"printed"}},
		{"", "", []string{"printed", "ran 0 times"}},
	}
	for _, c := range cases {
		for path, text := range map[string]string{output: c.printed, witness: c.witness} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := task.Verify(output)
		if (err == nil) != (len(c.want) == 0) {
			t.Errorf("%+v: got %v", c, err)
		}
		for _, want := range c.want {
			if !bytes.Contains([]byte(err.Error()), []byte(want)) {
				t.Errorf("%+v: %v does not say %q", c, err, want)
			}
		}
	}
	if err := task.Verify(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a missing output was taken as right")
	}
}

func TestWorkIsReproducible(t *testing.T) {
	t.Parallel()
	one, two := testbed.Work(3, 5, "/w"), testbed.Work(3, 5, "/w")
	for i := range one {
		if one[i] != two[i] {
			t.Errorf("task %d differs", i)
		}
	}
}
