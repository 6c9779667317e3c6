package api_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestHistoryAsksForWhatIsWanted: every condition of a client arrives at the peer, and its answer at
// the client.
func TestHistoryAsksForWhatIsWanted(t *testing.T) {
	t.Parallel()
	node := &peerFake{past: []view.History{{Jobs: []view.Job{{ID: jobA, State: protocol.Failed}}, Next: "there"}}}
	client := serve(t, node)
	wanted := view.HistoryFilter{
		Jobs: []protocol.JobID{jobB, jobA}, Users: []string{"ann", "bob,c"}, Accounts: []string{"phys"}, Names: []string{"a b&c=d"},
		Sites: []protocol.SiteName{"", "there"}, Origins: []protocol.SiteName{"here"}, States: []protocol.State{protocol.Failed, protocol.NodeFail},
		Since: 1_800_000_000_000, Until: 1_800_000_000_001, Guests: view.OnlyGuests, Earlier: true,
	}
	page, err := client.History(t.Context(), api.Past{HistoryFilter: wanted, After: "some place", Limit: 77})
	if err != nil || page.Next != "there" || len(page.Jobs) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
	if got, want := node.wanted[0], (historyAsked{wanted, "some place", 77}); !reflect.DeepEqual(got, want) {
		t.Errorf("the peer was asked %+v, want %+v", got, want)
	}
	if _, err = client.History(t.Context(), api.Past{}); err != nil {
		t.Fatal(err)
	}
	if got := node.wanted[1]; !reflect.DeepEqual(got, historyAsked{Limit: 1000}) {
		t.Errorf("without conditions the peer was asked %+v", got)
	}
}

// TestHistoryPages: all pages are asked for, also those behind an empty one, up to the limit.
func TestHistoryPages(t *testing.T) {
	t.Parallel()
	pages := []view.History{
		{Jobs: []view.Job{{ID: jobB, State: protocol.Failed}}, Next: "1"}, {Next: "2"}, {Jobs: []view.Job{{ID: jobA, State: protocol.Failed}}, Next: "3"}, {},
	}
	for limit, c := range map[int]struct {
		want   []protocol.JobID
		after  []string
		limits []int
	}{
		0: {[]protocol.JobID{jobB, jobA}, []string{"", "1", "2", "3"}, []int{2000, 2000, 2000, 2000}},
		2: {[]protocol.JobID{jobB, jobA}, []string{"", "1", "2"}, []int{2, 1, 1}},
		1: {[]protocol.JobID{jobB}, []string{""}, []int{1}},
	} {
		node := &peerFake{past: slices.Clone(pages)}
		var got []protocol.JobID
		err := serve(t, node).HistoryPages(t.Context(), api.Past{}, limit, func(jobs []view.Job) error {
			for _, job := range jobs {
				got = append(got, job.ID)
			}
			return nil
		})
		var after []string
		var limits []int
		for _, asked := range node.wanted {
			after, limits = append(after, asked.After), append(limits, asked.Limit)
		}
		if err != nil || !slices.Equal(got, c.want) || !slices.Equal(after, c.after) || !slices.Equal(limits, c.limits) {
			t.Errorf("limit %d: %v by requests after %q of %v jobs, %v", limit, got, after, limits, err)
		}
	}
}

func TestHistoryRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	client := serve(t, &peerFake{})
	for query, want := range map[string]string{
		"from=1":            `unknown parameter "from"; use account, after, earlier, guests, `,
		"since=yesterday":   `since: invalid time "yesterday"; give milliseconds since 1970`,
		"until=-1":          "until: invalid time",
		"since=1&since=2":   "since: is given 2 times; give it once",
		"page=10001":        "page: invalid number; use 1 to 10000",
		"origin=no%20place": "origin: ",
	} {
		status, answer := raw(t, client, http.MethodGet, "/v1/history?"+query, strings.NewReader(""))
		var refusal view.Refusal
		if err := json.Unmarshal([]byte(answer), &refusal); err != nil || status != http.StatusBadRequest || !strings.HasPrefix(refusal.Reason, want) {
			t.Errorf("%s: %d %s", query, status, answer)
		}
	}
}

// The properties by which usage is added up are a list also where there are none.
func TestUsageByNothing(t *testing.T) {
	t.Parallel()
	status, answer := raw(t, serve(t, &peerFake{past: []view.History{{}}}), http.MethodGet, "/v1/usage", strings.NewReader(""))
	if status != http.StatusOK || !strings.Contains(answer, `"by":[]`) {
		t.Errorf("%d %s", status, answer)
	}
}
