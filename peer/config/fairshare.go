package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// FairShare is the table [fairshare]: in which order jobs of several users are placed.
type FairShare struct {
	HalfLife protocol.Duration       `toml:"half_life"` // of use; 0: the oldest job is first
	MaxAge   protocol.Duration       `toml:"max_age"`
	Damping  int                     `toml:"damping"`
	Weights  ShareWeights            `toml:"weights"`
	QOS      map[string]int          `toml:"qos"` // priorities by name
	Accounts map[string]ShareAccount `toml:"accounts"`

	ExchangeInterval protocol.Duration   `toml:"exchange_interval"` // between two reports of use to partners; 0: there are none
	CommonNames      []protocol.SiteName `toml:"common_names"`      // sites whose users and accounts have the same names here
}

// ShareWeights is the table [fairshare.weights].
type ShareWeights struct {
	Age       int `toml:"age"`
	FairShare int `toml:"fair_share"`
	Size      int `toml:"size"`
	QOS       int `toml:"qos"`
}

// ShareAccount is one of the tables [fairshare.accounts.NAME].
type ShareAccount struct {
	Shares int            `toml:"shares"` // 0: unset, as of one that is not named
	Parent string         `toml:"parent"` // empty: none
	Users  map[string]int `toml:"users"`  // shares by name
}

// Limit is one of the tables [limits.user], [limits.account] and those by name.
type Limit struct {
	MaxJobs   int `toml:"max_jobs"`   // 0: no limit
	MaxCPUs   int `toml:"max_cpus"`   // 0: no limit
	MaxSubmit int `toml:"max_submit"` // 0: no limit
}

// TOML implements [settings.Literal].
func (a ShareAccount) TOML() string {
	var pairs []string
	if a.Shares != 0 {
		pairs = append(pairs, "shares = "+strconv.Itoa(a.Shares))
	}
	if a.Parent != "" {
		pairs = append(pairs, "parent = "+settings.Quote(a.Parent))
	}
	if len(a.Users) > 0 {
		pairs = append(pairs, "users = "+settings.Format(reflect.ValueOf(a.Users)))
	}
	return "{ " + strings.Join(pairs, ", ") + " }"
}

// TOML implements [settings.Literal].
func (l Limit) TOML() string {
	return fmt.Sprintf("{ max_jobs = %d, max_cpus = %d, max_submit = %d }", l.MaxJobs, l.MaxCPUs, l.MaxSubmit)
}

// Rules is the table as the state machine has it.
func (f *FairShare) Rules() rules.FairShare {
	out := rules.FairShare{
		HalfLife: f.HalfLife,
		Weights: fairshare.Weights{
			Age: int64(f.Weights.Age), FairShare: int64(f.Weights.FairShare), Size: int64(f.Weights.Size), QOS: int64(f.Weights.QOS),
			MaxAge: f.MaxAge, QOSFactors: map[string]int64{},
		},
		Shares:           fairshare.Shares{Damping: f.Damping},
		ExchangeInterval: f.ExchangeInterval, CommonNames: f.CommonNames,
	}
	for name, priority := range f.QOS {
		out.Weights.QOSFactors[strings.ToLower(name)] = int64(priority)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Accounts)) {
		a := f.Accounts[name]
		out.Shares.Accounts = append(out.Shares.Accounts, fairshare.Account{
			Name: strings.ToLower(name), Parent: strings.ToLower(a.Parent), Shares: cmp.Or(a.Shares, fairshare.DefaultShares), Users: a.Users,
		})
	}
	return out
}

// Check reports shares and weights that cannot be, in a table of this name.
func (f *FairShare) Check(r *settings.Reader, table string) {
	if f.HalfLife == 0 {
		for _, key := range []string{"max_age", "damping", "weights.age", "weights.fair_share", "weights.size", "weights.qos", "qos", "accounts", "exchange_interval", "common_names"} {
			if r.Set(settings.Join(table, key)) {
				r.Warn(settings.Join(table, key), "has no effect without half_life; set it too")
			}
		}
		return
	}
	if f.HalfLife < fairshare.Period {
		r.Problem(table+".half_life", "must be at least 1h, since use decays once in an hour")
	}
	if f.MaxAge <= 0 {
		r.Problem(table+".max_age", "must be longer than 0")
	}
	between(r, table+".damping", f.Damping, 1, fairshare.MaxShares)
	for _, one := range []struct {
		name  string
		value int
	}{{"age", f.Weights.Age}, {"fair_share", f.Weights.FairShare}, {"size", f.Weights.Size}, {"qos", f.Weights.QOS}} {
		between(r, settings.Join(table+".weights", one.name), one.value, 0, fairshare.MaxWeight)
	}
	for _, name := range slices.Sorted(maps.Keys(f.QOS)) {
		between(r, settings.Join(table+".qos", name), f.QOS[name], 0, fairshare.MaxWeight)
	}
	namedOnce(r, table+".qos", f.QOS)
	f.checkAccounts(r, settings.Join(table, "accounts"))
	f.checkExchange(r, table)
}

