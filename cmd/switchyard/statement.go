package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/accounting"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxStatement is the most bytes of a statement that are read: of a million lines.
const maxStatement = 512 << 20

func (a *app) statementCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "statement",
		Short: "Settle with a partner what jobs ran for each other",
		Long: "A statement lists the jobs that two sites ran for each other in a month, with CPUs, run times, measured\n" +
			"energy and bills, in a file that is signed by the site's key. Send it to the partner, by any way. The\n" +
			"partner compares it with its own archive, and countersigns it with what is disputed.\n\n" +
			"The commands read the configuration and the site's key: run them as root or as the peer's account.",
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("missing subcommand: use statement write, verify or compare; see %s --help", cmd.CommandPath())
		},
	}
	cmd.AddCommand(a.statementWriteCommand(), a.statementVerifyCommand(), a.statementCompareCommand())
	return cmd
}

func (a *app) statementWriteCommand() *cobra.Command {
	var from configFlag
	var text, out string
	cmd := &cobra.Command{
		Use:   "write --month YYYY-MM PARTNER",
		Short: "Write and sign a statement",
		Long: "Write the jobs of the partner that ran at this site, and those of this site that ran at the partner, that\n" +
			"ended in the month (in UTC). Jobs that [retention] has deleted are not in it.",
		Example: "  switchyard statement write --month 2026-11 south --out north-2026-11.json",
		Args:    onePath("partner"),
		RunE: func(cmd *cobra.Command, args []string) error {
			month, err := accounting.ParseMonth(text)
			if err != nil {
				return usage("--month: %w", err)
			}
			b, err := a.books(cmd, &from)
			if err != nil {
				return err
			}
			partner, err := b.partner(protocol.SiteName(args[0]))
			if err != nil {
				return err
			}
			return b.write(cmd.Context(), partner.Name, month, out)
		},
	}
	cmd.Flags().StringVar(&text, "month", "", "`month` of the ends of the jobs, as 2026-11")
	cmd.Flags().StringVar(&out, "out", "", "new file for the statement; without it, it is printed")
	from.addTo(a, cmd)
	return cmd
}

func (a *app) statementVerifyCommand() *cobra.Command {
	var from configFlag
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check the signatures of a statement, and print its sums",
		Long: "Check that the statement is signed by its site, by the key of this configuration, and countersigned by the\n" +
			"other one, if it is. Print what each of the two ran for the other, and what is disputed.\n\n" +
			"Exit codes: 0 valid, 1 invalid, 3 no such file, or a site that is no partner.",
		Example: "  switchyard statement verify north-2026-11.json",
		Args:    onePath("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := a.books(cmd, &from)
			if err != nil {
				return err
			}
			signed, err := b.read(args[0])
			if err != nil {
				return err
			}
			var disputes []accounting.Dispute
			if signed.Counter != nil {
				disputes = signed.Counter.Disputes
			}
			return b.print(&signed, disputes)
		},
	}
	from.addTo(a, cmd)
	return a.listing(cmd)
}

func (a *app) statementCompareCommand() *cobra.Command {
	var from configFlag
	var counter string
	var earlier []string
	cmd := &cobra.Command{
		Use:   "compare FILE",
		Short: "Compare a partner's statement with this site's archive",
		Long: "Check the signature of a partner's statement, compare each line with the archive of this site, and print\n" +
			"what is disputed: the job, the field, what the partner states and what this site has. \"job\" is disputed\n" +
			"where one site has no such job. Ends may differ by an hour, since clocks do.\n\n" +
			"A job that ended close to the end of a month may be stated for either month. --earlier shows those that the\n" +
			"partner has stated for another month, too.\n\n" +
			"--countersign writes the statement with a second signature, which covers the disputes. Send it back.\n\n" +
			"Exit codes: 0 nothing is disputed, 1 something is, or the statement is invalid.",
		Example: "  switchyard statement compare south-2026-11.json --countersign south-2026-11.countersigned.json",
		Args:    onePath("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := a.books(cmd, &from)
			if err != nil {
				return err
			}
			return b.compare(cmd.Context(), args[0], counter, earlier)
		},
	}
	cmd.Flags().StringVar(&counter, "countersign", "", "new `file` for the countersigned statement")
	cmd.Flags().StringArrayVar(&earlier, "earlier", nil, "`statement` of the partner for another month that may state the same jobs; may be given several times")
	from.addTo(a, cmd)
	return a.listing(cmd)
}

