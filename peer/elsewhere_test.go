package peer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestWhereJobsMayGo: the answer to a submission says which other sites may run it, by the user's options,
// the partners' cards and the policy. A partner that is not known yet may.
func TestWhereJobsMayGo(t *testing.T) {
	t.Parallel()
	two := func(c *rules.Config) { c.Partners = append(c.Partners, rules.Partner{Site: "c", MaxJobs: 1}) } // c has not come
	for name, tt := range map[string]struct {
		change func(*rules.Config)
		spec   func(*protocol.Spec)
		want   string
	}{
		"anywhere":                 {two, func(*protocol.Spec) {}, "b c"},
		"here only":                {two, func(s *protocol.Spec) { s.Sites = []protocol.SiteName{"a"} }, ""},
		"at one":                   {two, func(s *protocol.Spec) { s.Sites = []protocol.SiteName{"a", "c"} }, "c"},
		"more nodes than b has":    {two, func(s *protocol.Spec) { s.CPUs, s.Nodes = 9, 9 }, "c"},
		"a policy that keeps them": {func(c *rules.Config) { two(c); c.Policy = policy.Describe(local.Policy{}) }, func(*protocol.Spec) {}, ""},
	} {
		l := newLone(t, tt.change, func(event.Op) (event.Result, error) { return nil, errLater })
		spec := protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}}
		tt.spec(&spec)
		l.step(event.Submit{Asked: 1, User: "ada", Jobs: []protocol.Job{{Spec: spec, Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}}}})
		got, ok := l.answers[len(l.answers)-1].(view.Submitted)
		if !ok || got.Site != "a" {
			t.Errorf("%s: %+v", name, l.answers)
			continue
		}
		var sites []string
		for _, site := range got.MayLeaveTo {
			sites = append(sites, string(site))
		}
		if text := strings.Join(sites, " "); text != tt.want || !slices.IsSorted(sites) {
			t.Errorf("%s: %q, want %q", name, text, tt.want)
		}
	}
}

// TestContradictoryLayoutsAreRefused: what no batch system could run is not taken.
func TestContradictoryLayoutsAreRefused(t *testing.T) {
	t.Parallel()
	for why, job := range map[string]protocol.Job{
		"the job asks for 8 CPUs, but its 4 tasks of 1 CPUs make another number": {
			Spec: protocol.Spec{Request: protocol.Request{CPUs: 8, WallTime: 1, Layout: protocol.Layout{Tasks: 4}}},
		},
		"asks for 4 CPUs, but its 2 tasks of 1 CPUs make another number": {
			Spec:      protocol.Spec{Request: protocol.Request{CPUs: 2, WallTime: 1, Layout: protocol.Layout{Tasks: 2}}},
			Component: protocol.Component{Shapes: []protocol.Shape{{CPUs: 4, WallTime: 1}}},
		},
	} {
		l := newLone(t, func(*rules.Config) {}, func(event.Op) (event.Result, error) { return nil, errLater })
		job.Payload = &protocol.Payload{Script: []byte("#!/bin/sh\n")}
		l.step(event.Submit{Asked: 1, User: "ada", Jobs: []protocol.Job{job}})
		got, ok := l.answers[len(l.answers)-1].(view.Refusal)
		if !ok || got.Code != view.BadRequest || !strings.Contains(got.Reason, why) {
			t.Errorf("got %+v, want %q", l.answers, why)
		}
	}
}
