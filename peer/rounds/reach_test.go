package rounds_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

func TestReachOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by                 policy.Initiation
		declines, shortcut bool
		volunteers         bool
		want               rounds.Reach
	}{
		"S-I":                            {policy.Sender, false, true, true, rounds.AllPartners},
		"a cycle":                        {policy.Cycle, false, true, true, rounds.AllPartners},
		"R-I with volunteers":            {policy.Receiver, false, true, true, rounds.Volunteers},
		"R-I without":                    {policy.Receiver, false, true, false, rounds.NoPartner},
		"R-I, declined at home":          {policy.Receiver, true, true, true, rounds.AllPartners},
		"R-I without, and no use for φ":  {policy.Receiver, false, false, false, rounds.Volunteers},
		"Sy-I with volunteers":           {policy.Symmetric, false, true, true, rounds.Volunteers},
		"Sy-I without":                   {policy.Symmetric, false, true, false, rounds.AllPartners},
		"Sy-I, declined at home":         {policy.Symmetric, true, true, true, rounds.AllPartners},
		"Sy-I without, and no use for φ": {policy.Symmetric, false, false, false, rounds.AllPartners},
	} {
		if got := rounds.ReachOf(c.by, c.declines, c.shortcut, func() bool { return c.volunteers }); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
