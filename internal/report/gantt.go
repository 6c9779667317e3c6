package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Gantt shows a schedule: time to the right, the sites' CPUs upwards in a band for
// each site, every job a rectangle coloured by its origin.
//
// A job is given the lowest CPUs that are free together, or several pieces where no
// gap is wide enough: engines count CPUs and do not name them. However many jobs there
// are, the file stays below 700 KB; what is merged for that is said in the caption.
type Gantt struct {
	Words
	Sites []GanttSite
	Jobs  []GanttJob // in any order

	// Now is for a schedule that goes on: then the axis counts from it, From and To are what is shown, and jobs that need CPUs
	// which others have are left out. 0: the schedule is over.
	Now, From, To protocol.Instant
}

// GanttSite is one site of a schedule.
type GanttSite struct {
	Name string
	CPUs int
}

// GanttJob is where and when a job ran.
type GanttJob struct {
	Site   int // index of the site that ran it; below 0: it never ran
	Origin int // index of the site that it came from
	CPUs   int
	Start  protocol.Instant
	End    protocol.Instant
	Sure   protocol.Instant // until then it has run; what is later is planned. 0: all is sure
}

const (
	bandsHeight = 460 // points for all bands, where no band needs more
	bandLeast   = 9   // points for a site however small: its name must be readable
	bandGap     = 4
	ganttSites  = 40 // sites shown
)

// band is the strip of one site, in points from the foot of the figure.
type band struct {
	site      int
	low, high float64
}

// Figure draws the schedule. Its table says for each site what it ran.
func (g Gantt) Figure() (Figure, error) {
	if err := cmp.Or(g.validNow(), g.valid()); err != nil {
		return Figure{}, fmt.Errorf("figure %s: %w", g.Name, err)
	}
	blocks, crowded, err := g.pack()
	if err != nil {
		return Figure{}, fmt.Errorf("figure %s: %w", g.Name, err)
	}
	usage := g.usage(blocks)
	bands, height := g.bands(usage)
	first, last := g.span()
	unit, unitName := timeUnit(last.Sub(first))
	picture := picture{
		bands:   bands,
		colours: originColours(usage),
		from:    cmp.Or(g.Now, first), unit: unit,
		until: float64(last.Sub(first)) / float64(unit),
	}
	name := "time since the first start (" + unitName + ")"
	start := 0.0
	if g.Now != 0 {
		name, start = unitName+" from now", float64(first.Sub(g.Now))/float64(unit)
	}
	picture.paint(g.Sites, blocks)

	words := g.Words
	words.Caption = g.caption(&picture, crowded)
	d := &drawing{}
	foot := d.legend(g.legend(picture.colours)) + height
	x, left := newAxis(start, start+picture.until, Number, false), 0.0
	for _, b := range bands {
		left = max(left, wide(short(g.Sites[b.site].Name), 8))
	}
	x.from, x.to = margin+left+4, x.end()
	for _, b := range bands {
		d.say("end", x.from-4, foot-(b.low+b.high)/2+3, short(g.Sites[b.site].Name))
	}
	picture.draw(d, &x, foot)
	if g.Now != 0 {
		d.line("ink", point{x.at(0), foot - height}, point{x.at(0), foot})
		d.say("middle", x.at(0), foot-height-3, "now")
	}
	d.below(&x, &axis{from: foot})
	d.say("name middle", (x.from+x.to)/2, foot+26, name)
	d.Height = int(foot) + 32 + margin
	return d.figure(words, g.table(usage, last.Sub(first)))
}

func (g Gantt) validNow() error {
	if g.Now != 0 && (g.From > g.Now || g.Now > g.To || g.From == g.To) {
		return fmt.Errorf("now, %d ms, is not within the time shown, %d to %d ms", g.Now, g.From, g.To)
	}
	return nil
}

func (g Gantt) valid() error {
	for i, s := range g.Sites {
		if s.CPUs <= 0 {
			return fmt.Errorf("site %d, %q, has %d CPUs", i, s.Name, s.CPUs)
		}
	}
	ran := 0
	for i, j := range g.Jobs {
		switch {
		case j.Site < 0:
			continue
		case j.Site >= len(g.Sites) || j.Origin < 0 || j.Origin >= len(g.Sites):
			return fmt.Errorf("job %d ran at site %d and came from %d; there are %d sites", i, j.Site, j.Origin, len(g.Sites))
		case j.CPUs <= 0:
			return fmt.Errorf("job %d has %d CPUs", i, j.CPUs)
		case j.End < j.Start:
			return fmt.Errorf("job %d ends at %d ms, before its start at %d ms", i, j.End, j.Start)
		}
		ran++
	}
	if ran == 0 && g.Now == 0 {
		return fmt.Errorf("none of the %d jobs ran; there is no schedule to show", len(g.Jobs))
	}
	return nil
}

func (g Gantt) span() (first, last protocol.Instant) {
	if g.Now != 0 {
		return g.From, g.To
	}
	first, last = math.MaxInt64, math.MinInt64
	for _, j := range g.Jobs {
		if j.Site >= 0 {
			first, last = min(first, j.Start), max(last, j.End)
		}
	}
	return first, max(last, first+1)
}

// timeUnit is the largest unit of which the span has three.
func timeUnit(span protocol.Duration) (unit protocol.Duration, name string) {
	unit, name = protocol.Second, "seconds"
	for _, u := range []struct {
		unit protocol.Duration
		name string
	}{{60, "minutes"}, {3600, "hours"}, {86400, "days"}} {
		if span >= 3*u.unit*protocol.Second {
			unit, name = u.unit*protocol.Second, u.name
		}
	}
	return unit, name
}

