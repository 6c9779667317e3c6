package testbed

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Task is a batch script with a known answer.
type Task struct {
	Name    string
	CPUs    int
	Script  string
	Answer  string // what it prints
	witness string // a file that gets a line for each run
}

// Limit is the time limit of tasks: several times what they take on an idle machine,
// so that a busy one does not make them fail.
const Limit = 30 * protocol.Second

// Work makes n tasks of one to four seconds, on one to three CPUs. Each run adds
// a line to a file in the directory witnesses. The same seed makes the same tasks.
func Work(seed uint64, n int, witnesses string) []Task {
	rng := rand.New(rand.NewPCG(seed, 1))
	tasks := make([]Task, n)
	for i := range tasks {
		kind, command, answer := computation(rng)
		t := Task{Name: fmt.Sprintf("%s-%02d", kind, i+1), CPUs: 1 + rng.IntN(3), Answer: answer}
		t.witness = filepath.Join(witnesses, t.Name)
		pause := 1 + 3*rng.Float64()
		t.Script = fmt.Sprintf(`#!/bin/sh
#SBATCH --job-name=%s
#SBATCH --ntasks=%d --time=%s
#SBATCH --output=%%x.out
echo "process $$" >> '%s'
%s
sleep %.1f  # stands for more of the same
`, t.Name, t.CPUs, Limit.Text(), t.witness, command, pause)
		tasks[i] = t
	}
	return tasks
}

func computation(rng *rand.Rand) (kind, command, answer string) {
	switch rng.IntN(3) {
	case 0:
		n := 100_000 + rng.IntN(100_000)
		return "sum", fmt.Sprintf(`awk 'BEGIN { for (i = 1; i <= %d; i++) s += i; printf "%%.0f\n", s }'`, n),
			fmt.Sprintf("%d\n", n*(n+1)/2)
	case 1:
		n := 1000 + rng.IntN(2000)
		return "primes", fmt.Sprintf(`awk 'BEGIN { for (n = 2; n <= %d; n++) { p = 1; `+
				`for (d = 2; d * d <= n; d++) if (n %% d == 0) { p = 0; break }; c += p }; print c }'`, n),
			fmt.Sprintf("%d\n", primes(n))
	}
	word := fmt.Sprintf("switchyard %d", rng.IntN(1_000_000))
	rounds := 5 + rng.IntN(20)
	return "hash", fmt.Sprintf(`h='%s'; i=0
while [ $i -lt %d ]; do h=$(printf %%s "$h" | sha256sum); h=${h%%%% *}; i=$((i + 1)); done
echo "$h"`, word, rounds), hashes(word, rounds) + "\n"
}

func primes(most int) (count int) {
	for n := 2; n <= most; n++ {
		count++
		for d := 2; d*d <= n; d++ {
			if n%d == 0 {
				count--
				break
			}
		}
	}
	return count
}

func hashes(word string, rounds int) string {
	for range rounds {
		word = fmt.Sprintf("%x", sha256.Sum256([]byte(word)))
	}
	return word
}

// Verify says what is wrong with the task's run, of which the output is in the
// file: no answer or another one, or not exactly one run.
func (t Task) Verify(output string) error {
	var wrong []error
	got, err := os.ReadFile(output)
	switch {
	case err != nil:
		wrong = append(wrong, fmt.Errorf("%s: its output is not there: %w", t.Name, err))
	case string(got) != t.Answer:
		wrong = append(wrong, fmt.Errorf("%s: printed %.200q instead of %q", t.Name, got, strings.TrimSpace(t.Answer)))
	}
	runs, err := t.Runs()
	switch {
	case err != nil:
		wrong = append(wrong, err)
	case runs != 1:
		wrong = append(wrong, fmt.Errorf("%s: ran %d times", t.Name, runs))
	}
	return errors.Join(wrong...)
}

// Runs is how many times the task was started.
func (t Task) Runs() (int, error) {
	lines, err := os.ReadFile(t.witness)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return bytes.Count(lines, []byte("\n")), err
}
