package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/invitation"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) keyringCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keyring",
		Short: "Give the keyring of the gossip to a partner",
		Args:  noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("missing subcommand: use keyring seal or keyring open; see %s --help", cmd.CommandPath())
		},
	}
	cmd.AddCommand(a.keyringSealCommand(), a.keyringOpenCommand())
	return cmd
}

func (a *app) keyringSealCommand() *cobra.Command {
	var from configFlag
	var out string
	cmd := &cobra.Command{
		Use:   "seal SITE --out FILE",
		Short: "Seal the keyring for a partner",
		Long: "Write the keys of [gossip] keyring, and addresses at which members of the gossip are found, to a file that\n" +
			"only the partner can open: it is sealed for the partner's public key, and signed by this site. The file\n" +
			"is not secret. There \"switchyard keyring open\" reads it.\n\n" +
			"The keyring is the same at all sites of a grid: any of them may give it.\n\n" +
			"Exit codes: 0 done, 1 refused, 3 no such partner.",
		Example: "  switchyard keyring seal south --out south.keyring",
		Args:    onePath("site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage("missing --out FILE for the sealed keyring")
			}
			cfg, key, err := a.siteOf(cmd, &from)
			if err != nil {
				return err
			}
			return a.sealKeyring(cfg, key, protocol.SiteName(args[0]), out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "new `file` for the sealed keyring")
	from.addTo(a, cmd)
	return cmd
}

func (a *app) sealKeyring(cfg *config.Config, key *identity.Key, site protocol.SiteName, out string) error {
	if cfg.Gossip == nil {
		return fmt.Errorf("site %s has no [gossip], so it has no keyring; make one with: switchyard keygen --gossip FILE", cfg.Site.Name)
	}
	at := slices.IndexFunc(cfg.Partners, func(p config.Partner) bool { return p.Name == site })
	if at < 0 {
		return &exitError{exitNotFound, fmt.Errorf("%s is no [[partner]] of site %s; make it one first, as by: switchyard invite %[1]s", site, cfg.Site.Name)}
	}
	keys, err := gossip.LoadKeys(string(cfg.Gossip.Keyring))
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, one := range keys {
		text.WriteString(base64.StdEncoding.EncodeToString(one) + "\n")
	}
	partner := &cfg.Partners[at]
	k := invitation.Keyring{By: cfg.Site.Name, For: site, Made: protocol.InstantOf(a.now()), Members: members(cfg.Gossip)}
	if k.Sealed, err = identity.Seal(partner.PublicKey, identity.Keyring, []byte(text.String())); err != nil {
		return err
	}
	if err = k.Sign(key.Signer(identity.Keyring)); err != nil {
		return a.refuse(err)
	}
	data, err := k.Encode()
	if err == nil {
		err = writeNew(out, string(data), 0o644)
	}
	if err != nil {
		return err
	}
	a.printf("Keyring for site %s, which its key %s opens: %s. It is not secret.\n", site, partner.PublicKey, out)
	return nil
}

// mostMembers is how many addresses go with a keyring: one or two that answer are enough.
const mostMembers = 3

// members are addresses at which members of the gossip are found, this site's first.
func members(g *config.Gossip) (out []string) {
	for _, one := range append([]string{cmp.Or(g.Advertise, g.Bind)}, g.Join...) {
		ip, err := netip.ParseAddrPort(one)
		if err == nil && (ip.Addr().IsUnspecified() || ip.Port() == 0) || slices.Contains(out, one) {
			continue
		}
		out = append(out, one)
	}
	return out[:min(len(out), mostMembers)]
}

// openingKeyring is one run of keyring open.
type openingKeyring struct {
	*app
	newFiles

	from            configFlag
	bind, advertise string
}

func (a *app) keyringOpenCommand() *cobra.Command {
	o := &openingKeyring{app: a}
	cmd := &cobra.Command{
		Use:   "open FILE",
		Short: "Open a keyring that a partner has sealed for this site",
		Long: "Check that a file is a keyring that a partner has sealed for this site, and write the keyring. If the\n" +
			"configuration has [gossip], to its keyring. Otherwise to gossip.keys in the directory of the\n" +
			"configuration, with a table [gossip] in gossip.toml, in which this site is reached at --advertise. No\n" +
			"file is replaced, and the configuration is checked. The peer gossips after its next start.\n\n" +
			"Exit codes: 0 done, 1 refused.",
		Example: "  switchyard keyring open south.keyring --advertise 192.0.2.9:7601",
		Args:    onePath("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := o.run(cmd, args[0])
			if err != nil {
				o.remove()
			}
			return err
		},
	}
	cmd.Flags().StringVar(&o.advertise, "advertise", "", "`IP:PORT` at which other sites reach the gossip of this one")
	cmd.Flags().StringVar(&o.bind, "bind", "", "`IP:PORT` where the gossip of this site listens (default: all addresses, at the port of --advertise)")
	o.from.addTo(a, cmd)
	return cmd
}

func (o *openingKeyring) run(cmd *cobra.Command, file string) error {
	cfg, key, err := o.siteOf(cmd, &o.from)
	if err != nil {
		return err
	}
	sealed, err := readText("sealed keyring", file)
	if err != nil {
		return err
	}
	k, err := invitation.ReadKeyring(file, sealed, cfg.Site.Name, cfg.Trusted(), identity.Verifier(identity.Keyring))
	if err != nil {
		return o.refuse(err)
	}
	text, err := key.Open(identity.Keyring, k.Sealed)
	if errors.Is(err, identity.ErrSealed) {
		return fmt.Errorf("%s cannot be opened: %w; ask %s for one that is sealed for the key %s", file, err, k.By, key.Public())
	}
	if err != nil {
		return err
	}
	if err = o.put(cmd.Context(), cfg, &k, string(text)); err != nil {
		return err
	}
	o.printf("The keyring of site %s, sealed %s: wrote %s. The peer gossips after its next start.\n", k.By, k.Made.Text(), strings.Join(o.made, ", "))
	return nil
}

// put writes the keyring and, if it is missing, the table, and checks the configuration with them.
func (o *openingKeyring) put(ctx context.Context, cfg *config.Config, k *invitation.Keyring, keyring string) error {
	if cfg.Gossip != nil {
		if o.advertise != "" || o.bind != "" {
			return usage("--advertise and --bind: the configuration has [gossip] already; set them there")
		}
		path := string(cfg.Gossip.Keyring)
		if wrong := free(path); wrong.Err() != nil {
			return o.refuse(wrong)
		}
		return o.checked(ctx, path, keyring)
	}
	if o.advertise == "" {
		return usage("missing --advertise IP:PORT, at which other sites reach the gossip of this one, as 192.0.2.9:7601")
	}
	dir, err := o.from.dir()
	if err != nil {
		return err
	}
	path, table := filepath.Join(dir, "gossip.keys"), filepath.Join(dir, "gossip.toml")
	if wrong := free(path, table); wrong.Err() != nil {
		return o.refuse(wrong)
	}
	if err = o.write(table, o.table(k)); err != nil {
		return err
	}
	return o.checked(ctx, path, keyring)
}

// checked writes the keyring, and checks the configuration with it.
func (o *openingKeyring) checked(ctx context.Context, path, keyring string) error {
	if err := o.writeMode(path, keyring, 0o600); err != nil {
		return err
	}
	cfg, err := o.from.load(o.app)
	if err == nil {
		err = o.checkConfig(ctx, cfg)
	}
	return err
}

// boundTo is where a site listens that is reached at an address: at its port, on all addresses of the machine; empty: it is no address,
// which the check of the configuration says.
func boundTo(advertise string) string {
	at, err := netip.ParseAddrPort(advertise)
	if err != nil {
		return ""
	}
	all := netip.IPv4Unspecified()
	if at.Addr().Is6() {
		all = netip.IPv6Unspecified()
	}
	return netip.AddrPortFrom(all, at.Port()).String()
}

// table is the file with the table [gossip] of a site that had none.
func (o *openingKeyring) table(k *invitation.Keyring) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("# Written by: switchyard keyring open. docs/configuration.md has all keys.\n\n[gossip]")
	if bind := cmp.Or(o.bind, boundTo(o.advertise)); bind != "" {
		line("bind = %s", settings.Quote(bind))
	}
	line("advertise = %s", settings.Quote(o.advertise))
	join := make([]string, 0, len(k.Members))
	for _, member := range k.Members {
		if member != o.advertise {
			join = append(join, settings.Quote(member))
		}
	}
	if len(join) == 0 {
		o.notice("warning: %s has sealed no address of a member with the keyring; set join in [gossip] to an address at which its gossip is reached, else this site finds no other", k.By)
	}
	line("join = [%s]", strings.Join(join, ", "))
	line("keyring = \"gossip.keys\"")
	return out.String()
}
