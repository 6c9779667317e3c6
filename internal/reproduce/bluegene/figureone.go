package bluegene

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// exampleJob is a job of [BG] Figure 1.
type exampleJob struct{ nodes, watts int }

const (
	exampleNodes  = 9
	exampleBudget = 150_000 // mW
)

// exampleJobs are J1 to J5. The paper prints no table of them: these are assumed, so that what its text says
// comes out.
func exampleJobs() []exampleJob {
	return []exampleJob{{4, 70}, {4, 70}, {5, 85}, {2, 30}, {2, 30}}
}

// figureOne is the example by which [BG 3.1] explains the budget.
func figureOne() exhibit {
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "bg-fig1", Title: "five jobs on nine nodes, 150 W", Paper: "[BG] Figure 1"},
		notes: []string{
			"The paper prints the totals of both halves, not the sizes and powers of the jobs: those of the first table are assumed.",
			"Its text names J1 and J5 for the upper half, where J3 to J5 have no room beside them; with these jobs that is so of J1 and J2.",
		},
		example: func(r *reproduce.Report) error {
			jobs := reproduce.Table{Title: "The jobs, in the order of the queue", Stub: "job", Columns: []reproduce.Column{
				{Key: "nodes", Title: "nodes"}, {Key: "watts", Title: "power", Unit: "W"},
			}}
			for i, j := range exampleJobs() {
				jobs.Rows = append(jobs.Rows, reproduce.Row{
					Label: jobName(i), Cells: []reproduce.Cell{reproduce.Ours(float64(j.nodes)), reproduce.Ours(float64(j.watts))},
				})
			}
			halves := reproduce.Table{Title: "What starts", Stub: "scheduling", Columns: jobs.Columns}
			budget := engine.Budget{Signal: power.Always(exampleBudget), Rates: power.Rates{Busy: exampleRate}}
			filter := budget
			filter.Mode = engine.Filter
			for _, half := range []struct {
				label        string
				policy       engine.Policy
				nodes, watts float64 // the paper's; 0: it has none
			}{
				{"traditional", engine.EASY(), 8, 140},
				{"power-aware (window)", engine.Within(budget, engine.EASY()), 9, 145},
				{"steps 1 to 5 (filter)", engine.Within(filter, engine.EASY()), 0, 0},
			} {
				started, err := startedFirst(half.policy)
				if err != nil {
					return err
				}
				halves.Rows = append(halves.Rows, exampleRow(half.label, started, half.nodes, half.watts))
			}
			r.Tables = []reproduce.Table{jobs, halves}
			return nil
		},
	}
}

// exampleRate is what a CPU draws of a job with all of its power, in microwatts.
const exampleRate = 100_000_000

func jobName(index int) string { return fmt.Sprintf("J%d", index+1) }

// exampleRow sums up jobs that run at once.
func exampleRow(label string, started []int, nodes, watts float64) reproduce.Row {
	var names []string
	ourNodes, ourWatts := 0, 0
	for _, i := range started {
		names = append(names, jobName(i))
		ourNodes, ourWatts = ourNodes+exampleJobs()[i].nodes, ourWatts+exampleJobs()[i].watts
	}
	row := reproduce.Row{
		Label: label + ": " + strings.Join(names, ", "),
		Cells: []reproduce.Cell{reproduce.Ours(float64(ourNodes)), reproduce.Ours(float64(ourWatts))},
	}
	if nodes > 0 {
		row.Cells[0], row.Cells[1] = row.Cells[0].Beside(nodes), row.Cells[1].Beside(watts)
	}
	return row
}

// startedFirst are the jobs that a policy starts at once, by their index.
func startedFirst(policy engine.Policy) (started []int, err error) {
	machine := engine.WholeNode(protocol.Capacity{CPUs: exampleNodes, Nodes: exampleNodes})
	var jobs []workload.Job
	for i, j := range exampleJobs() {
		jobs = append(jobs, workload.Job{
			ID: int64(i) + 1, CPUs: j.nodes, Run: protocol.Hour, Estimate: protocol.Hour, Power: j.watts * protocol.PPM / j.nodes / (exampleRate / 1_000_000),
		})
	}
	starts, _, err := sim.Schedule(jobs, machine, policy, sim.TieBatch)
	for i, at := range starts {
		if at == 0 {
			started = append(started, i)
		}
	}
	return started, err
}
