package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// poll is how often the demo looks at its jobs.
const poll = 150 * time.Millisecond

// sight is the last that was seen of a job.
type sight struct {
	job  view.Job
	once bool // seen at all
}

// watch shows jobs until all have ended: as a picture on a terminal, else as a
// log.
type watch struct {
	demo  *Demo
	jobs  []*tracked
	began time.Time
	drawn int // lines of the picture on the screen
}

func newWatch(d *Demo, jobs []*tracked) *watch {
	return &watch{demo: d, jobs: jobs, began: time.Now()}
}

func (w *watch) run(ctx context.Context) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		left, err := w.look(ctx)
		if err != nil {
			return err
		}
		if w.demo.Live {
			w.draw()
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return w.gaveUp(ctx.Err(), left)
		case <-tick.C:
		}
	}
}

func (w *watch) gaveUp(err error, left int) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s have not ended after %v; look into %s with --keep", protocol.Count(left, "job"), limit, w.demo.Dir)
	}
	return err
}

// look asks for the jobs that have not ended and counts them.
func (w *watch) look(ctx context.Context) (left int, err error) {
	for _, job := range w.jobs {
		if job.seen.job.State.Terminal() {
			continue
		}
		left++
		now, err := w.demo.client.Job(ctx, protocol.JobName{Job: job.id})
		if ctx.Err() != nil {
			return left, nil //nolint:nilerr // run says why
		}
		if err != nil {
			return left, fmt.Errorf("ask for %s: %w", job.Name, err)
		}
		before := job.seen
		job.seen = sight{job: now, once: true}
		if now.State.Terminal() {
			left--
		}
		if !w.demo.Live && (!before.once || before.job.State != now.State || before.job.Site != now.Site) {
			w.demo.say("%6.1f s  %-10s %-9s %s", time.Since(w.began).Seconds(), job.Name, now.State, where(now))
		}
	}
	return left, nil
}

func where(job view.Job) string {
	if job.Site == "" {
		return "in the grid queue of " + string(job.Origin)
	}
	return string(job.Site)
}

// pictureRows is how tall a column of the picture is.
const pictureRows = 15

// draw paints the picture over the last one.
func (w *watch) draw() {
	var out strings.Builder
	if w.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", w.drawn)
	}
	lines := append(w.sites(), w.table()...)
	for _, line := range lines {
		out.WriteString("\x1b[2K" + line + "\n")
	}
	w.drawn = len(lines)
	_, _ = io.WriteString(w.demo.Out, out.String())
}

// sites is one line for each site: a bar of its CPUs that run these jobs.
func (w *watch) sites() []string {
	lines := []string{""}
	for _, site := range w.demo.grid.Sites {
		busy, waiting, done := 0, 0, 0
		for _, job := range w.jobs {
			switch {
			case job.seen.job.Site != site.Name:
			case job.seen.job.State == protocol.Running:
				busy += job.seen.job.CPUs
			case job.seen.job.State.Terminal():
				done++
			default:
				waiting++
			}
		}
		busy = min(busy, site.CPUs)
		bar := strings.Repeat("█", busy) + strings.Repeat("░", site.CPUs-busy)
		lines = append(lines, fmt.Sprintf("  %-9s %s%s %d/%d CPUs  %2d waiting  %2d done",
			site.Name, bar, strings.Repeat(" ", max(0, 8-site.CPUs)), busy, site.CPUs, waiting, done))
	}
	return append(lines, fmt.Sprintf("  %.1f s", time.Since(w.began).Seconds()), "")
}

// table is the jobs in columns of job, state and site.
func (w *watch) table() []string {
	rows := min(pictureRows, len(w.jobs))
	columns := make([]string, rows)
	for i, job := range w.jobs[:min(len(w.jobs), 2*pictureRows)] {
		site := string(job.seen.job.Site)
		if site == "" {
			site = "…"
		}
		columns[i%rows] += fmt.Sprintf("  %-10s %s%-9s\x1b[0m %-9s", job.Name, colour(job.seen.job.State),
			job.seen.job.State, site)
	}
	if more := len(w.jobs) - 2*pictureRows; more > 0 {
		return append(slices.Clip(columns), fmt.Sprintf("  and %d more", more))
	}
	return columns
}

func colour(state protocol.State) string {
	switch state {
	case protocol.Running:
		return "\x1b[33m"
	case protocol.Completed:
		return "\x1b[32m"
	case protocol.Failed, protocol.Cancelled, protocol.Timeout, protocol.NodeFail:
		return "\x1b[31m"
	case protocol.Pending:
	}
	return "\x1b[2m"
}
