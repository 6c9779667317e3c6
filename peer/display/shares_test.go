package display_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestShares: each user has a row for all sites and one for each, and partners whose reports are missing have one.
func TestShares(t *testing.T) {
	t.Parallel()
	hour := int64(protocol.Hour)
	got := display.Shares(view.Shares{
		Users: []view.UserShare{{
			Account: "chem", User: "ada", Share: 400_000, Use: 30 * hour, Placed: 2 * hour, Part: 500_000, Deviation: new(250_000),
			Sites: []view.SiteUse{{Site: "aurora", Use: 18 * hour, Part: 300_000}, {Site: "borealis", Use: 10 * hour, Part: 166_667, Age: new(protocol.Minute)}},
		}},
		Reports: []view.UseReport{
			{Site: "borealis", Age: new(protocol.Minute), Counted: 1_000_000},
			{Site: "corvus", Age: new(protocol.Day), Stale: true, Counted: 1_000_000},
			{Site: "dione", Stale: true, Counted: 1_000_000},
			{Site: "eris", Refused: "why", Counted: 1_000_000},
			{Site: "fornax", Age: new(protocol.Minute), Counted: 25_000},
		},
	}).Text("", false)
	rows := strings.Split(strings.TrimRight(got, "\n"), "\n")
	for i, want := range []string{
		"chem ada all 40.00 % 30.00 h 50.00 % 25.00 % - 2.00 h of it by jobs that are placed", "chem ada aurora - 18.00 h 30.00 % - -", "chem ada borealis - 10.00 h 16.67 % - 0:01:00",
		"- - corvus - - - - 1-00:00:00 its last report of use is old", "- - dione - - - - - no report of use has come", "- - eris - - - - - its reports of use do not count: why",
		"- - fornax - - - - 0:01:00 its reports say more than its machine can do: 2.50 % of it counts",
	} {
		if len(rows) != 7 || !strings.HasPrefix(strings.Join(strings.Fields(rows[i]), " "), want) {
			t.Fatalf("row %d of\n%s\nis not %q", i, got, want)
		}
	}
}
