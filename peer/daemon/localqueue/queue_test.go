package localqueue

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// TestTheLocalQueueIsInTheStateDirectory unless nothing of it is: with the built-in batch
// system, with a plugin of which that is not known, with jobs' files below it, and with jobs
// that wait for a power budget.
func TestTheLocalQueueIsInTheStateDirectory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		plugin, spool string
		gated, apart  bool
	}{
		{plugin: config.Process},
		{plugin: config.Process, spool: "/shared/spool"},
		{plugin: "other", spool: "/shared/spool"},
		{plugin: config.SlurmCommands},
		{plugin: config.SlurmCommands, spool: "/var/lib/switchyard/slurm"},
		{plugin: config.SlurmCommands, spool: "/var/lib/switchyard"},
		{plugin: config.SlurmCommands, spool: "/var/lib/switchyard/..slurm"},
		{plugin: config.SlurmCommands, spool: "/shared/spool", gated: true},
		{plugin: config.SlurmCommands, spool: "/shared/spool", apart: true},
		{plugin: config.SlurmCommands, spool: "/var/lib/switchyard-slurm", apart: true},
		{plugin: config.SlurmCommands, spool: "/var/lib", apart: true},
	} {
		q := Queue{cfg: &config.Config{}}
		if tt.gated {
			q.pending = func() int64 { return 0 }
		}
		q.cfg.Site.StateDir = "/var/lib/switchyard"
		q.cfg.LocalSched.Plugin = tt.plugin
		q.cfg.LocalSched.Slurm = &config.Slurm{Spool: settings.Path(tt.spool)}
		if got := q.Apart(); got != tt.apart {
			t.Errorf("%s with spool %q, gated %t: apart %t, want %t", tt.plugin, tt.spool, tt.gated, got, tt.apart)
		}
	}
}
