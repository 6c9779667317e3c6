package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var (
	powerDays = flag.Int("power.days", 0, "how many days TestPowerDay has; 0: it is left out")
	powerSeed = flag.Uint64("power.seed", 0, "the seed of its first day; 0: another one each time")
)

// What a compressed day is made of.
const (
	dayCPUs    = 16 // of each of the two nodes; a CPU draws a kilowatt
	dayJobs    = 70
	hourLength = 6 * time.Second
	quarter    = 15 * time.Minute // the least that a feed tells a budget for
)

// TestPowerDay is a day before a real Slurm, whose hours are seconds: budgets begin, fall and rise, the
// feed falls silent and its last hour passes, while the peer and slurmctld are killed at random
// instants and jobs of other users keep what was handed on waiting in Slurm's queue. By what the jobs
// themselves have noted, none starts beyond the budget, but for the moment in which the peer hears
// of it and takes back what waits. Each ends, and has run once.
func TestPowerDay(t *testing.T) { //nolint:tparallel // one day after the other
	t.Parallel()
	days, seed := *powerDays, *powerSeed
	if days == 0 {
		t.Skip("a trial of minutes, in which Slurm itself may fail jobs whose controller is killed as they start: give -power.days")
	}
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	for day := range uint64(days) {
		t.Run(fmt.Sprint("day ", day+1), func(t *testing.T) {
			t.Logf("-power.seed=%d", seed+day)
			runPowerDay(t, seed+day)
		})
	}
}

func runPowerDay(t *testing.T, seed uint64) {
	t.Helper()
	d := openPowerDay(t, seed)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	var operator, submitting sync.WaitGroup
	operator.Go(func() { d.slurm.tend(ctx) })
	operator.Go(func() { d.slurm.register(ctx, t, "siteA") })
	defer operator.Wait()
	defer cancel()
	ids := make([]protocol.JobID, len(d.tasks))
	submitting.Go(func() { submitThroughKills(ctx, t, d.grid, d.tasks, ids, 600*time.Millisecond) })
	hours := hoursOf(d.rng)
	events := d.eventsOf(len(hours))
	for i, hour := range hours {
		d.pass(ctx, hour, events[i])
	}
	submitting.Wait()
	d.check(ctx, ids)
}

// dayHour is an hour of the day.
type dayHour struct {
	what  string // one of those below
	watts int64
}

// What an hour's budget comes from.
const (
	isReported = "told"     // by the feed
	isSilent   = "silent"   // told before, by a feed whose file cannot be read now
	isStale    = "stale"    // the last one of a feed that has told nothing of this time
	isFallback = "fallback" // fallback_kw, with such a feed
)

// hoursOf are those of a day: between two without a budget those with one, in any order.
func hoursOf(rng *rand.Rand) []dayHour {
	kilowatts := func(least, most int) int64 { return 1000 * int64(least+rng.IntN(most-least+1)) }
	before := kilowatts(6, 14)
	parts := [][]dayHour{
		{{isReported, before}, {isSilent, before}},
		{{isReported, kilowatts(4, 8)}},
		{{isReported, kilowatts(10, 18)}},
		{{isReported, 0}},
		{{isStale, kilowatts(6, 14)}},
		{{isFallback, kilowatts(6, 14)}},
	}
	rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	none := []dayHour{{isReported, unlimited}}
	return slices.Concat(none, slices.Concat(parts...), none)
}

// eventsOf are what happens in each hour of the day, in the order of time: kills, the last of
// slurmctld well before the end, because it takes a minute until jobs that it has lost are given up,
// and jobs of others.
func (d *powerDay) eventsOf(hours int) [][]dayEvent {
	const peerKills, controllerKills, others = 3, 2, 9
	events := make([][]dayEvent, hours)
	add := func(what string, hours, count int, do func()) {
		for range count {
			hour := d.rng.IntN(hours)
			events[hour] = append(events[hour], dayEvent{time.Duration(d.rng.Int64N(int64(hourLength))), what, do})
		}
	}
	add("the peer is killed", hours, peerKills, d.killPeer)
	add("slurmctld is killed", hours*2/3, controllerKills, func() { d.slurm.crash(d.t, "siteA") })
	add("others submit", hours-1, others, d.others)
	for _, hour := range events {
		slices.SortFunc(hour, func(a, b dayEvent) int { return int(a.after - b.after) })
	}
	return events
}

