package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/clientcert"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/servercert"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// certificateNotice is how long before its end the operator is reminded of a certificate.
const certificateNotice = 14 * 24 * time.Hour

// notes are what the operator of the site should know.
func (d *Daemon) notes() (all []string) {
	if lacks := d.queue.Uncontained(); lacks != "" {
		all = append(all, lacks)
	}
	if note := d.queue.Unlaunched(); note != "" {
		all = append(all, note)
	}
	if note := d.node.ClockNote(); note != "" {
		all = append(all, note)
	}
	if d.gossipsAlone() {
		all = append(all, "no other member of the gossip answers, so that the load of partners is known only from their quotes; "+
			"see that [gossip] join names members, that bind has the port at which advertise is reached, and that firewalls let TCP and UDP pass")
	}
	if d.certificate != nil {
		if ends := d.certificate.Ends(); time.Until(ends) < certificateNotice {
			all = append(all, "the certificate of the API over TCP expires at "+protocol.InstantOf(ends).Text()+"; replace the files of [api] cert_file and key_file")
		}
	}
	if note := d.keyNote.Load(); note != nil && *note != "" {
		all = append(all, *note)
	}
	if note := d.rosterNote(); note != "" {
		all = append(all, note)
	}
	return all
}

// rosterNote says that the roster ends soon or has ended; empty: neither.
func (d *Daemon) rosterNote() string {
	return d.active.Load().RosterNote(protocol.InstantOf(time.Now()))
}

// rosterEnd is the end of the roster; zero: there is none.
func (d *Daemon) rosterEnd() protocol.Instant {
	if signed := d.active.Load().SignedRoster(); signed != nil {
		return signed.End
	}
	return 0
}

// apiNetwork is the API over TCP; nil: the site has none.
func (d *Daemon) apiNetwork() (*api.Network, error) {
	if d.cfg.API.Listen == "" {
		return nil, nil //nolint:nilnil // as the API has it
	}
	certificate, err := d.apiCertificate()
	if err != nil {
		return nil, err
	}
	d.certificate = certificate
	certificate.Failed = func(err error) {
		d.log.Error("api_certificate_read_failed", "error", err, "advice", "correct the files; the certificate that was read before is used until then")
	}
	encryption, err := certificate.TLS()
	if err != nil {
		return nil, err
	}
	d.meter.WatchCertificate(certificate.Ends)
	clients, err := d.certificateClients(encryption)
	if err != nil {
		return nil, err
	}
	book, err := accesstokens.Open(filepath.Join(string(d.cfg.Site.StateDir), "tokens.json"))
	if err != nil {
		return nil, err
	}
	pages, err := d.pages()
	if err != nil {
		return nil, err
	}
	for i := range d.cfg.API.OIDC {
		issuer, err := d.oidc(&d.cfg.API.OIDC[i])
		if err != nil {
			return nil, err
		}
		d.meter.WatchIssuer(d.cfg.API.OIDC[i].Name, issuer.Failing)
		d.issuers = append(d.issuers, issuer)
	}
	return &api.Network{
		OIDC:   d.issuers,
		Guests: d.runsGuests, Clients: clients, Pages: pages, Public: d.cfg.API.Dashboard == config.Public,
		Listen: d.cfg.API.Listen, TLS: encryption, Tokens: book, Rate: d.cfg.API.MaxRequestRate, Files: d.apiFiles(),
		Ready: func(address net.Addr) {
			d.log.Info("api_listens", "address", address.String(), "certificate", certificate.Cert, "authority", certificate.Authority())
		},
	}, nil
}

// oidc verifies tokens of an issuer.
func (d *Daemon) oidc(o *config.OIDC) (*openid.Verifier, error) {
	cfg := openid.Config{
		Name: o.Name, Issuer: o.Issuer, Audience: o.Audience, Claims: openid.Claims{User: o.UserClaim, Groups: o.GroupsClaim, Scopes: o.ScopesClaim}, Rules: o.Rules(),
		Failed: func(err error) {
			d.log.Warn("oidc_keys_failed", "issuer", o.Issuer, "error", err, "advice", "check that this machine reaches the issuer; its tokens are refused once the keys that were fetched before are a day old")
		},
	}
	trust, err := issuerAuthorities(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyOfIssuer(o, "ca_file"), err)
	}
	cfg.Trust = trust
	if o.SignInClient == "" {
		return openid.New(cfg), nil
	}
	cfg.SignIn = openid.SignIn{Client: o.SignInClient, Scopes: o.SignInScopes, Session: o.SignInSession.Std()}
	if o.SignInSecretFile != "" {
		cfg.SignIn.Secret = func() (string, error) {
			secret, err := readSignInSecret(o)
			if err != nil {
				err = fmt.Errorf("%s: %w", keyOfIssuer(o, "sign_in_secret_file"), err)
			}
			return secret, err
		}
		if _, err := cfg.SignIn.Secret(); err != nil {
			return nil, err
		}
	}
	return openid.New(cfg), nil
}

// maxSignInSecret is more than any secret of a client has, in bytes.
const maxSignInSecret = 4096

// readSignInSecret reads the secret of the site as a client of an issuer, unless others can read or replace it.
func readSignInSecret(o *config.OIDC) (string, error) {
	return fileguard.SecretText(string(o.SignInSecretFile), maxSignInSecret)
}

// issuerAuthorities are those that have certified an issuer; nil: the machine's.
func issuerAuthorities(o *config.OIDC) (*x509.CertPool, error) {
	if o.CAFile == "" {
		return nil, nil //nolint:nilnil // documented
	}
	return clientcert.ReadAuthorities(string(o.CAFile))
}

// keyOfIssuer names a key of an issuer's table.
func keyOfIssuer(o *config.OIDC, key string) string { return "[[api.oidc]] " + o.Name + " " + key }

