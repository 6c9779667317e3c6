package peer_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAllAgreeWhoMayRunAJob has sites and jobs drawn: a submission, the quotes of a round, explain
// and an offer all say of each site what [eligible.Site] says.
func TestAllAgreeWhoMayRunAJob(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var sites []eligible.Site
		for _, name := range []protocol.SiteName{"a", "b", "c"} {
			nodes := rapid.IntRange(1, 3).Draw(rt, "nodes")
			capacity := &protocol.Capacity{
				CPUs: nodes * rapid.IntRange(1, 4).Draw(rt, "CPUs of a node"), Nodes: nodes, MHz: rapid.SampledFrom([]int{0, 500, 1000}).Draw(rt, "MHz"),
				MemoryMB: rapid.SampledFrom([]int64{0, 50, 100}).Draw(rt, "MB"), WholeNode: rapid.Bool().Draw(rt, "whole nodes"),
				MaxWallTime: rapid.SampledFrom([]protocol.Duration{0, protocol.Hour, 3 * protocol.Hour}).Draw(rt, "limit"),
			}
			capacity.NodeCPUs = capacity.CPUs / nodes
			sites = append(sites, eligible.Site{Name: name, Capacity: capacity, Reserves: rapid.Bool().Draw(rt, "reserves")})
		}
		spec := protocol.Spec{
			Request: protocol.Request{
				CPUs: rapid.IntRange(1, 9).Draw(rt, "CPUs"), Nodes: rapid.IntRange(0, 3).Draw(rt, "asked nodes"),
				MemoryMB: rapid.SampledFrom([]int64{0, 60}).Draw(rt, "asked MB"), WallTime: protocol.Duration(rapid.IntRange(1, 4).Draw(rt, "hours")) * protocol.Hour,
			},
			Name: "x", MHz: rapid.SampledFrom([]int{0, 1000}).Draw(rt, "meant for"),
			Sites: rapid.SliceOfNDistinct(rapid.SampledFrom([]protocol.SiteName{"a", "b", "c"}), 0, 3, rapid.ID).Draw(rt, "named"),
		}
		submissionAgrees(t, rt, sites, spec)
		offerAgrees(t, rt, sites, spec, rapid.Bool().Draw(rt, "together"))
	})
}

// submissionAgrees submits a job at a, and asks there for all quotes.
func submissionAgrees(t *testing.T, rt *rapid.T, sites []eligible.Site, spec protocol.Spec) {
	t.Helper()
	at := 0
	w := roomy(t, "abc", func(o *peertest.SiteOptions) {
		o.Capacity = *sites[at].Capacity
		reserves := sites[at].Reserves
		o.Config = func(cfg *rules.Config) { cfg.Reserves = reserves }
		at++
	})
	w.Advance(protocol.Second)
	jobs := []protocol.Job{peertest.Plan{Run: protocol.Second}.Job(spec)}
	asked := w.Ask("a", func(asked event.AskID) event.Event { return event.TestSubmit{Asked: asked, User: "ada", Jobs: jobs} })
	w.Advance(10 * protocol.Second)
	given := spec
	given.MHz = stated(sites[0].Capacity.MHz, spec.MHz)
	may := func(s eligible.Site) bool { return s.Judge(&given, false) == eligible.Eligible }
	if refusal, refused := w.Site("a").Answer(asked).(view.Refusal); refused {
		if refusal.Code != view.NoSite || slices.ContainsFunc(sites, may) {
			rt.Fatalf("refused: %+v", refusal)
		}
		for _, no := range refusal.Sites {
			if s := siteOf(sites, no.Site); no.Reason != s.IneligibleReason(&given, false) {
				rt.Fatalf("%s: refused with %q, want %q", no.Site, no.Reason, s.IneligibleReason(&given, false))
			}
		}
		return
	}
	quoted, ok := w.Site("a").Answer(asked).(view.TestSubmitResult)
	if !ok || !slices.ContainsFunc(sites, may) {
		rt.Fatalf("accepted, and nobody may run it: %+v", w.Site("a").Answer(asked))
	}
	for _, q := range quoted.Jobs[0] {
		if s := siteOf(sites, q.Site); q.Declined != s.IneligibleReason(&given, false) {
			rt.Fatalf("%s: quoted with %q, want %q", q.Site, q.Declined, s.IneligibleReason(&given, false))
		}
	}
	for _, s := range sites {
		if may(s) && !slices.ContainsFunc(quoted.Jobs[0], func(q view.Quote) bool { return q.Site == s.Name }) {
			rt.Fatalf("%s was not asked", s.Name)
		}
	}
}

// offerAgrees has b offer the job to a.
func offerAgrees(t *testing.T, rt *rapid.T, sites []eligible.Site, spec protocol.Spec, together bool) {
	t.Helper()
	l := newLone(t, func(cfg *rules.Config) {
		cfg.Capacity, cfg.Reserves = *sites[0].Capacity, sites[0].Reserves
	}, nothingElse)
	spec.Job, spec.User = guest(1, 1).Job, "ada"
	offer := protocol.Offer{Spec: spec, Epoch: 1, Payload: peertest.Plan{Run: 1}.Payload()}
	if together {
		offer.Start = l.now.Add(protocol.Minute)
	}
	l.step(event.MessageIn{From: "b", Body: offer})
	want, got := sites[0].IneligibleReason(&spec, together), ""
	if refused, ok := l.last().(protocol.Refused); ok {
		got = refused.Reason
	}
	if got != want {
		rt.Fatalf("the offer is answered %+v, want a refusal for %q", l.last(), want)
	}
}

func siteOf(sites []eligible.Site, name protocol.SiteName) *eligible.Site {
	return &sites[slices.IndexFunc(sites, func(s eligible.Site) bool { return s.Name == name })]
}

// stated is the speed that a job's limit is meant for: that of its origin if its user says nothing.
func stated(origin, said int) int {
	if said == 0 {
		return origin
	}
	return said
}