type dayEvent struct {
	after time.Duration // since the hour began
	what  string
	do    func()
}

// powerDay is a day under way.
type powerDay struct {
	*grid

	t     *testing.T
	rng   *rand.Rand
	slurm slurms
	site  *testbed.Site
	began time.Time // the quarter of an hour in which it was opened
	tasks []testbed.Task
	draws []int64 // of each task, in watts
	rules []powerRule

	feed   string // the folder of its files
	series string // how the peer is configured for it
}

// powerTables are those of a site that has its budget from a feed, which it asks each second.
const powerTables = `
[prices]
refresh_interval = "1s"
[power]
watts_per_cpu = 1000
%s
`

// seriesLine is the table of the feed, in a line. Without a fallback the last budget goes on.
func (d *powerDay) seriesLine(area string, fallback int64) string {
	line := fmt.Sprintf("series = { feed = \"file\", config = %q, area = %q", d.config(area), area)
	if fallback > 0 {
		line += fmt.Sprintf(", fallback_kw = %d", fallback/1000)
	}
	return line + " }"
}

// The areas of the feed: one tells this time, the other one only time that has passed.
const (
	areaNow  = "now"
	areaPast = "past"
)

// areaTable has the feed read an area from a file named after it.
const areaTable = `
[[file]]
path      = "%[1]s.csv"
format    = "csv"
area      = "%[1]s"
currency  = "XXX"
unit      = "MWh"
slot      = "15m"
gaps      = true
max_price = 100000
`

func openPowerDay(t *testing.T, seed uint64) *powerDay {
	t.Helper()
	d := &powerDay{t: t, rng: rand.New(rand.NewPCG(seed, 4)), slurm: startSlurmsOf(t, dayCPUs), feed: t.TempDir()}
	d.began = time.Now().UTC().Truncate(quarter)
	for _, area := range []string{areaNow, areaPast} {
		writeText(t, d.config(area), fmt.Sprintf(areaTable, area))
	}
	d.tells(areaNow, unlimited)
	machine := d.slurm.site("aurora", "siteA")
	d.series = d.seriesLine(areaNow, 0)
	machine.More = fmt.Sprintf(powerTables, d.series)
	d.grid = makeGrid(t, machine)
	d.site = d.Sites[0]
	edit(t, d.site, `check_interval = "5m0s"`, `check_interval = "2s"`, `quote_timeout = "20s"`, `quote_timeout = "1s"`) // what no budget allows is looked at again soon
	d.makeTasks()
	if err := d.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	return d
}

// tells has an area's file tell a budget: of this time, and then another one of tomorrow, so that a
// file does not look as if its end were lost; or of an hour that has passed.
func (d *powerDay) tells(area string, watts int64) {
	d.t.Helper()
	text := "start,price\n"
	row := func(at time.Time, watts int64) { text += fmt.Sprintf("%s,%d\n", at.Format(time.RFC3339), watts/1000) }
	if area == areaPast {
		row(d.began.Add(-time.Hour), watts)
	} else {
		for at := d.began; watts != unlimited && at.Before(d.began.Add(time.Hour)); at = at.Add(quarter) {
			row(at, watts)
		}
		row(d.began.Add(24*time.Hour), 2*dayCPUs*1000)
	}
	d.writes(area, text)
}

// writes replaces an area's file as a whole.
func (d *powerDay) writes(area, text string) {
	d.t.Helper()
	path := filepath.Join(d.feed, area+".csv")
	writeText(d.t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		d.t.Fatal(err)
	}
}

// config is the feed's configuration for an area.
func (d *powerDay) config(area string) string { return filepath.Join(d.feed, area+".toml") }

