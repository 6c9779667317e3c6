package experiment_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
)

// point is one with responses for the seeds, in minutes.
func point(scheme experiment.Scheme, settings map[string]string, minutes ...float64) experiment.Point {
	seconds := make([]float64, len(minutes))
	for i, m := range minutes {
		seconds[i] = 60 * m
	}
	return experiment.Point{Scheme: scheme, Settings: settings, Metrics: map[string]report.Average{
		"jobs": {Mean: 7, Values: make([]float64, len(minutes))}, "mean_response_s": report.AverageOf(seconds),
	}}
}

func at(key, value string) map[string]string { return map[string]string{key: value} }

// TestAnswers: one sentence that says what is best, by how much and how sure that is,
// of what can be chosen and where the rest is the same.
func TestAnswers(t *testing.T) {
	t.Parallel()
	three := []uint64{1, 2, 3}
	loads := []experiment.Axis{{Key: "load", Values: []string{"0.7", "1"}}}
	priced := func(p experiment.Point, costs ...float64) experiment.Point {
		p.Metrics["energy_cost"] = report.AverageOf(costs)
		return p
	}
	lost := point(experiment.Local, nil, 10)
	lost.Metrics["unplaced"] = report.AverageOf([]float64{12})
	for name, c := range map[string]struct {
		swept experiment.Swept
		want  string
	}{
		// The differences of the seeds are 10, 11 and 12 min, so 11 ± 4.3027·1/√3 = 2.484 min; and -10, 10, 30.
		"schemes": {
			experiment.Swept{Seeds: three, Points: []experiment.Point{
				point(experiment.Local, nil, 20, 21, 22), point(experiment.Sender, nil, 10, 10, 10),
				point(experiment.Receiver, nil, 0, 20, 40), point(experiment.Ideal, nil, 1, 1, 1),
			}},
			"In x the mean response is shortest under sender: 0:10:00 ± 0:00:00, which is 0:10:00 ± 0:49:41 less than under receiver, the next " +
				"(which may be chance), and 0:11:00 ± 0:02:29 less than under local.",
		},
		"local is best": {
			experiment.Swept{Seeds: three, Points: []experiment.Point{point(experiment.Sender, nil, 20, 21, 22), point(experiment.Local, nil, 10, 10, 10)}},
			"In x the mean response is shortest under local: 0:10:00 ± 0:00:00, which is 0:11:00 ± 0:02:29 less than under sender.",
		},
		"a seed": {
			experiment.Swept{Seeds: three[:1], Points: []experiment.Point{point(experiment.Local, nil, 20), point(experiment.Sender, nil, 10)}},
			"In x the mean response is shortest under sender: 0:10:00, which is 0:10:00 less than under local. It is one seed, so nothing tells how sure that is.",
		},
		"what is chosen": {
			experiment.Swept{
				Seeds: three, Axes: []experiment.Axis{{Key: "volunteer_below", Values: []string{"0.5", "0.9"}}, {Key: "local_wait_threshold", Values: []string{"1m"}}},
				Points: []experiment.Point{point(experiment.Receiver, at("volunteer_below", "0.5"), 20, 21, 22), point(experiment.Receiver, at("volunteer_below", "0.9"), 10, 10, 10)},
			},
			"In x the mean response is shortest under volunteer_below 0.9: 0:10:00 ± 0:00:00, which is 0:11:00 ± 0:02:29 less than under volunteer_below 0.5.",
		},
		"what is given": {
			experiment.Swept{Seeds: three[:2], Axes: loads, Points: []experiment.Point{
				point(experiment.Local, at("load", "0.7"), 2, 2), point(experiment.Sender, at("load", "0.7"), 3, 3),
				point(experiment.Local, at("load", "1"), 9, 9), point(experiment.Sender, at("load", "1"), 4, 4),
			}},
			"In x the mean response is shortest at load 0.7 under local: 0:02:00 ± 0:00:00, which is 0:01:00 ± 0:00:00 less than under sender; " +
				"at load 1 under sender: 0:04:00 ± 0:00:00, which is 0:05:00 ± 0:00:00 less than under local.",
		},
		"nothing competes": {
			experiment.Swept{Seeds: three[:1], Axes: loads, Points: []experiment.Point{
				point(experiment.Local, at("load", "0.7"), 2), point(experiment.Local, at("load", "1"), 9),
			}},
			"In x, under local, the mean response is at load 0.7 0:02:00; at load 1 0:09:00. It is one seed, so nothing tells how sure that is.",
		},
		"electricity": {
			experiment.Swept{Seeds: three, Currency: "EUR", Points: []experiment.Point{
				priced(point(experiment.Local, nil, 20, 21, 22), 5, 6, 7), priced(point(experiment.Cycle, nil, 10, 10, 10), 8, 8, 8),
				point(experiment.Ideal, nil, 1, 1, 1),
			}},
			"In x the mean response is shortest under cycle: 0:10:00 ± 0:00:00, which is 0:11:00 ± 0:02:29 less than under local." +
				" Electricity costs least under local: 6.00 ± 2.48, which is 2.00 ± 2.48 less than under cycle (which may be chance), in EUR.",
		},
		"jobs that never ran": {
			experiment.Swept{Seeds: three[:1], Points: []experiment.Point{lost, point(experiment.Sender, nil, 20)}},
			"In x the mean response is shortest under local: 0:10:00, which is 0:10:00 less than under sender." +
				" It is one seed, so nothing tells how sure that is. Jobs that never ran are not counted: 12.0 under local.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.swept.Experiment = "x"
			if got := c.swept.Answer(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestAnswersOfJoining tell what the site that joins gains, and whom it harms beyond
// what may be chance.
func TestAnswersOfJoining(t *testing.T) {
	t.Parallel()
	site := func(name string, jobs float64, gains ...float64) experiment.SitePoint {
		return experiment.SitePoint{
			Site:    name,
			Metrics: map[string]report.Average{"jobs_submitted": {Mean: jobs}},
			Gain:    map[string]report.Average{"mean_response_s": report.AverageOf(gains)},
		}
	}
	swept := func(joining experiment.SitePoint, others ...experiment.SitePoint) *experiment.Swept {
		apart, joined := point(experiment.Sender, nil, 20, 21, 22), point(experiment.Sender, nil, 10, 10, 10)
		apart.Membership, joined.Membership = experiment.Apart, experiment.Joined
		joined.Sites = append(others, joining)
		return &experiment.Swept{Experiment: "x", Seeds: []uint64{1, 2, 3}, Joining: []string{"ours"}, Points: []experiment.Point{apart, joined}}
	}
	harmed, slightly, maybe := site("a", 5, 60, 61, 62), site("b", 5, 10, 11, 12), site("c", 5, -60, 60, 180)
	for want, s := range map[string]*experiment.Swept{
		"If ours joins x, the mean response of the jobs of ours is 0:11:00 ± 0:02:29 shorter, and longer at 2 of 3 other sites, most at a, by 0:01:01 ± 0:00:02.": swept(
			site("ours", 9, -600, -660, -720), slightly, harmed, maybe),
		"If ours joins x, the mean response of the jobs of ours is 0:01:00 ± 0:04:58 longer (which may be chance), and surely longer at no other site.": swept(
			site("ours", 9, -60, 60, 180), maybe, site("idle", 0, 5, 5, 5)),
		"If ours joins x, the mean response of all jobs is 0:11:00 ± 0:02:29 shorter, and longer at 1 of 1 other sites, most at a, by 0:01:01 ± 0:00:02.": swept(
			site("ours", 0, 0, 0, 0), harmed),
	} {
		if got := s.Answer(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestPageBeginsWithTheAnswer, and has the right words above its columns.
func TestPageBeginsWithTheAnswer(t *testing.T) {
	t.Parallel()
	sweep := experiment.Sweep{Plan: opened(t, smallPlan), Seeds: 2}
	for _, set := range []string{"scheme=local,sender", "check_interval=60s,300s"} {
		if err := sweep.Set(set); err != nil {
			t.Fatal(err)
		}
	}
	result, err := experiment.ParseResults([]byte(swept(t, sweep)))
	if err != nil {
		t.Fatal(err)
	}
	page, err := experiment.Page("page", []*experiment.Swept{result}, report.Source{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(page.Lead, "In small the mean response is shortest under ") || !strings.Contains(page.Lead, " ± ") {
		t.Errorf("it begins with %q", page.Lead)
	}
	columns := strings.Join(page.Sections[0].Tables[0].Columns, "|")
	if !strings.HasPrefix(columns, "check_interval|scheme|mean wait|mean response|") {
		t.Errorf("columns %s", columns)
	}
	if row := page.Sections[0].Tables[0].Rows[0]; !strings.Contains(row[3], ":") {
		t.Errorf("a response reads %q", row[3])
	}
	for _, figure := range page.Sections[0].Figures {
		if svg := string(figure.SVG()); !strings.Contains(svg, ">0:05:00<") {
			t.Errorf("%s: the values of σ are no times on its axis", figure.Name)
		}
	}
}
