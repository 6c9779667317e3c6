package recordedgrid

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Grid is what the recordings of all sites of a grid say. All instants are by the clock of its first site.
type Grid struct {
	Sites []Site // by name
	Links []Link
	Jobs  []Job // by their submission
	Begin protocol.Instant
	Noise protocol.Duration // 95 % of the message latencies differ by no more from those of their links
	Notes []string          // what is not simulated
}

// Site is a site of the grid.
type Site struct {
	Name       protocol.SiteName
	Recording  string
	Seed       uint64            // of its peer
	Ahead      protocol.Duration // of its clock
	Latencies  sim.Latencies     // medians; those of the jobs are in [Job]
	FirstCheck protocol.Duration // of its load, from Begin; 0: it makes none
}

// Link is between two sites.
type Link struct {
	A, B     int               // sites
	Latency  protocol.Duration // median of both directions
	Messages int               // that arrived
	Lost     int               // that did not
}

// Job is a job that ran, or runs when the recordings end.
type Job struct {
	ID        protocol.JobID
	Origin    int // a site
	Site      int // that ran it
	CPUs      int
	WallTime  protocol.Duration
	Submitted protocol.Instant
	Started   protocol.Instant
	Ran       protocol.Duration
	Ended     bool // before the recordings end; else Ran is until then
	Latencies sim.JobLatencies
	request   *protocol.Spec   // nil: CPUs and time alone
	decision  *decision        // that placed it; nil: none is known
	called    protocol.Instant // when the peer of its site put it in the local queue
	queued    protocol.Instant // when it was there
	tag       protocol.Tag     // of its last placement
}

// Wait is from its submission to its start.
func (j *Job) Wait() protocol.Duration { return j.Started.Sub(j.Submitted) }

func (j *Job) end() protocol.Instant { return j.Started.Add(j.Ran) }

// latency is that of a run.
type latency = sim.JobLatencies

