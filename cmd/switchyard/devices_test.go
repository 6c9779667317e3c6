package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestGPUsTravel: a job that asks for a GPU runs at the site that has some, and finds it there; jobs that
// run at once have different ones; what no site has is refused with each site's reason.
func TestGPUsTravel(t *testing.T) {
	t.Parallel()
	const table = "cpus = 4\nkill_grace = \"1s\"\non_stop = \"end\"\ncgroup = \"none\"\n"
	g := startPatientGrid(t,
		testbed.Machine{Name: "aurora", LocalSched: table},
		testbed.Machine{Name: "borealis", LocalSched: table + "features = [\"skylake\"]\nlicenses = { solver = 1 }\n[localsched.devices.gpu]\ntype = \"a100\"\ncount = 2\n"},
	)
	here := g.Sites[0]
	const prints = "#!/bin/sh\necho \"$SWITCHYARD_EXEC_SITE ${CUDA_VISIBLE_DEVICES-unset} ${SLURM_GPUS_ON_NODE-unset}\"\n"
	waits := prints + "while [ ! -e " + filepath.Join(g.work, "go") + " ]; do sleep 0.02; done\n"

	pair := []protocol.JobID{g.submit(t, here, waits, "--gpus=1"), g.submit(t, here, waits, "--gpus=1")}
	for _, id := range pair {
		g.until(t, here, id, running)
	}
	licensed := []protocol.JobID{g.submit(t, here, prints, "-L", "solver"), g.submit(t, here, prints, "--licenses=solver:1")}
	third := g.submit(t, here, prints, "--gres=gpu:a100:1", "--constraint=skylake")
	plain := g.submit(t, here, prints)
	away := g.submit(t, here, prints, "--sites=borealis")
	whole := g.submit(t, here, prints, "--exclusive", "--sites=borealis")
	for id, want := range map[protocol.JobID]string{plain: "aurora unset unset\n", away: "borealis  unset\n"} {
		if got := g.output(t, g.until(t, here, id, ended)); got != want {
			t.Errorf("job %s prints %q, want %q", id, got, want)
		}
	}
	if got := g.at(t, here, "", "status", third.String()); !strings.Contains(got.stdout, "gpu:a100:1 per node, on nodes with skylake") {
		t.Errorf("status: %s", got.stdout)
	}
	writeText(t, filepath.Join(g.work, "go"), "")
	var found []string
	for _, id := range pair {
		found = append(found, g.output(t, g.until(t, here, id, ended)))
	}
	slices.Sort(found)
	if want := []string{"borealis 0 1\n", "borealis 1 1\n"}; !slices.Equal(found, want) {
		t.Errorf("two jobs at once have %q, want %q", found, want)
	}
	if got := g.output(t, g.until(t, here, third, ended)); got != "borealis 0 1\n" && got != "borealis 1 1\n" {
		t.Errorf("the third job has %q", got)
	}
	if got := g.output(t, g.until(t, here, whole, ended)); got != "borealis 0,1 2\n" {
		t.Errorf("a job with the whole node has %q", got)
	}
	first, next := g.until(t, here, licensed[0], ended), g.until(t, here, licensed[1], ended)
	if first.Started > next.Started {
		first, next = next, first
	}
	if first.Site != "borealis" || next.Site != "borealis" || next.Started < first.Ended {
		t.Errorf("one license was used by two jobs at once, or elsewhere: %+v and %+v", first, next)
	}
	for options, reasons := range map[string][]string{
		"-L solver:2":        {"  aurora: needs 2 license:solver, the site has none\n", "  borealis: needs 2 license:solver, the site has 1\n"},
		"--gpus=3":           {"  aurora: needs 3 gpu, the site has none\n", "  borealis: needs 3 gpu, the site has 2\n"},
		"--gres=gpu:v100:1":  {"  aurora: needs 1 gpu:v100, the site has none\n", "  borealis: needs 1 gpu:v100, the site has none\n"},
		"--constraint=atlas": {"  aurora: needs atlas; the site states none\n", "  borealis: no node has the features atlas\n"},
	} {
		got := g.at(t, here, prints, append([]string{"submit"}, strings.Fields(options)...)...)
		for _, reason := range reasons {
			if got.code != exitNoSite || !strings.Contains(got.stderr, reason) {
				t.Errorf("%s: %+v, want %q", options, got, reason)
			}
		}
	}
	if got := g.at(t, here, "", "sites"); !strings.Contains(got.stdout, "RESOURCES") || !strings.Contains(got.stdout, "gpu:a100:2") || !strings.Contains(got.stdout, "skylake") {
		t.Errorf("sites: %s", got.stdout)
	}
	var sites view.Sites
	if err := json.Unmarshal([]byte(g.at(t, here, "", "sites", "--json").stdout), &sites); err != nil {
		t.Fatal(err)
	}
	if got := sites.Sites[1]; !slices.Equal(got.Resources, []protocol.Resource{{Name: "gpu", Type: "a100", Count: 2}, {Name: "license", Type: "solver", Count: 1}}) || !slices.Equal(got.Features, []string{"skylake"}) {
		t.Errorf("sites --json: %+v", got)
	}
}
