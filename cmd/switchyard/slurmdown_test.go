package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// slurmThatFails makes commands of a Slurm of one idle node, which fail while there is a file, with
// its words.
func slurmThatFails(t *testing.T) (bin, down string) {
	t.Helper()
	bin = shortDir(t)
	down = filepath.Join(bin, "down")
	partitions, err := filepath.Abs("../../localsched/slurm/testdata/partition.txt")
	if err != nil {
		t.Fatal(err)
	}
	fails := "#!/bin/sh\n[ ! -e " + down + " ] || { cat " + down + " >&2; exit 1; }\n"
	for name, text := range map[string]string{
		"scontrol": "#!/bin/sh\n[ \"$1\" != --version ] || exec echo slurm 22.05.8\n[ ! -e " + down + " ] || { cat " + down + " >&2; exit 1; }\n" +
			"case $* in *partition*) cat " + partitions + " ;; esac\n",
		"sinfo":  fails + "echo 'a1|batch|0/4/0/4|4000|1|idle'\n",
		"squeue": fails, "sbatch": fails, "scancel": fails,
	} {
		testprogram.Write(t, filepath.Join(bin, name), text)
	}
	return bin, down
}

// TestPeerStartsWhileSlurmIsDown: a peer that has run with a Slurm starts without it, says so, and
// goes on once it answers. One that never has ends, and says what to do.
func TestPeerStartsWhileSlurmIsDown(t *testing.T) {
	t.Parallel()
	bin, down := slurmThatFails(t)
	fail := func(words string) {
		if err := os.WriteFile(down, []byte(words), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answer := func() {
		if err := os.Remove(down); err != nil {
			t.Fatal(err)
		}
	}
	table := fmt.Sprintf("plugin = \"slurm\"\n[localsched.slurm]\nbin = %q\npoll = \"100ms\"\n", bin)
	g := makeGrid(t, testbed.Machine{Name: "aurora", LocalSched: table})
	here := g.Sites[0]
	fail("") // as some commands do while slurmctld ends
	wantWords(t, g.at(t, here, "", "peer", "--config", here.Config), 1,
		"[localsched]", "scontrol ping", "never has to this peer", "start the peer again")
	answer()
	told := func(wanted string) {
		t.Helper()
		said := ""
		for ctx := patience(t); ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			if said = g.at(t, here, "#!/bin/sh\ntrue\n", "quote", "--ntasks=1", "--time=5").stdout; strings.Contains(said, wanted) {
				return
			}
		}
		t.Fatalf("quotes never said %q:\n%s", wanted, said)
	}
	if err := here.Start(); err != nil {
		t.Fatal(err)
	}
	told("0:00:00")
	if err := here.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	fail("slurm_load_partitions error: Insane message length\n")
	if err := here.Start(); err != nil {
		t.Fatal(err)
	}
	told("Insane message length")
	answer()
	told("0:00:00")
}

// describedAs is a local scheduler that says what machine it has, or not.
type describedAs struct {
	localsched.Scheduler
	localsched.Reserver
	machine localsched.Description
	err     error
}

func (d *describedAs) Describe(context.Context) (localsched.Description, error) {
	return d.machine, d.err
}

// TestMachineAsLastKnown: what a batch system can do is as little forgotten while it is down as what
// machine it has.
func TestMachineAsLastKnown(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{}
	cfg.Site.StateDir = settings.Path(t.TempDir())
	capable := localsched.Description{Name: "x", Capacity: protocol.Capacity{CPUs: 3, Nodes: 1}, Capabilities: []string{localsched.Reserve}}
	open := func() *peerProcess { return &peerProcess{cfg: cfg, log: slog.New(slog.DiscardHandler)} }
	for _, now := range []*describedAs{{machine: capable}, {err: errors.New("down")}} {
		p := open()
		p.scheduler = now
		if got, err := p.describe(t.Context()); err != nil || got != capable.Capacity || !p.reserves {
			t.Errorf("%v: %+v, %v; reserves: %t", now.err, got, err, p.reserves)
		}
	}
	cfg.Protect.Delay = 1
	p := open()
	p.scheduler = &describedAs{err: errors.New("down")}
	if _, err := p.describe(t.Context()); err == nil || !strings.Contains(err.Error(), "[protect] delay") {
		t.Errorf("got %v", err)
	}
	// An earlier version has kept the capacity alone.
	if err := statedir.WriteJSON(filepath.Join(string(cfg.Site.StateDir), "machine.json"), capable.Capacity); err != nil {
		t.Fatal(err)
	}
	if got, err := p.describe(t.Context()); err != nil || got != capable.Capacity {
		t.Errorf("got %+v, %v", got, err)
	}
}
