package api_test

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// arrayID is an array with the elements 1 to 3. The job that was submitted after it has the job ID that an element 4 would
// have, and jobs of others follow.
const arrayID protocol.JobID = 1_000_000_000_100

// element is the name of an element of a job.
func element(job protocol.JobID, index int) protocol.JobName {
	return protocol.JobName{Job: job, Elements: protocol.IndexesOf(index)}
}

// withArray is a node with that array, and that job.
func withArray(t *testing.T) (node *peerFake, after protocol.JobID) {
	t.Helper()
	ended := make(chan struct{})
	close(ended)
	node = &peerFake{reply: view.Done{}, ended: ended, facts: []event.LogEvent{{Text: "its story"}}}
	node.output = func(int64) ([]byte, error) { return nil, nil }
	node.set(view.Job{ID: arrayID, Array: &view.Array{ID: arrayID, Elements: protocol.IndexesOf(1, 2, 3)}})
	for index := range 3 {
		one := protocol.Element{Array: arrayID, Index: index + 1}
		node.set(view.Job{ID: one.ID(), User: me(t), State: protocol.Completed, Element: &one})
	}
	after = protocol.Element{Array: arrayID, Index: 4}.ID()
	node.set(view.Job{ID: after, User: me(t), State: protocol.Completed})
	return node, after
}

// requests are all that a client can ask about one job.
func requests(client *api.Client) map[string]func(context.Context, protocol.JobName) error {
	return map[string]func(context.Context, protocol.JobName) error{
		"hold": client.Hold, "release": client.Release, "cancel": client.CancelElements,
		"update": func(ctx context.Context, name protocol.JobName) error {
			return client.Update(ctx, name, protocol.Change{Name: new("other")})
		},
		"requeue": func(ctx context.Context, name protocol.JobName) error {
			_, err := client.Requeue(ctx, name, api.Requeue{})
			return err
		},
		"job":  func(ctx context.Context, name protocol.JobName) error { _, err := client.Job(ctx, name); return err },
		"wait": func(ctx context.Context, name protocol.JobName) error { _, err := client.Wait(ctx, name); return err },
		"explain": func(ctx context.Context, name protocol.JobName) error {
			_, err := client.Explain(ctx, name)
			return err
		},
		"output": func(ctx context.Context, name protocol.JobName) error {
			_, err := client.Output(ctx, name, protocol.Stdout, false, io.Discard)
			return err
		},
	}
}

// TestElementsThatAnArrayDoesNotHave: no request takes the name of such an element for the job that has its arithmetic ID, nor
// the name of an element of a job that is no array.
func TestElementsThatAnArrayDoesNotHave(t *testing.T) {
	t.Parallel()
	node, after := withArray(t)
	for verb, request := range requests(serve(t, node)) {
		for name, want := range map[protocol.JobID]struct {
			name   protocol.JobName
			reason string
		}{
			arrayID:     {element(arrayID, 4), "array 1000000000100 has no elements 4; its elements are 1-3"},
			after:       {element(after, 0), "job 1000000000105 is no job array, so there is no 1000000000105_0"},
			arrayID - 1: {element(arrayID-1, 5), "no such job"},
		} {
			err := request(t.Context(), want.name)
			if refusal(err) != view.NotFound || err.Error() != want.reason {
				t.Errorf("%s of an element of %v: %v", verb, name, err)
			}
		}
	}
	if len(node.events) != 0 {
		t.Errorf("the peer was asked %v", node.events)
	}
}