// onePath asks for one argument.
func onePath(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("%s takes one %s, got %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// books are what statements are made and checked with.
type books struct {
	*app

	cfg *config.Config
	key *identity.Key
}

// books are those of the site of a configuration.
func (a *app) books(cmd *cobra.Command, from *configFlag) (*books, error) {
	cfg, key, err := a.siteOf(cmd, from)
	return &books{app: a, cfg: cfg, key: key}, err
}

// partner is a partner of the configuration.
func (b *books) partner(name protocol.SiteName) (*config.Partner, error) {
	for i := range b.cfg.Partners {
		if b.cfg.Partners[i].Name == name {
			return &b.cfg.Partners[i], nil
		}
	}
	return nil, &exitError{exitNotFound, fmt.Errorf("%s is no [[partner]] of site %s", console.Plain(string(name)), b.cfg.Site.Name)}
}

// keysOf are the public keys of this site or of a partner.
func (b *books) keysOf(name protocol.SiteName) ([]string, error) {
	if name == b.cfg.Site.Name {
		former, err := statedir.ReadKeys(string(b.cfg.Site.StateDir))
		return append(former, b.key.Public()), err
	}
	partner, err := b.partner(name)
	if err != nil {
		return nil, err
	}
	return partner.PublicKeys(), nil
}

// archived are the jobs of the archive that ran at the partner, or here for it.
func (b *books) archived(ctx context.Context, partner protocol.SiteName, period view.HistoryFilter) (jobs []view.Job, err error) {
	info, err := b.client().Info(ctx)
	if err != nil {
		return nil, err
	}
	if info.Site != b.cfg.Site.Name {
		return nil, fmt.Errorf("the peer at %s is that of site %s, the configuration that of %s; set --socket or --config", b.socket, info.Site, b.cfg.Site.Name)
	}
	take := func(page []view.Job) error {
		jobs = append(jobs, page...)
		return nil
	}
	period.Earlier = true
	own, guests := period, period
	own.Guests, own.Sites = view.WithoutGuests, []protocol.SiteName{partner}
	guests.Guests, guests.Origins = view.OnlyGuests, []protocol.SiteName{partner}
	for _, filter := range []view.HistoryFilter{own, guests} {
		past := api.Past{HistoryFilter: filter}
		if err = b.client().HistoryPages(ctx, past, 0, take); err == nil {
			_, err = b.pruned(ctx, past)
		}
		if err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

func (b *books) write(ctx context.Context, partner protocol.SiteName, month accounting.Month, out string) error {
	since, until := month.Bounds()
	now := protocol.InstantOf(b.now())
	if now < until {
		b.notice("%s is not over: jobs that end in the rest of it are not in the statement", month)
	}
	jobs, err := b.archived(ctx, partner, view.HistoryFilter{Since: since, Until: until})
	if err != nil {
		return err
	}
	statement := accounting.NewStatement(b.cfg.Site.Name, partner, month, now, jobs)
	signed, err := statement.Sign(b.key.Signer(identity.Statement))
	if err != nil {
		return err
	}
	return b.save(&signed, out)
}

// save writes a statement to a new file, or prints it.
func (b *books) save(signed *accounting.Signed, out string) error {
	data, err := signed.Encode()
	if err != nil {
		return err
	}
	if out != "" {
		return writeNew(out, string(data), 0o644)
	}
	b.printf("%s", data)
	return nil
}

// read reads and verifies a statement.
func (b *books) read(path string) (signed accounting.Signed, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return signed, &exitError{exitNotFound, fmt.Errorf("no statement: %w", err)}
	}
	if err != nil {
		return signed, err
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		return signed, err
	}
	if info.Size() > maxStatement {
		return signed, fmt.Errorf("%s has %d bytes; a statement has at most %d", path, info.Size(), int64(maxStatement))
	}
	if signed, err = accounting.Read(file); err != nil {
		return signed, fmt.Errorf("%s: %w", path, err)
	}
	by, err := b.keysOf(signed.Statement.By)
	if err != nil {
		return signed, err
	}
	with, err := b.keysOf(signed.Statement.With)
	if err != nil {
		return signed, err
	}
	err = signed.Verify(by, with, identity.Verifier(identity.Statement), identity.Verifier(identity.Countersignature))
	if err != nil {
		return signed, fmt.Errorf("%s is not valid: %w", path, err)
	}
	return signed, nil
}

func (b *books) compare(ctx context.Context, path, counter string, earlier []string) error {
	signed, err := b.read(path)
	if err != nil {
		return err
	}
	s := &signed.Statement
	if s.With != b.cfg.Site.Name {
		return fmt.Errorf("%s is a statement of site %s for %s, not for this site; use statement verify", path, s.By, s.With)
	}
	jobs, err := b.named(ctx, s)
	if err != nil {
		return err
	}
	disputes := s.Compare(jobs)
	for _, one := range earlier {
		other, wrong := b.read(one)
		if wrong != nil {
			return wrong
		}
		again, wrong := s.Again(&other.Statement)
		if wrong != nil {
			return fmt.Errorf("--earlier %s: %w", one, wrong)
		}
		disputes = append(disputes, again...)
	}
	if err = b.print(&signed, disputes); err != nil {
		return err
	}
	if counter != "" {
		if err = signed.Countersign(protocol.InstantOf(b.now()), disputes, b.key.Signer(identity.Countersignature)); err == nil {
			err = b.save(&signed, counter)
		}
		if err != nil {
			return err
		}
	}
	if len(disputes) > 0 {
		return fmt.Errorf("%s", protocol.Count(len(disputes), "dispute"))
	}
	return nil
}

// named are the jobs of the archive that a statement is compared with: those of its month, and those that it names.
func (b *books) named(ctx context.Context, s *accounting.Statement) ([]view.Job, error) {
	month, err := accounting.ParseMonth(s.Month)
	if err != nil {
		return nil, err
	}
	since, until := month.Bounds()
	jobs, err := b.archived(ctx, s.By, view.HistoryFilter{Since: since.Add(-accounting.EndTolerance), Until: until.Add(accounting.EndTolerance)})
	if err != nil {
		return nil, err
	}
	known := make(map[protocol.Tag]bool, len(jobs))
	for i := range jobs {
		known[protocol.Tag{Job: jobs[i].ID, Epoch: jobs[i].Epoch}] = true
	}
	const most = 200 // IDs of a request
	var rest []protocol.JobID
	for i := range s.Lines {
		if l := &s.Lines[i]; !known[protocol.Tag{Job: l.Job, Epoch: l.Epoch}] {
			rest = append(rest, s.Lines[i].Job)
		}
	}
	for len(rest) > 0 {
		n := min(most, len(rest))
		past := api.Past{HistoryFilter: view.HistoryFilter{Jobs: rest[:n], Earlier: true}}
		err = b.client().HistoryPages(ctx, past, 0, func(page []view.Job) error {
			jobs = append(jobs, page...)
			return nil
		})
		if err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	return jobs, nil
}

// statementJSON is what verify and compare print as JSON.
type statementJSON struct {
	By       protocol.SiteName  `json:"by"`
	With     protocol.SiteName  `json:"with"`
	Month    string             `json:"month"`
	Made     protocol.Instant   `json:"made_ms"`
	Totals   []accounting.Total `json:"totals"`
	Disputes []disputeJSON      `json:"disputes"`
	Counter  protocol.Instant   `json:"countersigned_ms,omitempty"`
}

// disputeJSON is a dispute by the names of the sites, since verify prints it at either.
type disputeJSON struct {
	Job   protocol.JobID               `json:"job"`
	Epoch protocol.Epoch               `json:"epoch,omitempty"` // as in [accounting.Dispute]
	Field string                       `json:"field"`
	Sites map[protocol.SiteName]string `json:"sites"` // what each of the two states
}

// print prints the sums of a statement, and below them the disputes.
func (b *books) print(signed *accounting.Signed, disputes []accounting.Dispute) error {
	s := &signed.Statement
	totals := s.Totals()
	if b.json {
		out := statementJSON{s.By, s.With, s.Month, s.Made, totals, []disputeJSON{}, 0}
		for _, one := range disputes {
			out.Disputes = append(out.Disputes, disputeJSON{one.Job, one.Epoch, one.Field, map[protocol.SiteName]string{s.By: one.Theirs, s.With: one.Ours}})
		}
		if signed.Counter != nil {
			out.Counter = signed.Counter.At
		}
		return b.printJSON(out)
	}
	b.printf("Statement of %s with %s for %s, signed by %s, made %s\n", s.By, s.With, s.Month, s.By, console.Clock(s.Made))
	if signed.Counter != nil {
		b.printf("Countersigned by %s %s\n", s.With, console.Clock(signed.Counter.At))
	}
	t := console.NewTable("RAN AT", "FOR", " JOBS", " CPU HOURS", " ENERGY", " COST")
	for _, one := range totals {
		t.Add(string(one.Site), string(s.Other(one.Site)), strconv.Itoa(one.Jobs), display.Hours(one.CPUTime), console.Energy(one.Energy), console.Amount(one.Cost, one.Currency))
	}
	if err := t.Write(b.stdout, "", !b.noHeader); err != nil || len(disputes) == 0 {
		return err
	}
	d := console.NewTable("JOB", "FIELD", string(s.By), string(s.With)) // "theirs" and "ours" are those of the site that compares
	for _, one := range disputes {
		job := one.Job.String()
		if one.Epoch != 0 {
			job += ", epoch " + strconv.FormatUint(uint64(one.Epoch), 10)
		}
		d.Add(job, console.Plain(one.Field), console.Plain(one.Theirs), console.Plain(one.Ours))
	}
	b.printf("\n")
	return d.Write(b.stdout, "", !b.noHeader)
}
