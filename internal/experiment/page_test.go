package experiment_test

import (
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
)

// figures are the names and texts of what a page of one sweep shows.
func figures(t *testing.T, sets ...string) map[string][]byte {
	t.Helper()
	sweep := experiment.Sweep{Plan: opened(t, smallPlan), Seeds: 2}
	for _, set := range sets {
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
	all := map[string][]byte{}
	for _, section := range page.Sections {
		for _, figure := range section.Figures {
			all[figure.Name] = figure.SVG()
		}
	}
	return all
}

// TestPoliciesUnderSender: a sweep of local policies has the bars of [SS] Figure 5, if
// it has the schemes for them and varies nothing else.
func TestPoliciesUnderSender(t *testing.T) {
	t.Parallel()
	const name = "small-1-policies"
	svg, ok := figures(t, "policy=easy,firstfit,sjf", "scheme=local,sender")[name]
	if !ok {
		t.Fatal("there is no such figure")
	}
	for _, group := range []string{">local<", ">FCFS+BF<", ">FF<", ">SJF<"} {
		if !strings.Contains(html.UnescapeString(string(svg)), group) {
			t.Errorf("%s is not on it", group)
		}
	}
	for _, sets := range [][]string{
		{"policy=easy,sjf", "scheme=sender"},
		{"policy=easy,sjf", "scheme=local"},
		{"policy=easy,sjf", "scheme=local,sender", "local_wait_threshold=1s,60s"},
		{"local_wait_threshold=1s,60s", "scheme=local,sender"},
	} {
		names := figures(t, sets...)
		if _, ok := names[name]; ok {
			t.Errorf("%v has the figure too", slices.Sorted(slices.Values(sets)))
		}
	}
}
