package dashboard

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The jobs by which quotes are judged.
const (
	judgedOf  = 31 * 24 * protocol.Hour
	maxJudged = 5000
)

// quotesPage shows what quotes were worth.
type quotesPage struct {
	Answer  string
	Rows    []judgedRow
	Figure  template.HTML // empty: no quote had an interval
	Caption string
	Max     int // jobs that count
}

// judged is a job that started, with the quote by which it was placed.
type judged struct {
	quoted   view.QuotedWaits
	waited   protocol.Duration // from the quote to the start
	ran      protocol.Duration
	interval bool
	overran  bool // it was ended at its limit: nothing is known of how long it would have run
}

// judgedRow is what the quotes of a site were worth for a shape.
type judgedRow struct {
	Site  protocol.SiteName
	Shape string // empty: all shapes
	Jobs  int

	Quoted, Waited, Off       string // medians of the quoted waits, the waits, and how far they were apart
	Within, Low, Median, High string // parts of the starts that came within the interval, and before P10, P50, P90
	Ran                       string // median of the run time as a part of the quoted one
}

// shapes are classes of CPU counts.
func shapeOf(cpus int) string {
	switch {
	case cpus <= 1:
		return "1 CPU"
	case cpus <= 8:
		return "2–8 CPUs"
	case cpus <= 64:
		return "9–64 CPUs"
	}
	return "65 CPUs and more"
}

// shapeOrder has all shapes together first, and then the small ones.
func shapeOrder(shape string) int {
	return slices.Index([]string{"", shapeOf(1), shapeOf(2), shapeOf(9), shapeOf(65)}, shape)
}

// judgedKey is a site and a shape.
type judgedKey struct {
	site  protocol.SiteName
	shape string
}

func (d *Dashboard) showQuotes(r *request) error {
	past := api.Past{}
	past.Since, past.Guests, past.Earlier = protocol.InstantOf(time.Now()).Add(-judgedOf), view.WithoutGuests, true
	byKey, n := map[judgedKey][]judged{}, 0
	err := r.visitor.Peer.HistoryPages(r.Context(), past, maxJudged, func(jobs []view.Job) error {
		for i := range jobs {
			one, ok := judgedOfJob(&jobs[i])
			if !ok {
				continue
			}
			n++
			for _, key := range []judgedKey{{jobs[i].Site, ""}, {jobs[i].Site, shapeOf(jobs[i].CPUs)}} {
				byKey[key] = append(byKey[key], one)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	page := quotesPage{Answer: "No job of this site has started by a quote in the last 31 days.", Max: maxJudged}
	if n > 0 {
		page.Answer = protocol.Count(n, "job") + " of this site started by a quote, and ended in the last 31 days."
	}
	for key, jobs := range byKey {
		page.Rows = append(page.Rows, rowOfJudged(key, jobs))
	}
	slices.SortFunc(page.Rows, func(x, y judgedRow) int {
		return cmp.Or(cmp.Compare(x.Site, y.Site), cmp.Compare(shapeOrder(x.Shape), shapeOrder(y.Shape)))
	})
	if page.Figure, page.Caption, err = calibration(byKey); err != nil {
		return err
	}
	return d.show(r, http.StatusOK, "quotes", frame{Title: "Quotes and what came of them", Path: "/quotes", Body: &page})
}

// judgedOfJob compares a job with its quote; false: it has none, or has not started.
func judgedOfJob(job *view.Job) (judged, bool) {
	w := job.Waits
	if w == nil || job.Started == 0 || w.AWT == protocol.Never || job.Site == "" {
		return judged{}, false
	}
	return judged{
		quoted: *w, waited: max(0, job.Started.Sub(w.At)), ran: job.RunTime(), interval: w.High != 0, overran: job.State != protocol.Completed,
	}, true
}

func rowOfJudged(key judgedKey, jobs []judged) judgedRow {
	row := judgedRow{Site: key.site, Shape: key.shape, Jobs: len(jobs), Within: "–", Low: "–", Median: "–", High: "–", Ran: "–"}
	var quoted, waited, off []protocol.Duration
	var ran []float64
	for _, job := range jobs {
		quoted, waited = append(quoted, job.quoted.AWT), append(waited, job.waited)
		off = append(off, max(job.waited-job.quoted.AWT, job.quoted.AWT-job.waited))
		if job.quoted.ERT > 0 && !job.overran {
			ran = append(ran, float64(job.ran)/float64(job.quoted.ERT))
		}
	}
	row.Quoted, row.Waited, row.Off = console.Span(median(quoted)), console.Span(median(waited)), console.Span(median(off))
	if len(ran) > 0 {
		row.Ran = console.Part(median(ran))
	}
	if parts, known := coverageOf(jobs); known {
		row.Within = console.Part(parts.within)
		row.Low, row.Median, row.High = console.Part(parts.low), console.Part(parts.median), console.Part(parts.high)
	}
	return row
}

// coverage is how many of the starts came by which time, as parts.
type coverage struct{ within, low, median, high float64 }

// coverageOf are those of the jobs whose quotes had an interval; false: none had.
func coverageOf(jobs []judged) (parts coverage, known bool) {
	n := 0.0
	count := func(to *float64, yes bool) {
		if yes {
			*to++
		}
	}
	for _, job := range jobs {
		if !job.interval {
			continue
		}
		n++
		q := &job.quoted
		count(&parts.low, job.waited <= q.Low)
		count(&parts.median, job.waited <= q.Median)
		count(&parts.high, job.waited <= q.High)
		count(&parts.within, q.Low <= job.waited && job.waited <= q.High)
	}
	if n == 0 {
		return parts, false
	}
	return coverage{parts.within / n, parts.low / n, parts.median / n, parts.high / n}, true
}

// median is the lower one of two.
func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// calibration draws how often waits were as short as was quoted with a probability.
func calibration(byKey map[judgedKey][]judged) (figure template.HTML, caption string, err error) {
	line := func(name string, at ...float64) report.Curve {
		curve := report.Curve{Name: name}
		for i, x := range []float64{10, 50, 90} {
			curve.Points = append(curve.Points, report.Point{X: x, Y: report.Estimate{Mean: at[i], N: 1}})
		}
		return curve
	}
	var keys []judgedKey
	for key := range byKey {
		if _, known := coverageOf(byKey[key]); known && key.shape == "" {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return "", "", nil
	}
	slices.SortFunc(keys, func(x, y judgedKey) int {
		return cmp.Or(cmp.Compare(len(byKey[y]), len(byKey[x])), cmp.Compare(x.site, y.site))
	})
	curves := []report.Curve{line("as quoted", 10, 50, 90)}
	for _, key := range keys[:min(figureSites-1, len(keys))] {
		parts, _ := coverageOf(byKey[key])
		curves = append(curves, line(string(key.site), 100*parts.low, 100*parts.median, 100*parts.high))
	}
	caption = "Part of the jobs that started within the P10, P50 and P90 of their quotes. Above the line as quoted, jobs start sooner than was quoted; below it, later."
	drawn, err := report.Curves{
		Words: report.Words{Name: "calibration", Title: "Quoted probabilities and observed parts", Caption: caption},
		X:     "quoted probability (%)", Y: "started by then (%)", KindX: report.Percent, KindY: report.Percent, Curves: curves,
		AtLeast: &report.Frame{ToX: 100, ToY: 100},
	}.Figure()
	if err != nil {
		return "", "", err
	}
	return drawn.HTML(), caption, nil
}
