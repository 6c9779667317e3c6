package gridcost

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// machine is a row of park.csv.
type machine struct {
	name     string
	cpus     int
	memoryMB float64 // per CPU
	watts    float64 // of a CPU
	price    float64 // CHF per CPU-hour
	protocol.Machine
}

// class is a row of classes.csv: components of one kind.
type class struct {
	name     string
	cpus     int
	cases    float64
	memoryMB float64 // per CPU
	behavior protocol.Behavior
}

// record is a row of a table, by the names of its columns.
type record struct {
	path   string
	fields map[string]string
	err    *error
}

// number reads a field, and keeps the first error.
func (r record) number(column string) float64 {
	n, err := strconv.ParseFloat(r.fields[column], 64)
	if err != nil && *r.err == nil {
		*r.err = fmt.Errorf("%s: %s %q is no number", r.path, column, r.fields[column])
	}
	return n
}

// records reads a table of a directory.
func records(directory, name string, wrong *error) ([]record, error) {
	path := filepath.Join(directory, name)
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the machines of [IS]: %w; name the directory examples/iss with --machines", err)
	}
	defer func() { _ = file.Close() }()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all []record
	for _, line := range lines[min(1, len(lines)):] {
		r := record{path: path, fields: map[string]string{}, err: wrong}
		for i, column := range lines[0] {
			r.fields[column] = line[i]
		}
		all = append(all, r)
	}
	return all, nil
}

const wordBytes = 8

// park reads the machines and the classes.
func park(directory string) (machines []machine, classes []class, err error) {
	var wrong error
	rows, err := records(directory, "park.csv", &wrong)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		machines = append(machines, machine{
			name: r.fields["site"], cpus: int(r.number("cpus")), memoryMB: r.number("memory_mb_per_node") / r.number("cpus_per_node"),
			watts: r.number("watts_per_cpu"), price: r.number("chf_per_cpu_hour"),
			Machine: protocol.Machine{
				Flops: int64(1e9 * r.number("peak_gflops")), Words: int64(1e9 * r.number("memory_gb_s") / wordBytes),
				Network: int64(1e6 * r.number("network_mb_s") / wordBytes), Latency: int64(1e3 * r.number("latency_us")), Bus: r.fields["bus"] == "true",
			},
		})
	}
	rows, err = records(directory, "classes.csv", &wrong)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		cpus := int(r.number("cpus"))
		classes = append(classes, class{
			name: r.fields["class"], cpus: cpus, cases: r.number("cases"), memoryMB: r.number("memory_mb_per_cpu"),
			behavior: protocol.Behavior{
				Mflop: int64(r.number("mflop")), Mwords: int64(r.number("mwords")), Sent: int64(r.number("sent_words")), Messages: int64(r.number("messages")),
				CPUs: cpus, Scaling: protocol.Scaling(r.fields["scaling"]),
			},
		})
	}
	return machines, classes, wrong
}

// fits reports whether a component of a class has the CPUs and the memory that it needs on a machine.
func (m *machine) fits(c *class) bool { return c.cpus <= m.cpus && c.memoryMB <= m.memoryMB }

// predicted is a run of a component on a machine.
func (m *machine) predicted(c *class) gamma.Prediction {
	return gamma.Predict(c.behavior, m.Machine, c.cpus)
}

