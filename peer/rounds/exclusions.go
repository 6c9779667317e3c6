package rounds

import "github.com/switchyard-hpc/switchyard/protocol"

// Exclusions are the sites that are not asked about a job for a while: those that refused it or where
// it failed, and volunteers that were no better than the own site. The zero value excludes no site. They
// are in memory only.
type Exclusions struct {
	until map[protocol.SiteName]protocol.Instant
	said  map[protocol.SiteName]string // why a site gave the job back
	lost  map[protocol.SiteName]uint64 // by the number of the message with which they volunteered
}

// Exclude keeps a site from being asked until an instant.
func (x *Exclusions) Exclude(site protocol.SiteName, until protocol.Instant) {
	if x.until == nil {
		x.until = map[protocol.SiteName]protocol.Instant{}
	}
	x.until[site] = until
	delete(x.said, site)
}

// Explain notes why a site that is excluded gave the job back.
func (x *Exclusions) Explain(site protocol.SiteName, why string) {
	if x.said == nil {
		x.said = map[protocol.SiteName]string{}
	}
	x.said[site] = why
}

// Reason is why a site is not asked; empty: it has not said why it gave the job back, or is asked.
func (x *Exclusions) Reason(site protocol.SiteName, now protocol.Instant) string {
	if x.said[site] == "" || !x.Excludes(site, now) {
		return ""
	}
	return "left out for a while: " + x.said[site]
}

// Allow lets a site be asked again.
func (x *Exclusions) Allow(site protocol.SiteName) { delete(x.until, site) }

// Excludes says whether a site is not asked now.
func (x *Exclusions) Excludes(site protocol.SiteName, now protocol.Instant) bool {
	until, ok := x.until[site]
	return ok && now < until
}

// Reject notes that a volunteer has lost, by the number of its message. Its next one counts again.
func (x *Exclusions) Reject(site protocol.SiteName, number uint64) {
	if x.lost == nil {
		x.lost = map[protocol.SiteName]uint64{}
	}
	x.lost[site] = number
}

// Rejected is the number of the message with which the site volunteered last and lost; 0: it has not.
func (x *Exclusions) Rejected(site protocol.SiteName) uint64 { return x.lost[site] }

// PutOff moves the instants by as much as the clock was set forward.
func (x *Exclusions) PutOff(by protocol.Duration) {
	for site, until := range x.until {
		x.until[site] = until.Add(by)
	}
}
