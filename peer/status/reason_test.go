package status_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// links: d has departed, u is not reached, r is, and a is this site.
func links(site protocol.SiteName) status.Link {
	return map[protocol.SiteName]status.Link{"d": status.Departed, "u": status.Unreached, "r": status.Reached}[site]
}

func fenced(site protocol.SiteName, lost bool) row.FencedPlacement {
	return row.FencedPlacement{Site: site, Epoch: 1, Lost: lost}
}

func TestReason(t *testing.T) {
	t.Parallel()
	const stopped = "two peers"
	noon := protocol.Instant(12 * protocol.Hour)
	tests := map[string]struct {
		job     status.Job
		row     row.Job
		stopped string
		want    string
	}{
		"in the grid queue":                  {row: row.Job{Phase: row.JobInGridQueue}, want: "WaitingForRound"},
		"after a round":                      {row: row.Job{Phase: row.JobInGridQueue, Reason: "CycleLimitReached"}, job: status.Job{Detail: "until noon"}, want: "CycleLimitReached (until noon)"},
		"no site is known":                   {row: row.Job{Phase: row.JobInGridQueue, Reason: "CycleLimitReached"}, job: status.Job{NoEligibleSite: true}, want: "NoEligibleSite"},
		"that only counts in the grid queue": {row: row.Job{Phase: row.JobCommittedLocal, Reason: "Priority"}, job: status.Job{NoEligibleSite: true, Detail: "x"}, want: "Priority"},
		"offered":                            {row: row.Job{Phase: row.JobOffered, Site: "r"}, want: "HandOff"},
		"offered to a site that is down":     {row: row.Job{Phase: row.JobOffered, Site: "u"}, want: "HandOff"},
		"offered to a site that has left":    {row: row.Job{Phase: row.JobOffered, Site: "d"}, want: "HandOff"},
		"granted":                            {row: row.Job{Phase: row.JobGranted, Site: "r", State: protocol.Pending}, want: "HandOff"},
		"seeks room":                         {row: row.Job{Phase: row.JobOffered, Site: "r", ReserveFrom: noon}, want: "WaitingForGroup"},
		"has its room":                       {row: row.Job{Phase: row.JobGranted, Site: "r", ReservedAt: noon, State: protocol.Pending}, want: "WaitingForStartTime (at 12:00:00Z)"},
		"runs in its room":                   {row: row.Job{Phase: row.JobHandedOff, Site: "r", ReservedAt: noon, State: protocol.Running}, want: ""},
		"as its site says":                   {row: row.Job{Phase: row.JobHandedOff, Site: "r", Reason: "Resources"}, want: "Resources"},
		"its site is not reached":            {row: row.Job{Phase: row.JobHandedOff, Site: "u", Reason: "Resources", Cancelling: true}, want: "PartnerUnreachable"},
		"cancelled":                          {row: row.Job{Phase: row.JobRecalling, Site: "r", Reason: "Resources", Cancelling: true}, want: "Cancelling"},
		"its output is fetched":              {row: row.Job{Phase: row.JobStagingOut, Site: "u"}, want: "StagingOut"},
		"its output is late":                 {row: row.Job{Phase: row.JobStagingOut, Site: "u", Reason: "a disk is full"}, want: "a disk is full"},
		"ending":                             {row: row.Job{Phase: row.JobEnding, Fenced: []row.FencedPlacement{fenced("r", true), fenced("u", false)}}, want: "Cancelling (it was reclaimed from u, which was unreachable and may still run it until it is reachable again; cancel it again to close it with its outcome unknown)"},
		"nobody can end it any more":         {row: row.Job{Phase: row.JobEnding, Fenced: []row.FencedPlacement{fenced("r", true), fenced("d", false)}}, want: "NeedsOperator: d may still run the job, and is no longer a partner; configure that site again, or cancel the job"},
		"its site has left":                  {row: row.Job{Phase: row.JobHandedOff, Site: "d"}, want: "NeedsOperator: d has the job, and is no longer a partner; configure that site again, or cancel the job"},
		"its site has left with its output":  {row: row.Job{Phase: row.JobStagingOut, Site: "d", Reason: "x"}, want: "NeedsOperator: it has ended at d, which is no longer a partner and has its output; configure that site again, or cancel the job to close it without its output"},
		"nobody knows whether it ran":        {row: row.Job{Phase: row.JobHandedOff, Site: "d", OperatorReason: "r is gone"}, want: "NeedsOperator: r is gone" + status.Remedy},
		"nor whether its run did":            {row: row.Job{Phase: row.JobCommittedLocal}, job: status.Job{Run: &row.Run{OperatorReason: "lost"}}, want: "NeedsOperator: lost" + status.Remedy},
		"a run that is well":                 {row: row.Job{Phase: row.JobCommittedLocal, Reason: "Priority"}, job: status.Job{Run: &row.Run{}}, want: "Priority"},
		"nothing starts":                     {row: row.Job{Phase: row.JobInGridQueue, State: protocol.Pending}, stopped: stopped, want: "NeedsOperator: two peers"},
		"it has started before":              {row: row.Job{Phase: row.JobHandedOff, Site: "r", State: protocol.Running}, stopped: stopped, want: ""},
		"its run has ended since":            {row: row.Job{Phase: row.JobCommittedLocal, State: protocol.Running, Cancelling: true}, job: status.Job{Held: protocol.Failed}, stopped: stopped, want: "NeedsOperator: its run has ended as FAILED, which counts once this database goes on: two peers"},
		"the peer listens yet":               {row: row.Job{Phase: row.JobCommittedLocal, State: protocol.Running}, job: status.Job{Held: protocol.Failed}, want: ""},
		"it has ended before":                {row: row.Job{Phase: row.JobStagingOut, Site: "r", State: protocol.Pending}, stopped: stopped, want: "StagingOut"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := tt.job
			j.Job = &tt.row
			if got := j.Reason(links, tt.stopped); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if why := j.NeedsOperator(links); (why != "") != (strings.HasPrefix(tt.want, "NeedsOperator: ") && tt.stopped == "") {
				t.Errorf("needs an operator: %q", why)
			}
		})
	}
}

