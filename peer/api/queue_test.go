package api_test

import (
	"context"
	"encoding/json"
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

// TestQueueAsksThePeerForWhatIsWanted: every condition of a client arrives at the peer.
func TestQueueAsksThePeerForWhatIsWanted(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.Queue{Jobs: []view.Job{{ID: jobB, State: protocol.Running}}, Next: jobB}}
	client := serve(t, node)
	wanted := view.QueueFilter{
		Jobs: []protocol.JobID{jobB, jobA}, Users: []string{"ann", "bob,c"}, Names: []string{"a b&c=d"},
		Sites: []protocol.SiteName{"", "there"}, States: []protocol.State{protocol.Running, protocol.NodeFail},
		Application: jobA, Components: true, Guests: view.OnlyGuests, After: jobA, Limit: 77,
	}
	queue, err := client.Queue(t.Context(), api.Listing{QueueFilter: wanted, Finished: 5})
	if err != nil || queue.Next != jobB || len(queue.Jobs) != 1 {
		t.Errorf("%+v, %v: the ended jobs come with the last page only", queue, err)
	}
	if got := node.last(t); !reflect.DeepEqual(got, event.AskQueue{Asked: 7, Filter: wanted}) {
		t.Errorf("the peer was asked %+v", got)
	}
	if _, err = client.Queue(t.Context(), api.Listing{QueueFilter: view.QueueFilter{Guests: view.WithoutGuests}}); err != nil {
		t.Fatal(err)
	}
	if got := node.last(t); !reflect.DeepEqual(got, event.AskQueue{Asked: 7, Filter: view.QueueFilter{Guests: view.WithoutGuests}}) {
		t.Errorf("the peer was asked %+v", got)
	}
}

// TestQueueRefusesWhatItDoesNotKnow: a condition that is not understood is not passed over.
func TestQueueRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	client := serve(t, &peerFake{reply: view.Queue{}})
	for query, want := range map[string]string{
		"users=ann":     `unknown parameter "users"; use after, all, application, `,
		"state=DONE":    `state: invalid value "DONE"; use PENDING, RUNNING, `,
		"job=12":        "job: ",
		"page=0":        "page: invalid number; use 1 to 10000",
		"limit=-1":      "limit: invalid number; use 1 to 10000",
		"page=1&page=2": "page: is given 2 times; give it once",
		"guests=some":   `guests: invalid value "some"; use none or only`,
		"site=a%20b":    "site: ",
	} {
		status, answer := raw(t, client, http.MethodGet, "/v1/jobs?"+query, strings.NewReader(""))
		var refusal view.Refusal
		if err := json.Unmarshal([]byte(answer), &refusal); err != nil || status != http.StatusBadRequest ||
			!strings.HasPrefix(refusal.Reason, want) {
			t.Errorf("%s: %d %s", query, status, answer)
		}
	}
	if status, _ := raw(t, client, http.MethodGet, "/v1/jobs?state=running", strings.NewReader("")); status != http.StatusOK {
		t.Errorf("a state in small letters: %d", status)
	}
}

// TestFinishedJobsAreFilteredAndListedOnce: those of ids are looked up, and one that was live when
// the peer was asked is not there twice.
func TestFinishedJobsAreFilteredAndListedOnce(t *testing.T) {
	t.Parallel()
	element := protocol.Element{Array: jobA, Index: 7}
	node := &archiveFake{archive: []view.Job{
		{ID: element.ID(), State: protocol.Completed, User: "cyd", Element: &element},
		{ID: jobB, State: protocol.Completed, User: "bob"},
		{ID: jobA, State: protocol.Failed, User: "ann"},
	}}
	client := serve(t, node)
	for name, c := range map[string]struct {
		live   []view.Job
		wanted api.Listing
		want   []protocol.JobID
	}{
		"one user's":    {nil, api.Listing{QueueFilter: view.QueueFilter{Users: []string{"ann"}}, Finished: 1}, []protocol.JobID{jobA}},
		"one state's":   {nil, api.Listing{QueueFilter: view.QueueFilter{States: []protocol.State{protocol.Completed}}, Finished: 5}, []protocol.JobID{element.ID(), jobB}},
		"by an ID":      {nil, api.Listing{QueueFilter: view.QueueFilter{Jobs: []protocol.JobID{jobB}}, Finished: 5}, []protocol.JobID{jobB}},
		"of an array":   {nil, api.Listing{QueueFilter: view.QueueFilter{Jobs: []protocol.JobID{jobA}}, Finished: 5}, []protocol.JobID{element.ID(), jobA}},
		"at most one":   {nil, api.Listing{QueueFilter: view.QueueFilter{Jobs: []protocol.JobID{jobA, jobB}}, Finished: 1}, []protocol.JobID{element.ID()}},
		"and of a user": {nil, api.Listing{QueueFilter: view.QueueFilter{Jobs: []protocol.JobID{jobA}, Users: []string{"ann"}}, Finished: 5}, []protocol.JobID{jobA}},
		"just ended":    {[]view.Job{{ID: jobB, State: protocol.Running}}, api.Listing{Finished: 5}, []protocol.JobID{element.ID(), jobA, jobB}},
		"none of them":  {nil, api.Listing{}, nil},
	} {
		node.reply = view.Queue{Jobs: c.live}
		queue, err := client.Queue(t.Context(), c.wanted)
		var got []protocol.JobID
		for _, job := range queue.Jobs {
			got = append(got, job.ID)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

// archiveFake is a node with several finished jobs, the youngest first.
type archiveFake struct {
	peerFake

	archive []view.Job
}

func (a *archiveFake) ArchivedJobs(_ context.Context, limit int, wanted func(*view.Job) bool) ([]view.Job, error) {
	found := slices.DeleteFunc(slices.Clone(a.archive), func(job view.Job) bool { return !wanted(&job) })
	return found[:min(limit, len(found))], nil
}

// History has two pages: the elements, and the other jobs.
func (a *archiveFake) History(_ context.Context, wanted *view.HistoryFilter, after string, _ int) (page view.History, err error) {
	for _, job := range a.archive {
		id := job.ID
		if job.Element != nil {
			id = job.Element.Array
		}
		if slices.Contains(wanted.Jobs, id) && (job.Element != nil) == (after == "") {
			page.Jobs = append(page.Jobs, job)
		}
	}
	if after == "" {
		page.Next = "others"
	}
	return page, nil
}
