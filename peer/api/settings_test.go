package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSettingsChanges: administrators see what has changed in all settings, users what placing jobs depends on.
func TestSettingsChanges(t *testing.T) {
	t.Parallel()
	config := Config{Node: town{}, Log: discard(), Admins: []string{"ops"}, Changes: func() ([]SettingsChange, error) {
		return []SettingsChange{
			{At: 3, By: "root", Changed: []Change{{Key: "waiting_cost[urgent].price", To: "3"}, {Key: "partner[x].users", To: "{}"}, {Key: "power", To: "{ 3 keys }"}, {Key: "localsched.slurm.conf"}}},
			{At: 2, Changed: []Change{{Key: "api.admins", To: "[]"}}},
			{At: 1, By: "SIGHUP", Changed: []Change{{Key: "policy.tc.turnaround_tolerance", From: `"1s"`, To: `"2s"`}, {Key: "limits.users.bob", To: "{}"}, {Key: "fairshare.accounts.physics"}, {Key: "prices.config"}, {Key: "prices.area"}}},
		}, nil
	}}
	all := []string{
		"waiting_cost[urgent].price", "partner[x].users", "power", "localsched.slurm.conf", "api.admins", "policy.tc.turnaround_tolerance", "limits.users.bob",
		"fairshare.accounts.physics", "prices.config", "prices.area",
	}
	for name, c := range map[string]struct {
		who  caller
		want []string
	}{
		"root":     {caller{user: "root", admin: true}, all},
		"an admin": {caller{user: "ops"}, all},
		"a user":   {caller{user: "ann"}, []string{"waiting_cost[urgent].price", "power", "policy.tc.turnaround_tolerance", "prices.area"}},
	} {
		var history SettingsHistory
		if err := json.Unmarshal([]byte(askOf(t, config, c.who, "/v1/settings/changes")), &history); err != nil {
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
	if got := askOf(t, Config{Node: town{}, Log: discard()}, caller{user: "ann"}, "/v1/settings/changes"); got != "{\"changes\":[]}\n" {
		t.Errorf("no history: %s", got)
	}
}

// TestSettingsChangesLost: a history that cannot be read is no empty one.
func TestSettingsChangesLost(t *testing.T) {
	t.Parallel()
	config := Config{Node: town{}, Log: discard(), Changes: func() ([]SettingsChange, error) { return nil, errors.New("settings.json: it is a directory") }}
	ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return caller{user: "ann"} })
	answer := httptest.NewRecorder()
	(&server{Config: config}).routes().ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/settings/changes", nil))
	if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "settings.json: it is a directory") {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
}

// TestPrices: all see the prices, and only who has signed in why they are old.
func TestPrices(t *testing.T) {
	t.Parallel()
	known := &price.Forecast{
		Currency: "EUR", PublishedUntil: 7_200_000, StaleReason: "prices.csv:3: no number",
		Prices: price.Series{Slots: []price.Slot{{Start: 3_600_000, Length: protocol.Hour, Price: -5}, {Start: 7_200_000, Length: protocol.Hour, Price: 6}}},
	}
	slots := `"slots":[{"start_ms":3600000,"length_ms":3600000,"price_micro_mwh":-5},{"start_ms":7200000,"length_ms":3600000,"price_micro_mwh":6}]}`
	for name, c := range map[string]struct {
		who   caller
		known *price.Forecast
		want  string
	}{
		"a user":     {caller{user: "ann"}, known, `{"currency":"EUR","published_until_ms":7200000,"stale_reason":"prices.csv:3: no number",` + slots},
		"a stranger": {caller{public: true}, known, `{"currency":"EUR","published_until_ms":7200000,` + slots},
		"no prices":  {caller{user: "ann"}, nil, `{"slots":[]}`},
	} {
		config := Config{Node: town{}, Log: discard(), Prices: func() *price.Forecast { return c.known }}
		if got := askOf(t, config, c.who, "/v1/prices"); got != c.want+"\n" {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := askOf(t, Config{Node: town{}, Log: discard()}, caller{user: "ann"}, "/v1/prices"); got != "{\"slots\":[]}\n" {
		t.Errorf("a site without prices: %s", got)
	}
}

// askOf gets the answer of a peer.
func askOf(t *testing.T, config Config, who caller, path string) string {
	t.Helper()
	ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return who })
	answer := httptest.NewRecorder()
	(&server{Config: config}).routes().ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	if answer.Code != http.StatusOK {
		t.Errorf("%s: %d", path, answer.Code)
	}
	return answer.Body.String()
}
