package gamma_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestReadme: the tables of examples/iss/README.md say what the model says.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../examples/iss/README.md")
	if err != nil {
		t.Fatal(err)
	}
	const mondayMorning = 8
	for _, c := range classes(t) {
		ratios, costs := "| `"+c.name+"` |", "| `"+c.name+"` |"
		for _, s := range park(t) {
			p := gamma.Predict(c.behavior, s.machine, c.cpus)
			z := cost(&c, &s, mondayMorning)
			switch {
			case c.cpus > s.cpus:
				ratios, costs = ratios+" - |", costs+" - |"
				continue
			case p.Gamma == gamma.Huge:
				ratios += " huge |"
			default:
				ratios += fmt.Sprintf(" %.2g |", p.Gamma)
			}
			costs += fmt.Sprintf(" %.0f (%.0f h) |", z, float64(p.Time)/float64(protocol.Hour))
		}
		for _, row := range []string{ratios, costs} {
			if !strings.Contains(string(text), row) {
				t.Errorf("README.md lacks the row\n%s", row)
			}
		}
	}
}
