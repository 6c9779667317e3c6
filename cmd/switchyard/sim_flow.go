package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
)

// simFlow is one call of sim flow.
type simFlow struct {
	app      *app
	jobs     int
	systems  int
	capacity int
	seed     uint64
	scale    int
}

// maxFlowPairs bounds what is drawn: costs take 4 bytes each.
const maxFlowPairs = 500_000_000

func (a *app) simFlowCommand() *cobra.Command {
	f := simFlow{app: a}
	cmd := &cobra.Command{
		Use:   "flow --jobs N --systems M --capacity Q --seed S",
		Short: "Solve a random min-cost max-flow instance of jobs and systems, and verify the result",
		Long: "Sample an instance of N jobs and M systems with a capacity of Q jobs each, in which four of five\n" +
			"pairs have a cost; place as many jobs as possible at minimum cost; and verify the certificate of\n" +
			"optimality. At scale 100 the instances are those of the comparison with other solvers: hash, flow\n" +
			"and cost are the same on every machine. A larger scale gives fewer equal costs.",
		Example: "  switchyard sim flow --jobs 10000 --systems 58 --capacity 200 --seed 1\n" +
			"  switchyard sim flow --jobs 100000 --systems 58 --capacity 2000 --seed 1 --scale 1000000 --json",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return f.run() },
	}
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "number of jobs")
	cmd.Flags().IntVar(&f.systems, "systems", 0, "number of systems")
	cmd.Flags().IntVar(&f.capacity, "capacity", 0, "maximum number of jobs on each system")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "random seed of the instance")
	cmd.Flags().IntVar(&f.scale, "scale", mincostflow.ReferenceScale, "maximum cost, a multiple of 4")
	return a.query(cmd)
}

// flowJSON is what sim flow prints as JSON.
type flowJSON struct {
	Jobs         int     `json:"jobs"`
	Systems      int     `json:"systems"`
	Capacity     int     `json:"capacity"`
	Seed         uint64  `json:"seed"`
	Scale        int     `json:"scale"`
	Hash         string  `json:"hash"`
	Pairs        int     `json:"pairs"`
	CostSum      int64   `json:"cost_sum"`
	Flow         int     `json:"flow"`
	Cost         int64   `json:"cost"`
	BuildSeconds float64 `json:"build_s"`
	SolveSeconds float64 `json:"solve_s"`
	Certified    bool    `json:"certified"`
}

func (f *simFlow) run() error {
	if err := f.check(); err != nil {
		return err
	}
	start := time.Now()
	problem, err := mincostflow.Instance(f.jobs, f.systems, f.capacity, f.seed, f.scale)
	if err != nil {
		return usage("--%w", err)
	}
	built := time.Now()
	solution, err := mincostflow.Solve(problem, nil)
	if err != nil {
		return err
	}
	solved := time.Now()
	wrong := mincostflow.Certify(problem, solution)
	drawn := problem.Fingerprint()
	err = f.show(&flowJSON{
		Jobs: f.jobs, Systems: f.systems, Capacity: f.capacity, Seed: f.seed, Scale: f.scale,
		Hash: fmt.Sprintf("%016x", drawn.Hash), Pairs: drawn.Pairs, CostSum: drawn.CostSum,
		Flow: solution.Flow, Cost: solution.Cost,
		BuildSeconds: built.Sub(start).Seconds(), SolveSeconds: solved.Sub(built).Seconds(),
		Certified: wrong == nil,
	})
	if wrong != nil {
		return fmt.Errorf("the certificate of the solution is invalid, which is a bug of the solver: %w", wrong)
	}
	return err
}

// check refuses sizes that are missing or too large for a machine's memory.
func (f *simFlow) check() error {
	for _, size := range []struct {
		flag string
		n    int
		most int
	}{
		{"jobs", f.jobs, mincostflow.MaxJobs}, {"systems", f.systems, mincostflow.MaxSystems}, {"capacity", f.capacity, mincostflow.MaxJobs},
	} {
		if size.n < 1 || size.n > size.most {
			return usage("--%s: invalid value %d; use 1 to %d", size.flag, size.n, size.most)
		}
	}
	if f.jobs > maxFlowPairs/f.systems {
		return usage("--jobs: %d jobs on %d systems exceed the maximum of %d pairs", f.jobs, f.systems, maxFlowPairs)
	}
	return nil
}

func (f *simFlow) show(result *flowJSON) error {
	if f.app.json {
		return f.app.printJSON(result)
	}
	certified := "yes"
	if !result.Certified {
		certified = "no"
	}
	t := console.NewTable("HASH", " PAIRS", " FLOW", " COST", " BUILD", " SOLVE", "CERTIFIED")
	t.Add(result.Hash, strconv.Itoa(result.Pairs), strconv.Itoa(result.Flow), strconv.FormatInt(result.Cost, 10),
		milliseconds(result.BuildSeconds), milliseconds(result.SolveSeconds), certified)
	return t.Write(f.app.stdout, "", true)
}

// milliseconds prints seconds so that solvers can be compared.
func milliseconds(s float64) string { return strconv.FormatFloat(1000*s, 'f', 3, 64) + " ms" }
