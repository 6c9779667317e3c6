package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/report"
)

// Answer says in a sentence which point did best in the mean response, by how much, and
// how sure that is; for sites that join, what that does to the response of each site's
// jobs. Further sentences tell what else one must know to believe it. Differences are
// taken seed by seed, and their intervals are at 95 %.
func (s *Swept) Answer() string {
	answer := s.joiningAnswer()
	if len(s.Joining) == 0 {
		answer = s.bestAnswer()
	}
	if answer == "" {
		return ""
	}
	if len(s.Seeds) == 1 {
		answer += " It is one seed, so nothing tells how sure that is."
	}
	return answer + s.neverRan()
}

// answers are the first words of a page: a paragraph for each result.
func answers(results []*Swept) string {
	var all []string
	for _, s := range results {
		all = append(all, s.Answer())
	}
	return strings.Join(all, "\n\n")
}

// response is the metric that answers go by: how long users wait in all.
func (s *Swept) response() (key, name string) {
	if slices.ContainsFunc(s.Points, func(p Point) bool { return p.Metrics["jobs"].Mean > 0 }) {
		return "mean_response_s", "mean response"
	}
	return "application_response_s", "mean response of applications"
}

// neverRan tells of jobs that are in no mean: where they are many, it may be short for
// that alone.
func (s *Swept) neverRan() string {
	var parts []string
	for i := range s.Points {
		if never := s.Points[i].Metrics["unplaced"]; never.Mean > 0 {
			parts = append(parts, fmt.Sprintf("%s under %s", never.Text(1), strings.Join(s.cells(&s.Points[i]), " ")))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " Jobs that never ran are not counted: " + listed(parts) + "."
}

// given says whether a key tells what a grid must cope with; all others are somebody's
// choice. That less load or a faster network is better would be no answer.
func given(key string) bool {
	switch key {
	case "load", "bias", "service", "estimates", "history", "grid_share", "power_low", "power_high", "data_size", "budget_kw",
		"latency", "jitter", "loss", "duplicate", "perturb":
		return true
	}
	return false
}

func chosen(key string) bool { return !given(key) }

// settings are those of a point that vary, of some keys.
func (s *Swept) settings(p *Point, of func(key string) bool) string {
	var words []string
	for _, axis := range s.varied() {
		if of(axis.Key) {
			words = append(words, axis.Key+" "+p.Settings[axis.Key])
		}
	}
	return strings.Join(words, ", ")
}

// choice names a point among those that must cope with the same.
func (s *Swept) choice(p *Point) string {
	settings := s.settings(p, chosen)
	schemes := slices.ContainsFunc(s.Points, func(other Point) bool { return other.Scheme != p.Scheme })
	switch {
	case settings == "":
		return string(p.Scheme)
	case !schemes:
		return settings
	}
	return string(p.Scheme) + " with " + settings
}

// contest are the points that must cope with the same.
type contest struct {
	at     string   // with what, as "at load 0.7 "; empty: there is one contest
	points []*Point // with a value of the metric, the least first
}

// contests are those of a metric in the order of the points. The scheme ideal is in none,
// for no grid can do as well.
func (s *Swept) contests(key string) (all []contest) {
	for i := range s.Points {
		p := &s.Points[i]
		if p.Scheme == Ideal && len(s.Points) > 1 || len(p.Metrics[key].Values) == 0 {
			continue
		}
		at := ""
		if settings := s.settings(p, given); settings != "" {
			at = "at " + settings + " "
		}
		k := slices.IndexFunc(all, func(c contest) bool { return c.at == at })
		if k < 0 {
			k = len(all)
			all = append(all, contest{at: at})
		}
		all[k].points = append(all[k].points, p)
	}
	for _, c := range all {
		slices.SortStableFunc(c.points, func(a, b *Point) int { return cmp.Compare(a.Metrics[key].Mean, b.Metrics[key].Mean) })
	}
	return all
}

// maxInTurn bounds how many settings an answer goes through; the tables have all.
const maxInTurn = 4

// inTurn joins what there is to say of some settings.
func inTurn(parts []string) string {
	if left := len(parts) - maxInTurn; left > 0 {
		return fmt.Sprintf("%s; and so on for %d more settings", strings.Join(parts[:maxInTurn], "; "), left)
	}
	return strings.Join(parts, "; ")
}

func (s *Swept) bestAnswer() string {
	key, name := s.response()
	all := s.contests(key)
	switch {
	case len(all) == 0:
		return ""
	case len(all[0].points) == 1:
		return s.courseAnswer(all, key, name)
	}
	var parts []string
	for _, c := range all {
		parts = append(parts, c.at+s.winner(c, key, report.Average.Clock))
	}
	answer := fmt.Sprintf("In %s the %s is shortest %s.", s.Experiment, name, inTurn(parts))
	if len(all) == 1 && s.Currency != "" {
		if costs := s.contests("energy_cost"); len(costs) == 1 && len(costs[0].points) > 1 {
			answer += fmt.Sprintf(" Electricity costs least %s, in %s.", s.winner(costs[0], "energy_cost", unscaled), s.Currency)
		}
	}
	return answer
}

func unscaled(e report.Average) string { return e.Text(1) }

// winner says how the first of a contest did, and how much better than the next and
// than the scheme local.
func (s *Swept) winner(c contest, key string, text func(report.Average) string) string {
	best := c.points[0]
	if len(c.points) == 1 {
		return fmt.Sprintf("under %s: %s", s.choice(best), text(best.Metrics[key]))
	}
	less := func(p *Point, name string) string {
		d := difference(p.Metrics[key], best.Metrics[key])
		return text(d) + " less than under " + name + doubt(d)
	}
	next := c.points[1]
	words := fmt.Sprintf("under %s: %s, which is ", s.choice(best), text(best.Metrics[key]))
	if best.Scheme == Local || next.Scheme == Local || !slices.ContainsFunc(c.points, isLocal) {
		return words + less(next, s.choice(next))
	}
	return words + less(next, s.choice(next)+", the next") + ", and " + less(c.points[slices.IndexFunc(c.points, isLocal)], string(Local))
}

func isLocal(p *Point) bool { return p.Scheme == Local }

// courseAnswer is for sweeps in which nothing competes.
func (s *Swept) courseAnswer(all []contest, key, name string) string {
	var parts []string
	for _, c := range all {
		parts = append(parts, c.at+c.points[0].Metrics[key].Clock())
	}
	return fmt.Sprintf("In %s, under %s, the %s is %s.", s.Experiment, s.choice(all[0].points[0]), name, inTurn(parts))
}

// joiningAnswer says what joining does to the response of the jobs of the sites that
// join, and to which others it does harm.
func (s *Swept) joiningAnswer() string {
	var parts []string
	for i := range s.Points {
		if s.Points[i].Membership != Joined {
			continue
		}
		part := s.joined(&s.Points[i-1], &s.Points[i])
		if settings := s.settings(&s.Points[i], func(string) bool { return true }); settings != "" {
			part = "at " + settings + " " + part
		}
		if slices.ContainsFunc(s.Points, func(p Point) bool { return p.Scheme != s.Points[i].Scheme && p.Membership == Joined }) {
			part = "under " + string(s.Points[i].Scheme) + " " + part
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("If %s joins %s, %s.", strings.Join(s.Joining, " and "), s.Experiment, inTurn(parts))
}

func (s *Swept) joined(apart, joined *Point) string {
	const key = "mean_response_s"
	var own []string
	var harmed []SitePoint
	others := 0
	for _, site := range joined.Sites {
		gain := site.Gain[key]
		switch {
		case site.Metrics["jobs_submitted"].Mean == 0:
		case slices.Contains(s.Joining, site.Site):
			own = append(own, "of the jobs of "+site.Site+" is "+change(gain))
		default:
			others++
			if gain.Mean > 0 && doubt(gain) == "" {
				harmed = append(harmed, site)
			}
		}
	}
	if len(own) == 0 { // they bring machines only
		own = append(own, "of all jobs is "+change(difference(joined.Metrics[key], apart.Metrics[key])))
	}
	words := "the mean response " + strings.Join(own, ", ")
	if others == 0 {
		return words
	}
	if len(harmed) == 0 {
		return words + ", and surely longer at no other site"
	}
	slices.SortStableFunc(harmed, func(a, b SitePoint) int { return cmp.Compare(b.Gain[key].Mean, a.Gain[key].Mean) })
	return words + fmt.Sprintf(", and longer at %d of %d other sites, most at %s, by %s",
		len(harmed), others, harmed[0].Site, harmed[0].Gain[key].Clock())
}

// change tells a difference of times as people say it.
func change(e report.Average) string {
	size, word := e, "longer"
	if e.Mean < 0 {
		size.Mean, word = -e.Mean, "shorter"
	}
	return size.Clock() + " " + word + doubt(e)
}

// difference is a less b, seed by seed.
func difference(a, b report.Average) report.Average {
	if len(a.Values) != len(b.Values) {
		return report.Average{}
	}
	values := make([]float64, len(a.Values))
	for i := range values {
		values[i] = a.Values[i] - b.Values[i]
	}
	return report.AverageOf(values)
}

// doubt is added to a difference that is none to rely on.
func doubt(e report.Average) string {
	if e.CI95 != nil && max(e.Mean, -e.Mean) <= *e.CI95 {
		return " (which may be chance)"
	}
	return ""
}