// minExchangeInterval is how often reports may be sent at most: what they cost is the same however little has changed.
const minExchangeInterval = 10 * protocol.Second

func (f *FairShare) checkExchange(r *settings.Reader, table string) {
	if f.ExchangeInterval != 0 && f.ExchangeInterval < minExchangeInterval {
		r.Problem(table+".exchange_interval", "must be 0, or at least %v", minExchangeInterval)
	}
	for i, site := range f.CommonNames {
		if err := site.Validate(); err != nil {
			r.Problem(table+".common_names", "%v", err)
		} else if slices.Contains(f.CommonNames[:i], site) {
			r.Problem(table+".common_names", "duplicate site %q", site)
		}
	}
	if (f.ExchangeInterval == 0) != (len(f.CommonNames) == 0) {
		r.Warn(table+".exchange_interval", "use is exchanged only with exchange_interval and common_names; set both")
	}
}

func (f *FairShare) checkAccounts(r *settings.Reader, table string) {
	for _, name := range slices.Sorted(maps.Keys(f.Accounts)) {
		a, key := f.Accounts[name], settings.Join(table, name)
		if r.Set(key + ".shares") {
			between(r, key+".shares", a.Shares, 1, fairshare.MaxShares)
		}
		for _, user := range slices.Sorted(maps.Keys(a.Users)) {
			between(r, settings.Join(key+".users", user), a.Users[user], 0, fairshare.MaxShares)
		}
	}
	if r.Err() != nil {
		return
	}
	shares := f.Rules().Shares
	if err := shares.Check(); err != nil {
		r.Problem(table, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// namedOnce reports keys that differ in case alone: names of accounts and QOS are the same in any case.
func namedOnce[V any](r *settings.Reader, table string, of map[string]V) {
	spelled := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if other, twice := spelled[strings.ToLower(name)]; twice {
			r.Problem(settings.Join(table, name), "is the same name as %s, since case does not count; remove one of them", other)
		}
		spelled[strings.ToLower(name)] = name
	}
}

func between(r *settings.Reader, key string, value, low, high int) {
	if value < low || value > high {
		r.Problem(key, "is %d; give %d to %d", value, low, high)
	}
}

// Rules are the limits of users and accounts as the state machine has them.
func (l *Limits) Rules() rules.Limits {
	out := rules.Limits{User: l.User.rule(), Account: l.Account.rule(), Users: map[string]rules.Limit{}, Accounts: map[string]rules.Limit{}}
	for name, one := range l.Users {
		out.Users[name] = one.rule()
	}
	for name, one := range l.Accounts {
		out.Accounts[strings.ToLower(name)] = one.rule()
	}
	return out
}

func (l Limit) rule() rules.Limit {
	return rules.Limit{Jobs: l.MaxJobs, CPUs: l.MaxCPUs, Submit: l.MaxSubmit}
}

// checkLimits reports limits that are negative.
func (r *checker) checkLimits(l *Limits) {
	r.AtLeast("limits.max_active_jobs", l.MaxActiveJobs, 1)
	r.AtLeast("limits.max_jobs_per_user", l.MaxJobsPerUser, 1)
	r.AtLeast("limits.max_array_size", l.MaxArraySize, 1)
	if l.MaxArraySize > protocol.MaxIndex+1 {
		r.Problem("limits.max_array_size", "%d is too large; use at most %d", l.MaxArraySize, protocol.MaxIndex+1)
	}
	r.checkLimit("limits.user", l.User)
	r.checkLimit("limits.account", l.Account)
	for _, name := range slices.Sorted(maps.Keys(l.Users)) {
		r.checkLimit(settings.Join("limits.users", name), l.Users[name])
	}
	for _, name := range slices.Sorted(maps.Keys(l.Accounts)) {
		r.checkLimit(settings.Join("limits.accounts", name), l.Accounts[name])
	}
	namedOnce(r.Reader, "limits.accounts", l.Accounts)
}

func (r *checker) checkLimit(table string, l Limit) {
	r.AtLeast(table+".max_jobs", l.MaxJobs, 0)
	r.AtLeast(table+".max_cpus", l.MaxCPUs, 0)
	r.AtLeast(table+".max_submit", l.MaxSubmit, 0)
}
