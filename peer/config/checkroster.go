package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/roster"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RosterNotice is how long before its end there are warnings of it.
const RosterNotice = 14 * protocol.Day

// anySite in accept stands for all sites of the roster.
const anySite = "*"

// SignedRoster is the roster that [Load] has read; nil: there is none.
func (c *Config) SignedRoster() *roster.Roster { return c.signed }

// RosterNote says that the roster ends soon, or has ended, and what that means; empty: neither, or there is none.
func (c *Config) RosterNote(now protocol.Instant) string {
	const remedy = "; get a new one from its signers, replace [roster] file, and reload"
	switch s := c.signed; {
	case s == nil || now.Add(RosterNotice) < s.End:
		return ""
	case c.ended:
		return fmt.Sprintf("roster %d ended %s, so none of its sites is a partner but by a table with a key", s.Serial, s.End.Text()) + remedy
	case now >= s.End:
		return fmt.Sprintf("roster %d ended %s, so from the next start or reload on none of its sites is a partner but by a table with a key", s.Serial, s.End.Text()) + remedy
	default:
		return fmt.Sprintf("roster %d ends %s, and from the next start or reload after that none of its sites is a partner but by a table with a key", s.Serial, s.End.Text()) + remedy
	}
}

// leaveEnded notes which sites would be partners if the roster had not ended. Tables are for [checker.completeTables].
func (r *checker) leaveEnded(t *Roster, signed *roster.Roster) {
	for i := range signed.Sites {
		if site := &signed.Sites[i]; r.accepts(t, site) && !slices.ContainsFunc(r.config.Partners, func(p Partner) bool { return p.Name == site.Name }) {
			r.config.unused = append(r.config.unused, UnusedPartner{Site: site.Name, Reason: fmt.Sprintf("no partner, since roster %d ended %s", signed.Serial, signed.End.Text())})
		}
	}
}

// accepts says whether the table [roster] names another site of the roster.
func (r *checker) accepts(t *Roster, site *roster.Site) bool {
	return site.Name != r.config.Site.Name && (slices.Contains(t.Accept, anySite) || slices.Contains(t.Accept, string(site.Name)))
}

// OwnKeyProblem says what is wrong with a public key of this site beside the roster, by which partners know the site; empty: nothing is, or no roster
// counts now.
func (c *Config) OwnKeyProblem(public string) string {
	if c.signed == nil || c.ended {
		return ""
	}
	own := c.signed.Find(c.Site.Name)
	switch {
	case own == nil:
		return fmt.Sprintf("the roster (%d) does not have this site, %s, so sites that go by it refuse its key; have its signers add %s", c.signed.Serial, c.Site.Name, public)
	case !slices.Contains(own.PublicKeys(), public):
		return fmt.Sprintf("the roster (%d) has of this site, %s, the key %s, and [site] key is %s, so sites that go by the roster refuse it; set [site] key to the file of the former, or have the signers correct the roster",
			c.signed.Serial, c.Site.Name, strings.Join(own.PublicKeys(), " and "), public)
	}
	return ""
}

// readRoster reads a roster and checks that one of the keys of the table [roster] has signed it, and that it
// is not older than the last one that counted here. It does not look at its end. The error is of type [problems.List].
func (c *Config) readRoster(path string) (*roster.Roster, error) {
	text, err := rosterText(path)
	if err != nil {
		return nil, err
	}
	signed, err := roster.Read(path, text, identity.ValidatePublic, identity.Verifier(identity.Roster))
	wrong := problems.Of(err)
	if err != nil && wrong == nil {
		return nil, err
	}
	if signed.By == "" {
		return nil, wrong
	}
	at := func(key string) problems.Place { return problems.Place{File: path, Key: key} }
	if !slices.Contains(c.Roster.PublicKeys, signed.By) {
		wrong.Add(at("by"), "%.60q is none of [roster] public_keys, so who has signed this roster has no say here", signed.By)
	}
	serial, digest, err := statedir.ReadRoster(string(c.Site.StateDir))
	switch {
	case errors.Is(err, fs.ErrPermission):
	case err != nil:
		wrong.Add(at("serial"), "cannot be compared: %v", err)
	case signed.Serial < serial:
		wrong.Add(at("serial"), "is %d, and a roster with %d has counted here: an older one does not come back. If the signers count from the beginning on purpose, remove %s", signed.Serial, serial, statedir.Roster(string(c.Site.StateDir)))
	case signed.Serial == serial && signed.Digest() != digest:
		wrong.Add(at("serial"), "is %d, and another roster with that has counted here; have the signers write a higher one", signed.Serial)
	}
	return &signed, wrong.Err()
}

