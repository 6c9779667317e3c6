package rounds_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestUnplaced: why a round has chosen no site for a job.
func TestUnplaced(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		takers            int
		noRoom, because   string
		fallback, unknown bool
		reason, detail    string
	}{
		"its group has no common start":      {1, "too few", "", false, false, view.ReasonNoCommonStart, "too few"},
		"a group that no site takes":         {0, "too few", "", false, false, view.ReasonAllDeclined, "b: no"},
		"the policy says why":                {1, "", "limits", false, false, view.ReasonInfeasible, "limits"},
		"its group, rather than the policy":  {1, "too few", "limits", true, false, view.ReasonNoCommonStart, "too few"},
		"the fallback policy says why":       {1, "", "limits", true, false, view.ReasonPolicyUnsupported, "limits"},
		"the fallback policy says nothing":   {0, "", "", true, false, view.ReasonAllDeclined, "b: no"},
		"no known site can run it":           {1, "", "", false, true, view.ReasonNoEligibleSite, ""},
		"a site takes it, not in this round": {2, "", "", false, false, view.ReasonCycleLimit, "2 sites would take it, but not in this round"},
		"no site takes it":                   {0, "", "", false, false, view.ReasonAllDeclined, "b: no"},
	} {
		u := rounds.Unplaced{
			Takers: tt.takers, NoRoom: tt.noRoom, Because: tt.because, Fallback: tt.fallback,
			Unknown: func() bool { return tt.unknown }, Declines: func() string { return "b: no" },
		}
		if reason, detail := u.Reason(); reason != tt.reason || detail != tt.detail {
			t.Errorf("%s: %s (%s), want %s (%s)", name, reason, detail, tt.reason, tt.detail)
		}
	}
}

// TestStaysReason: a wait that would read as no less than the threshold is not named.
func TestStaysReason(t *testing.T) {
	t.Parallel()
	if got := rounds.StaysReason(10*protocol.Second, protocol.Minute); !strings.HasPrefix(got, "own wait 0:00:10 is below φ = 0:01:00") {
		t.Errorf("%q", got)
	}
	if got := rounds.StaysReason(protocol.Minute, protocol.Minute); !strings.HasPrefix(got, "own wait is below φ = 0:01:00 ") {
		t.Errorf("%q", got)
	}
}
