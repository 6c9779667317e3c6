package testbed

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
)

// settingsText is a site's configuration in TOML.
func settingsText(ctx context.Context, cfg Config, site *Site, all []*Site, ring string, account passwd.Entry) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("[site]")
	line("name      = %q", site.Name)
	line("number    = %d", site.Number)
	line("state_dir = %q", filepath.Join(site.Dir, "state"))
	line("key       = %q", filepath.Join(site.Dir, "site.key"))
	line("socket    = %q", site.Socket)
	if site.machine.Currency != "" {
		line("currency  = %q", site.machine.Currency)
	}
	line("\n[nats]\nlisten = %q", site.Bus)
	line("\n[gossip]")
	line("bind    = %q", site.gossip)
	line("join    = [%s]", strings.Join(neighbours(site, all), ", "))
	line("keyring = %q", ring)
	line("announce_interval = \"1s\"")
	line("\n[localsched]\n%s", cmp.Or(site.machine.LocalSched, builtIn(cfg, site)))
	line("\n[policy]\nname = %q\n\n[policy.tc]\nturnaround_tolerance = \"1s\"", cmp.Or(site.machine.Policy, cfg.Policy))
	line("\n[rounds]\ninitiation = %q", cfg.Initiation)
	line("local_wait_threshold = %q\ncheck_interval = %q\nquote_timeout = %q", cfg.LocalWaitThreshold, cfg.CheckInterval, cfg.QuoteTimeout)
	line("cycle_interval = %q\nmax_jobs_per_cycle = %d", cfg.CycleInterval, cfg.MaxJobsPerCycle)
	line("\n[handoff]\nretry_initial = \"200ms\"\nretry_max = \"1s\"\nsubmit_recheck_delay = \"500ms\"\nplanned_starts_interval = \"1s\"")
	line("\n[accounts]\nlocal = { %q = %q }", userName(ctx, account), account.Name)
	line("\n[metrics]\nlisten = \"\"")
	line("\n%s", site.machine.More)
	for _, partner := range all {
		if partner == site {
			continue
		}
		line("\n[[partner]]")
		line("name       = %q", partner.Name)
		line("public_key = %q", partner.publicKey)
		line("url        = \"nats://%s\"", partner.Bus)
		line("max_jobs   = 1000")
		if site.machine.Shared != "" {
			line("shared     = [%q]", filepath.Join(cfg.Dir, site.machine.Shared))
		}
		line("users      = { \"*\" = %q }", account.Name)
	}
	return out.String()
}

// builtIn is the table of a site with the built-in batch system.
func builtIn(cfg Config, site *Site) string {
	return fmt.Sprintf("cpus    = %d\npolicy  = %q\nkill_grace = \"1s\"\non_stop = %q", site.CPUs, cfg.LocalPolicy, cfg.OnStop)
}

// userName is who submits: root itself, when root has the jobs run as account.
func userName(ctx context.Context, account passwd.Entry) string {
	if me, err := passwd.ByUID(ctx, os.Getuid()); err == nil {
		return me.Name
	}
	return account.Name
}

func neighbours(site *Site, all []*Site) []string {
	var addresses []string
	for _, other := range all {
		if other != site {
			addresses = append(addresses, fmt.Sprintf("%q", other.gossip))
		}
	}
	return addresses
}
