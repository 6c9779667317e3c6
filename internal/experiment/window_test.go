package experiment_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// hourly is a trace of a job at each full hour, from 1996-09-23 on.
func hourly(t *testing.T, hours int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("; UnixStartTime: 843436800\n")
	for i := range hours {
		fmt.Fprintf(&text, "%d %d 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n", i+1, i*3600)
	}
	return write(t, "hourly.swf", text.String())
}

// TestAddedTraceLastsAsTheOthers, whatever it has before and behind, so that neither the grid nor the site that
// joins is empty for a part of the time. The others are models of 12 hours.
func TestAddedTraceLastsAsTheOthers(t *testing.T) {
	t.Parallel()
	long, short := hourly(t, 200), hourly(t, 4)
	for name, c := range map[string]struct {
		options, load string
		jobs          int
		last          protocol.Duration
		refused       string
	}{
		"window":       {options: long, jobs: 13, last: 12 * protocol.Hour},
		"from":         {options: long + ",from=1996-09-25 06:00:00", jobs: 13, last: 12 * protocol.Hour},
		"load":         {options: long, load: "2", jobs: 25, last: 12 * protocol.Hour},
		"span":         {options: long + ",span=2d", jobs: 49, last: 48 * protocol.Hour},
		"to":           {options: long + ",to=1996-09-23 03:30:00", refused: "site mine: the jobs of its trace are submitted for 0.1 days at a load of 1, and those of the other sites for 0.5 days"},
		"short":        {options: short, refused: "give a longer trace, an earlier from=, or the time to simulate nevertheless as span="},
		"short, meant": {options: short + ",span=4h", jobs: 4, last: 3 * protocol.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := opened(t, smallPlan).Join("mine=8x1@375,trace=" + c.options)
			if err == nil && c.load != "" {
				plan, err = plan.With(experiment.Setting{Key: "load", Value: c.load})
			}
			if err == nil {
				err = plan.Open()
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.refused != "" {
				sweep := experiment.Sweep{Plan: plan, Joining: []string{"mine"}, Seeds: 1}
				_, err = sweep.Run(t.Context(), nil)
				if asked := new(experiment.OptionError); !errors.As(err, &asked) || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("got %v\nwant %s", err, c.refused)
				}
				return
			}
			jobs, err := plan.Jobs(1)
			if err != nil {
				t.Fatal(err)
			}
			own, last := 0, protocol.Duration(0)
			for i := range jobs {
				if jobs[i].Origin == 2 {
					own, last = own+1, protocol.Duration(jobs[i].Submit)
				}
			}
			if own != c.jobs || last != c.last {
				t.Errorf("%d jobs until %v, want %d until %v", own, last, c.jobs, c.last)
			}
		})
	}
}

// TestPageSaysTheWindow of a site that joins, and of the others.
func TestPageSaysTheWindow(t *testing.T) {
	t.Parallel()
	plan, err := opened(t, smallPlan).Join("mine=8x1@375,trace=" + hourly(t, 200) + ",from=1996-09-25 06:00:00")
	if err == nil {
		err = plan.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	sweep := experiment.Sweep{Plan: plan, Joining: []string{"mine"}, Seeds: 1}
	swept, err := sweep.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := experiment.Page("joining", []*experiment.Swept{swept}, report.Source{})
	const want = "Jobs are submitted for 0.5 days at the other sites, 0.5 days at mine (hourly.swf, from 1996-09-25 06:00:00)."
	if err != nil || !strings.Contains(page.Sections[0].Text, want) {
		t.Errorf("%v, no %q in %s", err, want, page.Sections[0].Text)
	}
}
