package config

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The kinds of plugins: the values of [Plugin.Kind].
const (
	PolicyKind     = "policy"
	LocalSchedKind = "localsched"
	PriceKind      = "price"
)

// maxDecide bounds how long a policy may think: the node gives a decision a minute,
// the fallback's included.
const maxDecide = 50 * protocol.Second

// checkPlugins checks the tables [[plugin]].
func (r *checker) checkPlugins() {
	seen := map[string]bool{}
	for i := range r.config.Plugins {
		p, key := &r.config.Plugins[i], fmt.Sprintf("plugin[%d]", i)
		r.OneOf(key+".kind", p.Kind, PolicyKind, LocalSchedKind, PriceKind)
		r.checkPluginName(p, key, seen)
		r.required(key+".path", p.Path, "name the plugin's executable file")
		r.Positive(key+".start_timeout", p.StartTimeout)
		r.Positive(key+".call_timeout", p.CallTimeout)
		if p.Kind == PolicyKind && p.CallTimeout > maxDecide {
			r.Problem(key+".call_timeout", "is more than %s; a round waits no longer for its policy, and the fallback needs time too",
				settings.FormatDuration(maxDecide))
		}
		if sum, err := hex.DecodeString(p.SHA256); p.SHA256 != "" && (err != nil || len(sum) != 32) {
			r.Problem(key+".sha256", "is no SHA-256 in hexadecimal, which has 64 digits; print it with: sha256sum %s", p.Path)
		}
		if !p.MTLS && p.SHA256 == "" {
			r.Problem(key+".mtls", "may be false for a pinned plugin only; set sha256 to what this prints: sha256sum %s", p.Path)
		}
		if used := r.config.uses(p); !used {
			r.Warn(key+".name", "nothing uses this plugin; name it in [policy], [localsched] or [prices], or leave it out")
		}
	}
}

func (r *checker) checkPluginName(p *Plugin, key string, seen map[string]bool) {
	switch {
	case p.Name == "":
		r.Problem(key+".name", "is missing; choose one by which [policy], [localsched] or [prices] names the plugin")
	case len(p.Name) > 64 || strings.ContainsFunc(p.Name, notInPluginName):
		r.Problem(key+".name", "%q is no name of a plugin; use 1 to 64 lower case letters, digits, hyphens, dots and underscores", p.Name)
	case slices.Contains(taken(), p.Name):
		r.Problem(key+".name", "%q is built in; choose another name", p.Name)
	case seen[p.Name]:
		r.Problem(key+".name", "%q is the name of another plugin too; choose another", p.Name)
	}
	seen[p.Name] = true
}

// taken lists the names that plugins may not have.
func taken() []string {
	return slices.Concat(PolicyNames(), []string{Process, SlurmCommands}, feeds.Names())
}

func notInPluginName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("-._", c)
}

// uses says whether the configuration names the plugin somewhere.
func (c *Config) uses(p *Plugin) bool {
	switch p.Kind {
	case PolicyKind:
		return c.Policy.Name == p.Name
	case LocalSchedKind:
		return c.LocalSched.Plugin == p.Name
	}
	return c.Prices.Feed == p.Name || c.Power.Series.Feed == p.Name
}

// plugins lists the names of the plugins of a kind.
func (r *checker) plugins(kind string) (names []string) {
	for _, p := range r.config.Plugins {
		if p.Kind == kind && p.Name != "" && !slices.Contains(taken(), p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// machineKeys are those that only [Process] has a use for.
func machineKeys() []string {
	return []string{
		"localsched.machine", "localsched.cpus", "localsched.nodes", "localsched.memory", "localsched.max_wall_time",
		"localsched.policy", "localsched.kill_grace", "localsched.on_stop", "localsched.max_processes", "localsched.cgroup",
	}
}

// notOurs reports keys that describe a machine which another batch system
// describes itself.
func (r *checker) notOurs(l *LocalSched) {
	for _, key := range machineKeys() {
		if r.Set(key) {
			r.Problem(key, "is for plugin = %q; the batch system %q says it itself, so leave it out", Process, l.Plugin)
		}
	}
}

func (r *checker) checkSlurm(l *LocalSched) {
	if l.Plugin != SlurmCommands {
		if l.Slurm != nil {
			r.Warn("localsched.slurm", "has no use with plugin = %q; it is for %q", l.Plugin, SlurmCommands)
		}
		return
	}
	if l.Slurm == nil {
		l.Slurm = new(Slurm)
		l.Slurm.SetDefaults()
	}
	r.Positive("localsched.slurm.poll_interval", l.Slurm.PollInterval)
	for i, name := range l.Slurm.Partitions {
		if name == "" || strings.ContainsAny(name, ", \t\n") {
			r.Problem(fmt.Sprintf("localsched.slurm.partitions[%d]", i), "%q is no partition's name; list one name an element", name)
		}
	}
	if at := l.Slurm.Exporter; at != "" && !filepath.IsAbs(at) && !strings.HasPrefix(at, "http://") && !strings.HasPrefix(at, "https://") {
		r.Problem("localsched.slurm.node_exporter", "%q is neither a URL with http nor an absolute path; write it as \"http://{node}:9100/metrics\"", at)
	}
}

func (r *checker) checkTariff(t *Tariff) {
	if t.CPUHour < 0 {
		r.Problem("tariff.cpu_hour", "is negative; a price is 0 or more")
	}
	if t.CPUHour != 0 && t.Currency == "" {
		r.Problem("tariff.currency", "is missing; name the currency of cpu_hour, as \"EUR\"")
	}
	if t.Currency != "" && (len(t.Currency) != 3 || strings.ContainsFunc(t.Currency, notInCurrency)) {
		r.Problem("tariff.currency", "%q is no currency; write its three capital letters, as \"EUR\"", t.Currency)
	}
}

func notInCurrency(c rune) bool { return c < 'A' || c > 'Z' }
