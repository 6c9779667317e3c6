package experiment_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var update = flag.Bool("update", false, "write the built-in experiments and the reference anew")

// presetText writes the file of a built-in experiment from its workload.
func presetText(name, about string, sources []workload.Source) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# %s
# The superscheduler paper (Shan, Oliker and Biswas, SC 2003): the machines of its Table 1 and the models of its
# Tables 2 to 4. The size biases are calibrated against its Table 6; docs/reproduction.md says how.
# Made by "go test ./internal/experiment -update" from internal/workload; changes by hand are lost.

name = %q
about = %q
scheme = "sender"
compare = ["local", "receiver", "symmetric", "central", "ideal"]
seeds = 10

[rounds]
round_jobs = 1 # the paper: one query at a time
`, about, name, about)
	for i, s := range sources {
		m := s.Site()
		name := strings.ToLower(m.Name)
		fmt.Fprintf(&b, "\n[[site]]\nname = %q\n\n[site.localsched]\ncpus = %d\nnodes = %d\nmhz = %d\nmachine = \"whole-node\"\npolicy = \"easy\"\n",
			name, m.CPUs(), m.Nodes, m.MHz)
		fmt.Fprintf(&b, "\n[[workload]]\nsite = %q\nmodel = \"M%d\"\nspan = \"%dd\"\n", name, i%3+1, s.Options.Span/protocol.Day)
		if s.Options.Jobs > 0 {
			fmt.Fprintf(&b, "jobs = %d\n", s.Options.Jobs)
		}
		if s.Options.Bias != 0 {
			fmt.Fprintf(&b, "bias = %s\n", strconv.FormatFloat(s.Options.Bias, 'f', -1, 64))
		}
	}
	return b.String()
}

// TestPresetsAreThePapersWorkloads: the embedded files describe exactly the
// workloads that the reproduction uses.
func TestPresetsAreThePapersWorkloads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		about   string
		sources []workload.Source
	}{
		"heavy": {"Six machines under heavy load for two weeks", workload.Heavy()},
		"light": {"Six machines under light load for two weeks", workload.Light()},
	} {
		want := presetText(name, c.about, c.sources)
		if *update {
			if err := os.WriteFile("presets/"+name+".toml", []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if text, err := experiment.PresetText(name); err != nil || text != want {
			t.Errorf("%s: %v; run go test ./internal/experiment -update", name, err)
		}
		plan, err := experiment.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if err = plan.Open(); err != nil {
			t.Fatal(err)
		}
		got, err := plan.Jobs(7)
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := workload.Mix(c.sources, 7)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, drawn) {
			t.Errorf("%s: the preset's %d jobs are not those of workload.Mix, %d", name, len(got), len(drawn))
		}
	}
}
