package rules

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// FairShare says whose jobs of the grid queue have the next round. Without a half-life the oldest job is
// first, whoever's it is.
type FairShare struct {
	HalfLife protocol.Duration // of use; 0: it does not count
	Weights  fairshare.Weights
	Shares   fairshare.Shares

	// ExchangeInterval is how often partners get reports of what users have used here; 0: never, and theirs do not count.
	ExchangeInterval protocol.Duration
	// CommonNames are the sites whose users and accounts are those that have the same names here. With them use is exchanged.
	CommonNames []protocol.SiteName
}

// Exchanges says whether use is exchanged with partners.
func (f *FairShare) Exchanges() bool { return f.HalfLife > 0 && f.ExchangeInterval > 0 }

// HasCommonNames says whether use is exchanged, and users and accounts of a site are those that have the same names here.
func (f *FairShare) HasCommonNames(site protocol.SiteName) bool {
	return f.Exchanges() && slices.Contains(f.CommonNames, site)
}

// Limits are the limits of users and accounts of this site. An account's are for all its users together.
type Limits struct {
	User, Account   Limit
	Users, Accounts map[string]Limit // by name
}

// Limit is how much one user or account may have. Zero means no limit, and among those by name that of all.
type Limit struct {
	Jobs   int // that are placed and have not ended; others wait in the grid queue
	CPUs   int // of those
	Submit int // jobs that have not ended; others are refused
}

// OfUser is the limit of a user.
func (l *Limits) OfUser(name string) Limit { return l.Users[name].or(l.User) }

// OfAccount is the limit of an account. Jobs without an account are limited by their users only.
func (l *Limits) OfAccount(name string) Limit {
	if name == "" {
		return Limit{}
	}
	return l.Accounts[name].or(l.Account)
}

func (l Limit) or(other Limit) Limit {
	return Limit{cmp.Or(l.Jobs, other.Jobs), cmp.Or(l.CPUs, other.CPUs), cmp.Or(l.Submit, other.Submit)}
}

// None says whether no user or account is limited.
func (l *Limits) None() bool {
	return l.User == Limit{} && l.Account == Limit{} && len(l.Users) == 0 && len(l.Accounts) == 0
}