// rosterText reads a file up to the length at which it is too long for a roster.
func rosterText(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err == nil {
		defer file.Close() //nolint:errcheck // read only
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(file, roster.MaxText+1)); err == nil {
			return text, nil
		}
	}
	var wrong problems.List
	wrong.Add(problems.Place{File: path}, "the roster %s", settings.Unreadable(err))
	return nil, wrong
}

// addRoster makes partners of the sites of the roster that the configuration accepts, and gives tables without keys those of
// the roster.
func (r *checker) addRoster() {
	t := &r.config.Roster
	if !r.checkRoster(t) || r.elsewhere {
		return
	}
	signed, err := r.config.readRoster(string(t.File))
	if err != nil {
		lines := ProblemsOf(err)
		r.Problem("roster.file", "%s", strings.Join(lines, "; "))
		return
	}
	r.config.signed = signed
	now := protocol.InstantOf(time.Now())
	r.config.ended = now >= signed.End
	if note := r.config.RosterNote(now); note != "" {
		r.Warn("roster.file", "%s", note)
	}
	if r.config.ended {
		r.leaveEnded(t, signed)
		signed = &roster.Roster{Serial: signed.Serial}
	}
	if own := signed.Find(r.config.Site.Name); own != nil && own.Number != r.config.Site.Number {
		r.Warn("site.number", "is %d, and the roster (%d) has %s with %d; have one of them corrected", r.config.Site.Number, signed.Serial, own.Name, own.Number)
	}
	r.completeTables(signed)
	r.acceptSites(t, signed)
}

// checkRoster checks the table [roster], and says whether there is a roster to read.
func (r *checker) checkRoster(t *Roster) bool {
	if t.File == "" {
		if len(t.PublicKeys)+len(t.Accept)+len(t.Users)+t.MaxJobs > 0 {
			r.Problem("roster.file", "is missing; set the file of the roster, or remove the table")
		}
		return false
	}
	before := r.Err()
	if len(t.PublicKeys) == 0 {
		r.Problem("roster.public_keys", "is missing; write the public keys of those who sign the roster")
	}
	for i, public := range t.PublicKeys {
		key := fmt.Sprintf("roster.public_keys[%d]", i)
		if settings.Secret(public) {
			r.Problem(key, "this is a secret seed; who signs the roster must make a new one now. Write the public key, which begins with U")
		} else if err := identity.ValidatePublic(public); err != nil {
			r.Problem(key, "%v", err)
		}
	}
	for i, name := range t.Accept {
		if err := protocol.SiteName(name).Validate(); err != nil && name != anySite {
			r.Problem(fmt.Sprintf("roster.accept[%d]", i), "%v; write names of sites, or %q for all of the roster", err, anySite)
		}
	}
	r.AtLeast("roster.max_jobs", t.MaxJobs, 0)
	for _, user := range slices.Sorted(maps.Keys(t.Users)) {
		r.checkUser("roster.users."+user, user)
		r.checkAccount("roster.users."+user, t.Users[user])
	}
	if (t.MaxJobs > 0) != (len(t.Users) > 0) {
		r.Warn("roster.max_jobs", "and users permit jobs of the accepted sites together; set both, or none")
	}
	return before == nil && r.Err() == nil
}

// UnusedPartner is a site that the configuration names as a partner and that is none because of the roster.
type UnusedPartner struct {
	Site   protocol.SiteName
	Reason string
}

// UnusedPartners are those of the roster that [Load] has read, in the order of the files.
func (c *Config) UnusedPartners() []UnusedPartner { return c.unused }

// leaveOut warns that a site is no partner. The signers of a roster are not to decide whether the peers of others start, so nothing in a roster
// that is validly signed is an error of the configuration.
func (r *checker) leaveOut(key string, site protocol.SiteName, format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	r.Warn(key, "%s", why)
	r.config.unused = append(r.config.unused, UnusedPartner{Site: site, Reason: why})
}

