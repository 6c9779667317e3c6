package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job with --time-min starts at a partner before a job that has a reservation there, with the limit that is
// left, which status shows at both sites, after a restart too.
func TestTimeMin(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 2})
	aurora, borealis := g.Sites[0], g.Sites[1]
	door := filepath.Join(g.work, "door")
	text := fmt.Sprintf("#!/bin/sh\nwhile [ ! -e %s ]; do sleep 0.05; done\n", door)
	first := g.submit(t, borealis, text, "--time=3:00:00", "--sites=borealis")
	g.until(t, borealis, first, running)
	wide := g.submit(t, borealis, "#!/bin/sh\n", "--cpus=2", "--sites=borealis")
	short := g.submit(t, aurora, strings.Replace(text, "\n", "\n#SBATCH --time-min=10\n", 1), "--time=10:00:00", "--sites=borealis")
	limit := g.until(t, aurora, short, running).TimeLimit
	if limit <= 10*protocol.Minute || limit > 3*protocol.Hour {
		t.Errorf("started with a limit of %v, want what is left of 3 hours", limit)
	}
	for _, site := range g.Sites {
		if err := site.Stop(stopPatience); err != nil {
			t.Error(err)
		}
	}
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	for _, site := range []*testbed.Site{aurora, borealis} {
		wantWords(t, g.at(t, site, "", "status", short.String()), 0, "10:00:00, started with a limit of "+console.Span(limit))
	}
	if job := g.until(t, aurora, short, running); job.TimeLimit != limit || job.Limit() != limit || job.WallTime != 10*protocol.Hour {
		t.Errorf("after a restart: limit %v of %v, it was %v", job.TimeLimit, job.WallTime, limit)
	}
	writeText(t, door, "")
	for id, at := range map[protocol.JobID]*testbed.Site{short: aurora, wide: borealis} {
		if job := g.until(t, at, id, ended); job.State != protocol.Completed {
			t.Errorf("ended as %+v", job)
		}
	}
}
