package recordedgrid

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Change is what of the sites' configurations an experiment changes.
type Change struct {
	Policy     string            // empty: none
	Initiation policy.Initiation // empty: none, unless the policy requires another one
}

// File is the name of the experiment that [Grid.Write] writes.
const File = "experiment.toml"

// Write writes the experiment of the grid to an existing directory: [File], and for each site a trace, the latencies
// and the requests of its jobs. Configs are the files or directories with the configurations of the sites, by name.
func (g *Grid) Write(dir string, configs map[protocol.SiteName]string, change Change) error {
	if err := g.checkConfigs(configs); err != nil {
		return err
	}
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("# Written by \"switchyard sim from-record\". Times are by the clock of site %s.", g.Sites[0].Name)
	line("name = \"recorded\"\nscheme = %q", experiment.Configured)
	if change.Policy != "" {
		line("\n[policy]\nname = %q", change.Policy)
	}
	if change.Initiation != "" {
		line("\n[rounds]\ninitiation = %q", change.Initiation)
	}
	for i := range g.Sites {
		s := &g.Sites[i]
		path, err := filepath.Abs(configs[s.Name])
		if err != nil {
			return fmt.Errorf("find the configuration of site %s: %w", s.Name, err)
		}
		line("\n[[site]]\nconfig = %q", path)
		if s.Seed <= math.MaxInt64 {
			line("peer_seed = %d", s.Seed)
		}
		if s.FirstCheck > 0 {
			line("first_check = %q", settings.FormatDuration(s.FirstCheck))
		}
		line("\n[site.latency]")
		for name, value := range settings.Fields(reflect.ValueOf(s.Latencies)) {
			line("%-6s = %s", name, settings.Format(value))
		}
	}
	for _, l := range g.Links {
		line("\n[[link]]\na = %q\nb = %q\nlatency = %q", g.Sites[l.A].Name, g.Sites[l.B].Name, settings.FormatDuration(l.Latency))
	}
	for i := range g.Sites {
		if err := g.writeJobs(dir, i, line); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, File), []byte(out.String()), 0o600)
}

// checkConfigs checks that there is a configuration for each site and no other.
func (g *Grid) checkConfigs(configs map[protocol.SiteName]string) error {
	var errs []error
	for i := range g.Sites {
		if configs[g.Sites[i].Name] == "" {
			errs = append(errs, fmt.Errorf("the configuration of site %s is missing: a recording has the settings of its peer, and not of its local scheduler; give --site", g.Sites[i].Name))
		}
	}
	if len(errs) == 0 && len(configs) > len(g.Sites) {
		errs = append(errs, errors.New("there are configurations of sites without a recording; omit them, or give their recordings"))
	}
	return errors.Join(errs...)
}

// writeJobs writes the trace, the latencies and the requests of the jobs that were submitted at a site, and the table of
// their workload. A site without jobs has none.
func (g *Grid) writeJobs(dir string, site int, line func(format string, args ...any)) error {
	trace := workload.Trace{Header: workload.Header{
		workload.HeaderField("UnixStartTime", strconv.FormatInt(int64(g.Begin/1000), 10)),
	}}
	latencies, requests := experiment.JobLatencies{}, experiment.Requests{}
	for i := range g.Jobs {
		job := &g.Jobs[i]
		if job.Origin != site {
			continue
		}
		record := workload.UnknownRecord()
		record.ID, record.Submit, record.Run, record.CPUs, record.ReqTime = number(job.ID), job.Submitted-g.Begin, job.Ran, job.CPUs, job.WallTime
		record.Wait, record.Status = job.Wait(), workload.StatusCompleted
		trace.Records = append(trace.Records, record)
		latencies[record.ID] = job.Latencies
		if job.request != nil {
			requests[record.ID] = *job.request
		}
	}
	if len(trace.Records) == 0 {
		return nil
	}
	name := string(g.Sites[site].Name)
	line("\n[[workload]]\nsite = %q", name)
	write := func(key, file string, to func(io.Writer) error) error {
		var text strings.Builder
		if err := to(&text); err != nil {
			return fmt.Errorf("write the jobs of site %s: %w", name, err)
		}
		line("%s = %q", key, file)
		return os.WriteFile(filepath.Join(dir, file), []byte(text.String()), 0o600)
	}
	err := errors.Join(
		write("trace", name+".swf", func(w io.Writer) error { return workload.WriteSWF(w, &trace) }),
		write("latencies", name+".csv", latencies.Write),
	)
	if len(requests) > 0 {
		err = errors.Join(err, write("requests", name+"-requests.csv", requests.Write))
	}
	return err
}

// number is that of a job in the trace of its origin.
func number(id protocol.JobID) int64 { return int64(id.Seq()) } //nolint:gosec // below 10^12
