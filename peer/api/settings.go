package api

import (
	"net/http"
	"slices"
	"strings"
)

// placementTables are the tables of settings by which jobs are placed, for all users to see. Others name accounts, addresses and files.
func placementTables() []string {
	return []string{
		"policy", "rounds", "moves", "localsched", "power", "tariff", "prices", "exchange_rates", "cost", "waiting_cost", "default_weights", "fairshare",
	}
}

// settingsChanges answers what has changed in the settings: who manages the peer gets all, others what placing jobs depends on.
func (s *server) settingsChanges(w http.ResponseWriter, _ *http.Request, who caller) error {
	history := SettingsHistory{Changes: []SettingsChange{}}
	if s.Changes == nil {
		return reply(w, http.StatusOK, history)
	}
	for _, one := range s.Changes() {
		if !s.manages(who) {
			one.Changed = changesOfPlacing(one.Changed)
		}
		if len(one.Changed) > 0 {
			history.Changes = append(history.Changes, one)
		}
	}
	return reply(w, http.StatusOK, history)
}

// changesOfPlacing are those changes that concern how jobs are placed.
func changesOfPlacing(all []Change) (some []Change) {
	for _, c := range all {
		table, _, _ := strings.Cut(c.Key, ".")
		table, _, _ = strings.Cut(table, "[")
		if slices.Contains(placementTables(), table) {
			some = append(some, c)
		}
	}
	return some
}
