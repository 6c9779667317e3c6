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
			r.Problem(key+".call_timeout", "is more than %s, the maximum time of a policy in a round",
				settings.FormatDuration(maxDecide))
		}
		if sum, err := hex.DecodeString(p.SHA256); p.SHA256 != "" && (err != nil || len(sum) != 32) {
			r.Problem(key+".sha256", "invalid SHA-256; write 64 hexadecimal digits, as printed by: sha256sum %s", p.Path)
		}
		if !p.MTLS && p.SHA256 == "" {
			r.Problem(key+".mtls", "false requires sha256; set it to the output of: sha256sum %s", p.Path)
		}
		if used := r.config.uses(p); !used {
			r.Warn(key+".name", "this plugin is not used; set its name in [policy], [localsched] or [prices], or remove it")
		}
	}
}

func (r *checker) checkPluginName(p *Plugin, key string, seen map[string]bool) {
	switch {
	case p.Name == "":
		r.Problem(key+".name", "is missing; choose a name for use in [policy], [localsched] or [prices]")
	case len(p.Name) > 64 || strings.ContainsFunc(p.Name, notInPluginName):
		r.Problem(key+".name", "invalid plugin name %q; use 1 to 64 lower case letters, digits, hyphens, dots and underscores", p.Name)
	case slices.Contains(taken(), p.Name):
		r.Problem(key+".name", "%q is built in; choose another name", p.Name)
	case seen[p.Name]:
		r.Problem(key+".name", "duplicate plugin name %q; choose another", p.Name)
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
		"localsched.features", "localsched.devices", "localsched.licenses", "localsched.slurm_commands",
	}
}

// notOurs reports keys that describe a machine which another batch system
// describes itself.
func (r *checker) notOurs(l *LocalSched) {
	for _, key := range machineKeys() {
		if r.Set(key) {
			r.Problem(key, "is for plugin = %q; the local scheduler %q reports it, so remove it", Process, l.Plugin)
		}
	}
}

func (r *checker) checkSlurm(l *LocalSched) {
	if l.Plugin != SlurmCommands {
		if l.Slurm != nil {
			r.Warn("localsched.slurm", "has no effect with plugin = %q; it is for %q", l.Plugin, SlurmCommands)
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
			r.Problem(fmt.Sprintf("localsched.slurm.partitions[%d]", i), "invalid partition name %q; write one name per element", name)
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
		r.Problem("tariff.currency", "is missing; set the currency of cpu_hour, such as \"EUR\"")
	}
	if t.Currency != "" && (len(t.Currency) != 3 || strings.ContainsFunc(t.Currency, notInCurrency)) {
		r.Problem("tariff.currency", "invalid currency %q; use three capital letters, such as \"EUR\"", t.Currency)
	}
}

func notInCurrency(c rune) bool { return c < 'A' || c > 'Z' }
