package experiment

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Drawn is a workload that was drawn from a model, for people and for JSON.
type Drawn struct {
	Model   string        `json:"model"`
	Seed    uint64        `json:"seed"`
	Jobs    int           `json:"jobs"`
	History int           `json:"history_jobs"`
	Span    float64       `json:"span_s"`
	Run     float64       `json:"mean_run_s"`
	Systems []DrawnSystem `json:"systems"`

	grid *workload.Grid
}

// DrawnSystem is a system and what comes to it.
type DrawnSystem struct {
	workload.System
	workload.SystemLoad
}

// Draw tells what was drawn from a model and a seed.
func Draw(model string, seed uint64, grid *workload.Grid) *Drawn {
	d := &Drawn{
		Model: model, Seed: seed, Jobs: len(grid.Jobs), History: grid.History,
		Span: float64(grid.Span()) / float64(protocol.Second), grid: grid,
	}
	for i, load := range grid.Loads() {
		d.Run += load.Run * float64(load.Jobs) / float64(len(grid.Jobs))
		d.Systems = append(d.Systems, DrawnSystem{grid.Systems[i], load})
	}
	return d
}

// Text tells what comes to each system.
func (d *Drawn) Text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s in %s, %s in the mean.\n\n",
		d.grid.Name, protocol.Count(d.Jobs, "job"), console.Span(d.grid.Span()), console.Seconds(d.Run))
	t := console.NewTable("SYSTEM", " CORES", "PRICES", " JOBS", " OFFERED", " MEAN CORES", " SERIAL", " 2^k", " MEAN RUN", " ASKED FOR", " THE MOST")
	for _, s := range d.Systems {
		t.Add(s.Name, strconv.Itoa(s.System.Cores), console.OrDash(s.PriceArea), strconv.Itoa(s.Jobs), console.Part(s.Load), console.Decimals(s.SystemLoad.Cores),
			console.Part(s.Serial), console.Part(s.PowerOfTwo), console.Seconds(s.Run), console.Seconds(s.Estimate), console.Part(s.Longest))
	}
	out.WriteString(t.Text("", true))
	out.WriteString("\nOFFERED is the work in proportion to what the system can do in that time; THE MOST is the share of\n" +
		"jobs that ask for the system's largest estimate.\n")
	return out.String()
}
