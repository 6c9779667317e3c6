package slurm_test

import (
	"context"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/localschedtest"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestConformance runs the suite that every local scheduler must pass.
func TestConformance(t *testing.T) {
	t.Parallel()
	const site = cluster("siteD")
	site.up(t)
	config := slurm.Config{Dir: newDir(t) + "/spool", Site: protocol.SiteName("conformance"), Conf: site.conf(), Poll: 200 * time.Millisecond, Reservations: true}
	localschedtest.Test(t, localschedtest.Target{
		Open:    func(ctx context.Context) (localsched.Scheduler, error) { return slurm.Open(ctx, config) },
		Account: jobAccount,
		Dir:     homeDir(t),
		Timeout: ample,
		Restart: true,
	})
}