// apiFiles are how files move over TCP; nil: they do not.
func (d *Daemon) apiFiles() *api.Files {
	if d.cfg.API.MaxUpload == 0 {
		return nil
	}
	return &api.Files{
		Dir: filepath.Join(string(d.cfg.Site.StateDir), "api", "uploads"), MaxBytes: d.cfg.API.MaxUpload.Bytes(), Limit: "[api] max_upload of " + string(d.cfg.Site.Name),
		Place: d.deliverer.Place, Collect: d.deliverer.Collect,
	}
}

// pages are the pages for browsers; nil: the site has none.
func (d *Daemon) pages() (api.Pages, error) {
	if d.cfg.API.Dashboard == config.Off {
		return nil, nil //nolint:nilnil // as the API has it
	}
	return dashboard.New(dashboard.Config{Log: d.log, Events: d.events, Studies: string(d.cfg.API.Studies)})
}

// certificateClients are the clients that may show a certificate, which TLS is to ask for then.
func (d *Daemon) certificateClients(encryption *tls.Config) (clients []api.CertClient, err error) {
	if d.cfg.API.ClientCAFile == "" {
		return nil, nil
	}
	if encryption.ClientCAs, err = clientcert.ReadAuthorities(string(d.cfg.API.ClientCAFile)); err != nil {
		return nil, fmt.Errorf("client_ca_file: %w", err)
	}
	encryption.ClientAuth = tls.VerifyClientCertIfGiven
	for _, c := range d.cfg.API.Clients {
		scopes, err := accesstokens.ParseScopes(strings.Join(c.Scopes, ","))
		if err != nil {
			return nil, fmt.Errorf("client %s: %w", c.Certificate, err)
		}
		clients = append(clients, api.CertClient{Certificate: c.Certificate, User: c.User, Scopes: scopes})
	}
	return clients, nil
}

// runsGuests reports whether an account runs jobs of partners' users, by the active configuration.
func (d *Daemon) runsGuests(account string) bool {
	return slices.ContainsFunc(d.active.Load().Partners, func(p config.Partner) bool {
		return slices.Contains(slices.Collect(maps.Values(p.Users)), account)
	})
}

// apiCertificate are the files of the certificate, which the peer makes if the site has none.
func (d *Daemon) apiCertificate() (*servercert.Files, error) {
	if d.cfg.API.CertFile != "" {
		return &servercert.Files{Cert: string(d.cfg.API.CertFile), Key: string(d.cfg.API.KeyFile)}, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	hosts := append([]string{name, "localhost", "127.0.0.1", "::1"}, d.cfg.API.Hosts...)
	if host, _, err := net.SplitHostPort(d.cfg.API.Listen); err == nil && host != "" {
		hosts = append(hosts, host)
	}
	slices.Sort(hosts[1:])
	return servercert.Made(filepath.Join(string(d.cfg.Site.StateDir), "api"), slices.Compact(hosts), time.Now())
}

// startAPI opens the socket for the people of the site, and the port for callers over TCP.
func (d *Daemon) startAPI(ctx context.Context) error {
	network, err := d.apiNetwork() //nolint:contextcheck // pages are drawn in the contexts of their requests
	if err != nil {
		return fmt.Errorf("[api]: %w", err)
	}
	ready := make(chan struct{})
	d.launch(ctx, "the API", func(ctx context.Context) error {
		err := api.Serve(ctx, api.Config{
			Socket: string(d.cfg.Site.Socket), Node: d.sitesNode(), Site: d.cfg.Site.Name, Number: d.cfg.Site.Number,
			Version: d.options.Build.Version, Log: d.log, Ready: func() { close(ready) }, Rules: d.rules, Reload: d.reload,
			Plugins: d.pluginStatus, Changes: d.settings.changes, Prices: d.pricesAhead, Power: d.power, Database: &database{d: d}, ExportRemote: d.cfg.Submit.ExportRemote,
			Private: d.cfg.API.Private, Admins: d.cfg.API.Admins, Events: d.events,
			Alarms: d.budget.Alarms, Notes: d.notes, Roster: d.rosterNote, Staging: d.cfg.Staging.MaxBytes.Bytes(), Gossip: d.gossip.Load() != nil, Alone: d.gossipsAlone, Mail: d.cfg.Mail != nil,
			SlurmCommands: d.queue.SlurmCommands(), MaxArraySize: d.cfg.Limits.MaxArraySize,
			Network: network, ReadFile: d.deliverer.ReadFile, Audit: d.audit, Answered: d.meter.Requested,
		})
		if failed, ok := errors.AsType[*api.ListenError](err); ok && failed.Key == "[api] listen" {
			return fmt.Errorf("%w%s", err, addressRemedy(err, failed.Key))
		}
		return err
	})
	select {
	case <-ready:
	case <-d.failed:
		d.failed <- struct{}{} // run sees it too
	}
	return nil
}

// pricesAhead are the prices of electricity that quotes go by; nil: none are known.
func (d *Daemon) pricesAhead() *price.Forecast {
	if d.prices == nil {
		return nil
	}
	return d.prices.Last()
}

// loadTimeout bounds how long the batch system may take to say what its jobs draw.
const loadTimeout = 2 * time.Second

// power is what the jobs of this site draw and may draw; nil without a budget.
func (d *Daemon) power(ctx context.Context) *api.Power {
	if !d.active.Load().Power.Budgeted() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	load, err := d.queue.Scheduler().Load(limited)
	if err != nil {
		d.log.Debug("power_query_failed", "error", err)
		return nil
	}
	power := d.budget.Power(load.Draw)
	power.Pending = d.queue.PendingDraw()
	return power
}