// ranges is Γ of point-to-point communication on the kinds of machines that [IS 2.2] names.
func ranges() exhibit {
	stated := []struct {
		machine, label string
		low, high      float64
	}{
		{"farm", "a bus: Γ ≪ 1", 0, 1},
		{"pentium", "Pentium 4, Fast Ethernet: 2 to 10", 2, 10},
		{"xeon", "Xeon, Gigabit Ethernet: 10 to 50", 10, 50},
		{"opteron", "Opteron, Myrinet: 10 to 50", 10, 50},
		{"xt3", "Cray XT3: Γ ≫ 100", 100, math.Inf(1)},
	}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "is-gamma", Title: "Γ of point-to-point communication", Paper: "[IS 2.2]"},
		notes: []string{
			"The paper's ranges are in the labels; the last column is 1 where ours is within. The machines and the class \"neighbours\" are those of examples/iss.",
		},
		build: func(directory string, r *reproduce.Report) error {
			machines, classes, err := park(directory)
			if err != nil {
				return err
			}
			c := slices.IndexFunc(classes, func(c class) bool { return c.name == "neighbours" })
			t := reproduce.Table{Stub: "machine", Columns: []reproduce.Column{
				{Key: "gamma", Title: "Γ", Digits: 3}, {Key: "efficiency", Title: "efficiency", Unit: "%", Digits: 1}, {Key: "within", Title: "within"},
			}}
			for _, s := range stated {
				m := slices.IndexFunc(machines, func(m machine) bool { return m.name == s.machine })
				if m < 0 || c < 0 {
					return fmt.Errorf("%s: there is no machine %s, or no class neighbours", directory, s.machine)
				}
				p, within := machines[m].predicted(&classes[c]), 0.0
				if s.low < p.Gamma && p.Gamma < s.high {
					within = 1
				}
				t.Rows = append(t.Rows, reproduce.Row{Label: s.label, Cells: []reproduce.Cell{
					reproduce.Ours(p.Gamma), reproduce.Ours(100 * p.Efficiency), reproduce.Ours(within),
				}})
			}
			r.Tables = []reproduce.Table{t}
			return nil
		},
	}
}

// What energy costs in [machineCosts], as in examples/iss: CHF per kWh, and the factor of cooling.
const (
	kWhPrice = 0.15
	cooling  = 1.3
)

// machineCosts is what a component of each class costs on each machine.
func machineCosts() exhibit {
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "is-cost", Title: "K_e + K_eco of each class on each machine, CHF", Paper: "[IS 1]: \"up to an order of magnitude\""},
		notes: []string{
			"Prices per CPU-hour and watts are those of examples/iss, where prices are chosen. Energy costs 150 CHF per MWh, with 30 % more for cooling. Waiting is left out.",
			"A machine counts as adequate if Γ > 1 there. –: too few CPUs or too little memory.",
		},
		build: func(directory string, r *reproduce.Report) error {
			machines, classes, err := park(directory)
			if err != nil {
				return err
			}
			t := reproduce.Table{Stub: "class"}
			for _, m := range machines {
				t.Columns = append(t.Columns, reproduce.Column{Key: m.name, Title: m.name})
			}
			t.Columns = append(t.Columns,
				reproduce.Column{Key: "adequate", Title: "largest to smallest, adequate", Digits: 1}, reproduce.Column{Key: "all", Title: "of all", Digits: 1})
			for i := range classes {
				t.Rows = append(t.Rows, classes[i].row(machines))
			}
			r.Tables = []reproduce.Table{t}
			return nil
		},
	}
}

// row is what the components of a class cost on the machines, and the ratios.
func (c *class) row(machines []machine) reproduce.Row {
	row := reproduce.Row{Label: c.name}
	var adequate, all []float64
	for i := range machines {
		m := &machines[i]
		if !m.fits(c) {
			row.Cells = append(row.Cells, reproduce.Cell{})
			continue
		}
		p := m.predicted(c)
		hours := c.cases * float64(c.cpus) * float64(p.Time) / float64(protocol.Hour)
		costs := hours * (m.price + m.watts/1000*cooling*kWhPrice)
		row.Cells = append(row.Cells, reproduce.Ours(costs))
		if all = append(all, costs); p.Gamma > 1 {
			adequate = append(adequate, costs)
		}
	}
	return reproduce.Row{Label: row.Label, Cells: append(row.Cells, ratio(adequate).Beside(10), ratio(all))}
}

// ratio is how many times the largest of some costs is the smallest; an empty cell without any.
func ratio(costs []float64) reproduce.Cell {
	if len(costs) == 0 {
		return reproduce.Cell{}
	}
	return reproduce.Ours(slices.Max(costs) / slices.Min(costs))
}
