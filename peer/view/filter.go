package view

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// QueueFilter says which jobs of the queue are wanted: those that meet every condition. An
// empty one excludes nothing.
type QueueFilter struct {
	Jobs        []protocol.JobID
	Users       []string
	Names       []string
	Sites       []protocol.SiteName // where jobs are placed; "" is the grid queue
	States      []protocol.State
	Application protocol.JobID // of its first component; 0: any, and none
	Components  bool           // only components of applications
	Guests      GuestFilter
	Elements    bool   // each pending element of an array by itself; else those at one site are one entry
	Viewer      string // only jobs that this user submitted here, and guests that this account runs; if empty, those of all users

	After protocol.JobID // only jobs with a greater id
	Limit int            // the most jobs of an answer, those with the least ids; 0: all
}

// GuestFilter says whether guests are wanted.
type GuestFilter uint8

// The values of GuestFilter.
const (
	WithGuests GuestFilter = iota
	WithoutGuests
	OnlyGuests
)

// Matches says whether a job is wanted, whatever the page.
func (f *QueueFilter) Matches(v *Job) bool {
	return f.Wants(TraitsOf(v))
}

// Traits are what conditions look at.
type Traits struct {
	ID          protocol.JobID
	User, Name  string
	Site        protocol.SiteName
	State       protocol.State
	Application protocol.JobID
	Array       protocol.JobID // 0: it is on its own
	Guest       bool
	Account     string // of this site that runs the guest
	Several     bool   // the entry stands for pending elements of the array
}

// TraitsOf are those of a job.
func TraitsOf(v *Job) *Traits {
	t := &Traits{ID: v.ID, User: v.User, Name: v.Name, Site: v.Site, State: v.State, Application: v.Application, Guest: v.Guest, Account: v.RunsAs}
	if v.Element != nil {
		t.Array = v.Element.Array
	}
	return t
}

// whose is as [Job.Whose].
func (l *Traits) whose() string { return whose(l.Guest, l.User, l.Account) }

// Whose is the name at this site of who has the job: its user, or the account that runs a guest, whose user is one of another site.
// It is empty for a guest of which the account is not known.
func (v *Job) Whose() string { return whose(v.Guest, v.User, v.RunsAs) }

func whose(guest bool, user, account string) string {
	if guest {
		return account
	}
	return user
}

// Wants says whether a job with these traits is wanted, whatever the page.
func (f *QueueFilter) Wants(l *Traits) bool {
	switch {
	case f.Guests == WithoutGuests && l.Guest, f.Guests == OnlyGuests && !l.Guest:
		return false
	case f.Viewer != "" && l.whose() != f.Viewer:
		return false
	case f.Application != 0 && l.Application != f.Application, f.Components && l.Application == 0:
		return false
	}
	return f.names(l) && oneOf(f.Users, l.User) && oneOf(f.Names, l.Name) && oneOf(f.Sites, l.Site) &&
		oneOf(f.States, l.State)
}

// names says whether the filter names a job, or the array that it is of.
func (f *QueueFilter) names(l *Traits) bool {
	return oneOf(f.Jobs, l.ID) || l.Array != 0 && slices.Contains(f.Jobs, l.Array)
}

// oneOf says whether a value is among those that are wanted; of none, every value is.
func oneOf[T comparable](wanted []T, value T) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}