// usage is what one site ran.
type usage struct {
	site        int
	jobs, guest int
	busy        float64 // CPU·ms run there
	from        float64 // CPU·ms of its jobs, wherever they ran
}

func (g Gantt) usage(blocks []block) []usage {
	all := make([]usage, len(g.Sites))
	for i := range all {
		all[i].site = i
	}
	for _, j := range g.Jobs {
		if j.Site < 0 {
			continue
		}
		all[j.Site].jobs++
		if j.Origin != j.Site {
			all[j.Site].guest++
		}
	}
	for i := range blocks {
		b := &blocks[i]
		all[b.site].busy += b.area()
		all[b.origin].from += b.area()
	}
	return all
}

// bands stacks the sites from the top in their order, as high as they have CPUs; of
// more than can be shown, those that ran most.
func (g Gantt) bands(all []usage) (bands []band, height float64) {
	shown := slices.Clone(all)
	slices.SortStableFunc(shown, func(a, b usage) int { return cmp.Compare(b.busy, a.busy) })
	shown = shown[:min(ganttSites, len(shown))]
	slices.SortFunc(shown, func(a, b usage) int { return cmp.Compare(b.site, a.site) })
	cpus := 0
	for _, u := range shown {
		cpus += g.Sites[u.site].CPUs
	}
	for _, u := range shown {
		high := max(bandLeast, bandsHeight*float64(g.Sites[u.site].CPUs)/float64(cpus))
		bands = append(bands, band{site: u.site, low: height, high: height + high})
		height += high + bandGap
	}
	return bands, height - bandGap
}

// originColours gives the origins with the most work a colour each: an index into the
// palette for each site, −1 for those that share grey.
func originColours(all []usage) []int {
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b usage) int { return cmp.Compare(b.from, a.from) })
	ranked = ranked[:min(palette, len(ranked))]
	slices.SortFunc(ranked, func(a, b usage) int { return cmp.Compare(a.site, b.site) })
	colours := make([]int, len(all))
	for i := range colours {
		colours[i] = -1
	}
	for i, u := range ranked {
		colours[u.site] = i
	}
	return colours
}

func (g Gantt) legend(colours []int) []key {
	var keys []key
	for site, colour := range colours {
		if colour >= 0 {
			keys = append(keys, key{"from " + short(g.Sites[site].Name), square(series(colour))})
		}
	}
	if slices.Contains(colours, -1) {
		keys = append(keys, key{"from other sites", square("other")})
	}
	return keys
}

// caption adds what the picture leaves out to what the caller says.
func (g Gantt) caption(p *picture, crowded int) string {
	text := g.Caption
	add := func(format string, args ...any) {
		if text != "" {
			text += " "
		}
		text += fmt.Sprintf(format, args...)
	}
	unrun, instant := 0, 0
	for _, j := range g.Jobs {
		switch {
		case j.Site < 0:
			unrun++
		case j.Start == j.End:
			instant++
		}
	}
	add("A band is as high as its site has CPUs, but at least %d points.", bandLeast)
	if left := len(g.Sites) - len(p.bands); left > 0 {
		add("%d sites that ran less are left out.", left)
	}
	if unrun > 0 {
		add("%d jobs never ran.", unrun)
	}
	if instant > 0 {
		add("%d jobs that took no time are left out.", instant)
	}
	if crowded > 0 {
		add("%d jobs are left out whose CPUs other jobs have in this picture.", crowded)
	}
	if p.merged > 0 {
		add("Only the largest rectangles are drawn for themselves: %d smaller ones of %d are merged into cells, coloured so that "+
			"each origin, and idle CPUs, keep their share of what is left of each row.", p.merged, p.merged+p.alone)
	}
	return text
}

func (g Gantt) table(all []usage, span protocol.Duration) Table {
	t := Table{Columns: []string{"site", "CPUs", "jobs run", "from elsewhere", "busy over the span shown"}}
	for _, u := range all {
		site := g.Sites[u.site]
		t.Rows = append(t.Rows, []string{
			site.Name, number(float64(site.CPUs)), number(float64(u.jobs)), number(float64(u.guest)),
			fmt.Sprintf("%.1f %%", 100*u.busy/float64(site.CPUs)/float64(span)),
		})
	}
	return t
}

// draw draws the frames of the bands, and all rectangles of one colour as one shape.
func (p *picture) draw(d *drawing, x *axis, foot float64) {
	for _, b := range p.bands {
		d.Shapes = append(d.Shapes, shape{"grid", box(x.from, foot-b.high, x.to, foot-b.low)})
	}
	for colour, rectangles := range p.layers {
		class := series(colour)
		if colour == len(p.layers)-1 {
			class = "other"
		}
		d.boxes(class, rectangles, x, foot)
		d.boxes(class+" planned", p.planned[colour], x, foot)
	}
}

// boxes draws rectangles as one shape.
func (d *drawing) boxes(class string, rectangles []rectangle, x *axis, foot float64) {
	var path strings.Builder
	for _, r := range rectangles {
		path.WriteString(box(x.at(r.left), foot-r.high, x.at(r.right), foot-r.low))
	}
	if path.Len() > 0 {
		d.Shapes = append(d.Shapes, shape{class, path.String()})
	}
}
