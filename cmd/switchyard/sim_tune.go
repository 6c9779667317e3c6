package main

import (
	"context"
	"errors"
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
	app     *app
	method  string // empty: that of the experiment
	runs    int    // 0: those of the experiment
	buy     bool
	workers int
	html    string
}

func (a *app) simTuneCommand() *cobra.Command {
	s := simTune{app: a}
	cmd := &cobra.Command{
		Use:   "tune EXPERIMENT",
		Short: "Search weights and prices that do best, and what to buy next",
		Long: "Search the values of some keys of an experiment, above all the weights of the cost function, that do\n" +
			"best by a goal: its tables [tune], [tune.goal] and [[tune.axis]] say what may change and what counts.\n" +
			"With --buy its [[candidate]] machines are ranked by what each would change in the grid with the best\n" +
			"weights, and what users would choose if waiting cost nothing tells which machines are overused.",
		Example: "  switchyard sim tune examples/experiments/iss-tune.toml\n" +
			"  switchyard sim tune examples/experiments/iss-tune.toml --method nelder-mead --runs 20\n" +
			"  switchyard sim tune examples/iss/buy.toml --buy --html bought",
		Args:              oneExperiment,
		ValidArgsFunction: completeExperiments,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.run(cmd.Context(), args[0], cmd.Flags().Changed("runs"))
		},
	}
	choice(cmd, &s.method, "method", "", "how to search; not given: as the experiment says", experiment.Methods()...)
	cmd.Flags().IntVar(&s.runs, "runs", 0, "points that are simulated at most (those of the experiment)")
	cmd.Flags().BoolVar(&s.buy, "buy", false, "rank the experiment's candidates, too")
	cmd.Flags().IntVar(&s.workers, "workers", runtime.GOMAXPROCS(0), "simulations at once")
	cmd.Flags().StringVar(&s.html, "html", "", "folder for a page, index.html, and its figures; it is made")
	return a.query(cmd)
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
	unmake, err := s.folder()
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

// folder makes that of the page before hours are spent on what it will show. Unmake removes it
// again, unless it was there.
func (s *simTune) folder() (unmake func(), err error) {
	if s.html == "" {
		return func() {}, nil
	}
	_, missing := os.Stat(s.html)
	if err = os.MkdirAll(s.html, 0o755); err != nil || missing == nil { //nolint:gosec // a report is for everybody
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
		return nil, usage("--workers is a count, of 1 or more")
	}
	study.Buy, study.Workers = s.buy, s.workers
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
	if s.buy {
		words = append(words, "--buy")
	}
	page, err := found.Page(report.Source{Command: strings.Join(words, " "), Version: version})
	if err != nil {
		return err
	}
	_, err = page.WriteFolder(s.html)
	return err
}
