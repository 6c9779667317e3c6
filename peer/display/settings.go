package display

import (
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
)

// restarted stands where a user does, for settings that were others when the peer started.
const restarted = "restart"

// SettingsChanges lists what has changed in the settings of a peer, a line for each key, the last change first.
func SettingsChanges(history api.SettingsHistory) *console.Table {
	t := console.NewTable("KEY", "FROM", "TO", "BY", "CHANGED")
	for _, one := range history.Changes {
		by := console.Plain(one.By)
		if by == "" {
			by = restarted
		}
		for _, c := range one.Changed {
			t.Add(console.Plain(c.Key), console.OrDash(c.From), console.OrDash(c.To), by, console.Clock(one.At))
		}
	}
	return t
}
