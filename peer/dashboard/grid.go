package dashboard

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/loadhistory"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// gridPage is the grid as it is now.
type gridPage struct {
	Answer   string
	Info     api.Info
	Sites    []siteRow
	Lasting  []siteRow // partners that are down or unresponsive, or of which no load is known although there is gossip
	Queue    []queueRow
	Reasons  []reasonRow
	Figure   template.HTML // the load over the last day; empty: too little is known yet
	Caption  string
	Pending  int
	Running  int
	Ended    int // guests whose results have not been delivered yet
	CPUs     int // of sites whose load is known
	Busy     int
	Up, Down int
	Power    bool // whether a site draws power that is known
}

// siteRow is a site in the table of sites.
type siteRow struct {
	view.Site

	State string // a word for its link
	Class string // of the word
	Known bool   // whether its load is known
	Part  float64
	Spark template.HTML // its load over the last day; empty: nothing is known
	Watts string
	Note  string
}

// queueRow counts the jobs of an origin at a site.
type queueRow struct {
	Origin, Site            protocol.SiteName // no site: the grid queue
	Pending, Running, Ended int
	CPUs                    int // of those that run
}

// reasonRow counts the pending jobs of a reason.
type reasonRow struct {
	Reason     string
	Jobs, CPUs int
}

func (d *Dashboard) showGrid(r *request) error {
	ctx := r.Context()
	info, err := r.visitor.Peer.Info(ctx)
	if err != nil {
		return err
	}
	sites, err := r.sites()
	if err != nil {
		return err
	}
	counts, err := r.visitor.Peer.Counts(ctx)
	if err != nil {
		return err
	}
	page := gridPage{Info: info}
	page.addCounts(counts)
	page.Power = slices.ContainsFunc(sites.Sites, func(site view.Site) bool { return site.Draw > 0 || site.Budget != nil })
	for i := range sites.Sites {
		page.addSite(&sites.Sites[i], d.spark(sites.Sites[i].Site))
	}
	page.Answer = page.answer()
	if page.Figure, page.Caption, err = d.loadFigure(sites.Sites); err != nil {
		return err
	}
	return d.show(r, http.StatusOK, "grid", frame{
		Title: "The grid now", Path: "/", Site: info.Site, Version: info.Version, Live: true, Body: &page,
	})
}

// addCounts adds the jobs that there are.
func (p *gridPage) addCounts(counts view.Counts) {
	reasons := map[string]*reasonRow{}
	for _, line := range counts.Lines {
		last := len(p.Queue) - 1
		if last < 0 || p.Queue[last].Origin != line.Origin || p.Queue[last].Site != line.Site {
			p.Queue = append(p.Queue, queueRow{Origin: line.Origin, Site: line.Site})
			last++
		}
		row := &p.Queue[last]
		switch {
		case line.State == protocol.Running:
			row.Running += line.Jobs
			row.CPUs += line.CPUs
			p.Running += line.Jobs
			continue
		case line.State != protocol.Pending:
			row.Ended += line.Jobs
			p.Ended += line.Jobs
			continue
		}
		row.Pending += line.Jobs
		p.Pending += line.Jobs
		reason := cmp.Or(line.Reason, "in a local queue")
		if reasons[reason] == nil {
			reasons[reason] = &reasonRow{Reason: reason}
		}
		reasons[reason].Jobs += line.Jobs
		reasons[reason].CPUs += line.CPUs
	}
	for _, one := range reasons {
		p.Reasons = append(p.Reasons, *one)
	}
	slices.SortFunc(p.Reasons, func(x, y reasonRow) int {
		return cmp.Or(cmp.Compare(y.Jobs, x.Jobs), strings.Compare(x.Reason, y.Reason))
	})
}

// addSite adds a site, also to those that need a look if it does.
func (p *gridPage) addSite(site *view.Site, spark template.HTML) {
	row := siteRow{Site: *site, State: site.Link, Class: "bad", Known: site.Age != nil, Spark: spark, Note: display.SiteNote(*site, display.Grid{})}
	switch site.Link {
	case "self":
		row.State, row.Class = "this site", "good"
	case "up":
		row.Class = "good"
	}
	if row.Class == "good" {
		p.Up++
	} else {
		p.Down++
	}
	if row.Known {
		p.CPUs += site.CPUs
		p.Busy += site.Busy
		row.Part = float64(site.Busy) / float64(max(1, site.CPUs))
		if *site.Age > loadhistory.Stale {
			row.Class = "weak"
		}
	}
	if site.Draw > 0 || site.Budget != nil {
		row.Watts = console.Power(site.Draw, site.Budget)
	}
	p.Sites = append(p.Sites, row)
	unheard := !row.Known && p.Info.Gossip // without gossip loads are known from quotes alone
	if row.Class != "good" || unheard || site.AskedLastReason != "" {
		p.Lasting = append(p.Lasting, row)
	}
}

