package dashboard

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxDrawn bounds the jobs of a schedule.
const maxDrawn = 2000

// windows are how many hours before and after now a schedule may show.
func windows() []int { return []int{1, 6, 24} }

// schedulePage shows when jobs ran, and when they are to run.
type schedulePage struct {
	Answer  string
	Hours   int
	Windows []int
	Figure  template.HTML
	Caption string
	Table   *sheet
}

// timetable collects the jobs of a schedule.
type timetable struct {
	gantt                  report.Gantt
	sites                  map[protocol.SiteName]int
	running, planned, past int
	cut                    bool // there are more jobs
}

func (d *Dashboard) showSchedule(r *request) error {
	hours := windows()[0]
	if given := r.URL.Query().Get("hours"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || !slices.Contains(windows(), n) {
			return badRequest("hours: %q is none of %v.", given, windows())
		}
		hours = n
	}
	sites, err := r.sites()
	if err != nil {
		return err
	}
	t := newTimetable(sites.Sites, protocol.InstantOf(time.Now()), protocol.Duration(hours)*protocol.Hour)
	if len(t.gantt.Sites) == 0 {
		return &pageError{http.StatusServiceUnavailable, "The machine of no site is known yet."}
	}
	if err = t.addLive(r.Context(), r.visitor.Peer); err != nil {
		return err
	}
	if err = t.addEnded(r.Context(), r.visitor.Peer); err != nil {
		return err
	}
	t.gantt.Words = report.Words{Name: "schedule", Title: "Jobs by site, coloured by origin", Caption: t.caption()}
	drawn, err := t.gantt.Figure()
	if err != nil {
		return err
	}
	page := schedulePage{
		Answer: fmt.Sprintf("%s ended within %s; %d running now, %d planned to start.", protocol.Count(t.past, "job"), protocol.Count(hours, "hour"), t.running, t.planned),
		Hours:  hours, Windows: windows(), Figure: drawn.HTML(), Caption: drawn.Caption, Table: sheetOfReport("The same in numbers", drawn.Table),
	}
	return d.show(r, http.StatusOK, "schedule", frame{Title: "Schedule", Path: "/schedule", Live: true, Body: &page})
}

func newTimetable(sites []view.Site, now protocol.Instant, window protocol.Duration) *timetable {
	t := &timetable{sites: map[protocol.SiteName]int{}}
	t.gantt.Now, t.gantt.From, t.gantt.To = now, now.Add(-window), now.Add(window)
	for _, site := range sites {
		if site.CPUs > 0 {
			t.sites[site.Site] = len(t.gantt.Sites)
			t.gantt.Sites = append(t.gantt.Sites, report.GanttSite{Name: string(site.Site), CPUs: site.CPUs})
		}
	}
	return t
}

// add adds a job from one instant to another, as far as that is in the window; false: it is not, or its sites are not known.
func (t *timetable) add(job *view.Job, start, end protocol.Instant) bool {
	site, known := t.sites[job.Site]
	origin, from := t.sites[job.Origin]
	start, end = max(start, t.gantt.From), min(end, t.gantt.To)
	if !known || !from || job.CPUs <= 0 || start >= end {
		return false
	}
	t.gantt.Jobs = append(t.gantt.Jobs, report.GanttJob{
		Site: site, Origin: origin, CPUs: job.CPUs, Start: start, End: end, Sure: min(end, max(start, t.gantt.Now)),
	})
	return true
}

// addLive adds the jobs that run, until their limits, and those that are expected to start.
func (t *timetable) addLive(ctx context.Context, peer *api.Client) error {
	queue, err := peer.Queue(ctx, api.Listing{QueueFilter: view.QueueFilter{Limit: maxDrawn}})
	if err != nil {
		return err
	}
	t.cut = t.cut || queue.Next != 0
	for i := range queue.Jobs {
		job := &queue.Jobs[i]
		if job.State == protocol.Running && job.Started != 0 {
			if t.add(job, job.Started, max(t.gantt.Now+1, job.Started.Add(job.Limit()))) {
				t.running++
			}
			continue
		}
		start, known := job.ExpectedStart(t.gantt.Now)
		if known && t.add(job, start.Median, start.Median.Add(job.Limit())) {
			t.planned++
		}
	}
	return nil
}

// addEnded adds the jobs that have ended in the window.
func (t *timetable) addEnded(ctx context.Context, peer *api.Client) error {
	past := api.Past{Limit: maxDrawn}
	past.Since, past.Earlier = t.gantt.From, true
	history, err := peer.History(ctx, past)
	if err != nil {
		return err
	}
	t.cut = t.cut || history.Next != ""
	for i := range history.Jobs {
		job := &history.Jobs[i]
		if job.Started != 0 && t.add(job, job.Started, min(job.Started.Add(job.RunTime()), t.gantt.Now)) {
			t.past++
		}
	}
	return nil
}

func (t *timetable) caption() string {
	text := "Jobs of this site, wherever they run, and jobs that run here: a peer does not know what else its partners run. What is pale is planned: " +
		"running jobs until their time limits, and pending ones from when they are expected to start."
	if t.cut {
		text += fmt.Sprintf(" Of those that are pending or running, and of those that ended, at most %d are drawn.", maxDrawn)
	}
	return text
}
