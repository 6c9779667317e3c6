package row

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// PartnerJobs are the jobs that concern a partner.
type PartnerJobs struct {
	Sent int // open jobs of this site that it has, or may have
	Here int // its open jobs that are at this site
}

// Missing says what a partner that is not configured leaves.
func (n PartnerJobs) Missing() string {
	return fmt.Sprintf("not configured, but it has %s of this site, and this site has %s of it; "+
		"configure it again until they have ended, or cancel those of this site",
		protocol.Count(n.Sent, "open job"), protocol.Count(n.Here, "open job"))
}

// PartnerCount counts the jobs that concern each partner.
type PartnerCount map[protocol.SiteName]PartnerJobs

// Add counts a row, if it is of a job that concerns a partner.
func (c PartnerCount) Add(row Row) {
	switch row := row.(type) {
	case Job:
		for _, site := range PartnersWith(&row) {
			n := c[site]
			n.Sent++
			c[site] = n
		}
	case Guest:
		if row.Phase.Open() {
			n := c[row.Origin]
			n.Here++
			c[row.Origin] = n
		}
	default:
	}
}

// PartnersWith are those that have the job of a row, or may have it, and must be heard before it ends.
func PartnersWith(row *Job) (sites []protocol.SiteName) {
	switch row.Phase {
	case JobOffered, JobGranted, JobHandedOff, JobRecalling, JobStagingOut:
		return []protocol.SiteName{row.Site}
	case JobEnding:
		for _, f := range row.Fenced {
			if !f.Lost && !slices.Contains(sites, f.Site) {
				sites = append(sites, f.Site)
			}
		}
	case JobInGridQueue, JobReserving, JobCommittedLocal:
	}
	return sites
}

// Conduct is how a partner has kept what it said about one job of this site that it was given, or had
// quoted. It is judged by this site's own jobs alone, never by what others say.
type Conduct int

// The conducts.
const (
	Kept         Conduct = iota // started about when its quote said, or sooner
	Late                        // had not started long after that
	FailedAtOnce                // failed within seconds, far below its time limit
	Returned                    // came back without a recall
	Refused                     // was refused though it had just been quoted
	conducts
)

func (c Conduct) String() string {
	return [...]string{"kept", "started long after its quote said", "failed at once", "came back unasked", "were refused after a quote"}[c]
}

// Quality is how a partner has kept what it said lately.
type Quality struct {
	Weights  [conducts]int    `json:"weights"`            // of jobs that went as each conduct says
	Failures []uint64         `json:"failures,omitempty"` // kinds of jobs that failed at once lately: each counts once
	Doubtful bool             `json:"doubtful,omitempty"` // it is asked last
	Probe    protocol.Instant `json:"probe,omitempty"`    // if so, not before this one is it asked about a job that another could run
}

// Total is the weight of all jobs that are remembered.
func (q *Quality) Total() (all int) {
	for _, w := range q.Weights {
		all += w
	}
	return all
}

// String says what is known against the partner.
func (q *Quality) String() string {
	var parts []string
	all := max(1, q.Total())
	for what := Late; what < conducts; what++ {
		if share := q.Weights[what] * 100 / all; share > 0 {
			parts = append(parts, fmt.Sprintf("%d %% %v", share, what))
		}
	}
	return "asked last, since of the latest jobs " + strings.Join(parts, ", ")
}

// Partner is what this store has known of a partner, longer than the peer runs.
type Partner struct {
	Site   protocol.SiteName   `json:"site"`
	Number protocol.SiteNumber `json:"number,omitempty"` // that its card said, and no other partner's before; 0: none
	Life   protocol.Life       `json:"life"`             // the latest that its peer has stated, with its proof; zero: none

	Quality Quality `json:"quality,omitzero"` // how it has kept what it said

	UseReport UseReport `json:"use_report,omitzero"` // the newest that it has sent; zero: none

	Drain *view.Drain `json:"drain,omitempty"`
}

// UseReport is what is kept of a [protocol.UseReport], beside the rows of the use.
type UseReport struct {
	At   protocol.Instant `json:"at_ms"` // when it was made, by the clock of its sender
	CPUs int              `json:"cpus"`  // of the sender's machine, by its card
}

func (Partner) table() Table { return PartnerTable }

// AwaitsAnswerOf says whether a message about the job is repeated to a site until it answers.
func (j *Job) AwaitsAnswerOf(site protocol.SiteName) bool {
	return j.Site == site || j.Phase == JobEnding && slices.Contains(PartnersWith(j), site)
}
