package config_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const reloadBase = "[site]\nname = \"north\"\nnumber = 1\n"

func loaded(t *testing.T, text string) *config.Config {
	t.Helper()
	dir := folder(t, map[string]string{"site.toml": reloadBase + text})
	c, err := config.Load(filepath.Join(dir, "site.toml"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func partner(name, key, rest string) string {
	return "[[partner]]\nname = \"" + name + "\"\npublic_key = \"" + key + "\"\nmax_jobs = 1\nusers = { a = \"b\" }\n" + rest
}

func TestChangesTellWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	before := loaded(t, partner("south", south, "max_cpus = 3\n"))
	after := loaded(t, "[localsched]\ncpus = 4\npolicy = \"ff\"\n[rounds]\ninitiation = \"receiver\"\ndelta = 0.25\n"+
		"deadline = \"1s\"\n[log]\nlevel = \"debug\"\n"+partner("east", east, "")+partner("south", south, "max_cpus = 4\n"))
	var live, restart []string
	for _, change := range before.Changes(after) {
		line := change.Key + ": " + change.From + " → " + change.To
		if change.Live {
			live = append(live, line)
		} else if !strings.HasPrefix(change.Key, "partner[east]") {
			restart = append(restart, line)
		}
	}
	wantLive := []string{
		`localsched.policy: "easy" → "ff"`, `rounds.initiation: "sender" → "receiver"`, "rounds.delta: 0.7 → 0.25",
		`log.level: "info" → "debug"`,
	}
	wantRestart := []string{"localsched.cpus: 0 → 4", `rounds.deadline: "2s" → "1s"`, "partner[south].max_cpus: 3 → 4"}
	if !slices.Equal(live, wantLive) || !slices.Equal(restart, wantRestart) {
		t.Errorf("live %q, restart %q", live, restart)
	}
	if changes := after.Changes(after); len(changes) > 0 {
		t.Errorf("no change is told as %v", changes)
	}
}

func TestOnlyWhatMayChangeChanges(t *testing.T) {
	t.Parallel()
	before := loaded(t, "[policy.tc]\nepsilon = \"3s\"\n")
	after := loaded(t, "[localsched]\ncpus = 4\n[policy]\nname = \"local\"\n[rounds]\nphi = \"7s\"\nstay_home = true\ndeadline = \"1s\"\n")
	mixed, err := before.With(after)
	if err != nil {
		t.Fatal(err)
	}
	tuning := mixed.Tuning()
	if tuning.Policy.Name != "local" || tuning.Phi != 7*protocol.Second || !tuning.Stay || tuning.Delta != 700_000 {
		t.Errorf("tuning: %+v", tuning)
	}
	if mixed.LocalSched.CPUs != 0 || mixed.Rounds.Deadline != 2*protocol.Second {
		t.Errorf("what needs a restart has changed: %+v", mixed)
	}
	if before.Policy.Name != "tc" || before.Policy.TC.Epsilon != 3*protocol.Second || before.Rounds.Initiation != policy.Sender {
		t.Errorf("the old configuration has changed: %+v", before)
	}
	left := mixed.Changes(after)
	if len(left) != 2 || left[0].Live || left[1].Live {
		t.Errorf("then still to change: %+v", left)
	}
}

func TestADeadlineInForceBoundsSigma(t *testing.T) {
	t.Parallel()
	before := loaded(t, "")
	after := loaded(t, "[rounds]\nsigma = \"1s\"\ndeadline = \"500ms\"\n")
	_, err := before.With(after)
	lines := config.ProblemsOf(err)
	if len(lines) != 1 || !strings.Contains(lines[0], "site.toml:5: rounds.sigma: 1s is not more than the deadline that is in force (2s)") {
		t.Errorf("got %q", lines)
	}
}
