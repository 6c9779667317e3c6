package powerbudget

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The budget of the example holds after peak.sh, and has an end; later, it begins later.
func TestPowerBudgetExample(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "example")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "examples", "power-budget"))); err != nil {
		t.Fatal(err)
	}
	for when, limited := range map[string]bool{"now": true, "later": false} {
		if out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "peak.sh"), when).CombinedOutput(); err != nil {
			t.Fatalf("peak.sh: %v\n%s", err, out)
		}
		text, err := os.ReadFile(filepath.Join(dir, "north.toml"))
		if err != nil {
			t.Fatal(err)
		}
		alone, _, _ := strings.Cut(string(text), "[[partner]]") // whose key "keygen" would make
		file := filepath.Join(dir, "alone.toml")
		writeText(t, file, alone)
		cfg, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		k, given := keeper(cfg, nil)
		if err := k.renew(t.Context()); err != nil || len(*given) != 1 {
			t.Fatalf("given %d budgets, %v", len(*given), err)
		}
		limit, until := k.Current().Signal.At(protocol.InstantOf(time.Now()))
		if (limit == budget.Kilowatt) != limited || until == power.End {
			t.Errorf("%s: %s until %d", when, power.Text(limit), until)
		}
	}
}