// TestElementsByName: the name of an element is as good as its job ID.
func TestElementsByName(t *testing.T) {
	t.Parallel()
	node, _ := withArray(t)
	client := serve(t, node)
	name := element(arrayID, 2)
	id, _ := name.ID()
	if err := client.Hold(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if got, _ := node.last(t).(event.SetHold); got.Job != id || !got.Hold {
		t.Errorf("asked for %+v", got)
	}
	if _, err := client.Requeue(t.Context(), name, api.Requeue{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := node.last(t).(event.Requeue); got.Job != name.Job || got.Elements.String() != name.Elements.String() {
		t.Errorf("asked for %+v", got)
	}
	if err := client.Update(t.Context(), name, protocol.Change{Name: new("other")}); err != nil {
		t.Fatal(err)
	}
	if got, _ := node.last(t).(event.Update); got.Job != id {
		t.Errorf("asked for %+v", got)
	}
	if job, err := client.Wait(t.Context(), name); err != nil || job.ID != id {
		t.Errorf("%v, %v", job.ID, err)
	}
	if code, _ := raw(t, client, http.MethodGet, "/v1/jobs/1000000000100_[1-2]", nil); code != http.StatusBadRequest {
		t.Errorf("several elements in a path: %d", code)
	}
}

// TestListsOfElements: lists have the named elements of an array that is known and omit those of one that is not; an element
// that the array does not have is refused.
func TestListsOfElements(t *testing.T) {
	t.Parallel()
	node, after := withArray(t)
	client := serve(t, node)
	const unknown = arrayID - 50
	named := []protocol.JobName{{Job: arrayID, Elements: protocol.IndexesOf(1, 3)}, {Job: after}, element(unknown, 54)}
	want := []protocol.JobID{arrayID + 2, arrayID + 4, after, unknown}

	node.reply = view.Queue{}
	if _, err := client.Queue(t.Context(), api.Listing{Named: named}); err != nil {
		t.Fatal(err)
	}
	if got, _ := node.last(t).(event.AskQueue); !slices.Equal(got.Filter.Jobs, want) {
		t.Errorf("the queue of %v, want %v", got.Filter.Jobs, want)
	}
	if _, err := client.History(t.Context(), api.Past{Named: named}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Usage(t.Context(), api.Past{Named: named}, nil); err != nil {
		t.Fatal(err)
	}
	for _, asked := range node.wanted {
		if !reflect.DeepEqual(asked.Jobs, want) {
			t.Errorf("the history of %v, want %v", asked.Jobs, want)
		}
	}
	if len(node.wanted) != 2 {
		t.Fatalf("%d histories", len(node.wanted))
	}

	many := protocol.JobName{Job: unknown, Elements: protocol.Indexes{{First: 0, Last: 10_000, Step: 1}}}
	if _, err := client.Queue(t.Context(), api.Listing{Named: []protocol.JobName{many}}); refusal(err) != view.BadRequest {
		t.Errorf("more elements than a list may have, of an array that is not known: %v", err)
	}
	lacking := []protocol.JobName{element(arrayID, 4)}
	_, err := client.Queue(t.Context(), api.Listing{Named: lacking})
	if refusal(err) != view.NotFound {
		t.Errorf("queue: %v", err)
	}
	_, err = client.History(t.Context(), api.Past{Named: lacking})
	if refusal(err) != view.NotFound {
		t.Errorf("history: %v", err)
	}
	_, err = client.Usage(t.Context(), api.Past{Named: lacking}, nil)
	if refusal(err) != view.NotFound {
		t.Errorf("usage: %v", err)
	}
}

// TestRequeueRefusesUnknownFields: a body with a field that this version does not know would ask for something else.
func TestRequeueRefusesUnknownFields(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.Done{}}
	client := serve(t, node)
	path := "/v1/jobs/" + jobA.String() + "/requeue"
	if status, answer := raw(t, client, http.MethodPost, path, strings.NewReader(`{"holdd": true}`)); status != http.StatusBadRequest || !strings.Contains(answer, "holdd") {
		t.Errorf("%d, %s", status, answer)
	}
	if status, answer := raw(t, client, http.MethodPost, path, strings.NewReader(`{"hold": true}`)); status != http.StatusAccepted {
		t.Errorf("%d, %s", status, answer)
	}
}
