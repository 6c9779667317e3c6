package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/view"
)

// placementTables are the tables of settings by which jobs are placed, for all users to see. The others have names of users and accounts,
// addresses and files.
func placementTables() []string {
	return []string{
		"policy", "policy.tc", "policy.mcmf", "policy.iss", "rounds", "moves", "localsched", "power", "prices", "tariff", "exchange_rates",
		"cost", "cost.cpu", "cost.cpu.period", "cost.license", "cost.eco", "cost.data", "waiting_cost", "default_weights", "fairshare", "fairshare.weights",
	}
}

// ofPlacement reports whether a key, or a whole table, concerns how jobs are placed.
func ofPlacement(key string) bool {
	if key == "prices.config" { // a file
		return false
	}
	return slices.ContainsFunc(placementTables(), func(table string) bool {
		if key == table || strings.HasPrefix(key, table+"[") {
			return true
		}
		name, in := strings.CutPrefix(key, table+".")
		return in && !strings.Contains(name, ".")
	})
}

// settingsChanges answers what has changed in the settings: who manages the peer gets all, others what placing jobs depends on.
func (s *server) settingsChanges(w http.ResponseWriter, _ *http.Request, who caller) error {
	history := SettingsHistory{Changes: []SettingsChange{}}
	if s.Changes == nil {
		return reply(w, http.StatusOK, history)
	}
	changes, err := s.Changes()
	if err != nil {
		return refuse(view.Unavailable, "the changes of settings cannot be read: %v", err)
	}
	for _, one := range changes {
		if !s.manages(who) {
			one.Changed = slices.DeleteFunc(slices.Clone(one.Changed), func(c Change) bool { return !ofPlacement(c.Key) })
		}
		if len(one.Changed) > 0 {
			history.Changes = append(history.Changes, one)
		}
	}
	return reply(w, http.StatusOK, history)
}
