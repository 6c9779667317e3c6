// Package loadhistory keeps how busy the sites of the grid were over the last day, in memory only: a restart empties it.
package loadhistory

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// How much is kept.
const (
	Slot  = 5 * protocol.Minute
	Kept  = 24 * protocol.Hour
	Stale = 5 * protocol.Minute // a load that is older says nothing about now

	maxSites = 1000
)

// History keeps loads. The zero value is empty. Its methods may not be called at once.
type History struct {
	sites map[protocol.SiteName][]Load // the oldest first
}

// Load is how busy a site was in a slot: the mean of what was seen in it.
type Load struct {
	Start  protocol.Instant // of the slot, a multiple of [Slot]
	Busy   float64          // the part of the CPUs that was busy, from 0 to 1
	Queued float64          // jobs
	seen   int
}

// Add notes how busy the sites are. One whose load is not known, or is old, is left out. If the clock was set back, what was seen in
// slots that are to come again is forgotten.
func (h *History) Add(now protocol.Instant, sites []view.Site) {
	if h.sites == nil {
		h.sites = map[protocol.SiteName][]Load{}
	}
	start := now - now%protocol.Instant(Slot)
	for name, loads := range h.sites {
		loads = slices.DeleteFunc(loads, func(l Load) bool { return now.Sub(l.Start) > Kept || l.Start > start })
		if h.sites[name] = loads; len(loads) == 0 {
			delete(h.sites, name)
		}
	}
	for i := range sites {
		site := &sites[i]
		known := h.sites[site.Site] != nil || len(h.sites) < maxSites
		if site.Age != nil && *site.Age <= Stale && site.CPUs > 0 && known {
			h.add(site, start)
		}
	}
}

// add counts a load in its slot.
func (h *History) add(site *view.Site, start protocol.Instant) {
	loads := h.sites[site.Site]
	if n := len(loads); n == 0 || loads[n-1].Start < start {
		loads = append(loads, Load{Start: start})
	}
	last := &loads[len(loads)-1]
	last.seen++
	n := float64(last.seen)
	last.Busy += (min(1, float64(site.Busy)/float64(site.CPUs)) - last.Busy) / n
	last.Queued += (float64(site.Queued) - last.Queued) / n
	h.sites[site.Site] = loads
}

// Of are the loads of a site, the oldest first. A slot in which nothing was known is not there.
func (h *History) Of(site protocol.SiteName) []Load { return slices.Clone(h.sites[site]) }
