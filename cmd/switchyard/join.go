package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/invitation"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// joining is one run of join.
type joining struct {
	*app
	guestFlags
	newFiles

	dir, listen, url, out string
	slurm                 slurmFlags
	number                int
	nats                  map[string]string // keys of [nats] and their files
}

// slurmFlags make Slurm the local scheduler of a new site.
type slurmFlags struct {
	on          bool
	conf, spool string
}

func (f *slurmFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.on, "slurm", false, "the new site runs jobs by its Slurm (default: by the built-in scheduler, on this computer)")
	cmd.Flags().StringVar(&f.spool, "spool", "", "with --slurm, `directory` for jobs, which the compute nodes see under the same path")
	cmd.Flags().StringVar(&f.conf, "slurm-conf", "", "with --slurm, `file` slurm.conf (default: as Slurm's commands find it)")
}

// table is [localsched] of the site; empty: the defaults are meant.
func (f *slurmFlags) table() (string, error) {
	switch {
	case !f.on && (f.spool != "" || f.conf != ""):
		return "", usage("--spool and --slurm-conf are for a site with Slurm; add --slurm")
	case !f.on:
		return "", nil
	case f.spool == "":
		return "", usage("--slurm: missing --spool DIR for the jobs, a directory that the compute nodes see under the same path")
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\n[localsched]\nplugin = %s\n\n[localsched.slurm]\n", settings.Quote(config.SlurmCommands))
	for _, one := range []struct{ key, path string }{{"spool", f.spool}, {"conf", f.conf}} {
		if one.path == "" {
			continue
		}
		path, err := filepath.Abs(one.path)
		if err != nil {
			return "", fmt.Errorf("--slurm: %w", err)
		}
		fmt.Fprintf(&out, "%s = %s\n", one.key, settings.Quote(path))
	}
	out.WriteString("# partitions = [\"batch\"]               # default: the default partition; docs/slurm.md\n")
	return out.String(), nil
}

func (a *app) joinCommand() *cobra.Command {
	j := &joining{app: a}
	cmd := &cobra.Command{
		Use:   "join INVITATION --dir DIR",
		Short: "Join a grid by an invitation",
		Long: "Check an invitation that another site has made by \"switchyard invite\", and print whose it is. Write the\n" +
			"site's key, its configuration, site.toml, and the table of the partner, partner-SITE.toml, to DIR,\n" +
			"check them, and print an answer, which the administrator of the other site needs. The answer is not\n" +
			"secret. A key DIR/site.key that exists is used; no file is replaced.\n\n" +
			"If DIR has a configuration that is more than the sample of a package, it must be that of\n" +
			"the invited site, and only the table of the partner is added: so a site joins a second partner.\n\n" +
			"If the sites of the grid meet at [nats] url, the invitation has that, and --nats names the files by\n" +
			"which this site shows itself there: nkey, creds or token, and ca. The administrator of the NATS system\n" +
			"gives them to you; no invitation has them.\n\n" +
			"With --slurm, jobs run by the Slurm of the new site, of which config check looks at version and partitions.\n" +
			"Otherwise the built-in scheduler runs them on this computer.\n\n" +
			"No job of the partner runs here unless --max-jobs and --user permit it, or the file is edited.\n\n" +
			"Exit codes: 0 done, 1 refused.",
		Example: "  switchyard join south.invitation --dir /etc/switchyard --out south.answer\n" +
			"  switchyard join south.invitation --dir /etc/switchyard --listen 0.0.0.0:7501 --url nats://switchyard.south.example.org:7501\n" +
			"  switchyard join south.invitation --dir /etc/switchyard --slurm --spool /shared/switchyard/spool\n" +
			"  switchyard join south.invitation --dir /etc/switchyard --nats nkey=/etc/switchyard/nats.nkey --nats ca=/etc/switchyard/nats-ca.pem",
		Args: onePath("invitation"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return j.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&j.dir, "dir", "", "`directory` for the key and the configuration, as "+config.DefaultDir)
	flags.StringVar(&j.out, "out", "", "new `file` for the answer; without it, it is printed")
	flags.StringVar(&j.listen, "listen", "", "`HOST:PORT` where the new site accepts connections of partners (default: none)")
	flags.StringVar(&j.url, "url", "", "`URL` at which partners reach the site (default: that of --listen)")
	flags.IntVar(&j.number, "number", 0, "`number` of the site in the grid, if the invitation leaves it open")
	flags.StringToStringVar(&j.nats, "nats", nil, "`KEY=FILE` of [nats]: nkey, creds, token or ca; may be given several times")
	j.slurm.addTo(cmd)
	j.addTo(cmd)
	return cmd
}

func (j *joining) run(ctx context.Context, file string) error {
	number, err := siteNumber(j.number)
	if err != nil {
		return err
	}
	if j.dir == "" {
		return usage("missing --dir DIR, where the peer is to read its configuration, as %s", config.DefaultDir)
	}
	if info, missing := os.Stat(j.dir); missing != nil || !info.IsDir() {
		return fmt.Errorf("%s is no directory; make it first: install -d -m 755 %[1]s", j.dir)
	}
	v, err := j.readInvitation(file)
	if err != nil {
		return err
	}
	j.notice("invitation by site %s, number %d, with the key %s; ask its administrator whether that is its key", v.By.Name, v.By.Number, v.By.PublicKey)
	if v.Number != 0 && number == 0 {
		number = v.Number
	}
	if err = j.join(ctx, &v, number); err != nil {
		j.remove()
	}
	return err
}

// join writes all files. If it fails, those that it has written are to be removed.
func (j *joining) join(ctx context.Context, v *invitation.Invitation, number protocol.SiteNumber) error {
	by, key, err := j.site(v, number)
	if err != nil {
		return j.refuse(err)
	}
	answer, err := v.Answer(by, key.Signer(identity.Answer))
	if err != nil {
		return j.refuse(err)
	}
	text, err := answer.Encode()
	if err != nil {
		return err
	}
	table, err := j.table(v.By, fmt.Sprintf("Site %s, by its invitation %s. Written by: switchyard join.", v.By.Name, v.ID))
	if err != nil {
		return err
	}
	if err = j.write(partnerFile(j.dir, v.By.Name), table); err != nil {
		return err
	}
	from := configFlag{j.dir}
	cfg, err := from.load(j.app)
	if err == nil {
		err = j.checkConfig(ctx, cfg)
	}
	if err == nil && j.out != "" {
		err = j.write(j.out, string(text))
	}
	if err != nil {
		return err
	}
	if j.out == "" {
		j.printf("%s", text)
	}
	j.notice("local scheduler: %s", daemon.LocalScheduler(cfg))
	if j.aside != "" {
		j.notice("%s was the sample, unchanged, and is now %[1]s%s", j.aside, asideName)
	}
	j.notice("wrote %s; give the answer to the administrator of %s, who accepts it by %s", strings.Join(j.made, ", "), v.By.Name, v.End.Text())
	return nil
}

// site is the site that joins: that of the configuration in the directory, or a new one.
func (j *joining) site(v *invitation.Invitation, number protocol.SiteNumber) (by invitation.Site, key *identity.Key, err error) {
	written, err := filepath.Glob(filepath.Join(j.dir, "*.toml"))
	switch {
	case err != nil:
		return by, nil, fmt.Errorf("--dir: %w", err)
	case len(written) == 1 && isSample(written[0]):
		if err = j.putAside(written[0]); err != nil {
			return by, nil, err
		}
	case len(written) > 0:
		return j.knownSite(v, number)
	}
	return j.newSite(v, number)
}

// isSample says whether a file is the sample of this version, as a package writes it, and nothing of a site.
func isSample(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && string(text) == config.Sample()
}

// newSite writes the key and the configuration of a site that has none.
func (j *joining) newSite(v *invitation.Invitation, number protocol.SiteNumber) (by invitation.Site, key *identity.Key, err error) {
	path := filepath.Join(j.dir, "site.key")
	files := append([]string{filepath.Join(j.dir, "site.toml")}, j.outFiles()...)
	_, noKey := os.Lstat(path)
	if errors.Is(noKey, fs.ErrNotExist) {
		files = append(files, path+".pub")
	}
	wrong := free(files...)
	if number == 0 {
		wrong.Add(problems.Place{}, "the invitation leaves the number of the site open; choose one that no other site of the grid has, by --number")
	}
	by = invitation.Site{Name: v.For, Number: number}
	scheduler := ""
	connects, err := j.connects(v)
	if err == nil {
		scheduler, err = j.slurm.table()
	}
	if err == nil {
		by.URL, err = j.reached(v, j.listen)
	}
	if err != nil {
		return by, nil, err
	}
	if wrong.Err() != nil {
		return by, nil, wrong
	}
	if noKey != nil {
		if _, err = writeKey(path); err != nil {
			return by, nil, err
		}
		j.made = append(j.made, path, path+".pub")
	}
	if key, err = identity.LoadKey(path); err != nil {
		return by, nil, err
	}
	by.PublicKey = key.Public()
	return by, key, j.write(files[0], siteText(&by, connects)+scheduler)
}

// outFiles are the file for the answer, if it gets one.
func (j *joining) outFiles() []string {
	if j.out == "" {
		return nil
	}
	return []string{j.out}
}

// knownSite is the site of the configuration in the directory.
func (j *joining) knownSite(v *invitation.Invitation, number protocol.SiteNumber) (by invitation.Site, key *identity.Key, err error) {
	if j.listen != "" {
		return by, nil, usage("--listen: %s has a configuration already; set [nats] listen there", j.dir)
	}
	if len(j.nats) > 0 {
		return by, nil, usage("--nats: %s has a configuration already; set the files in [nats] there", j.dir)
	}
	if j.slurm != (slurmFlags{}) {
		return by, nil, usage("--slurm, --spool and --slurm-conf: %s has a configuration already; set [localsched] there", j.dir)
	}
	from := configFlag{j.dir}
	cfg, err := from.load(j.app)
	if err != nil {
		return by, nil, err
	}
	wrong := append(taken(cfg, v.By.Name), free(append(j.outFiles(), partnerFile(j.dir, v.By.Name))...)...)
	if cfg.Site.Name != v.For {
		wrong.Add(problems.Place{File: j.dir}, "is the configuration of site %s, and the invitation is for %s; set [site] name, or ask for another invitation", cfg.Site.Name, v.For)
	}
	if number != 0 && cfg.Site.Number != number {
		wrong.Add(problems.Place{File: j.dir}, "has [site] number = %d, and the site is invited as number %d; set that there, or ask for another invitation", cfg.Site.Number, number)
	}
	by = invitation.Site{Name: cfg.Site.Name, Number: cfg.Site.Number}
	switch {
	case v.NATSURL != "" && cfg.NATS.URL == "":
		wrong.Add(problems.Place{File: j.dir}, "has no [nats] url, and the sites of the grid of %s meet at %s; set it there, with the files by which this site shows itself", v.By.Name, v.NATSURL)
	case v.NATSURL == "" && cfg.NATS.URL != "":
		wrong.Add(problems.Place{File: j.dir}, "has [nats] url, at which a site meets all its partners, and %s does not meet there; ask for an invitation by a site that does", v.By.Name)
	}
	if by.URL, err = j.reached(v, cfg.NATS.Listen); err != nil {
		return by, nil, err
	}
	if wrong.Err() != nil {
		return by, nil, wrong
	}
	if key, err = identity.LoadKey(string(cfg.Site.Key)); err != nil {
		return by, nil, err
	}
	by.PublicKey = key.Public()
	return by, key, nil
}

// reached is the URL of the site, which listens at an address, unless the sites meet elsewhere.
func (j *joining) reached(v *invitation.Invitation, listen string) (string, error) {
	if v.NATSURL != "" {
		if j.url != "" || j.listen != "" {
			return "", usage("--listen and --url: the sites of the grid meet at %s, and connect to nothing else; omit them", v.NATSURL)
		}
		return "", nil
	}
	if listen == "" && j.url != "" {
		return "", usage("--url: the site does not listen; add --listen HOST:PORT")
	}
	at, err := reachable(listen, j.url)
	if at == "" && err == nil && listen != "" {
		j.notice("warning: the answer has no URL, since %q stands for all addresses of the machine: this site connects to its partners, and they not to it; add --url nats://HOST:PORT if they can", listen)
	}
	return at, err
}

// connects are the keys of [nats] of a new site.
func (j *joining) connects(v *invitation.Invitation) (string, error) {
	if v.NATSURL == "" {
		if len(j.nats) > 0 {
			return "", usage("--nats: the sites of this grid connect to each other, and show their keys; omit it")
		}
		about := "Partners connect to it."
		if j.listen == "" {
			about = "This site connects to its partners, and accepts no connections."
		}
		return fmt.Sprintf("# %s\nlisten = %s\n", about, settings.Quote(j.listen)), nil
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# The sites of the grid meet there. nkey, creds or token is the file by which this site shows itself.\nurl = %s\n", settings.Quote(v.NATSURL))
	for _, key := range slices.Sorted(maps.Keys(j.nats)) {
		if !slices.Contains([]string{"nkey", "creds", "token", "ca"}, key) {
			return "", usage("--nats: unknown key %q; use nkey, creds, token or ca", key)
		}
		file, err := filepath.Abs(j.nats[key])
		if err != nil {
			return "", fmt.Errorf("--nats: %w", err)
		}
		fmt.Fprintf(&out, "%s = %s\n", key, settings.Quote(file))
	}
	return out.String(), nil
}

// siteText is the configuration of a new site, with the keys of its [nats].
func siteText(by *invitation.Site, connects string) string {
	return fmt.Sprintf(`# Written by: switchyard join. docs/configuration.md has all keys, and "switchyard config sample" prints them.

[site]
name = %s
number = %d                             # job IDs begin with it
key = "site.key"                       # secret; a relative path begins at the directory of this file
# state_dir = "/var/lib/switchyard"    # on a local disk

[nats]
%s`, settings.Quote(string(by.Name)), by.Number, connects)
}
