package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/fileguard"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/invitation"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxDays bounds how long an invitation counts.
const maxDays = 365

// inviting is one run of invite.
type inviting struct {
	*app

	from         configFlag
	out, url     string
	days, number int
}

func (a *app) inviteCommand() *cobra.Command {
	i := &inviting{app: a}
	cmd := &cobra.Command{
		Use:   "invite SITE --out FILE",
		Short: "Invite a site to the grid",
		Long: "Write an invitation for a site that is to become a partner of this one: a file that is signed by the\n" +
			"site's key, and has its public key and URL, the end of the invitation and a secret. Send it to the\n" +
			"administrator of that site by a way that you both trust, and keep the file. There \"switchyard join\"\n" +
			"makes the key and the configuration, and an answer; here \"switchyard accept\" reads that.\n\n" +
			"The URL is that of [nats] listen, unless that is a wildcard address: give --url then. A site that\n" +
			"does not listen invites only sites that do. If the sites of the grid meet at [nats] url, the\n" +
			"invitation has that, or --url; have the administrator of the NATS system make a user for the site.\n\n" +
			"The number is compared with those in the roster, and with those that the running peer has ever heard of\n" +
			"its partners; a notice names partners whose numbers it does not know.\n\n" +
			"The commands read the configuration and the site's key: run them as root or as the peer's account.",
		Example: "  switchyard invite south --out south.invitation --url nats://switchyard.north.example.org:7501",
		Args:    onePath("site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return i.run(cmd, protocol.SiteName(args[0]))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&i.out, "out", "", "new `file` for the invitation, which is secret")
	flags.StringVar(&i.url, "url", "", "`URL` at which the other site reaches this one, as nats://host:7501, or the servers of [nats] url")
	flags.IntVar(&i.days, "days", 7, "days until the invitation ends")
	flags.IntVar(&i.number, "number", 0, "`number` of the site in the grid (default: that site chooses)")
	i.from.addTo(a, cmd)
	return cmd
}

func (i *inviting) run(cmd *cobra.Command, site protocol.SiteName) error {
	number, err := siteNumber(i.number)
	switch {
	case err != nil:
		return err
	case i.out == "":
		return usage("missing --out FILE for the invitation")
	case i.days < 1 || i.days > maxDays:
		return usage("--days: invalid value %d; use 1 to %d", i.days, maxDays)
	}
	cfg, key, err := i.siteOf(cmd, &i.from)
	if err != nil {
		return err
	}
	own, meet, err := i.ownSite(cfg, key)
	if err != nil {
		return err
	}
	var id [invitation.IDBytes]byte
	var secret [invitation.SecretSize]byte
	_, _ = rand.Read(id[:]) // it has no errors
	_, _ = rand.Read(secret[:])
	v := invitation.New(id, secret)
	v.By, v.For, v.Number, v.NATSURL = own, site, number, meet
	v.End = protocol.InstantOf(i.now()).Add(protocol.Duration(i.days) * protocol.Day)
	return i.write(cmd.Context(), cfg, key, &v)
}

// write signs and writes the invitation.
func (i *inviting) write(ctx context.Context, cfg *config.Config, key *identity.Key, v *invitation.Invitation) error {
	wrong := taken(cfg, v.For)
	if v.Number != 0 {
		wrong = append(wrong, i.numberTaken(ctx, cfg, v.For, v.Number)...)
	}
	err := v.Sign(key.Signer(identity.Invitation))
	if err != nil && problems.Of(err) == nil {
		return err
	}
	if wrong = append(wrong, problems.Of(err)...); wrong.Err() != nil {
		return i.refuse(wrong)
	}
	text, err := v.Encode()
	if err != nil {
		return err
	}
	if err = writeNew(i.out, string(text), 0o600); err != nil {
		return err
	}
	i.printf("Invitation for site %s until %s: %s. It is secret: send it by a way that you both trust, and keep it.\n", v.For, v.End.Text(), i.out)
	i.printf("It is signed by the key of site %s, %s.\n", v.By.Name, v.By.PublicKey)
	return nil
}

// ownSite is what this site says of itself, and where the sites of the grid meet, if they do.
func (i *inviting) ownSite(cfg *config.Config, key *identity.Key) (own invitation.Site, meet string, err error) {
	own = invitation.Site{Name: cfg.Site.Name, Number: cfg.Site.Number, PublicKey: key.Public()}
	if cfg.NATS.URL != "" {
		meet = cmp.Or(i.url, cfg.NATS.URL)
		for one := range strings.SplitSeq(meet, ",") {
			if err = config.CheckURL(strings.TrimSpace(one)); err != nil {
				return own, "", usage("--url: %w", err)
			}
		}
		return own, meet, nil
	}
	if cfg.NATS.Listen == "" && i.url != "" {
		return own, "", usage("--url: this site has no [nats] listen, so no partner reaches it; omit --url, or set listen")
	}
	own.URL, err = reachable(cfg.NATS.Listen, i.url)
	if err == nil && own.URL == "" && cfg.NATS.Listen != "" {
		err = usage("missing --url nats://HOST:PORT: other sites cannot connect to [nats] listen = %q, which stands for all addresses of this machine", cfg.NATS.Listen)
	}
	return own, "", err
}

// reachable is the URL of a site that listens at an address: the given one, or that of the address; empty if that names no host.
func reachable(listen, given string) (string, error) {
	if given != "" {
		if err := config.CheckURL(given); err != nil {
			return "", usage("--url: %w", err)
		}
		return given, nil
	}
	host, port, err := net.SplitHostPort(listen)
	ip, noIP := netip.ParseAddr(host)
	if err != nil || host == "" || port == "0" || noIP == nil && ip.IsUnspecified() {
		return "", nil //nolint:nilerr // it names no host
	}
	return "nats://" + listen, nil
}

// siteNumber reads --number.
func siteNumber(n int) (protocol.SiteNumber, error) {
	if n < 0 || n > int(protocol.MaxSiteNumber) {
		return 0, usage("--number: invalid value %d; use 1 to %d", n, protocol.MaxSiteNumber)
	}
	return protocol.SiteNumber(n), nil
}

// taken says that a name is that of a partner already, if so.
func taken(cfg *config.Config, name protocol.SiteName) (wrong problems.List) {
	if slices.ContainsFunc(cfg.Partners, func(p config.Partner) bool { return p.Name == name }) {
		wrong.Add(problems.Place{}, "%s is a [[partner]] of site %s already; remove that table first if it is to join again", name, cfg.Site.Name)
	}
	return wrong
}

// numberTaken says which other site of the grid has a number already, by the roster and by what the running peer knows. It prints a
// notice that names the partners whose numbers neither has.
func (a *app) numberTaken(ctx context.Context, cfg *config.Config, name protocol.SiteName, number protocol.SiteNumber) (wrong problems.List) {
	numbers := map[protocol.SiteName]protocol.SiteNumber{}
	if signed := cfg.SignedRoster(); signed != nil {
		for i := range signed.Sites {
			numbers[signed.Sites[i].Name] = signed.Sites[i].Number
		}
	}
	known, err := a.client().Sites(ctx)
	for i := range known.Sites {
		if site := &known.Sites[i]; site.Number != 0 {
			numbers[site.Site] = site.Number
		}
	}
	for _, other := range slices.Sorted(maps.Keys(numbers)) {
		if numbers[other] == number && other != name && other != cfg.Site.Name {
			wrong.Add(problems.Place{}, "%d is the number of %s; each site of a grid has its own", number, other)
		}
	}
	var unknown []string
	for i := range cfg.Partners {
		if other := cfg.Partners[i].Name; numbers[other] == 0 && other != name {
			unknown = append(unknown, string(other))
		}
	}
	why := "the peer has not been linked with them yet"
	if err != nil {
		why = "the peer does not say them: " + console.Plain(err.Error())
	}
	if len(unknown) > 0 {
		a.notice("warning: %d is not compared with the numbers of these partners, since %s: %s. If one of them has it, the site that is linked later is refused", number, why, strings.Join(unknown, ", "))
	}
	return wrong
}

// refuse prints each problem.
func (a *app) refuse(err error) error {
	list := problems.Of(err)
	if list == nil {
		return err
	}
	for _, problem := range list {
		a.notice("%s", console.Plain(problem.String()))
	}
	return &exitError{code: exitFailed}
}

// readInvitation reads an invitation that has not ended, from a file that others cannot read.
func (a *app) readInvitation(file string) (v invitation.Invitation, err error) {
	text, err := fileguard.Secret(file, invitation.MaxText)
	if err != nil {
		return v, fmt.Errorf("the invitation %s is not used: %w", file, err)
	}
	if v, err = invitation.Read(file, text, identity.Verifier(identity.Invitation)); err != nil {
		return v, a.refuse(err)
	}
	return v, v.Expired(protocol.InstantOf(a.now()))
}

// guestFlags are what the jobs of a new partner may do here.
type guestFlags struct {
	maxJobs int
	users   []string
}

func (g *guestFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().IntVar(&g.maxJobs, "max-jobs", 0, "most jobs of the partner that are here at once (default: none)")
	cmd.Flags().StringArrayVar(&g.users, "user", nil, "`THEIRS=OURS`: the account that runs the jobs of a user of the partner, or of all others (*); may be given several times")
}

// table is the file with the [[partner]] table of a site.
func (g *guestFlags) table(site invitation.Site, about string) (string, error) {
	users := make([]string, 0, len(g.users))
	for _, pair := range g.users {
		theirs, ours, ok := strings.Cut(pair, "=")
		if !ok || theirs == "" || ours == "" {
			return "", usage("--user: %q is not of the form THEIRS=OURS", pair)
		}
		users = append(users, settings.Quote(theirs)+" = "+settings.Quote(ours))
	}
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("# %s docs/configuration.md has all keys.\n\n[[partner]]", about)
	line("name = %s", settings.Quote(string(site.Name)))
	line("public_key = %s", settings.Quote(site.PublicKey))
	if site.URL != "" {
		line("url = %s", settings.Quote(site.URL))
	}
	line("\n# No job of %s runs here until max_jobs and users permit it. users maps its users to\n# accounts of this machine; \"*\" stands for all others.", site.Name)
	line("max_jobs = %d", g.maxJobs)
	if len(users) == 0 {
		line("# users = { alice = \"alice\", \"*\" = \"gridguest\" }")
	} else {
		line("users = { %s }", strings.Join(users, ", "))
	}
	return out.String(), nil
}

// newFiles are files that are made together: if one fails, or what they are together is refused, none stays.
type newFiles struct {
	made  []string
	aside string // a file that is no part of the configuration while it has another name
}

// free says which of the files exist already.
func free(paths ...string) (wrong problems.List) {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			wrong.Add(problems.Place{File: path}, "exists already, and is not replaced; move it away")
		}
	}
	return wrong
}

func (f *newFiles) write(path, text string) error { return f.writeMode(path, text, 0o644) }

func (f *newFiles) writeMode(path, text string, mode fs.FileMode) error {
	err := writeNew(path, text, mode)
	if err == nil {
		f.made = append(f.made, path)
	}
	return err
}

// putAside gives a file another name, by which it is not read.
func (f *newFiles) putAside(path string) error {
	if wrong := free(path + asideName); wrong.Err() != nil {
		return wrong
	}
	if err := os.Rename(path, path+asideName); err != nil {
		return fmt.Errorf("put aside %s: %w", path, cause(err))
	}
	f.aside = path
	return nil
}

// asideName ends the name of a file that was put aside.
const asideName = ".sample"

func (f *newFiles) remove() {
	for _, path := range f.made {
		_ = os.Remove(path)
	}
	if f.aside != "" {
		_ = os.Rename(f.aside+asideName, f.aside)
	}
}

// partnerFile is the file for the table of a partner.
func partnerFile(dir string, site protocol.SiteName) string {
	return filepath.Join(dir, "partner-"+string(site)+".toml")
}
