package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/tune"
)

// simTune is one call of sim tune.
type simTune struct {
	app            *app
	method         string // empty: that of the experiment
	runs           int    // 0: those of the experiment
	rankCandidates bool
	workers        int
	html           string
	history        string
}

func (a *app) simTuneCommand() *cobra.Command {
	s := simTune{app: a}
	cmd := &cobra.Command{
		Use:   "tune EXPERIMENT",
		Short: "Optimize weights and prices, and rank machines to buy",
		Long: "Search for the values of keys of an experiment, such as the weights of the cost function, that\n" +
			"optimize a goal. Its tables [tune], [tune.goal] and [[tune.axis]] define the keys and the goal.\n" +
			"--rank-candidates ranks its [[candidate]] machines by their effect on the grid with the best weights.\n" +
			"It also shows which machines users would choose if waiting cost nothing: these are overloaded.",
		Example: "  switchyard sim tune examples/experiments/iss-tune.toml\n" +
			"  switchyard sim tune examples/experiments/iss-tune.toml --method nelder-mead --runs 20\n" +
			"  switchyard sim tune examples/iss/buy.toml --rank-candidates --html bought\n" +
			"  switchyard history --all --json >runs.json; switchyard sim tune examples/iss/buy.toml --history runs.json",
		Args:              oneExperiment,
		ValidArgsFunction: completeExperiments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.history == "" {
				return s.run(cmd.Context(), args[0], cmd.Flags().Changed("runs"))
			}
			for _, other := range []string{"method", "runs", "rank-candidates", "html", "workers"} {
				if cmd.Flags().Changed(other) {
					return usage("--%s has no effect with --history; leave one of them out", other)
				}
			}
			return s.priceHistory(args[0])
		},
	}
	choice(cmd, &s.method, "method", "", "search method (default: as in the experiment)", experiment.Methods()...)
	cmd.Flags().IntVar(&s.runs, "runs", 0, "maximum number of simulated points (default: as in the experiment)")
	cmd.Flags().BoolVar(&s.rankCandidates, "rank-candidates", false, "also rank the candidates of the experiment")
	cmd.Flags().IntVar(&s.workers, "workers", runtime.GOMAXPROCS(0), "number of parallel simulations")
	cmd.Flags().StringVar(&s.html, "html", "", "directory for index.html and its figures; it is created")
	cmd.Flags().StringVar(&s.history, "history", "",
		"instead of a search, price the runs of this file, the output of history --all --json, at all sites and candidates")
	return a.query(cmd)
}

// priceHistory prices a run history by the sites of an experiment.
func (s *simTune) priceHistory(name string) error {
	plan, err := s.app.experimentOf(name, experiment.ReadPark)
	if err != nil {
		return err
	}
	file, err := os.Open(s.history)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	history, err := tune.ReadHistory(file)
	if err != nil {
		return fmt.Errorf("%s: %w", s.history, err)
	}
	priced, err := tune.PriceHistory(plan, &history)
	if err != nil {
		return err
	}
	if s.app.json {
		return s.app.printJSON(priced)
	}
	for i, t := range priced.Tables() {
		if i > 0 {
			s.app.printf("\n")
		}
		s.app.printf("%s\n\n", t.Title)
		if err = t.Console().Write(s.app.stdout, "", true); err != nil {
			return err
		}
	}
	return nil
}

func (s *simTune) run(ctx context.Context, name string, limited bool) (err error) {
	study, err := s.study(name, limited)
	if err != nil {
		return err
	}
	if err = s.app.open(study.Plan); err != nil {
		return err
	}
	if err = s.app.start(ctx, study.Plan); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, study.Plan.Close()) }()
	unmake, err := s.makeDir()
	if err != nil {
		return err
	}
	bar := s.app.newProgress(study.Simulations(), "simulations")
	study.Progress = bar.set
	found, err := study.Run(ctx)
	bar.end()
	if err != nil {
		unmake()
		return err
	}
	if err = s.show(found); err != nil || s.html == "" {
		return err
	}
	return s.page(name, found)
}

// makeDir creates the directory of the page before hours are spent on its content. Unmake removes
// it again if it was created here.
func (s *simTune) makeDir() (unmake func(), err error) {
	if s.html == "" {
		return func() {}, nil
	}
	_, missing := os.Stat(s.html)
	if err = os.MkdirAll(s.html, 0o755); err != nil || missing == nil { //nolint:gosec // a report is for all users
		return func() {}, err
	}
	return func() { _ = os.Remove(s.html) }, nil // it is empty
}

func (s *simTune) show(found *tune.Result) error {
	if s.app.json {
		return s.app.printJSON(found)
	}
	return s.app.showTables(found.Summary(), len(found.Seeds))
}

// study is what the experiment and the flags ask for.
func (s *simTune) study(name string, limited bool) (*tune.Study, error) {
	plan, err := s.app.experiment(name)
	if err != nil {
		return nil, err
	}
	study, err := tune.New(plan)
	if err != nil {
		return nil, usage("%w", err)
	}
	if s.workers < 1 {
		return nil, usage("--workers: use at least 1")
	}
	study.Buy, study.Workers = s.rankCandidates, s.workers
	if s.method != "" {
		study.Method = s.method
	}
	if limited {
		study.Runs = s.runs
	}
	if err = study.Check(); err != nil {
		return nil, usage("%w", err)
	}
	return study, nil
}

func (s *simTune) page(name string, found *tune.Result) error {
	words := []string{"switchyard sim tune", name, "--method", found.Method}
	if s.runs > 0 {
		words = append(words, "--runs", strconv.Itoa(s.runs))
	}
	if s.rankCandidates {
		words = append(words, "--rank-candidates")
	}
	page, err := found.Page(report.Source{Command: strings.Join(words, " "), Version: version})
	if err != nil {
		return err
	}
	_, err = page.WriteDir(s.html)
	return err
}
