package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestArrayOverSites: the elements of an array run at three sites, each with its own output and variables; some are cancelled,
// and the peer of the array is killed meanwhile.
func TestArrayOverSites(t *testing.T) {
	t.Parallel()
	g := startPatientGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 2}, testbed.Machine{Name: "cygnus", CPUs: 2})
	site := g.Sites[0]
	gate := filepath.Join(g.work, "gate")
	script := "#!/bin/sh\n#SBATCH --array=0-18:2%5 -t 10\nwhile [ ! -e " + gate + " ]; do sleep 0.1; done\n" +
		"echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX $SLURM_ARRAY_TASK_STEP\n"
	id := g.submit(t, site, script, "-o", "a-%A-%3a.log")
	array := g.until(t, site, id, func(job view.Job) bool { return job.Array.Running == 5 })
	if array.Array.Pending != 5 || array.Reason != view.ReasonArrayThrottle {
		t.Errorf("%+v, %s", array.Array, array.Reason)
	}
	sites := runningSites(t, site, id)
	if len(sites) != 3 || sites["aurora"] != 1 || sites["borealis"] != 2 || sites["cygnus"] != 2 {
		t.Errorf("elements run at %v", sites)
	}
	line := fmt.Sprintf("%v_[10,12,14,16,18%%5]", id)
	if got := g.at(t, site, "", "queue", "-h", "-t", "PD", "-o", "%i %F %K %r").stdout; got != fmt.Sprintf("%s %v 10,12,14,16,18%%5 JobArrayTaskLimit\n", line, id) {
		t.Errorf("pending are %q", got)
	}
	if got := g.at(t, site, "", "queue", "-h", "-r", "-t", "PD", "-o", "%i").stdout; strings.Count(got, "\n") != 5 {
		t.Errorf("pending are %q", got)
	}
	if got := g.at(t, site, "", "queue", "-h", "-r", "-j", fmt.Sprintf("%v_[10,12]", id), "-o", "%i").stdout; got != fmt.Sprintf("%v_10\n%v_12\n", id, id) {
		t.Errorf("of two elements are listed %q", got)
	}
	for _, name := range []string{fmt.Sprintf("%v_[2,14,16]", id), fmt.Sprintf("%v_18", id)} {
		if got := g.at(t, site, "", "cancel", name); got.code != 0 {
			t.Errorf("cancel %s: %+v", name, got)
		}
	}
	if got := g.at(t, site, "", "cancel", fmt.Sprintf("%v_3", id)); got.code != exitNotFound {
		t.Errorf("cancel an element that there is not: %+v", got)
	}
	if err := site.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	array = g.until(t, site, id, ended)
	if array.State != protocol.Cancelled || array.Array.Completed != 6 || array.Array.Cancelled != 4 {
		t.Errorf("%v, %+v", array.State, array.Array)
	}
	for _, index := range []int{0, 4, 6, 8, 10, 12} {
		text, err := os.ReadFile(filepath.Join(g.work, fmt.Sprintf("a-%v-%03d.log", id, index)))
		if want := fmt.Sprintf("%v %d 10 0 18 2\n", id, index); err != nil || string(text) != want {
			t.Errorf("element %d has written %q, want %q: %v", index, text, want, err)
		}
	}
	status := g.at(t, site, "", "status", fmt.Sprintf("%v_[0,18]", id))
	if status.code != 0 || !strings.Contains(status.stdout, "COMPLETED") || !strings.Contains(status.stdout, "CANCELLED") {
		t.Errorf("%+v", status)
	}
	if got := g.at(t, site, "", "logs", fmt.Sprintf("%v_4", id)); !strings.HasSuffix(got.stdout, " 4 10 0 18 2\n") {
		t.Errorf("%+v", got)
	}
}

// runningSites counts the elements of an array that run, by their sites.
func runningSites(t *testing.T, site *testbed.Site, id protocol.JobID) map[protocol.SiteName]int {
	t.Helper()
	client := site.Client()
	defer client.Close()
	queue, err := client.Queue(patience(t), api.Listing{QueueFilter: view.QueueFilter{Jobs: []protocol.JobID{id}, States: []protocol.State{protocol.Running}}})
	if err != nil {
		t.Fatal(err)
	}
	sites := map[protocol.SiteName]int{}
	for i := range queue.Jobs {
		sites[queue.Jobs[i].Site]++
	}
	return sites
}
