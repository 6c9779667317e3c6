package api_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// openInside runs a server, and returns the client of its pages as well, whose requests stay in the process.
func openInside(t *testing.T, node api.Node) (inside *api.Client, outside *api.Client) {
	t.Helper()
	given := make(chan *api.Client, 1)
	s := open(t, node, func(cfg *api.Config) {
		cfg.Network.Pages = &shown{watch: func(ctx context.Context, peer *api.Client) {
			given <- peer
			<-ctx.Done()
		}}
	})
	return <-given, s.local
}

// What pages are answered, as values, is what other clients are answered in JSON.
func TestPagesAreAnsweredAsOthers(t *testing.T) {
	t.Parallel()
	waits, site := protocol.Minute, protocol.SiteName("there")
	node := &peerFake{
		reply: view.Queue{Next: 1_000_000_000_003, Jobs: []view.Job{{
			ID: 1_000_000_000_003, Name: "<a>", User: "ann", State: protocol.Pending, Reason: view.ReasonAllDeclined, Origin: "here", Site: site, CPUs: 2, WallTime: protocol.Hour,
			Submitted: 1_800_000_000_123, QuotedAWT: &waits, Waits: &view.QuotedWaits{AWT: protocol.Never, ERT: 1}, Sites: []protocol.SiteName{site},
			Bill: &view.Bill{Cost: 1_500_000, Currency: "EUR", Terms: []view.PriceTerm{}, Start: 7},
		}}},
		jobs:  map[protocol.JobID]view.Job{1_000_000_000_003: {ID: 1_000_000_000_003, Name: "a", User: "ann", State: protocol.Running}},
		facts: []event.LogEvent{{At: 1, Job: 1_000_000_000_003, Kind: event.LogJobSubmitted}},
	}
	inside, outside := openInside(t, node)
	for what, ask := range map[string]func(*api.Client) (any, error){
		"queue": func(c *api.Client) (any, error) { return c.Queue(t.Context(), api.Listing{}) },
		"job":   func(c *api.Client) (any, error) { return c.Job(t.Context(), protocol.JobName{Job: 1_000_000_000_003}) },
		"explain": func(c *api.Client) (any, error) {
			return c.Explain(t.Context(), protocol.JobName{Job: 1_000_000_000_003})
		},
		"counts": func(c *api.Client) (any, error) { return c.Counts(t.Context()) },
	} {
		value, err := ask(inside)
		if err != nil {
			t.Fatal(what, err)
		}
		decoded, err := ask(outside)
		if err != nil {
			t.Fatal(what, err)
		}
		if !reflect.DeepEqual(value, decoded) {
			t.Errorf("%s: pages are answered\n%+v, others\n%+v", what, value, decoded)
		}
	}
	_, err := inside.Job(t.Context(), protocol.JobName{Job: 1_000_000_000_004})
	if refused, ok := errors.AsType[*api.Error](err); !ok || refused.Code != view.NotFound || refused.Reason == "" {
		t.Errorf("a job that there is not: %v", err)
	}
}

// A large answer is not copied on its way to a page: to encode and decode it would cost more than the page.
func TestPagesAreAnsweredWithoutCopies(t *testing.T) {
	t.Parallel()
	jobs := []view.Job{{ID: 1_000_000_000_003, Name: "a", User: "ann"}}
	inside, _ := openInside(t, &peerFake{reply: view.Queue{Jobs: jobs}})
	queue, err := inside.Queue(t.Context(), api.Listing{})
	if err != nil || len(queue.Jobs) != 1 || &queue.Jobs[0] != &jobs[0] {
		t.Errorf("%+v, %v", queue, err)
	}
}
