package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var groupKills = flag.Int("group.kills", 0, "how often TestKilledPeersKeepGroupsTogether kills a peer; 0: 6 times, with -short 3")

// killsOfGroups is how often peers are killed. The more often, the more groups are submitted.
func killsOfGroups() int {
	switch {
	case *groupKills > 0:
		return *groupKills
	case testing.Short():
		return 3
	}
	return 6
}

// The kernel's clock of processes has ticks, and a script may read the time only after some of its
// own work, on a machine that is as busy as it likes: only the kernel's stamp is checked to the tick.
const (
	tick        = 10 * protocol.Millisecond // USER_HZ is 100 on every Linux
	scriptDelay = 2 * protocol.Second
)

// member is a component of a group that starts together.
type member struct {
	group     *memberGroup
	name      string
	cpus, run int // in seconds
	site      protocol.SiteName
	id        protocol.JobID
}

type memberGroup struct {
	name      string
	origin    *testbed.Site
	tolerance protocol.Duration
	missed    string
	requeue   bool
	members   []*member
	wrong     bool
}

// fault reports what is wrong with a group.
func (g *memberGroup) fault(t *testing.T, format string, args ...any) {
	t.Helper()
	g.wrong = true
	t.Errorf("%s: %s", g.name, fmt.Sprintf(format, args...))
}

// randomGroup has 2 to 4 members, a third of them at one site only.
func randomGroup(rng *rand.Rand, name string, sites []*testbed.Site) *memberGroup {
	g := &memberGroup{
		name: name, origin: sites[rng.IntN(len(sites))], tolerance: protocol.Duration(1+rng.IntN(3)) * protocol.Second,
		missed: []string{protocol.RetryMissed, protocol.FailMissed}[rng.IntN(4)/3], requeue: rng.IntN(3) > 0,
	}
	for k := range 2 + rng.IntN(3) {
		one := &member{group: g, name: fmt.Sprint("m", k), cpus: 1 + rng.IntN(2), run: 1 + rng.IntN(4)}
		if rng.IntN(3) == 0 {
			one.site = sites[rng.IntN(len(sites))].Name
		}
		g.members = append(g.members, one)
	}
	return g
}

// text is the group as an application.
func (g *memberGroup) text(script string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "[application]\nname = %q\nobjective = \"fastest\"\nstart_tolerance = \"%ds\"\nstart_missed = %q\n",
		g.name, g.tolerance/protocol.Second, g.missed)
	for _, one := range g.members {
		fmt.Fprintf(&out, "\n[[component]]\nname = %q\nscript = %q\nargs = [\"%d\"]\ncpus = %d\ntime = \"%ds\"\nrequeue = %v\ntogether = \"all\"\n",
			one.name, script, one.run, one.cpus, one.run+4, g.requeue)
		if one.site != "" {
			fmt.Fprintf(&out, "sites = [%q]\n", one.site)
		}
	}
	return out.String()
}

// stampScript writes down when it started, by its own clock and by the kernel's.
const stampScript = `#!/bin/sh
now=$(date +%%s%%N)
read -r kernel </proc/$$/stat
echo "$SWITCHYARD_JOB_ID $SWITCHYARD_EPOCH $now $kernel" >>'%s'
sleep "$1"
`

// stamp is what a member wrote when it started.
type stamp struct {
	tag     protocol.Tag
	script  protocol.Instant // when its script read the clock
	process protocol.Instant // when the kernel made its process, or up to a tick later
}

// stampsOf reads what all members wrote.
func stampsOf(t *testing.T, path string) (stamps []stamp) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var since, wall unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &since); err != nil {
		t.Fatal(err)
	}
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &wall); err != nil {
		t.Fatal(err)
	}
	booted := time.Duration(wall.Nano() - since.Nano())
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		return n
	}
	for line := range bytes.Lines(data) {
		head, kernel, _ := strings.Cut(string(line), ") ") // after the process's name
		words, fields := strings.Fields(head), strings.Fields(kernel)
		if len(words) < 5 || len(fields) < 20 {
			t.Fatalf("a member wrote %q", line)
		}
		id, err := protocol.ParseJobID(words[0])
		if err != nil {
			t.Fatal(err)
		}
		stamps = append(stamps, stamp{
			tag:     protocol.Tag{Job: id, Epoch: protocol.Epoch(number(words[1]))},
			script:  protocol.InstantOf(time.Unix(0, number(words[2]))),
			process: protocol.InstantOf(time.Unix(0, int64(booted)+number(fields[19])*int64(tick.Std()))),
		})
	}
	return stamps
}

