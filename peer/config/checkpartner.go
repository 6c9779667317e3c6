package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (r *checker) checkAccounts(a *Accounts) {
	r.OneOf("accounts.users", a.Users, Same, Listed)
	for _, user := range slices.Sorted(maps.Keys(a.Local)) {
		if user == "*" {
			r.Problem("accounts.local.*", "is for users of partners only; name each user of this site, or set users = %q", Same)
		}
		r.checkUser("accounts.local."+user, user)
		r.checkAccount("accounts.local."+user, a.Local[user])
	}
	if a.Users == Listed && len(a.Local) == 0 {
		r.Warn("accounts.users", "%q without users in local: no user of this site may run jobs", Listed)
	}
}

// checkUser checks the name of a user.
func (r *checker) checkUser(key, user string) {
	if err := protocol.CheckText(user); err != nil {
		r.Problem(key, "%v", err)
	}
}

// checkAccount checks the account that a user is mapped to. Whatever it is called, no job
// runs as user 0.
func (r *checker) checkAccount(key, account string) {
	switch {
	case account == "root":
		r.Problem(key, "is mapped to root, but no job may run as root; use another account")
	case account == "" || account[0] == '-' || strings.ContainsAny(account, "*:/, \t\r\n"):
		r.Problem(key, "is mapped to %q, which is not a valid account name; use an account of this machine", account)
	default:
		r.checkNotRoot(key, account)
	}
}

func (r *checker) checkNotRoot(key, account string) {
	switch uid, err := r.uidOf(account); {
	case errors.Is(err, passwd.ErrUnknown):
	case err != nil:
		r.Warn(key, "%q is not checked, since it cannot be looked up now: %v", account, err)
	case uid == 0:
		r.Problem(key, "is mapped to %q, which has user ID 0 (root), but no job may run as root; use another account", account)
	}
}

func (r *checker) checkPartners() {
	if len(r.config.Partners) == 0 {
		r.Warn("", "no [[partner]] is configured: all jobs stay at this site")
	}
	names := map[protocol.SiteName]int{}
	keys := map[string]string{} // where each is configured
	for i := range r.config.Partners {
		p, key := &r.config.Partners[i], fmt.Sprintf("partner[%d]", i)
		r.checkName(key+".name", p.Name, names)
		r.checkPublicKeys(key, p, keys)
		r.checkReach(key+".url", p)
		r.AtLeast(key+".max_jobs", p.MaxJobs, 0)
		r.AtLeast(key+".max_cpus", p.MaxCPUs, 0)
		r.checkFileRate(key+".max_rate", p.MaxRate)
		r.checkShared(key+".shared", p.Shared)
		names[p.Name] = i + 1
		if p.Latency > 0 && p.Bandwidth == 0 {
			r.Warn(key+".latency", "has no effect without bandwidth: data then take no time")
		}
		if r.listed(i) {
			continue
		}
		for _, user := range slices.Sorted(maps.Keys(p.Users)) {
			r.checkUser(key+".users."+user, user)
			r.checkAccount(key+".users."+user, p.Users[user])
		}
		r.warnOfGuests(key, p)
	}
}

// checkShared checks the directories that a partner has too.
func (r *checker) checkShared(key string, dirs []string) {
	var wrong []string
	for i, dir := range dirs {
		if err := protocol.CheckSharedDir(dir); err != nil {
			wrong = append(wrong, err.Error())
		} else if slices.Contains(dirs[:i], dir) {
			wrong = append(wrong, fmt.Sprintf("%q is named twice", dir))
		}
	}
	if len(dirs) > protocol.MaxSharedDirs {
		wrong = append(wrong, fmt.Sprintf("%d directories are too many, at most %d are allowed; name those above them", len(dirs), protocol.MaxSharedDirs))
	}
	if len(wrong) > 0 {
		r.Problem(key, "%s", strings.Join(wrong, "; "))
	}
}

func (r *checker) checkName(key string, name protocol.SiteName, seen map[protocol.SiteName]int) {
	switch err := name.Validate(); {
	case name == "":
		r.Problem(key, "is missing; write the name that the partner has in its own [site]")
	case err != nil:
		r.Problem(key, "%v", err)
	case name == r.config.Site.Name:
		r.Problem(key, "%q is this site itself; remove it", name)
	case seen[name] > 0:
		r.Problem(key, "duplicate name %q, first %s; keep one", name, r.where(fmt.Sprintf("partner[%d].name", seen[name]-1)))
	}
}

func (r *checker) checkPublicKeys(table string, p *Partner, seen map[string]string) {
	key := table + ".public_key"
	switch {
	case p.PublicKey == "" && p.PublicKeyFile == "" && r.config.Roster.File != "" && r.config.signed == nil: // the roster is not read
	case p.PublicKey == "" && p.PublicKeyFile == "":
		r.Problem(key, "is missing; ask the partner for the output of \"switchyard keygen\", or set public_key_file")
	case p.PublicKey == "": // reported with the file
	case p.PublicKeyFile != "":
		r.Problem(table+".public_key_file", "excludes public_key; keep one of them")
	default:
		r.checkPublicKey(key, p.PublicKey, seen)
	}
	next := table + ".next_public_key"
	switch p.NextPublicKey {
	case "":
	case p.PublicKey:
		r.Problem(next, "is the same as public_key; remove it")
	default:
		r.checkPublicKey(next, p.NextPublicKey, seen)
	}
}

// checkPublicKey checks one key of a partner, and notes where it is configured.
func (r *checker) checkPublicKey(key, public string, seen map[string]string) {
	switch first := seen[public]; {
	case settings.Secret(public):
		r.Problem(key, "this is a secret seed; its site must make a new one now. Write the public key, which begins with U")
	case identity.ValidatePublic(public) != nil:
		r.Problem(key, "%v", identity.ValidatePublic(public))
	case first != "":
		r.Problem(key, "duplicate key, first %s; each site must have its own key", r.where(first))
	default:
		seen[public] = key
	}
}

// where says in words where a key is set.
func (r *checker) where(key string) string {
	at := r.Places().Find(key)
	return "at " + at.String()
}

// checkReach checks that one of the two sides can be reached.
func (r *checker) checkReach(key string, p *Partner) {
	n := &r.config.NATS
	switch {
	case n.URL != "" && p.URL != "":
		r.Warn(key, "is not used: all partners meet at [nats] url")
	case p.URL != "":
		if err := CheckURL(p.URL); err != nil {
			r.Problem(key, "%v", err)
		}
	case n.URL == "" && n.Listen == "":
		r.Problem(key, "is missing, and this site has no [nats] listen, so neither site can connect; set one of them")
	}
}

func (r *checker) warnOfGuests(table string, p *Partner) {
	switch {
	case p.MaxJobs > 0 && len(p.Users) == 0:
		r.Warn(table+".users", "is empty, so no job of the partner may run here; list its users, or set max_jobs = 0")
	case p.MaxJobs == 0 && len(p.Users) > 0:
		r.Warn(table+".max_jobs", "is 0, so no job of the partner may run here; set the maximum number of its jobs")
	}
}
