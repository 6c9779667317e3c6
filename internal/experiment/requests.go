package experiment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Requests are what jobs of a site request beyond CPUs and a time limit, by their numbers in its trace.
type Requests map[int64]protocol.Spec

// requestColumn is a column of a file of requests, with the names of the API.
type requestColumn struct {
	name string
	text func(*protocol.Spec) string // empty: unset
	set  func(*protocol.Spec, string) error
}

func requestColumns() []requestColumn {
	return []requestColumn{
		numberColumn("nodes", func(s *protocol.Spec) *int { return &s.Nodes }),
		numberColumn("max_nodes", func(s *protocol.Spec) *int { return &s.Layout.MaxNodes }),
		numberColumn("tasks", func(s *protocol.Spec) *int { return &s.Layout.Tasks }),
		numberColumn("tasks_per_node", func(s *protocol.Spec) *int { return &s.Layout.TasksPerNode }),
		numberColumn("cpus_per_task", func(s *protocol.Spec) *int { return &s.Layout.CPUsPerTask }),
		numberColumn("memory_mb", func(s *protocol.Spec) *int64 { return &s.MemoryMB }),
		numberColumn("power_ppm", func(s *protocol.Spec) *int { return &s.Power }),
		numberColumn("data_bytes", func(s *protocol.Spec) *int64 { return &s.Data }),
		numberColumn("data_out_bytes", func(s *protocol.Spec) *int64 { return &s.DataOut }),
		{"sites", sitesText, setSites},
		{"qos", func(s *protocol.Spec) string { return s.QOS }, func(s *protocol.Spec, text string) error {
			s.QOS = text
			return nil
		}},
		{"resources", resourcesText, func(s *protocol.Spec, text string) (err error) {
			s.Resources, err = parseResources(text)
			return err
		}},
		{"features", func(s *protocol.Spec) string { return s.Features }, func(s *protocol.Spec, text string) error {
			s.Features = text
			_, err := protocol.ParseFeatures(text)
			return err
		}},
		{"exclusive", exclusiveText, func(s *protocol.Spec, text string) (err error) {
			s.Exclusive = text == yes
			if !s.Exclusive {
				err = errors.New("is not " + yes)
			}
			return err
		}},
		numberColumn("min_time_ms", func(s *protocol.Spec) *protocol.Duration { return &s.MinTime }),
	}
}

// yes is what stands in the column of something that a job wants or not.
const yes = "true"

func exclusiveText(s *protocol.Spec) string {
	if s.Exclusive {
		return yes
	}
	return ""
}

// resourcesText prints resources as --gres has them, and behind each what its count is of: "gpu:a100:2 per node".
func resourcesText(s *protocol.Spec) string {
	list := make([]string, len(s.Resources))
	for i, one := range s.Resources {
		list[i] = fmt.Sprintf("%v per %v", one, one.Per)
	}
	return strings.Join(list, ",")
}

// parseResources reads what resourcesText prints. Without "per" the count is of each node.
func parseResources(text string) (list []protocol.Resource, err error) {
	for word := range strings.SplitSeq(text, ",") {
		kind, per, counted := strings.Cut(strings.TrimSpace(word), " per ")
		one, err := batchscript.ParseResources(kind)
		switch {
		case err != nil:
			return nil, err
		case len(one) != 1:
			return nil, fmt.Errorf("%q is no resource", kind)
		}
		if counted {
			if err = one[0].Per.UnmarshalText([]byte(per)); err != nil {
				return nil, err
			}
		}
		list = append(list, one[0])
	}
	slices.SortFunc(list, protocol.CompareResources)
	return list, (&protocol.Request{Resources: list}).CheckExtras()
}

func numberColumn[N int | int64 | protocol.Duration](name string, field func(*protocol.Spec) *N) requestColumn {
	return requestColumn{
		name: name,
		text: func(s *protocol.Spec) string {
			if n := *field(s); n != 0 {
				return strconv.FormatInt(int64(n), 10)
			}
			return ""
		},
		set: func(s *protocol.Spec, text string) error {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 0 || int64(N(n)) != n {
				return errors.New("is no whole number of at least 0")
			}
			*field(s) = N(n)
			return nil
		},
	}
}

func sitesText(s *protocol.Spec) string {
	names := make([]string, len(s.Sites))
	for i, name := range s.Sites {
		names[i] = string(name)
	}
	return strings.Join(names, ",")
}

func setSites(s *protocol.Spec, text string) error {
	for name := range strings.SplitSeq(text, ",") {
		site := protocol.SiteName(strings.TrimSpace(name))
		if err := site.Validate(); err != nil {
			return err
		}
		s.Sites = append(s.Sites, site)
	}
	return nil
}

// Write writes the file that [Workload].Requests names: a line for each job, by its number.
func (r Requests) Write(w io.Writer) error {
	out, columns := csv.NewWriter(w), requestColumns()
	head := []string{jobIDColumn}
	for i := range columns {
		head = append(head, columns[i].name)
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(r)) {
		spec := r[id]
		line := []string{strconv.FormatInt(id, 10)}
		for i := range columns {
			line = append(line, columns[i].text(&spec))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// readRequests reads a file of requests: job_id and some of the columns. The error names the line.
func readRequests(path string) (Requests, error) {
	all, known := Requests{}, requestColumns()
	var columns []requestColumn // of the file, without the first
	table := jobTable{
		about: "requests",
		header: func(names []string) error {
			if len(names) == 0 || names[0] != jobIDColumn {
				return fmt.Errorf("write the column %s, and then some of %s", jobIDColumn, requestNames())
			}
			for i, name := range names[1:] {
				at := slices.IndexFunc(known, func(c requestColumn) bool { return c.name == name })
				if at < 0 {
					return fmt.Errorf("the column %q is unknown; use %s", name, requestNames())
				}
				if slices.Contains(names[1:1+i], name) {
					return fmt.Errorf("duplicate column %s", name)
				}
				columns = append(columns, known[at])
			}
			return nil
		},
		row: func(id int64, fields []string) error {
			var spec protocol.Spec
			for i, text := range fields[1:] {
				if text == "" {
					continue
				}
				if err := columns[i].set(&spec, text); err != nil {
					return fmt.Errorf("%s %q: %w", columns[i].name, text, err)
				}
			}
			all[id] = spec
			return nil
		},
	}
	return all, table.read(path)
}

func requestNames() string {
	columns := requestColumns()
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	return strings.Join(names, ", ")
}

// requests are those of a run's jobs; nil: no workload states any. The error names the job.
func (p *Plan) requests(jobs []workload.Job) ([]*protocol.Spec, error) {
	bySite := make([]Requests, len(p.Sites))
	stated := false
	for i := range p.inputs {
		if in := &p.inputs[i]; in.requests != nil {
			bySite[p.site(in.site)], stated = in.requests, true
		}
	}
	if !stated {
		return nil, nil
	}
	all := make([]*protocol.Spec, len(jobs))
	for i := range jobs {
		job := &jobs[i]
		own, known := bySite[job.Origin][job.ID]
		if !known {
			continue
		}
		own.CPUs, own.WallTime = job.CPUs, job.Estimate
		if err := own.Check(); err != nil {
			return nil, fmt.Errorf("requests of job %d of site %s: %w", job.ID, p.Sites[job.Origin].Name, err)
		}
		for _, name := range own.Sites {
			if p.site(string(name)) < 0 {
				return nil, fmt.Errorf("requests of job %d of site %s: sites: %s is no [[site]]", job.ID, p.Sites[job.Origin].Name, name)
			}
		}
		all[i] = &own
	}
	return all, nil
}