// Read reads the recordings of a grid: files of peer --record, or directories of them. The error has all
// that is wrong: a recording that is damaged or without its end, a partner without one, times that do not
// overlap.
func Read(paths []string) (*Grid, error) {
	files, err := recordings(paths)
	if err != nil {
		return nil, err
	}
	readings := make([]*reading, len(files))
	errs := make([]error, 0, len(files))
	for i, file := range files {
		readings[i], err = readSite(file)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortFunc(readings, func(a, b *reading) int {
		return cmp.Or(cmp.Compare(a.config.Site, b.config.Site), cmp.Compare(a.path, b.path))
	})
	if err := whole(readings); err != nil {
		return nil, err
	}
	return gridOf(readings)
}

// recordings lists the files of some paths.
func recordings(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("open the recording: %w", err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		found, err := filepath.Glob(filepath.Join(path, "*.rec*"))
		if err != nil || len(found) == 0 {
			return nil, errors.Join(fmt.Errorf("%s has no recordings (*.rec, *.rec.gz)", path), err)
		}
		files = append(files, found...)
	}
	return files, nil
}

// whole checks that there is one recording for each site and each of its partners.
func whole(readings []*reading) error {
	var errs []error
	sites := map[protocol.SiteName]*reading{}
	for _, r := range readings {
		if other := sites[r.config.Site]; other != nil {
			errs = append(errs, fmt.Errorf("site %s has two recordings, %s and %s: a recording holds one life of its peer; give one of each site", r.config.Site, other.path, r.path))
		}
		sites[r.config.Site] = r
	}
	for _, r := range readings {
		for _, p := range r.config.Partners {
			if sites[p.Site] == nil {
				errs = append(errs, fmt.Errorf("the recording of site %s is missing, a partner of %s", p.Site, r.config.Site))
			}
		}
	}
	return errors.Join(errs...)
}

func gridOf(readings []*reading) (*Grid, error) {
	g := &Grid{}
	x := matched(readings)
	ahead := x.clocks(g)
	begin, end := protocol.Instant(0), protocol.Instant(0)
	for i, r := range readings {
		g.Sites = append(g.Sites, Site{Name: r.config.Site, Recording: r.path, Seed: r.seed, Ahead: ahead[i]})
		begin = max(begin, r.first.Add(-ahead[i]))
		if last := r.last.Add(-ahead[i]); end == 0 || last < end {
			end = last
		}
	}
	if begin >= end {
		return nil, fmt.Errorf("the recordings do not overlap: the last one begins %v after the first one ends", begin.Sub(end))
	}
	x.latencies(g, ahead)
	g.gather(readings, ahead, begin, end)
	if len(g.Jobs) == 0 {
		return nil, errors.New("the recordings have no job that started")
	}
	g.Begin = min(begin, g.Jobs[0].Submitted) / 1000 * 1000 // traces begin at whole seconds
	for i, r := range readings {
		g.Sites[i].FirstCheck = r.firstCheck(g.Begin.Add(ahead[i]))
	}
	return g, nil
}

// firstCheck is the time from an instant to the first check of the load. Checks are due every σ, and may come late: the
// earliest has the phase.
func (r *reading) firstCheck(begin protocol.Instant) protocol.Duration {
	if r.config.Initiation != policy.Receiver && r.config.Initiation != policy.Symmetric {
		return 0
	}
	if len(r.checks) == 0 {
		return 0
	}
	period := r.config.CheckInterval
	first := r.checks[0]
	late := protocol.Duration(0)
	for _, at := range r.checks {
		after := at.Sub(first) % period // of the first check's phase
		if after > period/2 {
			after -= period
		}
		late = min(late, after)
	}
	due := first.Add(late).Sub(begin)
	if due <= 0 {
		due = due%period + period
	}
	return due
}

func (g *Grid) note(format string, args ...any) {
	g.Notes = append(g.Notes, fmt.Sprintf(format, args...))
}

// gather makes the jobs of the grid of what their origins and the sites that ran them recorded.
func (g *Grid) gather(readings []*reading, ahead []protocol.Duration, begin, end protocol.Instant) {
	for i, r := range readings {
		r.measureJobs(&g.Sites[i].Latencies)
		lost := 0
		for _, at := range r.lost {
			if at.Add(-ahead[i]) < end { // else a partner was stopped
				lost++
			}
		}
		if lost > 0 {
			g.note("site %s: %s with partners ended; links are always up in the simulation", r.config.Site, protocol.Count(lost, "session"))
		}
	}
	unstarted := 0
	for i, r := range readings {
		for _, s := range r.jobs {
			job := Job{
				ID: s.id, Origin: i, Site: -1, CPUs: s.spec.CPUs, WallTime: s.spec.WallTime, Submitted: s.at.Add(-ahead[i]), decision: r.decisions[s.id],
			}
			for k, other := range readings {
				if found := other.runOf(s.id); found != nil && found.started.Add(-ahead[k]) >= job.Started {
					job.ranAt(k, found, ahead[k], end)
				}
			}
			if job.Site < 0 {
				unstarted++
				continue
			}
			if !job.decision.placed(&job, r.config.Site, g.Sites[job.Site].Name, ahead[i]) {
				job.decision = nil
			}
			if moreThanCPUs(&s.spec) {
				job.request = &s.spec
			}
			g.handOff(&job, r, ahead[i])
			g.Jobs = append(g.Jobs, job)
		}
	}
	slices.SortStableFunc(g.Jobs, func(a, b Job) int { return cmp.Compare(a.Submitted, b.Submitted) })
	g.noteJobs(unstarted, begin, end)
}

// moreThanCPUs says whether a job requested more than CPUs and time, which is all that a trace has.
func moreThanCPUs(s *protocol.Spec) bool {
	return s.MinTime > 0 || s.Nodes > 0 || s.MemoryMB > 0 || s.Power > 0 || s.Layout.TasksPerNode > 0 || s.Layout.CPUsPerTask > 1 || s.Layout.MaxNodes > 0 ||
		len(s.Sites) > 0 || s.Data > 0 || s.DataOut > 0 || s.Association != (protocol.Association{}) ||
		len(s.Resources) > 0 || s.Features != "" || s.Exclusive
}

// noteJobs notes which jobs are not simulated as they were.
func (g *Grid) noteJobs(unstarted int, begin, end protocol.Instant) {
	running, outside := 0, 0
	for i := range g.Jobs {
		if !g.Jobs[i].Ended {
			running++
		}
		if at := g.Jobs[i].Submitted; at < begin || at > end {
			outside++
		}
	}
	for _, one := range []struct {
		count int
		text  string
	}{
		{unstarted, "did not start and are left out"},
		{running, "had not ended when the recordings end; they run until then"},
		{outside, "were submitted while a peer did not record; all sites are up in the simulation"},
	} {
		if one.count > 0 {
			g.note("%s that %s", protocol.Count(one.count, "job"), one.text)
		}
	}
}

// handOff sets the latency of a job's submission to what the time from its commitment to its site, or from its offer to
// a partner, until it was in the local queue has beyond the latencies of the records and messages of a hand-off. So jobs
// of one round enter a queue in the order that was recorded. The decision before may be older: under receiver
// initiation a job that a round leaves at its origin waits there for its next check.
func (g *Grid) handOff(job *Job, origin *reading, ahead protocol.Duration) {
	if job.Site == job.Origin {
		return // its latency is that from the call
	}
	offered, known := origin.offers[job.tag]
	if !known {
		return
	}
	took := job.queued.Sub(offered.Add(-ahead))
	from, to := g.Sites[job.Origin].Latencies.Commit, g.Sites[job.Site].Latencies.Commit
	// offer, prepared, grant, and the records of all and of the submission
	job.Latencies.Submit = max(0, took-2*from-2*to-3*g.link(job.Origin, job.Site))
}

// link is the latency between two sites.
func (g *Grid) link(a, b int) protocol.Duration {
	for _, l := range g.Links {
		if l.A == min(a, b) && l.B == max(a, b) {
			return l.Latency
		}
	}
	return 0
}

// runOf is the last placement of a job that started here; nil: none has.
func (r *reading) runOf(id protocol.JobID) (last *run) {
	for tag, one := range r.runs {
		if tag.Job == id && one.started > 0 && (last == nil || tag.Epoch > last.tag.Epoch) {
			last = one
		}
	}
	return last
}

func (j *Job) ranAt(site int, r *run, ahead protocol.Duration, end protocol.Instant) {
	j.Site, j.Started, j.called, j.queued = site, r.started.Add(-ahead), r.called.Add(-ahead), r.queued.Add(-ahead)
	j.Ran, j.Ended, j.Latencies, j.tag = r.ran, r.freed != 0, r.latency, r.tag
	if !j.Ended {
		j.Ran = max(1, end.Sub(j.Started))
	}
	if over := j.Ran - j.WallTime; over > 0 { // a limit is kept with some delay
		j.Ran -= over
		j.Latencies.End += over
	}
	j.Ran = max(1, j.Ran)
}
