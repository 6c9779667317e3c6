package view

import (
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// HistoryFilter says which of the jobs that have ended are wanted: those that meet every condition.
// An empty one excludes nothing.
type HistoryFilter struct {
	Jobs     []protocol.JobID
	Users    []string
	Accounts []string // as --account names them; case does not count
	Names    []string
	Sites    []protocol.SiteName // that ran them, or had them when they ended; "" is the grid queue
	Origins  []protocol.SiteName
	States   []protocol.State
	Since    protocol.Instant // jobs that ended then or later
	Until    protocol.Instant // jobs that ended before; 0: until now
	Guests   GuestFilter
	Earlier  bool   // also runs after which their jobs were requeued; else of each job its last run
	Viewer   string // only jobs that this user submitted here, and guests that this account ran; if empty, those of all users
}

// Matches says whether a job that has ended is wanted.
func (f *HistoryFilter) Matches(v *Job) bool {
	switch {
	case v.Earlier && !f.Earlier, v.Ended < f.Since, f.Until != 0 && v.Ended >= f.Until,
		f.Guests == WithoutGuests && v.Guest, f.Guests == OnlyGuests && !v.Guest,
		f.Viewer != "" && v.Whose() != f.Viewer:
		return false
	}
	account := len(f.Accounts) == 0 || slices.ContainsFunc(f.Accounts, func(one string) bool { return strings.EqualFold(one, v.Account) })
	return account && oneOf(f.Jobs, v.ID) && oneOf(f.Users, v.User) && oneOf(f.Names, v.Name) && oneOf(f.Sites, v.Site) &&
		oneOf(f.Origins, v.Origin) && oneOf(f.States, v.State)
}

// History is a page of the jobs that have ended, the last one first.
type History struct {
	Jobs []Job  `json:"jobs"`
	Next string `json:"next,omitempty"` // where the next page goes on; empty: there is none

	// Pruned is the last end of a job that the retention has deleted, of those jobs, guests or not, that are wanted; 0: none.
	Pruned protocol.Instant `json:"pruned_ms,omitempty"`
}
