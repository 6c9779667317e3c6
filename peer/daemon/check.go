package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/clientcert"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/localqueue"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/notices"
	"github.com/switchyard-hpc/switchyard/peer/otlp"
	"github.com/switchyard-hpc/switchyard/peer/servercert"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

// Findings are what is wrong with a configuration on this machine, and what could not be looked at.
type Findings struct {
	Problems []string
	Warnings []string // of what no start fails on
	Unseen   []string
}

// Check says what a start with a configuration would fail on, or jobs would later: what is in
// files, which accounts there are, of which version Slurm is, and how plugins begin, whose host the build is. It changes
// nothing.
func Check(ctx context.Context, cfg *config.Config, build Build) (f Findings) {
	own, key := identity.LoadKey(string(cfg.Site.Key))
	f.secret("[site] key", key)
	if key == nil {
		f.warn(cfg.OwnKeyProblem(own.Public()))
	}
	if cfg.Gossip != nil {
		_, err := gossip.LoadKeys(string(cfg.Gossip.Keyring))
		f.secret("[gossip] keyring", err)
	}
	if n := cfg.NATS; n.URL != "" {
		f.secret("[nats]", (&bus.External{Creds: string(n.Creds), Nkey: string(n.Nkey), Token: string(n.Token), CA: string(n.CA)}).Check())
	}
	if n := cfg.Notify; n != nil && n.Token != "" {
		_, err := notices.ReadToken(string(n.Token))
		f.secret("[notify] token", err)
	}
	f.tracing(cfg.Tracing)
	f.api(&cfg.API)
	account, err := ownAccount(ctx)
	f.add(err)
	if errors.Is(key, fs.ErrPermission) { // this account is not the peer's
		account = ""
	}
	f.Problems = append(f.Problems, accountProblems(cfg, account, knownHere(ctx))...)
	f.add(checkPlugins(cfg))
	f.add(localqueue.Check(ctx, cfg))
	f.add(checkFeeds(ctx, cfg))
	if len(f.Problems) == 0 {
		f.add(tryPlugins(ctx, cfg, build))
	}
	return f
}

// api reads the files that the API over TCP needs.
func (f *Findings) api(a *config.API) {
	if a.CertFile != "" {
		_, err := (&servercert.Files{Cert: string(a.CertFile), Key: string(a.KeyFile)}).TLS()
		f.secret("[api] cert_file and key_file", err)
	}
	if a.ClientCAFile != "" {
		_, err := clientcert.ReadAuthorities(string(a.ClientCAFile))
		f.secret("[api] client_ca_file", err)
	}
	for i := range a.OIDC {
		o := &a.OIDC[i]
		_, err := issuerAuthorities(o)
		f.secret(keyOfIssuer(o, "ca_file"), err)
		if o.SignInSecretFile != "" {
			_, err = readSignInSecret(o)
			f.secret(keyOfIssuer(o, "sign_in_secret_file"), err)
		}
	}
}

// tracing reads the files that the export of spans needs.
func (f *Findings) tracing(t *config.Tracing) {
	if t == nil {
		return
	}
	if t.Headers != "" {
		_, err := otlp.ReadHeaders(string(t.Headers))
		f.secret("[tracing] headers", err)
	}
	if _, err := otlp.New(otlp.Config{Endpoint: t.Endpoint, CA: string(t.CA)}); err != nil {
		f.add(fmt.Errorf("[tracing] %w", err))
	}
}

func (f *Findings) add(err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range all.Unwrap() {
			f.add(one)
		}
		return
	}
	if err != nil {
		f.Problems = append(f.Problems, err.Error())
	}
}

func (f *Findings) warn(what string) {
	if what != "" {
		f.Warnings = append(f.Warnings, what)
	}
}

// secret adds what is wrong with a file that only the peer's account may read.
func (f *Findings) secret(key string, err error) {
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0:
		f.Unseen = append(f.Unseen, fmt.Sprintf("%s was not looked at: %v; check as root, or as the peer's account", key, err))
	default:
		f.Problems = append(f.Problems, fmt.Sprintf("%s: %v", key, err))
	}
}

// tryPlugins starts the policies and price feeds of a configuration, each alone and for a moment,
// and says which do not come up. Plugins that are local schedulers are left alone: there may be
// one that has jobs.
func tryPlugins(ctx context.Context, cfg *config.Config, build Build) error {
	var errs []error
	for i := range cfg.Plugins {
		if table := &cfg.Plugins[i]; pluginhost.Kind(table.Kind) != pluginhost.SchedulerKind {
			errs = append(errs, tryPlugin(ctx, cfg, build, table))
		}
	}
	return errors.Join(errs...)
}

func tryPlugin(ctx context.Context, cfg *config.Config, build Build, table *config.Plugin) (err error) {
	failed := func(err error) error { return fmt.Errorf("[[plugin]] %s: %w", table.Name, err) }
	spec, err := pluginSpec(table)
	if err != nil {
		return failed(err)
	}
	state, err := os.MkdirTemp("", "switchyard-check-")
	if err != nil {
		return failed(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(state)) }()
	spec.Host = sdk.Host{Site: cfg.Site.Name, Seed: uint64(cfg.Site.Seed), Software: build.software(), StateDir: state} //nolint:gosec // any number will do
	started, err := pluginhost.Start(ctx, spec, io.Discard)
	if err != nil {
		return failed(fmt.Errorf("it does not come up: %w", err))
	}
	defer func() { err = errors.Join(err, started.Close()) }()
	if pluginhost.Kind(table.Kind) != pluginhost.FeedKind || cfg.Prices.Feed != table.Name {
		return nil
	}
	described, err := started.Feed().Describe(ctx)
	if err == nil {
		err = pricefeed.CheckArea(described, cfg.Prices.Area)
	}
	if err != nil {
		return fmt.Errorf("[prices] area: %w", err)
	}
	return nil
}