// An ending job waits as long as one partner is left that can say that it is over.
func TestEndingNeedsOperator(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fenced []row.FencedPlacement
		want   string // in the reason; empty: it goes on
	}{
		"nothing is waited for":      {nil, ""},
		"its site is reached":        {[]row.FencedPlacement{fenced("r", false)}, ""},
		"its site is not reached":    {[]row.FencedPlacement{fenced("u", false)}, ""},
		"its site has left":          {[]row.FencedPlacement{fenced("d", false)}, "d may still run"},
		"its site is not known":      {[]row.FencedPlacement{fenced("x", false)}, "x may still run"},
		"one has left, one is there": {[]row.FencedPlacement{fenced("d", false), fenced("r", false)}, ""},
		"both have left":             {[]row.FencedPlacement{fenced("x", false), fenced("d", false)}, "x may still run"},
		"its records are lost":       {[]row.FencedPlacement{fenced("r", true)}, ""},
	}
	for name, tt := range tests {
		j := status.Job{Job: &row.Job{Phase: row.JobEnding, Fenced: tt.fenced}}
		if why := j.NeedsOperator(links); (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
			t.Errorf("%s: %q, want %q", name, why, tt.want)
		}
	}
	if why := status.UnheardReason(&row.Job{Fenced: []row.FencedPlacement{fenced("r", true)}}); why != "" {
		t.Errorf("waits for a site that has lost its records: %s", why)
	}
}

func TestRequeueRefusal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		phase     row.JobPhase
		why, want string
	}{
		"needs none":       {row.JobHandedOff, "", "job 7 is RUNNING and does not need an operator; only jobs in NeedsOperator can be requeued by force"},
		"needs one":        {row.JobHandedOff, "lost", ""},
		"has ended":        {row.JobStagingOut, "b has left", "job 7: b has left"},
		"is to be no more": {row.JobEnding, "b has left", "job 7 is cancelled and cannot be requeued: b has left"},
	} {
		j := status.Job{Job: &row.Job{Phase: tt.phase, State: protocol.Running}}
		j.Spec.Job = 7
		if got := j.RequeueRefusal(tt.why); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
