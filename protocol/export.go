package protocol

import (
	"slices"
	"strings"
)

// Export says which variables of a job's environment its user lets leave the site, besides
// those that the site lets leave with every job. At the local site the job has them all.
type Export struct {
	All   bool     `json:"all,omitempty"`   // all but those that look secret
	Names []string `json:"names,omitempty"` // these, whatever they look like
}

// ExportVariable is the variable by which sbatch says to srun in a job which variables the job was submitted
// with: its --export.
const ExportVariable = "SLURM_EXPORT_ENV"

// ownVariables are those by which Switchyard itself says something to a job.
func ownVariables() []string {
	return append(ArrayVariables(), "SWITCHYARD_APPLICATION", "SWITCHYARD_COMPONENT", ExportVariable)
}

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
