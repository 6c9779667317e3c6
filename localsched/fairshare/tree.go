package fairshare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Shares are the shares that a site has configured.
type Shares struct {
	Accounts []Account
	Damping  int // d of the formula: the higher, the less use counts; 0: 1
}

// Account is an account with its shares of its parent's, and those of its users in it.
type Account struct {
	Name   string
	Parent string         // empty: the root
	Shares int            // beside those of its siblings; 0: its jobs have the fair-share factor 0
	Users  map[string]int // shares of users beside each other; others have [DefaultShares]
}

// DefaultShares are those of accounts and users that the configuration does not name.
const DefaultShares = 1

// MaxShares is the most that an account or a user may have.
const MaxShares = 1_000_000

// Check says what is wrong with the shares, all of it.
func (s Shares) Check() error {
	var problems []error
	parents := map[string]string{}
	for _, a := range s.Accounts {
		if _, twice := parents[a.Name]; twice {
			problems = append(problems, fmt.Errorf("account %q is named more than once; give each its shares once", a.Name))
		}
		parents[a.Name] = a.Parent
		if a.Shares < 0 || a.Shares > MaxShares {
			problems = append(problems, fmt.Errorf("account %q: %d shares; give 0 to %d", a.Name, a.Shares, MaxShares))
		}
		for user, shares := range a.Users {
			if shares < 0 || shares > MaxShares {
				problems = append(problems, fmt.Errorf("account %q: %d shares of user %q; give 0 to %d", a.Name, shares, user, MaxShares))
			}
		}
	}
	for _, a := range s.Accounts {
		if _, known := parents[a.Parent]; a.Parent != "" && !known {
			problems = append(problems, fmt.Errorf("account %q: its parent %q has no shares; add it", a.Name, a.Parent))
		}
		if above(parents, a.Name) {
			problems = append(problems, fmt.Errorf("account %q is above itself; change a parent", a.Name))
		}
	}
	if s.Damping < 0 || s.Damping > MaxShares {
		problems = append(problems, fmt.Errorf("the damping is %d; give 1 to %d", s.Damping, MaxShares))
	}
	slices.SortFunc(problems, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// above says whether an account is among its own parents.
func above(parents map[string]string, name string) bool {
	at := parents[name]
	for range parents {
		if at == name {
			return true
		}
		at = parents[at]
	}
	return false
}

// Key names a user in an account. The name of a user of another site has the site, as alice@aurora.
type Key struct{ Account, User string }

// Compare orders keys by account, then by user.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Account, other.Account), cmp.Compare(k.User, other.User))
}

// Tree is the accounts and users of a site with their shares and use. It knows the users that are
// configured, and those that were asked about or have used something ([Tree.Know]): as in Slurm, a user's
// share is of all that are known in its account.
type Tree struct {
	root     *node
	damping  int64
	accounts map[string]*node
	users    map[Key]*node
}

// node is an account or a user.
type node struct {
	parent *node  // nil: the root
	shares int64  // beside its siblings
	below  int64  // shares of all nodes below it
	share  uint64 // of the machine
	use    int64  // CPU·ms, of an account of all below it
	known  uint64 // version of the root in which share was right

	version uint64 // of the root: rises when shares change
}

// NewTree returns a tree without use, of shares that are right ([Shares.Check]).
func NewTree(s Shares) *Tree {
	t := &Tree{root: &node{version: 1}, damping: int64(max(1, s.Damping)), accounts: map[string]*node{}, users: map[Key]*node{}}
	configured := map[string]Account{}
	for _, a := range s.Accounts {
		configured[a.Name] = a
	}
	for _, a := range s.Accounts {
		t.account(configured, a.Name)
		for user, shares := range a.Users {
			t.join(Key{a.Name, user}, int64(shares))
		}
	}
	return t
}

// account is the node of an account, made if it is new.
func (t *Tree) account(configured map[string]Account, name string) *node {
	if at, ok := t.accounts[name]; ok {
		return at
	}
	parent, shares := t.root, int64(DefaultShares)
	if a, ok := configured[name]; ok {
		shares = int64(a.Shares)
		if a.Parent != "" {
			parent = t.account(configured, a.Parent)
		}
	}
	at := t.child(parent, shares)
	t.accounts[name] = at
	return at
}

func (t *Tree) child(parent *node, shares int64) *node {
	parent.below += shares
	t.root.version++
	return &node{parent: parent, shares: shares}
}

func (t *Tree) join(key Key, shares int64) *node {
	at := t.child(t.account(nil, key.Account), shares)
	t.users[key] = at
	return at
}

// Know has a user be one of the account from now on.
func (t *Tree) Know(key Key) { t.user(key) }

func (t *Tree) user(key Key) *node {
	if at, ok := t.users[key]; ok {
		return at
	}
	return t.join(key, DefaultShares)
}

// Keys are the users that are known, in order.
func (t *Tree) Keys() []Key {
	keys := make([]Key, 0, len(t.users))
	for key := range t.users {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, Key.Compare)
	return keys
}

// Add counts use of a user, in CPU·ms, or takes at most what it has off again if the amount is negative. What is more
// than the largest int64 stays at it.
func (t *Tree) Add(key Key, amount int64) {
	at := t.user(key)
	amount = max(amount, -at.use)
	for ; at != nil; at = at.parent {
		if amount >= 0 {
			at.use = Plus(at.use, amount)
		} else {
			at.use = max(0, at.use+amount)
		}
	}
}

// Standing is how a user stands.
type Standing struct {
	Share  int64 // S, of the machine
	Use    int64 // CPU·ms, decayed
	Part   int64 // U: of the use of all
	Factor int64 // F: One for who has used nothing, and 0 without shares
}

// Of is how a user stands now.
func (t *Tree) Of(key Key) Standing {
	at := t.user(key)
	share, part := t.share(at), t.part(at)
	return Standing{Share: int64(share), Use: at.use, Part: int64(part), Factor: t.factor(part, share)} //nolint:gosec // at most One
}

// Factor is F of a user.
func (t *Tree) Factor(key Key) int64 {
	at := t.user(key)
	return t.factor(t.part(at), t.share(at))
}

func (t *Tree) factor(part, share uint64) int64 {
	if share == 0 {
		return 0
	}
	ratio := uint64(math.MaxUint64)
	if high, low := bits.Mul64(part, One); high < share {
		ratio, _ = bits.Div64(high, low, share)
	}
	return int64((exp2(ratio/uint64(t.damping))>>31)+1) >> 1 //nolint:gosec // rounded to 2⁻³²
}

// share is S of a node.
func (t *Tree) share(at *node) uint64 {
	switch {
	case at.parent == nil:
		return One
	case at.known != t.root.version:
		at.known, at.share = t.root.version, fraction(t.share(at.parent), at.shares, at.parent.below)
	}
	return at.share
}

// part is U of a node.
func (t *Tree) part(at *node) uint64 { return fraction(One, at.use, t.root.use) }

// fraction is of·a/b, rounded down, for an a of at most b; 0 if b is 0.
func fraction(of uint64, a, b int64) uint64 {
	if b <= 0 || a <= 0 {
		return 0
	}
	high, low := bits.Mul64(of, uint64(min(a, b)))
	quotient, _ := bits.Div64(high, low, uint64(b))
	return quotient
}
