package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// updates are the changes that the node was asked for.
func (n *fakeNode) updates() (found []event.Update) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, ev := range n.asked {
		if u, ok := ev.(event.Update); ok {
			found = append(found, u)
		}
	}
	return found
}

// TestUpdateAsks: what the peer is asked for by switchyard update, for each of its jobs.
func TestUpdateAsks(t *testing.T) {
	t.Parallel()
	const array protocol.JobID = 1_000_000_000_050
	n := &fakeNode{replyF: always(view.Done{}, nil), jobs: map[protocol.JobID]view.Job{
		array: {ID: array, Array: &view.Array{ID: array, Elements: protocol.IndexesOf(1, 2)}},
	}}
	got := command(t, serve(t, n), "", "update", "--time=30", "--sites=aurora,cygnus", "--nice", "--dependency=", "1000000000042", "1000000000050_[1-2]")
	if got.code != 0 || got.stdout != "" || got.stderr != "" {
		t.Errorf("got %+v", got)
	}
	asked := n.updates()
	if len(asked) != 3 || asked[0].Job != 1_000_000_000_042 || asked[1].Job != 1_000_000_000_052 || asked[2].Job != 1_000_000_000_053 {
		t.Fatalf("asked %+v", asked)
	}
	for _, one := range asked {
		if text := one.Change.String(); text != "time limit 0:30:00, sites aurora, cygnus, nice 100, dependency none" {
			t.Errorf("asked for %s", text)
		}
	}
}

// TestUpdateExits: what update and scontrol update print and exit with.
func TestUpdateExits(t *testing.T) {
	t.Parallel()
	refusing := func(code view.RefusalCode, sites ...view.SiteRefusal) *fakeNode {
		return &fakeNode{replyF: always(nil, no{view.Refusal{Code: code, Reason: "the reason", Sites: sites}}), jobs: map[protocol.JobID]view.Job{someID: {ID: someID, State: protocol.Pending, WallTime: protocol.Hour}}}
	}
	id := someID.String()
	for line, want := range map[string]struct {
		node   *fakeNode
		code   int
		stderr string
	}{
		"update":                                           {nil, 2, "missing job ID"},
		"update " + id:                                     {nil, 2, "nothing is to be changed; give an option, such as --time"},
		"update --time=x " + id:                            {nil, 2, "--time: "},
		"update --cpus=4 " + id:                            {nil, 2, "unknown flag: --cpus"},
		"update --nice=1 12":                               {nil, 3, "no job 12"},
		"update --nice=1 " + id:                            {refusing(view.Denied), 4, "the reason"},
		"update --sites=b " + id:                           {refusing(view.NoSite, view.SiteRefusal{Site: "b", Reason: "too small"}), 5, "  b: too small"},
		"update --time=1 " + id:                            {refusing(view.Unavailable), 1, "the reason"},
		"scontrol update":                                  {nil, 1, "No job ID specified\n"},
		"scontrol update JobId=" + id:                      {nil, 1, "No changes specified\n"},
		"scontrol update JobId=, nice=1":                   {nil, 1, "No job ID specified\n"},
		"scontrol update JobId=" + id + ",x nice=1":        {nil, 1, "slurm_update error: Invalid job id specified\n"},
		"scontrol update jobid=x nice=1":                   {nil, 1, "slurm_update error: Invalid job id specified\n"},
		"scontrol update jobid=" + id + " MinMemoryNode=5": {nil, 1, "Update of this parameter is not supported: MinMemoryNode=5\nRequest aborted\n"},
		"scontrol update jobid=" + id + " dependency=afterok:1000000000001": {
			&fakeNode{replyF: always(nil, no{view.Refusal{Code: view.NotFound, Reason: view.OfDependency + "afterok: unknown"}}), jobs: map[protocol.JobID]view.Job{someID: {ID: someID}}},
			1, "slurm_update error: Job dependency problem: dependency afterok: unknown\n",
		},
		"scontrol update jobid=" + id + " timelimit=30":  {refusing(view.Denied), 1, "slurm_update error: Access/permission denied\n"},
		"scontrol update jobid=" + id + " TimeLimit+=30": {refusing(view.Unavailable), 1, "slurm_update error: the reason\n"},
		"scontrol update jobid=" + id + " priority=0":    {refusing(view.NotFound), 1, "slurm_update error: Invalid job id specified\n"},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			node := want.node
			if node == nil {
				node = &fakeNode{replyF: always(view.Done{}, nil)}
			}
			got := commandAs(t, serve(t, node), line)
			if got.code != want.code || !strings.Contains(got.stderr, want.stderr) || got.stdout != "" {
				t.Errorf("got %+v, want %d and %q", got, want.code, want.stderr)
			}
		})
	}
}

