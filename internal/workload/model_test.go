package workload_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/workload"
)

func models() map[string]workload.Model {
	return map[string]workload.Model{"M1": workload.M1(), "M2": workload.M2(), "M3": workload.M3()}
}

// The printed shares follow from the printed inter-arrival times, so a slip in
// either would show. The means are worked out by hand from Table 2 and 4.
func TestTablesAgreeWithThemselves(t *testing.T) {
	t.Parallel()
	for name, m := range models() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := m.Validate(); err != nil {
				t.Fatal(err)
			}
			if first, last := m.Classes[0].Min, m.Classes[len(m.Classes)-1].Max; first != 1 || last != m.Machine.CPUs() {
				t.Errorf("the classes cover %d to %d CPUs of %d", first, last, m.Machine.CPUs())
			}
			rate := 0.0
			for _, c := range m.Classes {
				rate += 1 / c.Arrival.Mean()
			}
			for i, c := range m.Classes {
				if i > 0 && c.Min != m.Classes[i-1].Max+1 {
					t.Errorf("class %d begins at %d CPUs", i, c.Min)
				}
				if share := 1 / c.Arrival.Mean() / rate; math.Abs(share-c.Share) > 0.002 {
					t.Errorf("class %d has a share of %v by its arrivals, %v is printed", i, share, c.Share)
				}
			}
		})
	}
	if got := workload.M1().Classes[0].Arrival.Mean(); math.Abs(got-279.8) > 0.05 {
		t.Errorf("M1's first class has a mean inter-arrival time of %v s", got)
	}
	if got := workload.M3().Classes[4].Service.Mean(); math.Abs(got-10986.1) > 0.05 {
		t.Errorf("M3's fifth class has a mean service time of %v s", got)
	}
}

// The paper does not say how n was chosen. Each of its 52 distributions has the
// least order that can have its moments, and the slower branch first, as Match.
func TestTablesHaveTheLeastOrder(t *testing.T) {
	t.Parallel()
	for name, m := range models() {
		for i, c := range m.Classes {
			for kind, want := range map[string]workload.HyperErlang{"arrival": c.Arrival, "service": c.Service} {
				got, matched := workload.Match(want.Moments(), 32)
				if matched != 3 || got.N != want.N || !near(got.Lambda1, want.Lambda1, 1e-6) ||
					!near(got.Lambda2, want.Lambda2, 1e-6) || !near(got.Rho, want.Rho, 1e-6) {
					t.Errorf("%s class %d %s: %+v came back as %+v", name, i, kind, want, got)
				}
			}
		}
	}
}

func TestModelValidate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(*workload.Model)
		want  string
	}{
		"fine":           {func(*workload.Model) {}, ""},
		"no nodes":       {func(m *workload.Model) { m.Machine.Nodes = 0 }, "machine.nodes: 0"},
		"no CPUs":        {func(m *workload.Model) { m.Machine.CPUsPerNode = -8 }, "machine.cpus_per_node: -8"},
		"too many":       {func(m *workload.Model) { m.Machine.Nodes = 1 << 60 }, "machine.nodes: 1152921504606846976"},
		"no clock":       {func(m *workload.Model) { m.Machine.MHz = 0 }, "machine.mhz: 0"},
		"no classes":     {func(m *workload.Model) { m.Classes = nil }, "classes: "},
		"overlap":        {func(m *workload.Model) { m.Classes[2].Min = 24 }, "classes[2].min_cpus: 24 must be above 24"},
		"backwards":      {func(m *workload.Model) { m.Classes[2].Max = 20 }, "classes[2].max_cpus: 20"},
		"too wide":       {func(m *workload.Model) { m.Classes[6].Max = 1153 }, "classes[6].max_cpus: 1153"},
		"share":          {func(m *workload.Model) { m.Classes[1].Share = math.NaN() }, "classes[1].share: NaN"},
		"sum of shares":  {func(m *workload.Model) { m.Classes[1].Share = 0.2 }, "classes: the shares sum to 1.119"},
		"arrival":        {func(m *workload.Model) { m.Classes[3].Arrival.Lambda2 = 0 }, "classes[3].inter_arrival.lambda2: 0"},
		"service":        {func(m *workload.Model) { m.Classes[0].Service.N = -1 }, "classes[0].service.n: -1"},
		"empty class":    {func(m *workload.Model) { m.Classes[0] = workload.Class{} }, "classes[0].min_cpus: 0 must be above 0"},
		"gap is allowed": {func(m *workload.Model) { m.Classes[6].Min = 600 }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := workload.M3()
			test.spoil(&m)
			wantError(t, m.Validate(), test.want)
			if _, err := m.Generate(workload.Options{Span: workload.Table6Span}, 1); test.want != "" {
				wantError(t, err, "model: "+test.want)
			}
		})
	}
}

func TestModelAsText(t *testing.T) {
	t.Parallel()
	want := workload.M2()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got workload.Model
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ncame back as %+v", text, got)
	}
}

func TestNodesOf(t *testing.T) {
	t.Parallel()
	m := workload.Machine{Nodes: 3, CPUsPerNode: 8, MHz: 1}
	for cpus, want := range map[int]int{1: 1, 8: 1, 9: 2, 16: 2, 17: 3, 24: 3} {
		if got := m.NodesOf(cpus); got != want {
			t.Errorf("%d CPUs hold %d nodes, want %d", cpus, got, want)
		}
	}
}