// instants collects from when on room was held for each placement, from all peers, until the
// context ends.
func (g *grid) instants(ctx context.Context) (known map[protocol.Tag]protocol.Instant) {
	known = map[protocol.Tag]protocol.Instant{}
	for ctx.Err() == nil {
		for _, site := range g.Sites {
			queue, err := site.Client().Queue(ctx, api.Listing{Finished: 100})
			if err != nil {
				continue // its peer is down
			}
			for _, job := range queue.Jobs {
				if job.ReservedAt != 0 {
					known[protocol.Tag{Job: job.ID, Epoch: job.Epoch}] = job.ReservedAt
				}
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	return known
}

// TestKilledPeersKeepGroupsTogether kills and restarts the peers of four sites while groups are
// submitted, placed, granted and run. No member may start outside the tolerance of the instant that
// its group has agreed on, by the stamps of the members; none is lost, or runs twice unasked; each
// group that does not run as a whole says why. How many do depends on the machine.
func TestKilledPeersKeepGroupsTogether(t *testing.T) {
	seed := killSeed()
	t.Logf("SWITCHYARD_KILL_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	g := makeGrid(t, broker("aurora", 4, "CHF", 1, 8), broker("borealis", 4, "CHF", 1, 8),
		broker("cygnus", 4, "CHF", 1, 8), broker("draco", 4, "CHF", 1, 8))
	for _, site := range g.Sites {
		edit(t, site, `retry_max = "1s"`, "retry_max = \"1s\"\nstart_margin = \"3s\"")
		edit(t, site, fmt.Sprintf("check_interval = %q", 5*protocol.Minute), `check_interval = "3s"`,
			`quote_timeout = "20s"`, `quote_timeout = "1s"`) // for so long a site is left out that has missed a start
	}
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	var groups []*memberGroup
	for i := range 3 * killsOfGroups() / 2 {
		groups = append(groups, randomGroup(rng, fmt.Sprint("g", i), g.Sites))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var submitting, watching sync.WaitGroup
	var held map[protocol.Tag]protocol.Instant
	watching.Go(func() { held = g.instants(ctx) })
	submitting.Go(func() { submitGroups(ctx, t, g, groups) })
	killPeers(t, g, rng, killsOfGroups(), 5*time.Second)
	submitting.Wait()
	views := g.groupsEnded(t, groups)
	cancel()
	watching.Wait()
	stamps := stampsOf(t, filepath.Join(g.work, "starts"))
	startedInTime(t, groups, stamps, held)
	endedTogether(t, groups, stamps, views)
	g.tellGroups(t, groups)
}

// tellGroups logs how many starts were missed, and what happened to each group with which something
// is wrong.
func (g *grid) tellGroups(t *testing.T, groups []*memberGroup) {
	t.Helper()
	missed := 0
	for _, site := range g.Sites {
		log, err := os.ReadFile(site.Log)
		if err != nil {
			t.Error(err)
		}
		missed += bytes.Count(log, []byte(event.LogStartMissed))
	}
	t.Logf("%d starts were missed", missed)
	for _, group := range groups {
		for _, one := range group.members {
			if group.wrong && one.id != 0 {
				t.Logf("%s of %s:\n%s", one.name, group.name, g.at(t, group.origin, "", "explain", one.id.String()).stdout)
			}
		}
	}
}

func submitGroups(ctx context.Context, t *testing.T, g *grid, groups []*memberGroup) {
	t.Helper()
	script := filepath.Join(g.Dir, "member.sh")
	writeText(t, script, fmt.Sprintf(stampScript, filepath.Join(g.work, "starts")))
	for _, group := range groups {
		path := filepath.Join(g.Dir, group.name+".toml")
		writeText(t, path, group.text(script))
		ids, err := g.submitFile(ctx, group.origin, path, group.name)
		if err != nil || len(ids) != len(group.members) {
			t.Errorf("submit %s: %v, %v", group.name, ids, err)
			return
		}
		for k, id := range ids {
			group.members[k].id = id
		}
		time.Sleep(time.Second) // so that all stages of groups meet kills
	}
}

// groupsEnded waits for the end of all members. There are no others.
func (g *grid) groupsEnded(t *testing.T, groups []*memberGroup) map[protocol.JobID]view.Job {
	t.Helper()
	views := map[protocol.JobID]view.Job{}
	for _, site := range g.Sites {
		var ids []protocol.JobID
		for _, group := range groups {
			for _, one := range group.members {
				if group.origin == site && one.id != 0 {
					ids = append(ids, one.id)
					views[one.id] = g.until(t, site, one.id, ended)
				}
			}
		}
		noneUnknown(patience(t), t, site, ids)
	}
	return views
}

// startedInTime checks each start, and that none is one too many.
func startedInTime(t *testing.T, groups []*memberGroup, stamps []stamp, held map[protocol.Tag]protocol.Instant) {
	t.Helper()
	members := map[protocol.JobID]*member{}
	for _, group := range groups {
		for _, one := range group.members {
			members[one.id] = one
		}
	}
	starts, tags, latest := map[protocol.JobID]int{}, map[protocol.Tag]int{}, protocol.Duration(0)
	for _, s := range stamps {
		one := members[s.tag.Job]
		if one == nil {
			t.Errorf("job %v started, which nobody submitted", s.tag.Job)
			continue
		}
		starts[s.tag.Job]++
		tags[s.tag]++
		if tags[s.tag] > 1 || (starts[s.tag.Job] > 1 && !one.group.requeue) {
			one.group.fault(t, "%s has started again, in epoch %d", one.name, s.tag.Epoch)
		}
		from := held[s.tag]
		by := from.Add(one.group.tolerance)
		late := s.process.Sub(from)
		latest = max(latest, late)
		switch {
		case from == 0:
			one.group.fault(t, "%s started in epoch %d, for which no instant was agreed on", one.name, s.tag.Epoch)
		case s.process.Add(tick) < from || s.process > by:
			one.group.fault(t, "%s started in epoch %d %v after the instant, by the kernel", one.name, s.tag.Epoch, late.Std())
		case s.script < from || s.script > by.Add(scriptDelay):
			one.group.fault(t, "%s started in epoch %d %v after the instant, by its own clock", one.name, s.tag.Epoch, s.script.Sub(from).Std())
		}
	}
	t.Logf("%d starts of %d members, up to %v after the instant", len(stamps), len(members), latest.Std())
}

// endedTogether checks that the members of each group which ran to their ends started from one instant
// on, and that others say why they did not.
func endedTogether(t *testing.T, groups []*memberGroup, stamps []stamp, views map[protocol.JobID]view.Job) {
	t.Helper()
	started := map[protocol.Tag]bool{}
	for _, s := range stamps {
		started[s.tag] = true
	}
	counts := map[string]int{}
	for _, group := range groups {
		var from protocol.Instant
		ran := 0
		for _, one := range group.members {
			view := views[one.id]
			whole := view.State == protocol.Completed || view.State == protocol.Timeout
			if !whole {
				if view.State != protocol.Cancelled || !strings.Contains(view.Reason, "start") {
					group.fault(t, "%s is %s: %s", one.name, display.State(view), view.Reason)
				}
				continue
			}
			if !started[protocol.Tag{Job: one.id, Epoch: view.Epoch}] {
				group.fault(t, "%s is %v in epoch %d, and did not start", one.name, view.State, view.Epoch)
			}
			if from != 0 && from != view.ReservedAt {
				group.fault(t, "%s ran from %v on, another member from %v", one.name, view.ReservedAt.Time(), from.Time())
			}
			from = view.ReservedAt
			ran++
		}
		switch ran {
		case len(group.members):
			counts["ran"]++
		case 0:
			counts["ended"]++
		default:
			counts["in part"]++
		}
	}
	t.Logf("groups: %v", counts)
}