// configure kills the peer and has it start with another area of the feed, or fallback.
func (d *powerDay) configure(area string, fallback int64) {
	d.t.Helper()
	line := d.seriesLine(area, fallback)
	if line == d.series {
		return
	}
	if err := d.site.Kill(); err != nil {
		d.t.Fatal(err)
	}
	edit(d.t, d.site, d.series, line)
	d.series = line
	if err := d.site.Start(); err != nil {
		d.t.Fatal(err)
	}
}

// begin has an hour's budget be told.
func (d *powerDay) begin(hour dayHour) {
	d.t.Helper()
	switch hour.what {
	case isReported:
		d.tells(areaNow, hour.watts)
		d.configure(areaNow, 0)
	case isSilent:
		d.writes(areaNow, "the disk is full")
	case isStale:
		d.tells(areaPast, hour.watts)
		d.configure(areaPast, 0)
	case isFallback:
		d.tells(areaPast, 1000)
		d.configure(areaPast, hour.watts)
	}
}

// pass has an hour pass: its budget is told, things happen, and at last the peer has had the budget
// for a while.
func (d *powerDay) pass(ctx context.Context, hour dayHour, events []dayEvent) {
	d.t.Helper()
	began := time.Now()
	d.begin(hour)
	known := make(chan time.Time, 1)
	go func() { known <- d.known(ctx, hour) }()
	for _, event := range events {
		d.wait(began.Add(event.after)) // the random instant
		d.t.Logf("%s: %s", time.Now().Format("04:05.000"), event.what)
		event.do()
	}
	d.wait(began.Add(hourLength))
	var when time.Time
	for waits := true; waits; {
		select {
		case when = <-known:
			waits = false
		default:
			d.wait(time.Now().Add(supervision))
		}
	}
	if when.IsZero() {
		d.t.Fatalf("the peer never knew the budget %+v", hour)
	}
	kept := when.Add(d.aside(ctx))
	d.rules = append(d.rules, powerRule{reported: began, kept: kept, watts: hour.watts})
	d.t.Logf("%s: %s %d W, known after %v, to be kept after %v", began.Format("04:05.000"), hour.what, hour.watts,
		when.Sub(began).Round(time.Millisecond), kept.Sub(began).Round(time.Millisecond))
	d.wait(kept.Add(hourLength / 3))
}

// supervision is how often wait looks at the peer.
const supervision = 100 * time.Millisecond

// wait waits until a time, and starts the peer when it has ended, as systemd does.
func (d *powerDay) wait(until time.Time) {
	for ; time.Now().Before(until); time.Sleep(min(supervision, time.Until(until))) {
		if alive(d.site.Pid()) {
			continue
		}
		if err := errors.Join(d.site.Kill(), d.site.Start()); err != nil {
			d.t.Fatal(err)
		}
	}
}

// known waits until the peer says that an hour's budget is in force, and whether anything is wrong
// with its feed. It returns when that was, zero if it never is.
func (d *powerDay) known(ctx context.Context, hour dayHour) time.Time {
	client := d.site.Client()
	defer client.Close()
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		info, err := client.Info(ctx)
		if err != nil || info.Power == nil || (len(info.Alarms) > 0) != (hour.what != isReported) {
			continue
		}
		if budget := info.Power.Budget; budget == nil && hour.watts == unlimited || budget != nil && *budget == 1000*hour.watts {
			return time.Now()
		}
	}
	return time.Time{}
}

// killPeer kills the peer, which starts again a moment later.
func (d *powerDay) killPeer() {
	if err := d.site.Kill(); err != nil {
		d.t.Error(err)
	}
	time.Sleep(time.Duration(d.rng.Int64N(int64(2 * time.Second)))) // the random instant
	if err := d.site.Start(); err != nil {
		d.t.Error(err)
	}
}

// others has another user submit a job to Slurm.
func (d *powerDay) others() {
	cpus, seconds := dayCPUs+d.rng.IntN(dayCPUs+1), 1+d.rng.IntN(4)
	args := []string{"--ntasks", strconv.Itoa(cpus), "--time=1", "--output=/dev/null", "--wrap", fmt.Sprint("sleep ", seconds)}
	_, _ = d.slurm.run(d.t.Context(), "siteA", "sbatch", args...) // slurmctld may be down
}
