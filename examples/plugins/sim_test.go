package plugins_test

import (
	"encoding/json"
	"os/exec"
	"testing"
)

// TestPythonInTheSimulator: an experiment goes the same way, to the last event, with
// the policy in Go and in Python, and another way with the built-in one.
func TestPythonInTheSimulator(t *testing.T) {
	t.Parallel()
	original := hash(t, goPolicy())
	if python := hash(t, pythonPolicy(t)); python != original {
		t.Errorf("the hash is %s in Python, %s in Go", python, original)
	}
	if builtIn := hash(t); builtIn == original {
		t.Error("the built-in policy gives the same: the runs say nothing")
	}
}

// TestSchedulerInTheSimulator: queues that the plugin rules go the same way each time,
// and another way than under the built-in order.
func TestSchedulerInTheSimulator(t *testing.T) {
	t.Parallel()
	first := hash(t, goScheduler())
	if second := hash(t, goScheduler()); second != first {
		t.Errorf("the hash is %s at first, then %s", first, second)
	}
	if builtIn := hash(t); builtIn == first {
		t.Error("the built-in order gives the same: the runs say nothing")
	}
}

// hash simulates an experiment and returns the hash of all that happened. The plugins
// decide its rounds or rule its queues.
func hash(t *testing.T, plugins ...example) string {
	t.Helper()
	args := []string{"sim", "run", "--json", "prices.toml"}
	for _, e := range plugins {
		args = append(args, "--"+string(e.kind), e.path)
		if e.plain {
			args = append(args, "--no-tls")
		}
	}
	out, err := exec.CommandContext(t.Context(), switchyard(), args...).Output()
	if err != nil {
		t.Fatalf("switchyard %q: %v\n%s", args, err, out)
	}
	var outcome struct{ Hash string }
	if err = json.Unmarshal(out, &outcome); err != nil || outcome.Hash == "" {
		t.Fatalf("no hash: %v\n%s", err, out)
	}
	return outcome.Hash
}
