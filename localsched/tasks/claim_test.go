package tasks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/tasks"
)

func newAllocation(t *testing.T, cpus ...int) tasks.Allocation {
	t.Helper()
	a := tasks.Allocation{Job: "7", Host: "here", CPUs: cpus, File: filepath.Join(t.TempDir(), "steps")}
	if err := os.WriteFile(a.File, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestStepsShareCPUs: steps run beside each other as far as there are CPUs, and are numbered in their order.
func TestStepsShareCPUs(t *testing.T) {
	t.Parallel()
	a := newAllocation(t, 2, 1)
	begin := func(nodes ...int) (number int, release func(), busy bool) {
		t.Helper()
		n, free, err := a.Begin(tasks.Place{CPUs: nodes}, true, func() { t.Error("it waits") })
		if err != nil {
			if !strings.HasSuffix(err.Error(), "Unable to create step for job 7: Requested nodes are busy") {
				t.Fatal(err)
			}
			return 0, nil, true
		}
		return n, func() {
			if err := free(); err != nil {
				t.Error(err)
			}
		}, false
	}
	first, freeFirst, _ := begin(1, 0)
	second, _, _ := begin(1, 1)
	if _, _, busy := begin(1, 0); !busy {
		t.Error("a third CPU of two was taken")
	}
	if _, _, busy := begin(0, 1); !busy {
		t.Error("the CPU of the second node was taken twice")
	}
	overlapping, _, _ := begin(0, 0)
	freeFirst()
	if _, _, busy := begin(2, 0); !busy {
		t.Error("a CPU in use was taken")
	}
	third, _, busy := begin(1, 0)
	if busy || first != 0 || second != 1 || overlapping != 2 || third != 3 {
		t.Errorf("steps %d, %d, %d and %d (busy: %v)", first, second, overlapping, third, busy)
	}
}

// TestAStepWaits until the CPUs that it needs are free, and says so once.
func TestAStepWaits(t *testing.T) {
	t.Parallel()
	a := newAllocation(t, 2)
	_, free, err := a.Begin(tasks.Place{CPUs: []int{2}}, false, func() { t.Error("the first step waits") })
	if err != nil {
		t.Fatal(err)
	}
	waits, begun := make(chan int, 10), make(chan int, 2)
	for range 2 {
		go func() {
			number, release, failed := a.Begin(tasks.Place{CPUs: []int{2}}, false, func() { waits <- 1 })
			if failed == nil {
				failed = release()
			}
			if failed != nil {
				t.Error(failed)
			}
			begun <- number
		}()
	}
	<-waits
	<-waits
	select {
	case number := <-begun:
		t.Fatalf("step %d began while all CPUs were in use", number)
	default:
	}
	if err = free(); err != nil {
		t.Fatal(err)
	}
	if one, other := <-begun, <-begun; one+other != 3 || len(waits) != 0 {
		t.Errorf("steps %d and %d, and %d more words of waiting", one, other, len(waits))
	}
}

// TestFileOfSteps: a file that the job has spoiled is an error, not a number.
func TestFileOfSteps(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "12": "", "12\n": "", "x": "has no number", "-1": "has no number", "99999999999": "has no number"} {
		a := newAllocation(t, 1)
		if err := os.WriteFile(a.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		number, _, err := a.Begin(tasks.Place{CPUs: []int{1}}, true, func() {})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || strings.HasPrefix(text, "12") && number != 12 {
			t.Errorf("%q: step %d, %v", text, number, err)
		}
	}
	gone := newAllocation(t, 1)
	gone.File += ".gone"
	if _, _, err := gone.Begin(tasks.Place{CPUs: []int{1}}, true, func() {}); err == nil {
		t.Error("a step began without the file")
	}
}