// TestScontrolUpdateAsks: keys of scontrol update, in any case and cut as Slurm cuts them, are the options of update.
func TestScontrolUpdateAsks(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"JobId=ID TimeLimit=1-0":                      "time limit 1-00:00:00",
		"JobId=ID TimeLimit+=30":                      "time limit 1:30:00",
		"jobid=ID timelimit-=10":                      "time limit 0:50:00",
		"JobId=ID JobName=sum Comment=c":              "name sum, comment c",
		"JobId=ID Name=sum":                           "name sum",
		"job=ID nice":                                 "nice 100",
		"JobId=ID Nice=5 Priority=7":                  "nice 5, priority 7",
		"JobId=ID Priority=-1":                        "the priority that is worked out",
		"JobId=ID Partition=gpu Account=chem QOS=low": "account chem, partition gpu, QOS low",
		"JobId=ID Dependency=":                        "dependency none",
		"JobId=ID Dependency=afterany:1000000000001":  "dependency afterany:1000000000001(unfulfilled)",
		"JobId=ID Deadline=2030-01-01T00:00:00Z":      "",
		"JobId=ID ArrayTaskThrottle=3":                "throttle 3",
		"JobId=ID TimeMin=5 StartTime=now+1hour":      "least time limit 0:05:00, begin ",
		"JobId=ID Priority=0":                         "held",
		"JobId=ID,1000000000043 Priority=0":           "heldheld",
	} {
		n := &fakeNode{replyF: always(view.Done{}, nil), jobs: map[protocol.JobID]view.Job{someID: {ID: someID, State: protocol.Pending, WallTime: protocol.Hour}}}
		got := commandAs(t, serve(t, n), "scontrol update "+strings.ReplaceAll(words, "=ID", "="+someID.String()))
		if want == "" {
			if got.code != 1 {
				t.Errorf("%s: %+v", words, got)
			}
			continue
		}
		var done []string
		for _, ev := range n.asked {
			if u, ok := ev.(event.Update); ok {
				done = append(done, u.Change.String())
			}
			if _, ok := ev.(event.SetHold); ok {
				done = append(done, "held")
			}
		}
		text := strings.Join(done, "")
		if got.code != 0 || !strings.HasPrefix(text, want) {
			t.Errorf("%s: %+v, asked for %q, want %q", words, got, text, want)
		}
	}
}

// commandAs runs scontrol, or a command of switchyard.
func commandAs(t *testing.T, socket, line string) result {
	t.Helper()
	if strings.HasPrefix(line, "scontrol ") {
		out, code := new(grid).slurmLine(t, &testbed.Site{Socket: socket}, line)
		return result{code: code, stderr: out}
	}
	return command(t, socket, "", strings.Fields(line)...)
}

// TestUpdate: a user changes jobs in the grid queue, at a partner and of an array, over a restart; what is shown is what runs.
func TestUpdate(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 2})
	aurora := g.Sites[0]
	door := filepath.Join(g.work, "door")
	text := fmt.Sprintf("#!/bin/sh\nwhile [ ! -e %s ]; do sleep 0.05; done\necho limit $SLURM_JOB_NAME\n", door)
	full := g.submit(t, aurora, text, "--cpus=2", "--time=30", "--sites=borealis")
	g.until(t, aurora, full, running)
	waits := g.submit(t, aurora, text, "--cpus=2", "--time=30", "--sites=borealis")
	g.until(t, aurora, waits, func(job view.Job) bool { return job.Site == "borealis" })
	held := g.submit(t, aurora, text, "--hold", "--time=30", "-J", "old")
	array := g.submit(t, aurora, text, "--array=1-3", "--hold", "--time=30")

	wantWords(t, g.at(t, aurora, "", "update", "--time=10", "--nice=7", waits.String()), 0, "")
	wantWords(t, g.at(t, aurora, "", "update", "-J", "new", "--time=20", "--comment=twice", held.String()), 0, "")
	wantWords(t, g.at(t, aurora, "", "update", "--sites=aurora", full.String()), 1, "only pending jobs can be updated")
	wantWords(t, g.at(t, aurora, "", "update", "--sites=aurora", waits.String()), 5, "aurora: ")
	wantWords(t, g.at(t, aurora, "", "update", "--time=5", array.String()), 0, "")
	if out, code := g.slurmLine(t, aurora, fmt.Sprintf("scontrol update JobId=%v_2 TimeLimit-=2 Name=second", array)); code != 0 {
		t.Errorf("scontrol: %q (%d)", out, code)
	}
	g.until(t, aurora, waits, func(job view.Job) bool {
		return job.WallTime == 10*protocol.Minute && job.Nice == 7 && job.Site == "borealis"
	})
	for _, site := range g.Sites {
		if err := site.Stop(stopPatience); err != nil {
			t.Error(err)
		}
	}
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	wantWords(t, g.at(t, aurora, "", "status", held.String()), 0, "20:00")
	wantWords(t, g.at(t, aurora, "", "explain", held.String()), 0, "name new, comment twice, time limit 0:20:00")
	for index, want := range map[int]protocol.Duration{1: 5 * protocol.Minute, 2: 3 * protocol.Minute} {
		if job := g.until(t, aurora, protocol.Element{Array: array, Index: index}.ID(), func(view.Job) bool { return true }); job.WallTime != want {
			t.Errorf("element %d has the limit %v, want %v", index, job.WallTime, want)
		}
	}
	wantWords(t, g.at(t, aurora, "", "release", held.String(), array.String()), 0, "")
	writeText(t, door, "")
	for _, id := range []protocol.JobID{full, waits, held, array} {
		if job := g.until(t, aurora, id, ended); job.State != protocol.Completed {
			t.Errorf("%v ended as %+v", id, job)
		}
	}
	wantWords(t, g.at(t, aurora, "", "logs", held.String()), 0, "limit new")
}