// answer says in a sentence how the grid is.
func (p *gridPage) answer() string {
	text := fmt.Sprintf("%d of %s up", p.Up, protocol.Count(p.Up+p.Down, "site"))
	if p.Up+p.Down == 1 {
		text = "This site has no partners"
	}
	if p.CPUs > 0 {
		text += fmt.Sprintf("; %d of %s busy", p.Busy, protocol.Count(p.CPUs, "CPU"))
	}
	text = fmt.Sprintf("%s. %s of this site and its guests: %d running, %d pending", text,
		protocol.Count(p.Running+p.Pending+p.Ended, "job"), p.Running, p.Pending)
	if p.Ended > 0 {
		text += fmt.Sprintf(", %d ended and not delivered yet", p.Ended)
	}
	return text + "."
}

// loadsOf are the loads of a site over the last day.
func (d *Dashboard) loadsOf(site protocol.SiteName) []loadhistory.Load {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.loads.Of(site)
}

// spark is the load of a site over the last day, for a cell.
func (d *Dashboard) spark(site protocol.SiteName) template.HTML {
	loads := d.loadsOf(site)
	if len(loads) == 0 {
		return ""
	}
	const points = 96 // of a day
	slot := loadhistory.Kept / points
	end := protocol.InstantOf(time.Now())
	values := slices.Repeat([]float64{math.NaN()}, points)
	most, mean := 0.0, 0.0
	for _, load := range loads {
		at := points - 1 - int(end.Sub(load.Start)/slot)
		if at < 0 || at >= points {
			continue
		}
		if math.IsNaN(values[at]) || values[at] < load.Busy {
			values[at] = load.Busy
		}
		most, mean = max(most, load.Busy), mean+load.Busy/float64(len(loads))
	}
	return report.Sparkline(values, 1, fmt.Sprintf("load over the last day: on average %s, at most %s", console.Part(mean), console.Part(most)))
}

// The sites of the figure, and the points that a curve needs.
const (
	figureSites = 8
	leastPoints = 3
)

// loadFigure draws the load of the sites over the last day; empty: little is known yet.
func (d *Dashboard) loadFigure(sites []view.Site) (figure template.HTML, caption string, err error) {
	var curves []report.Curve
	first := -1.0 // hour
	now, points := protocol.InstantOf(time.Now()), 0
	shown := slices.Clone(sites)
	slices.SortStableFunc(shown, func(x, y view.Site) int { return cmp.Compare(y.CPUs, x.CPUs) })
	shown = shown[:min(figureSites, len(shown))]
	for _, site := range shown {
		curve := report.Curve{Name: string(site.Site)}
		for _, load := range d.loadsOf(site.Site) {
			curve.Points = append(curve.Points, report.Point{
				X: -float64(now.Sub(load.Start)) / float64(protocol.Hour), Y: report.Estimate{Mean: 100 * load.Busy, N: 1},
			})
		}
		points = max(points, len(curve.Points))
		if len(curve.Points) > 0 {
			first = min(first, curve.Points[0].X)
		}
		if len(curve.Points) > 0 {
			curves = append(curves, curve)
		}
	}
	if points < leastPoints {
		return "", "", nil
	}
	caption = "Busy CPUs of each site, means of five minutes, since this peer started or over the last day. " +
		"A site whose load was not known has no line then."
	if left := len(sites) - len(shown); left > 0 {
		caption += fmt.Sprintf(" %s with fewer CPUs are left out.", protocol.Count(left, "site"))
	}
	drawn, err := report.Curves{
		Words: report.Words{Name: "load", Title: "Load of the sites over the last day", Caption: caption},
		X:     "hours from now", Y: "busy CPUs (%)", KindX: report.Number, KindY: report.Percent, Curves: curves,
		AtLeast: &report.Frame{FromX: math.Floor(first), ToY: 100},
		MaxStep: 1.5 * float64(loadhistory.Slot) / float64(protocol.Hour), // between this slot and the next one
	}.Figure()
	if err != nil {
		return "", "", err
	}
	return drawn.HTML(), caption, nil
}

// Rules are the policies of the site in words.
func (p *gridPage) Rules() string { return display.Rules(p.Info.Rules) }
