package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/invitation"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// accepting is one run of accept.
type accepting struct {
	*app
	guestFlags

	from    configFlag
	file    string // with the invitation
	reloads bool
}

func (a *app) acceptCommand() *cobra.Command {
	c := &accepting{app: a}
	cmd := &cobra.Command{
		Use:   "accept ANSWER --invitation FILE",
		Short: "Make the site that answered an invitation a partner",
		Long: "Check that the answer was made with the invitation by the site that it was for, and that the invitation\n" +
			"has not ended. Write the site's [[partner]] table to partner-SITE.toml in the directory of the\n" +
			"configuration, and check the configuration. Nothing is replaced. The answer to an invitation is\n" +
			"accepted once: used-invitation-ID beside the table says so until the invitation has ended.\n\n" +
			"No job of the partner runs here unless --max-jobs and --user permit it, or the file is edited.\n\n" +
			"Exit codes: 0 done, 1 refused.",
		Example: "  switchyard accept south.answer --invitation south.invitation\n" +
			"  switchyard accept south.answer --invitation south.invitation --max-jobs 100 --user alice=alice --user '*=gridguest' --reload",
		Args: onePath("answer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.file, "invitation", "", "`file` with the invitation, as invite wrote it")
	flags.BoolVar(&c.reloads, "reload", false, "have the running peer read its configuration again")
	c.addTo(cmd)
	c.from.addTo(a, cmd)
	return cmd
}

func (c *accepting) run(cmd *cobra.Command, answer string) error {
	if c.file == "" {
		return usage("missing --invitation FILE")
	}
	v, err := c.readInvitation(c.file)
	if err != nil {
		return err
	}
	cfg, key, err := c.siteOf(cmd, &c.from)
	if err != nil {
		return err
	}
	dir, err := c.from.dir()
	if err != nil {
		return err
	}
	if v.By.Name != cfg.Site.Name || v.By.Number != cfg.Site.Number || v.By.PublicKey != key.Public() {
		return fmt.Errorf("%s is an invitation by site %s, number %d, with the key %s, and this is site %s, number %d, with the key %s; make a new one with: switchyard invite %s",
			c.file, v.By.Name, v.By.Number, v.By.PublicKey, cfg.Site.Name, cfg.Site.Number, key.Public(), v.For)
	}
	site, err := c.answered(cmd.Context(), cfg, &v, answer, partnerFile(dir, v.For))
	if err != nil {
		return c.refuse(err)
	}
	forgetUsed(dir, protocol.InstantOf(c.now()))
	var files newFiles
	if err = files.useOnce(dir, &v); err != nil {
		return err
	}
	err = c.admit(cmd.Context(), site, partnerFile(dir, v.For), v.ID)
	if len(free(partnerFile(dir, v.For))) == 0 { // the site is no partner
		files.remove()
	}
	return err
}

// answered is the site that has answered the invitation. The error lists all that keeps it from being a partner.
func (c *accepting) answered(ctx context.Context, cfg *config.Config, v *invitation.Invitation, file, table string) (site invitation.Site, err error) {
	text, err := readText("answer", file)
	if err != nil {
		return site, err
	}
	a, err := v.ReadAnswer(file, text, identity.Verifier(identity.Answer))
	if err != nil && problems.Of(err) == nil {
		return site, err
	}
	wrong := append(problems.Of(err), taken(cfg, v.For)...)
	wrong = append(wrong, used(filepath.Dir(table), v)...)
	wrong = append(wrong, free(table)...)
	if err == nil {
		wrong = append(wrong, c.numberTaken(ctx, cfg, a.By.Name, a.By.Number)...)
		if a.By.URL != "" {
			if err = config.CheckURL(a.By.URL); err != nil {
				wrong.Add(problems.Place{File: file, Key: "by.url"}, "%v", err)
			}
		}
	}
	return a.By, wrong.Err()
}

// readText reads a file up to the length at which it is too long for a text between sites.
func readText(what, path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the %s %s cannot be read: %w", what, path, cause(err))
	}
	defer file.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(io.LimitReader(file, invitation.MaxText+1))
	if err != nil {
		return nil, fmt.Errorf("the %s %s cannot be read: %w", what, path, cause(err))
	}
	return text, nil
}

// admit writes the table of the site, if the configuration is valid with it.
func (c *accepting) admit(ctx context.Context, site invitation.Site, file, id string) error {
	text, err := c.table(site, fmt.Sprintf("Site %s, which answered invitation %s. Written by: switchyard accept.", site.Name, id))
	if err != nil {
		return err
	}
	var files newFiles
	if err = files.write(file, text); err != nil {
		return err
	}
	cfg, err := c.from.load(c.app)
	if err == nil {
		err = c.checkConfig(ctx, cfg)
	}
	if err != nil {
		files.remove()
		c.notice("%s was not written: the configuration would be invalid", file)
		return err
	}
	c.printf("Site %s, number %d, is a partner by the key %s: %s.\n", console.Plain(string(site.Name)), site.Number, site.PublicKey, file)
	if cfg.Gossip != nil {
		c.printf("It gets the keyring of the gossip by: switchyard keyring seal %s --out FILE\n", site.Name)
	}
	if c.reloads {
		return c.reload(ctx)
	}
	c.printf("The peer learns of it by: switchyard reload\n")
	return nil
}