// completeTables gives tables of partners what the roster has of them. A table of which no key is left is no partner.
func (r *checker) completeTables(signed *roster.Roster) {
	pinned := r.pinnedKeys()
	var kept []int
	for i := range r.config.Partners {
		if r.complete(fmt.Sprintf("%s[%d]", partnerSection, i), &r.config.Partners[i], signed, pinned) {
			kept = append(kept, i)
		}
	}
	r.NameWarnings() // before the tables that they are about are removed
	all, places := r.config.Partners, maps.Clone(r.Places())
	maps.DeleteFunc(r.Places(), func(key string, _ problems.Place) bool { return strings.HasPrefix(key, partnerSection+"[") })
	r.config.Partners = nil
	for now, was := range kept {
		r.config.Partners = append(r.config.Partners, all[was])
		for key, place := range places {
			if rest, of := strings.CutPrefix(key, fmt.Sprintf("%s[%d]", partnerSection, was)); of {
				r.Places()[fmt.Sprintf("%s[%d]%s", partnerSection, now, rest)] = place
			}
		}
	}
}

// pinnedKeys are the keys that tables of partners have, and that of this site if it can be read, and whose.
func (r *checker) pinnedKeys() map[string]protocol.SiteName {
	pinned := map[string]protocol.SiteName{}
	if own, err := identity.LoadKey(string(r.config.Site.Key)); err == nil { // the start says what is wrong with it
		pinned[own.Public()] = r.config.Site.Name
	}
	for i := range r.config.Partners {
		for _, public := range r.config.Partners[i].PublicKeys() {
			pinned[public] = r.config.Partners[i].Name
		}
	}
	return pinned
}

// complete gives the table of a partner what the roster has of it and it does not say itself, and says whether it is a partner.
func (r *checker) complete(table string, p *Partner, signed *roster.Roster, pinned map[string]protocol.SiteName) bool {
	site := signed.Find(p.Name)
	switch {
	case p.PublicKeyFile != "" || slices.ContainsFunc(p.PublicKeys(), func(public string) bool { return public != "" && identity.ValidatePublic(public) != nil }):
		return true // an error of the table, which check finds
	case site == nil && p.PublicKey == "":
		why := "is not in the roster (%d)"
		if r.config.ended {
			why = "is only in the roster (%d), which has ended"
		}
		r.leaveOut(table+".name", p.Name, "%s "+why+", so it is no partner; set public_key if it is to be one", p.Name, signed.Serial)
		return false
	case site == nil:
		r.warnOfEnded(table, p)
		return true
	case p.PublicKey != "" && !r.keepKeys(table, p, site, signed.Serial):
		return false
	case p.PublicKey == "" && r.hasPinned(table+".name", site, signed.Serial, pinned):
		return false
	}
	return r.fill(table, p, site)
}

// warnOfEnded warns that a key of a table counts which a roster that has ended did not let count.
func (r *checker) warnOfEnded(table string, p *Partner) {
	site := r.config.signed.Find(p.Name)
	if site != nil && slices.ContainsFunc(p.PublicKeys(), func(public string) bool { return !slices.Contains(site.PublicKeys(), public) }) {
		r.Warn(table+".public_key", "the roster (%d) has other keys of %s (%s), but has ended, so the keys of the table count; make sure that they are the partner's, or remove the table",
			r.config.signed.Serial, p.Name, strings.Join(site.PublicKeys(), ", "))
	}
}

// fill gives the table of a partner the keys and the URL of the roster where it has none, and says whether one of the sites can connect to the other.
func (r *checker) fill(table string, p *Partner, site *roster.Site) bool {
	from := problems.Place{File: string(r.config.Roster.File)}
	if p.PublicKey == "" {
		p.PublicKey, p.NextPublicKey = site.PublicKey, site.NextPublicKey
		r.Places()[settings.Join(table, "public_key")] = from
	}
	if p.URL == "" && r.config.NATS.URL == "" {
		if p.URL = site.URL; !r.reachable(table+".url", site) {
			return false
		}
		r.Places()[settings.Join(table, "url")] = from
	}
	return true
}

