package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/roster"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxRosterDays bounds how long a roster counts.
const maxRosterDays = 3650

func (a *app) rosterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "roster",
		Short: "Sign, print and check the list of the sites of a grid",
		Long: "A roster is a signed list of the sites of a grid, with their keys and URLs. [roster] in the configuration of\n" +
			"a site says who signs it, and which of its sites are partners. These commands work on files alone.",
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("missing subcommand: use roster sign, roster show or roster check; see %s --help", cmd.CommandPath())
		},
	}
	cmd.AddCommand(a.rosterSignCommand(), a.rosterShowCommand(), a.rosterCheckCommand())
	return cmd
}

// rosterDraft is what a signer writes.
type rosterDraft struct {
	Serial int         `toml:"serial"`
	Sites  []draftSite `toml:"site"`
}

type draftSite struct {
	Name          protocol.SiteName   `toml:"name"`
	Number        protocol.SiteNumber `toml:"number"`
	PublicKey     string              `toml:"public_key"`
	NextPublicKey string              `toml:"next_public_key"`
	URL           string              `toml:"url"`
}

func (a *app) rosterSignCommand() *cobra.Command {
	var key, out string
	var days int
	cmd := &cobra.Command{
		Use:   "sign LIST --key FILE --out FILE",
		Short: "Sign a list of sites",
		Long: "Write the roster of a list: a TOML file with serial, a number that is higher in each roster of the grid, and\n" +
			"one [[site]] for each site, with name, number, public_key and, where there are, next_public_key and url.\n" +
			"The key is one by \"switchyard keygen --out FILE\" that is for rosters alone. Keep it offline.",
		Example: "  switchyard roster sign grid.toml --key grid.key --out grid.roster",
		Args:    onePath("list"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case key == "":
				return usage("missing --key FILE, the key of who signs the roster")
			case out == "":
				return usage("missing --out FILE for the roster")
			case days < 1 || days > maxRosterDays:
				return usage("--days: invalid value %d; use 1 to %d", days, maxRosterDays)
			}
			return a.signRoster(args[0], key, out, days)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "`file` with the key of who signs")
	cmd.Flags().StringVar(&out, "out", "", "new `file` for the roster")
	cmd.Flags().IntVar(&days, "days", 90, "days until the roster ends")
	return cmd
}

func (a *app) signRoster(list, keyFile, out string, days int) error {
	r, err := readList(list)
	if err != nil {
		return a.refuse(err)
	}
	key, err := identity.LoadKey(keyFile)
	if err != nil {
		return err
	}
	r.End = protocol.InstantOf(a.now()).Add(protocol.Duration(days) * protocol.Day)
	if err = r.Sign(list, key.Public(), identity.ValidatePublic, key.Signer(identity.Roster)); err != nil {
		return a.refuse(err)
	}
	text, err := r.Encode()
	if err == nil {
		err = writeNew(out, string(text), 0o644)
	}
	if err != nil {
		return err
	}
	a.printf("Roster %d with %d sites until %s, signed by %s: %s.\n", r.Serial, len(r.Sites), r.End.Text(), r.By, out)
	return nil
}

// readList reads the list of sites that is to be signed.
func readList(path string) (r roster.Roster, err error) {
	var draft rosterDraft
	in := settings.NewReader(&draft)
	in.File(path)
	if err = in.Err(); err != nil {
		return r, err
	}
	r.Serial = int64(draft.Serial)
	var wrong problems.List
	for i, site := range draft.Sites {
		if site.URL != "" {
			if err = config.CheckURL(site.URL); err != nil {
				wrong.Add(problems.Place{File: path, Key: fmt.Sprintf("sites[%d].url", i)}, "%v", err)
			}
		}
		r.Sites = append(r.Sites, roster.Site(site))
	}
	return r, wrong.Err()
}

func (a *app) rosterShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "Print a roster",
		Long: "Print the sites of a roster, after a check that the key that it names has signed it. Whether this key has a\n" +
			"say at this site is for \"switchyard roster check\".",
		Example: "  switchyard roster show grid.roster",
		Args:    onePath("roster"),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("the roster %s cannot be read: %w", args[0], cause(err))
			}
			r, err := roster.Read(args[0], text, identity.ValidatePublic, identity.Verifier(identity.Roster))
			if err != nil {
				return a.refuse(err)
			}
			return a.showRoster(&r)
		},
	}
}

func (a *app) showRoster(r *roster.Roster) error {
	ended := ""
	if protocol.InstantOf(a.now()) >= r.End {
		ended = " (ended)"
	}
	a.printf("Roster %d until %s%s, signed by %s\n\n", r.Serial, r.End.Text(), ended, r.By)
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SITE\tNUMBER\tPUBLIC KEYS\tURL") // Flush has its errors
	for i := range r.Sites {
		site := &r.Sites[i]
		url := "-"
		if site.URL != "" {
			url = console.Plain(site.URL)
		}
		_, _ = fmt.Fprintf(table, "%s\t%d\t%s\t%s\n", site.Name, site.Number, strings.Join(site.PublicKeys(), " "), url)
	}
	return table.Flush()
}

func (a *app) rosterCheckCommand() *cobra.Command {
	var from configFlag
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check whether a roster counts at this site",
		Long: "Check that one of [roster] public_keys has signed a roster, that it has not ended, and that it is not older\n" +
			"than the last one that counted here, and that the configuration is valid with it in place of [roster] file. Warnings\n" +
			"name the tables [[partner]] with keys that it does not have. Then put it there, and \"switchyard reload\".\n\n" +
			"Exit codes: 0 it counts, 1 it does not.",
		Example: "  switchyard roster check grid.roster",
		Args:    onePath("roster"),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := a.valid(config.LoadWithRoster(args[0], from...))
			if err != nil {
				return err
			}
			a.warn(cfg)
			if key, failed := identity.LoadKey(string(cfg.Site.Key)); failed != nil {
				a.notice("warning: the key of this site was not compared with the roster: %v", failed)
			} else if what := cfg.OwnKeyProblem(key.Public()); what != "" {
				a.notice("warning: %s", what)
			}
			r := cfg.SignedRoster()
			if protocol.InstantOf(a.now()) >= r.End {
				return fmt.Errorf("roster %d ended %s; get a new one from its signers", r.Serial, r.End.Text())
			}
			a.printf("Roster OK: number %d, %d sites, until %s.\n", r.Serial, len(r.Sites), r.End.Text())
			return nil
		},
	}
	from.addTo(a, cmd)
	return cmd
}
