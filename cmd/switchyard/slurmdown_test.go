package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/internal/testprogram"
)

// slurmThatFails makes commands of a Slurm of one idle node, which fail while there is a file, with
// its words.
func slurmThatFails(t *testing.T) (bin, down string) {
	t.Helper()
	bin = shortDir(t)
	down = filepath.Join(bin, "down")
	partitions, err := filepath.Abs("../../localsched/slurm/testdata/22.05/partition.txt")
	if err != nil {
		t.Fatal(err)
	}
	fails := "#!/bin/sh\n[ ! -e " + down + " ] || { cat " + down + " >&2; exit 1; }\n"
	for name, text := range map[string]string{
		"scontrol": "#!/bin/sh\n[ \"$1\" != --version ] || exec echo slurm 22.05.8\n[ ! -e " + down + " ] || { cat " + down + " >&2; exit 1; }\n" +
			"case $* in *partition*) cat " + partitions + " ;; esac\n",
		"sinfo":  fails + "echo 'a1|batch|0/4/0/4|4000|1|idle|(null)|(null)'\n",
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
	table := fmt.Sprintf("plugin = \"slurm\"\n[localsched.slurm]\nbin_dir = %q\npoll_interval = \"100ms\"\n", bin)
	g := makeGrid(t, testbed.Machine{Name: "aurora", LocalSched: table})
	here := g.Sites[0]
	fail("") // as some commands do while slurmctld ends
	wantWords(t, g.at(t, here, "", "peer", "--config", here.Config), 1,
		"[localsched]", "scontrol ping", "never has to this peer", "start the peer again")
	answer()
	reported := func(wanted string) {
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
	reported("0:00:00")
	if err := here.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	fail("slurm_load_partitions error: Insane message length\n")
	if err := here.Start(); err != nil {
		t.Fatal(err)
	}
	reported("Insane message length")
	answer()
	reported("0:00:00")
}
