package fairness

import (
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Book has the use of users and accounts, and what of their jobs is placed.
type Book struct {
	site   protocol.SiteName
	cpus   int
	share  rules.FairShare
	limits rules.Limits
	decay  fairshare.Decay
	used   map[string]row.Use // by the row's key
	placed map[protocol.JobID]claim
	open   map[string]int // jobs that have not ended, by account
	users  map[string]load
	groups map[string]load // by account
	lanes  map[laneKey]gridqueue.Lane

	prioritizes bool                        // the local queue
	local       *fairshare.Tree             // of all users in the local queue; nil: to be made
	running     map[protocol.JobID]runClaim // what counts in it for jobs that run, if use is exchanged
	room        map[protocol.SiteName]int64 // how much more of each partner's reports may count in it until it is made again, in CPU·ms

	tree   *fairshare.Tree // of the users of this site, and of those with whom use is exchanged, as of a period; nil: to be made
	period int64

	common      map[protocol.SiteName]bool               // sites whose users are those of this site, where use is exchanged
	reports     map[protocol.SiteName]row.UseReport      // the newest of each partner
	maxReported int                                      // [MaxReported]
	remaining   map[protocol.SiteName]map[user]remaining // what those say that run at partners
	changed     map[user]bool                            // whose jobs have started or ended here since the last report
}

// claim is what a placed job counts.
type claim struct {
	key  fairshare.Key
	cpus int
	work int64 // CPU·ms that it asks for
}

// load is what of a user or an account is placed.
type load struct{ jobs, cpus int }

func (l load) plus(jobs, cpus int) load { return load{l.jobs + jobs, l.cpus + cpus} }

// New returns a book without use.
func New(cfg *rules.Config) Book {
	common := map[protocol.SiteName]bool{cfg.Site: true}
	for _, site := range cfg.FairShare.CommonNames {
		common[site] = common[site] || cfg.FairShare.Exchanges()
	}
	return Book{
		site: cfg.Site, cpus: cfg.Capacity.CPUs, share: cfg.FairShare, limits: cfg.Limits,
		prioritizes: cfg.Prioritize,
		decay:       fairshare.NewDecay(cfg.FairShare.HalfLife),
		used:        map[string]row.Use{}, placed: map[protocol.JobID]claim{}, open: map[string]int{},
		users: map[string]load{}, groups: map[string]load{}, lanes: map[laneKey]gridqueue.Lane{},
		common: common, reports: map[protocol.SiteName]row.UseReport{}, maxReported: MaxReported,
		running: map[protocol.JobID]runClaim{}, remaining: map[protocol.SiteName]map[user]remaining{}, changed: map[user]bool{},
	}
}

// Shares says whether use counts.
func (b *Book) Shares() bool { return b.share.HalfLife > 0 }

// orders says whether the order of the grid queue is not that of submission, or somebody is limited.
func (b *Book) orders() bool { return b.Shares() || !b.limits.None() }

// KeyOf is the user and account of a job of this site. The names of accounts are the same in upper and in
// lower case.
func KeyOf(spec *protocol.Spec) fairshare.Key {
	return fairshare.Key{Account: strings.ToLower(spec.Account), User: spec.User}
}

// laneKey is what the jobs of a lane have alike: within one, the priorities of jobs of one size and rank fall with
// their age.
type laneKey struct {
	fairshare.Key

	fixed bool // an administrator has given them their priorities
}

// Lane is that of a job of this site, of its user in its account, and the job's rank in it.
func (b *Book) Lane(j *row.Job) (gridqueue.Lane, gridqueue.Rank) {
	rank := gridqueue.Rank(j.Spec.Nice)
	fixed := j.Wants().Priority
	if fixed != 0 {
		rank = gridqueue.Rank(fairshare.Unweighted - fixed)
	}
	if !b.orders() {
		return 0, rank
	}
	key := laneKey{KeyOf(&j.Spec), fixed != 0}
	lane, known := b.lanes[key]
	if !known {
		lane = gridqueue.Lane(len(b.lanes) + 1) //nolint:gosec // users are fewer
		b.lanes[key] = lane
	}
	return lane, rank
}

// Open counts jobs of this site that have not ended, or, if negative, have.
func (b *Book) Open(spec *protocol.Spec, by int) {
	account := KeyOf(spec).Account
	if b.open[account] += by; b.open[account] == 0 {
		delete(b.open, account)
	}
}

// Place counts a job of this site that has a place from now on.
func (b *Book) Place(spec *protocol.Spec) {
	if !b.orders() {
		return
	}
	b.Unplace(spec.Job)
	c := claimOf(spec)
	b.placed[spec.Job] = c
	b.count(c, +1)
}

// Unplace counts a job no more. It says whether it did before.
func (b *Book) Unplace(id protocol.JobID) bool {
	c, was := b.placed[id]
	if was {
		delete(b.placed, id)
		b.count(c, -1)
	}
	return was
}

func claimOf(spec *protocol.Spec) claim {
	return claim{key: KeyOf(spec), cpus: spec.CPUs, work: work(spec)}
}

// work is the CPU time that a job asks for.
func work(spec *protocol.Spec) int64 {
	return fairshare.CPUTime(spec.CPUs, spec.WallTime)
}

// count adds a claim, or takes it off (-1).
func (b *Book) count(c claim, by int) {
	if b.tree != nil {
		b.tree.Add(c.key, int64(by)*c.work)
	}
	put(b.users, c.key.User, b.users[c.key.User].plus(by, by*c.cpus))
	put(b.groups, c.key.Account, b.groups[c.key.Account].plus(by, by*c.cpus))
}

func put(loads map[string]load, name string, now load) {
	if loads[name] = now; now == (load{}) {
		delete(loads, name)
	}
}

// Count adds what a job has used at a site, and returns the key of the row that has changed; empty: none, since use does
// not count, or it has used nothing.
func (b *Book) Count(site, origin protocol.SiteName, spec *protocol.Spec, from, to protocol.Instant) string {
	if !b.Shares() {
		return ""
	}
	if to <= from {
		b.endRun(site, origin, spec, 0)
		return ""
	}
	key := KeyOf(spec)
	u := row.Use{Site: site, Origin: origin, Account: key.Account, User: key.User}
	more := b.decay.Of(spec.CPUs, from, to)
	u.Use = more
	if old, known := b.used[u.Key()]; known {
		u.Use = b.decay.Sum(old.Use, more)
	}
	b.used[u.Key()] = u
	if b.tree != nil && b.isLocal(origin) {
		b.tree.Add(key, b.decay.In(more, b.period).Amount)
	}
	b.endRun(site, origin, spec, more.Amount)
	return u.Key()
}

// Restore takes a row in.
func (b *Book) Restore(u row.Use) { b.used[u.Key()] = u }

// Row is the row of a key; false: there is none.
func (b *Book) Row(key string) (row.Use, bool) {
	u, has := b.used[key]
	return u, has
}

// negligible is the use that is forgotten, in CPU·ms.
const negligible = 1000

// Prune forgets use that has decayed to nothing, and returns the keys of its rows.
func (b *Book) Prune(now protocol.Instant) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(b.used)) {
		if u := b.used[key]; b.decay.In(u.Use, fairshare.PeriodOf(now)).Amount < negligible {
			delete(b.used, key)
			keys = append(keys, key)
		}
	}
	return keys
}

// countsHere says whether use of users of this site is known from results: of jobs of this site, or that ran here.
func (b *Book) countsHere(u *row.Use) bool { return !b.isReported(u) && b.isLocal(u.Origin) }

// isLocal says whether the users of an origin are those of this site.
func (b *Book) isLocal(origin protocol.SiteName) bool { return b.common[origin] }

// standings is the tree of the users of this site now.
func (b *Book) standings(now protocol.Instant) *fairshare.Tree {
	if period := fairshare.PeriodOf(now); b.tree == nil || b.period < period {
		b.tree, b.period = fairshare.NewTree(b.share.Shares), period
		for _, u := range b.used {
			if b.countsHere(&u) {
				b.tree.Add(fairshare.Key{Account: u.Account, User: u.User}, b.decay.In(u.Use, period).Amount)
			}
		}
		for u, amount := range b.reported(period) {
			b.tree.Add(fairshare.Key{Account: u.Account, User: u.User}, amount)
		}
		for who, amount := range b.remainders(now) {
			b.tree.Add(who.Key, amount)
		}
		for _, c := range b.placed {
			b.tree.Add(c.key, c.work)
		}
	}
	return b.tree
}
