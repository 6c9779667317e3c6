package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job's comment is shown at its origin and at the site that runs it, and is kept over restarts
// and after the job's end.
func TestComments(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 2}, testbed.Machine{Name: "borealis", CPUs: 4})
	aurora, borealis := g.Sites[0], g.Sites[1]
	const comment = `wöchentlich: "a=b" $x`
	door := filepath.Join(g.work, "door")
	text := fmt.Sprintf("#!/bin/sh\nwhile [ ! -e %s ]; do sleep 0.05; done\n", door)
	here := g.submit(t, aurora, text, "--comment", comment, "--sites=aurora")
	there := g.submit(t, aurora, text, "--comment", comment, "--sites=borealis")
	shown := func() {
		t.Helper()
		for _, id := range []protocol.JobID{here, there} {
			g.until(t, aurora, id, running)
			g.showsComment(t, aurora, id, comment)
		}
		g.showsComment(t, borealis, there, comment, "--guests")
	}
	shown()
	for _, site := range g.Sites {
		if err := site.Stop(stopPatience); err != nil {
			t.Error(err)
		}
	}
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	shown()
	writeText(t, door, "")
	for _, id := range []protocol.JobID{here, there} {
		if job := g.until(t, aurora, id, ended); job.Comment != comment || job.State != protocol.Completed {
			t.Errorf("ended as %+v", job)
		}
	}
}

// showsComment expects a job's comment in all that is said of the job at the site.
func (g *grid) showsComment(t *testing.T, site *testbed.Site, id protocol.JobID, comment string, queue ...string) {
	t.Helper()
	job := id.String()
	wantWords(t, g.at(t, site, "", append([]string{"queue", "--format=%i %k"}, queue...)...), 0, job+" "+comment+"\n")
	for _, command := range []string{"status", "explain"} {
		wantWords(t, g.at(t, site, "", command, job), 0, `with the comment "`+comment+`"`)
	}
	var status view.Queue
	got := g.at(t, site, "", "status", "--json", job)
	if err := json.Unmarshal([]byte(got.stdout), &status); err != nil || len(status.Jobs) != 1 || status.Jobs[0].Comment != comment {
		t.Errorf("%s: %v, %+v", site.Name, err, got)
	}
}
