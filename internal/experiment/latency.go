package experiment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Latency are the times that the peer and the local scheduler of a site need for their work.
type Latency struct {
	Commit protocol.Duration `toml:"commit"`
	Call   protocol.Duration `toml:"call"`
	Submit protocol.Duration `toml:"submit"`
	Start  protocol.Duration `toml:"start"`
	End    protocol.Duration `toml:"end"`
}

func (l Latency) simulated() sim.Latencies {
	return sim.Latencies{
		Commit: l.Commit, Call: l.Call, Job: sim.JobLatencies{Submit: l.Submit, Start: l.Start, End: l.End},
	}
}

func (c *checker) latency(key string, s *Site) {
	c.span(key+".first_check", s.FirstCheck, 0)
	c.AtLeast(key+".peer_seed", s.PeerSeed, 0)
	for _, one := range []struct {
		name string
		of   protocol.Duration
	}{
		{"commit", s.Latency.Commit},
		{"call", s.Latency.Call},
		{"submit", s.Latency.Submit},
		{"start", s.Latency.Start},
		{"end", s.Latency.End},
	} {
		c.span(key+".latency."+one.name, one.of, 0)
	}
}

// JobLatencies are those of the jobs of a site, by their numbers in its trace.
type JobLatencies map[int64]sim.JobLatencies

// latencyColumns is the first line of a file of latencies.
func latencyColumns() []string { return []string{"job_id", "submit", "start", "end"} }

// Write writes the file that [Workload].Latencies names: a line for each job, by its number, with
// seconds.
func (l JobLatencies) Write(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(latencyColumns()); err != nil {
		return err
	}
	ids := make([]int64, 0, len(l))
	for id := range l {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
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
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the latencies: %w", err)
	}
	all, err := parseLatencies(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

func parseLatencies(from io.Reader) (JobLatencies, error) {
	in := csv.NewReader(from)
	head, err := in.Read()
	if err != nil || !slices.Equal(head, latencyColumns()) {
		return nil, errors.Join(fmt.Errorf("line 1: write the columns %s", strings.Join(latencyColumns(), ",")), err)
	}
	all := JobLatencies{}
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := in.FieldPos(0)
		id, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: job_id %q is no number", line, fields[0])
		}
		if _, twice := all[id]; twice {
			return nil, fmt.Errorf("line %d: job %d comes twice", line, id)
		}
		var values [3]protocol.Duration
		for i, text := range fields[1:] {
			ms, err := (decimal.Form{Scale: 3, Max: int64(365 * protocol.Day)}).Parse(text)
			if err != nil {
				return nil, fmt.Errorf("line %d: %s %q: %w; write seconds, such as 0.25", line, latencyColumns()[i+1], text, err)
			}
			values[i] = protocol.Duration(ms)
		}
		all[id] = sim.JobLatencies{Submit: values[0], Start: values[1], End: values[2]}
	}
}

// checkLatencies checks that the jobs of a file of latencies are those of the only workload of their site,
// whose numbers they keep.
func (p *Plan) checkLatencies(c *checker, key string, w *Workload) {
	if w.Latencies == "" {
		return
	}
	c.idle(key, "jobs of several sites", []idleKey{{"latencies", w.ofGrid()}})
	others := 0
	for i := range p.Workloads {
		if other := &p.Workloads[i]; other.Site == w.Site || other.ofGrid() {
			others++
		}
	}
	if others > 1 {
		c.Problem(key+".latencies", "is for a site with one workload, whose job numbers it has; %s has %d", w.Site, others)
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
