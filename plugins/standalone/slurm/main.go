// Command slurm is the adapter for Slurm as a plugin of its own.
package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// config is the plugin's configuration: that of [localsched.slurm].
type config struct {
	Conf       string            `toml:"conf"` // slurm.conf; empty: as the commands find it
	Bin        string            `toml:"bin"`  // folder of the commands; empty: PATH
	Partitions []string          `toml:"partitions"`
	Spool      string            `toml:"spool"` // empty: in the plugin's own folder
	Poll       protocol.Duration `toml:"poll"`
	JobComp    string            `toml:"jobcomp"` // empty: asked from Slurm
	Extra      []string          `toml:"extra"`   // added to every sbatch
}

func main() {
	sdk.Main(sdk.Scheduler[config]{
		Name: "slurm", Version: "1.0.0", About: "a real Slurm, driven through its commands",
		Defaults: config{Poll: 2 * protocol.Second},
		Check:    func(r *sdk.Reader, c *config) { r.Positive("poll", c.Poll) },
		Make:     open,
	})
}

func open(c config, host sdk.Host) (localsched.Scheduler, error) {
	if c.Spool == "" && host.StateDir == "" {
		return nil, errors.New("spool: is missing; name a folder that the compute nodes share")
	}
	return slurm.Open(context.Background(), slurm.Config{
		Dir: cmp.Or(c.Spool, filepath.Join(host.StateDir, "spool")), Site: host.Site,
		Conf: c.Conf, Bin: c.Bin, Partitions: c.Partitions, Poll: c.Poll.Std(), JobComp: c.JobComp, Extra: c.Extra,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}
