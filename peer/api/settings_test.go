package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// TestSettingsChanges: administrators see what has changed in all settings, users what placing jobs depends on.
func TestSettingsChanges(t *testing.T) {
	t.Parallel()
	config := Config{Node: town{}, Log: discard(), Admins: []string{"ops"}, Changes: func() []SettingsChange {
		return []SettingsChange{
			{At: 3, By: "root", Changed: []Change{{Key: "waiting_cost[2].user", To: `"ann"`}, {Key: "partner[x].users", To: "{}"}, {Key: "power", To: "{ 3 keys }"}}},
			{At: 2, Changed: []Change{{Key: "api.admins", To: "[]"}}},
			{At: 1, By: "SIGHUP", Changed: []Change{{Key: "policy.tc.turnaround_tolerance", From: `"1s"`, To: `"2s"`}, {Key: "limits.users.bob", To: "{}"}}},
		}
	}}
	for name, c := range map[string]struct {
		who  caller
		want []string
	}{
		"root":     {caller{user: "root", admin: true}, []string{"waiting_cost[2].user", "partner[x].users", "power", "api.admins", "policy.tc.turnaround_tolerance", "limits.users.bob"}},
		"an admin": {caller{user: "ops"}, []string{"waiting_cost[2].user", "partner[x].users", "power", "api.admins", "policy.tc.turnaround_tolerance", "limits.users.bob"}},
		"a user":   {caller{user: "ann"}, []string{"waiting_cost[2].user", "power", "policy.tc.turnaround_tolerance"}},
	} {
		ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return c.who })
		answer := httptest.NewRecorder()
		(&server{Config: config}).routes().ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/settings/changes", nil))
		var history SettingsHistory
		if err := json.Unmarshal(answer.Body.Bytes(), &history); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range history.Changes {
			if len(one.Changed) == 0 {
				t.Errorf("%s: a change of nothing: %+v", name, one)
			}
			for _, change := range one.Changed {
				got = append(got, change.Key)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if answer := ask(t, false, caller{user: "ann"}, http.MethodGet, "/v1/settings/changes"); answer.Code != http.StatusOK || answer.Body.String() != "{\"changes\":[]}\n" {
		t.Errorf("no history: %d %q", answer.Code, answer.Body)
	}
}