// keepKeys removes from the table of a partner the keys that the roster does not have of it, and says whether one is left. Its own are not put in
// their place: one of the two is wrong, and it is not for the peer to guess which.
func (r *checker) keepKeys(table string, p *Partner, site *roster.Site, serial int64) bool {
	first, next := settings.Join(table, "public_key"), settings.Join(table, "next_public_key")
	const advice = "write what the roster has (%s) in its place, or remove the keys of the table so that those of the roster count, or have the roster corrected"
	has, known := slices.Contains(site.PublicKeys(), p.PublicKey), strings.Join(site.PublicKeys(), ", ")
	hasNext := slices.Contains(site.PublicKeys(), p.NextPublicKey)
	switch {
	case !has && !hasNext:
		r.leaveOut(first, p.Name, "the roster (%d) has no such key for %s, so %s is no partner and nothing signed by it counts; "+advice, serial, p.Name, p.Name, known)
		return false
	case !has:
		r.Warn(first, "the roster (%d) has no such key for %s, so that only next_public_key counts; "+advice, serial, p.Name, known)
		p.PublicKey, p.NextPublicKey = p.NextPublicKey, ""
		r.Places()[first] = r.Places()[next]
		delete(r.Places(), next)
	case p.NextPublicKey != "" && !hasNext:
		r.Warn(next, "the roster (%d) has no such key for %s, so it does not count; "+advice, serial, p.Name, known)
		p.NextPublicKey = ""
		delete(r.Places(), next)
	}
	return true
}

// hasPinned says whether a key that the roster has of a site is in the table of another one, or that of this site: the site is no partner then.
func (r *checker) hasPinned(key string, site *roster.Site, serial int64, pinned map[string]protocol.SiteName) bool {
	for _, public := range site.PublicKeys() {
		switch other := pinned[public]; other {
		case "", site.Name:
		case r.config.Site.Name:
			r.leaveOut(key, site.Name, "the roster (%d) has of %s the key %s, which is that of this site, so %s is no partner; have the roster corrected", serial, site.Name, public, site.Name)
			return true
		default:
			r.leaveOut(key, site.Name, "the roster (%d) has of %s the key %s, which is in the table of %s here, so %s is no partner; correct the table, or have the roster corrected", serial, site.Name, public, other, site.Name)
			return true
		}
	}
	return false
}

// reachable says whether one of the two sides can connect to the other by what the roster has of a site.
func (r *checker) reachable(key string, site *roster.Site) bool {
	if n := &r.config.NATS; n.URL != "" || n.Listen != "" && site.URL == "" {
		return true
	}
	if site.URL == "" {
		r.leaveOut(key, site.Name, "%s has no URL in the roster, and this site has no [nats] listen, so neither can connect: it is no partner", site.Name)
		return false
	}
	if err := CheckURL(site.URL); err != nil {
		r.leaveOut(key, site.Name, "%s is no partner, since its URL in the roster cannot be used: %v", site.Name, err)
		return false
	}
	return true
}

// acceptSites makes partners of the sites of the roster that accept names and that have no table.
func (r *checker) acceptSites(t *Roster, signed *roster.Roster) {
	for i, name := range t.Accept {
		if name != anySite && len(signed.Sites) > 0 && signed.Find(protocol.SiteName(name)) == nil {
			r.leaveOut(fmt.Sprintf("roster.accept[%d]", i), protocol.SiteName(name), "%s is not in the roster (%d), so it is no partner", name, signed.Serial)
		}
	}
	pinned := r.pinnedKeys()
	for i := range signed.Sites {
		site := &signed.Sites[i]
		if r.hasTable(site.Name) || !r.accepts(t, site) {
			continue
		}
		if r.hasPinned("roster.accept", site, signed.Serial, pinned) || !r.reachable("roster.accept", site) {
			continue
		}
		p := Partner{Name: site.Name, PublicKey: site.PublicKey, NextPublicKey: site.NextPublicKey, URL: site.URL, MaxJobs: t.MaxJobs, Users: maps.Clone(t.Users)}
		if r.config.NATS.URL != "" {
			p.URL = ""
		}
		r.Places()[fmt.Sprintf("%s[%d]", partnerSection, len(r.config.Partners))] = problems.Place{File: string(t.File)}
		r.config.Partners = append(r.config.Partners, p)
	}
}

// hasTable says whether a site has a table [[partner]], also one that makes it no partner.
func (r *checker) hasTable(site protocol.SiteName) bool {
	return slices.ContainsFunc(r.config.Partners, func(p Partner) bool { return p.Name == site }) ||
		slices.ContainsFunc(r.config.unused, func(u UnusedPartner) bool { return u.Site == site })
}

// listed says whether a partner is one by the roster alone: what it may do here is checked with the table [roster].
func (r *checker) listed(i int) bool {
	at, set := r.Places()[fmt.Sprintf("%s[%d]", partnerSection, i)]
	return set && r.config.Roster.File != "" && at.File == string(r.config.Roster.File)
}
