package experiment

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (c *checker) latency(key string, s *Site) {
	c.span(key+".first_check", s.FirstCheck, 0)
	c.AtLeast(key+".peer_seed", s.PeerSeed, 0)
	for name, value := range settings.Fields(reflect.ValueOf(s.Latency)) {
		c.span(key+".latency."+name, protocol.Duration(value.Int()), 0)
	}
}

// JobLatencies are those of the jobs of a site, by their numbers in its trace.
type JobLatencies map[int64]sim.JobLatencies

// latencyColumns is the first line of a file of latencies.
func latencyColumns() []string { return []string{jobIDColumn, "submit", "start", "end"} }

// Write writes the file that [Workload].Latencies names: a line for each job, by its number, with
// seconds.
func (l JobLatencies) Write(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(latencyColumns()); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(l)) {
		one := l[id]
		if err := out.Write([]string{strconv.FormatInt(id, 10), seconds(one.Submit), seconds(one.Start), seconds(one.End)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func seconds(d protocol.Duration) string { return fmt.Sprintf("%d.%03d", d/1000, d%1000) }

// readLatencies reads a file of latencies. The error names the line.
func readLatencies(path string) (JobLatencies, error) {
	all := JobLatencies{}
	table := jobTable{
		about: "latencies",
		header: func(columns []string) error {
			if !slices.Equal(columns, latencyColumns()) {
				return fmt.Errorf("write the columns %s", strings.Join(latencyColumns(), ","))
			}
			return nil
		},
		row: func(id int64, fields []string) error {
			var values [3]protocol.Duration
			for i, text := range fields[1:] {
				ms, err := (decimal.Form{Scale: 3, Max: int64(365 * protocol.Day)}).Parse(text)
				if err != nil {
					return fmt.Errorf("%s %q: %w; write seconds, such as 0.25", latencyColumns()[i+1], text, err)
				}
				values[i] = protocol.Duration(ms)
			}
			all[id] = sim.JobLatencies{Submit: values[0], Start: values[1], End: values[2]}
			return nil
		},
	}
	return all, table.read(path)
}

// checkJobTables checks that the jobs of files of latencies and requests are those of the only workload of their
// site, whose numbers they keep.
func (p *Plan) checkJobTables(c *checker, key string, w *Workload) {
	if w.Latencies == "" && w.Requests == "" {
		return
	}
	c.idle(key, "jobs of several sites", []idleKey{{"latencies", w.Latencies != "" && w.ofGrid()}, {"requests", w.Requests != "" && w.ofGrid()}})
	others := 0
	for i := range p.Workloads {
		if other := &p.Workloads[i]; other.Site == w.Site || other.ofGrid() {
			others++
		}
	}
	for _, one := range []idleKey{{"latencies", w.Latencies != ""}, {"requests", w.Requests != ""}} {
		if one.set && others > 1 {
			c.Problem(key+"."+one.name, "is for a site with one workload, whose job numbers it has; %s has %d", w.Site, others)
		}
	}
}

// jobLatencies are those of a run's jobs; nil: no workload states any.
func (p *Plan) jobLatencies(jobs []workload.Job) []*sim.JobLatencies {
	bySite := make([]JobLatencies, len(p.Sites))
	stated := false
	for i := range p.inputs {
		if in := &p.inputs[i]; in.latencies != nil {
			bySite[p.site(in.site)], stated = in.latencies, true
		}
	}
	if !stated {
		return nil
	}
	all := make([]*sim.JobLatencies, len(jobs))
	for i := range jobs {
		if own, known := bySite[jobs[i].Origin][jobs[i].ID]; known {
			all[i] = &own
		}
	}
	return all
}
