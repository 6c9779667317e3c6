package peer

import (
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Export says which variables of a job's environment its user lets leave the site, besides
// those of [Config.ExportRemote]. At the local site the job has them all.
type Export struct {
	All   bool     `json:"all,omitempty"`   // all but those that look secret
	Names []string `json:"names,omitempty"` // these, whatever they look like
}

// DefaultExportRemote lists the variables that leave with a job unless the site says
// otherwise: how text and times are shown, and how many threads are wanted.
func DefaultExportRemote() []string {
	return []string{"LANG", "LANGUAGE", "LC_*", "OMP_*", "TERM", "TZ"}
}

// ownVariables are those by which the peer itself says something to a job.
func ownVariables() []string { return []string{"SWITCHYARD_APPLICATION", "SWITCHYARD_COMPONENT"} }

// Allows says whether the variable may leave the site. The site's list has names, and
// beginnings of names with a star behind them.
func (e *Export) Allows(name string, site []string) bool {
	if slices.Contains(e.Names, name) || slices.Contains(ownVariables(), name) || slices.Contains(site, name) {
		return true
	}
	open := e.All || slices.ContainsFunc(site, func(pattern string) bool {
		beginning, cut := strings.CutSuffix(pattern, "*")
		return cut && strings.HasPrefix(name, beginning)
	})
	return open && !LooksSecret(name)
}

// LooksSecret says whether a variable of this name is likely to hold a secret, or a way to
// one. Such a variable leaves the site only by its full name.
func LooksSecret(name string) bool {
	name = strings.ToUpper(name)
	within := func(part string) bool { return strings.Contains(name, part) }
	begins := func(part string) bool { return strings.HasPrefix(name, part) }
	ends := func(part string) bool { return strings.HasSuffix(name, part) }
	return slices.ContainsFunc(secretParts(), within) || slices.ContainsFunc(secretBeginnings(), begins) ||
		slices.ContainsFunc(secretEnds(), ends)
}

func secretParts() []string {
	return []string{
		"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PASSCODE", "CREDENTIAL", "APIKEY", "API_KEY",
		"ACCESS_KEY", "PRIVATE_KEY", "COOKIE", "JWT", "X509_USER", "AUTHORITY",
	}
}

func secretBeginnings() []string {
	return []string{"AWS_", "AZURE_", "VAULT_", "SSH_", "SSHPASS", "GPG_", "KRB5", "DBUS_"}
}

func secretEnds() []string { return []string{"_PWD", "_PASS", "_KEY", "_AUTH"} }

// leaving is what the job runs as a partner gets it: without the variables that stay at
// this site.
func (p *Peer) leaving(j *job) *protocol.Payload {
	out := j.payload()
	var env []string
	for _, pair := range out.Env {
		if name, _, _ := strings.Cut(pair, "="); j.Export.Allows(name, p.cfg.ExportRemote) {
			env = append(env, pair)
		}
	}
	out.Env = env
	return out
}
