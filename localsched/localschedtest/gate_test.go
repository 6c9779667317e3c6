package localschedtest_test

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/localschedtest"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/powergate"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// gated is a gate that is closed together with what is behind it.
type gated struct {
	*powergate.Gate

	behind io.Closer
}

func (g gated) Close() error { return errors.Join(g.Gate.Close(), g.behind.Close()) }

// TestGate: the suite holds for real processes behind a gate, whose budget is enough, and
// off-peak.
func TestGate(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]power.Signal{
		"within a budget": power.Always(4000),
		"off-peak":        {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "gate")
			target := targetOf(t, func(s *process.Scheduler) localsched.Scheduler {
				g, err := powergate.Open(powergate.Config{
					Dir: dir, Scheduler: s,
					Machine: engine.Of(protocol.Capacity{CPUs: 4, Nodes: 1, MemoryMB: 1000, MaxWallTime: protocol.Hour}),
					Budget:  engine.Budget{Signal: signal, Rates: power.Rates{Busy: 1_000_000}},
				})
				if err != nil {
					t.Fatal(err)
				}
				return gated{g, s}
			})
			localschedtest.Test(t, target)
		})
	}
}
