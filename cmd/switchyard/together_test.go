package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The test binary is the policy iss that halts before it decides, when its first argument
// says so: so that something can happen between the quotes and what comes of them.
const haltingPlugin = "halting-iss"

type haltingConfig struct {
	Gate string `toml:"gate"` // while this file exists no decision is made
}

func serveHalting() {
	sdk.Main(sdk.Policy[haltingConfig]{
		Name: haltingPlugin, Version: "1.0.0",
		Make: func(c haltingConfig, _ sdk.Host) (policy.Policy, error) {
			broker, err := iss.New(iss.Default())
			return halting{Policy: broker, gate: c.Gate}, err
		},
	})
}

type halting struct {
	*iss.Policy

	gate string
}

func (h halting) Info() policy.Info {
	info := h.Policy.Info()
	info.Name = haltingPlugin
	return info
}

func (h halting) Decide(ctx context.Context, in policy.Snapshot) (decisions []policy.Decision, hint []byte, err error) {
	for {
		if _, err := os.Stat(h.gate); errors.Is(err, fs.ErrNotExist) {
			return h.Policy.Decide(ctx, in)
		}
		if err := os.WriteFile(h.gate+askedSuffix, nil, 0o600); err != nil {
			return nil, nil, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// askedSuffix is that of the file by which the policy tells that it is asked.
const askedSuffix = ".asked"

// pair is an application of two components that start together, and have room together
// at no site but at two.
const pair = `
[application]
name = "pair"
objective = "fastest"

[[component]]
name = "ocean"
script = "%[1]s"
args = ["ocean"]
cpus = 2
time = "5s"
together = "coupled"

[[component]]
name = "air"
script = "%[1]s"
args = ["air"]
cpus = 4
time = "5s"
together = "coupled"
`

// coupledPair writes the application. Each of its jobs tells where and when it starts.
func (g *grid) coupledPair(t *testing.T) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "clock.sh")
	writeText(t, script, "#!/bin/sh\nnow=$(date +%s.%N)\necho $SWITCHYARD_EXEC_SITE $now $SWITCHYARD_APPLICATION $SWITCHYARD_COMPONENT | tee -a "+g.work+"/$1\n")
	return fmt.Sprintf(pair, script)
}

// start is where and when a component started, by its own clock.
type start struct {
	site protocol.SiteName
	at   float64
}

// began is what a component told of its start. It must have run once.
func (g *grid) began(t *testing.T, ids []protocol.JobID, name string) (s start) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.work, name))
	parts := strings.Fields(string(text))
	if err != nil || len(parts) != 4 || parts[2] != ids[0].String() || parts[3] != name {
		t.Fatalf("%s told %q, %v", name, text, err)
	}
	if s.at, err = strconv.ParseFloat(parts[1], 64); err != nil {
		t.Fatal(err)
	}
	s.site = protocol.SiteName(parts[0])
	return s
}

// startedTogether checks that both components ran once, at two sites, from one instant on: none before
// it, and none after the tolerance, which is all that is promised on a machine as busy as it likes.
func (g *grid) startedTogether(t *testing.T, site *testbed.Site, ids []protocol.JobID) (ocean, air start) {
	t.Helper()
	var held []protocol.Instant
	for _, id := range ids {
		job := g.until(t, site, id, ended)
		if job.State != protocol.Completed {
			t.Errorf("got %+v", job)
		}
		held = append(held, job.ReservedAt)
	}
	ocean, air = g.began(t, ids, "ocean"), g.began(t, ids, "air")
	if held[0] != held[1] || held[0] == 0 || ocean.site == air.site {
		t.Errorf("ocean %+v and air %+v, for which room was held from %v on", ocean, air, held)
	}
	for _, one := range []start{ocean, air} {
		at := protocol.InstantOf(time.UnixMilli(int64(one.at * 1000)))
		if by := held[0].Add(protocol.DefaultStartTolerance); at < held[0] || at > by {
			t.Errorf("%+v started at %s; the instant was %s", one, at.Text(), held[0].Text())
		}
	}
	t.Logf("ocean %+v, air %+v: %.0f ms apart", ocean, air, 1000*(ocean.at-air.at))
	return ocean, air
}

// Two components start at one instant at two sites.
func TestComponentsStartTogether(t *testing.T) {
	t.Parallel()
	g := startGrid(t, broker("aurora", 2, "CHF", 1, 8), broker("borealis", 4, "CHF", 1, 8))
	aurora := g.Sites[0]
	ids := g.apply(t, aurora, g.coupledPair(t))
	ocean, air := g.startedTogether(t, aurora, ids)
	if ocean.site != "aurora" || air.site != "borealis" {
		t.Errorf("ocean ran at %s, air at %s", ocean.site, air.site)
	}
	got := g.at(t, aurora, "", "explain", ids[1].String())
	for _, want := range []string{"borealis is chosen: z ", "offered to borealis: to hold room from ", "is prepared; grant recorded"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing in\n%s%s", want, got.stdout, got.stderr)
		}
	}
}

// A site dies when the other one holds its room already: that is given up, and both start
// together elsewhere.
func TestASiteDiesBetweenTwoHolds(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	writeText(t, gate, "")
	config := tempFile(t, "halting.toml", fmt.Sprintf("gate = %q\n", gate))
	origin := broker("aurora", 2, "CHF", 1, 8)
	origin.Policy = haltingPlugin
	origin.More += "\n" + strings.Replace(pluginTables(t, "policy", haltingPlugin, config), "3s", "45s", 1)
	g := makeGrid(t, origin, broker("borealis", 4, "CHF", 1, 8), broker("cygnus", 4, "CHF", 2, 8))
	aurora, borealis := g.Sites[0], g.Sites[1]
	edit(t, aurora, `retry_initial = "200ms"`, `retry_initial = "1s"`) // so that there is time to look
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	whenPlugin(t, aurora, up)
	ids := g.apply(t, aurora, strings.Replace(g.coupledPair(t), "fastest", "cheapest", 1))
	waitFor(t, gate+askedSuffix, true) // all have quoted
	if err := syscall.Kill(borealis.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	held := g.until(t, aurora, ids[0], func(job view.Job) bool { return job.ReservedAt != 0 })
	waitFor(t, holdOf(aurora, ids[0]), true)
	if err := borealis.Kill(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, holdOf(aurora, ids[0]), false)
	if now := protocol.InstantOf(time.Now()); held.Epoch != 1 || now > held.ReservedAt {
		t.Errorf("the hold from %v on ended by itself, at %v: %+v", held.ReservedAt.Time(), now.Time(), held)
	}
	if _, air := g.startedTogether(t, aurora, ids); air.site != "cygnus" {
		t.Errorf("air ran at %s", air.site)
	}
	got := g.at(t, aurora, "", "explain", ids[0].String())
	if want := "job " + ids[1].String() + ": borealis does not answer"; !strings.Contains(fields(got.stdout), want) {
		t.Errorf("%q is missing in\n%s%s", want, got.stdout, got.stderr)
	}
	if err := borealis.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Linked(patience(t)); err != nil {
		t.Fatal(err)
	}
	g.startedTogether(t, aurora, ids) // and not once more
}

// holdOf is the file of the first hold of a job at a site.
func holdOf(site *testbed.Site, id protocol.JobID) string {
	return filepath.Join(site.Dir, "state", "spool", "reservations", id.String()+".1")
}

// waitFor waits until a file is there, or no more.
func waitFor(t *testing.T, path string, there bool) {
	t.Helper()
	for ctx := patience(t); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); (err == nil) == there {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s: wanted to be there: %v", path, there)
		}
	}
}
