package experiment

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// WriteModel writes a model as a file that [ReadModel] and the key model_file
// read, below comments that say where it comes from.
func WriteModel(w io.Writer, m workload.Model, comments ...string) error {
	var b strings.Builder
	for _, comment := range comments {
		for line := range strings.SplitSeq(comment, "\n") {
			b.WriteString(strings.TrimRight("# "+printable(line), " ") + "\n")
		}
	}
	fmt.Fprintf(&b, "\n[machine]\nname = %q\nnodes = %d\ncpus_per_node = %d\nmhz = %d\n",
		printable(m.Machine.Name), m.Machine.Nodes, m.Machine.CPUsPerNode, m.Machine.MHz)
	for _, c := range m.Classes {
		fmt.Fprintf(&b, "\n[[classes]]\nmin_cpus = %d\nmax_cpus = %d\nshare = %s\n", c.Min, c.Max, floatTOML(c.Share))
		for _, part := range []struct {
			key string
			of  workload.HyperErlang
		}{{"inter_arrival", c.Arrival}, {"service", c.Service}} {
			fmt.Fprintf(&b, "%s = { n = %d, lambda1 = %s, lambda2 = %s, rho = %s }\n", part.key,
				part.of.N, floatTOML(part.of.Lambda1), floatTOML(part.of.Lambda2), floatTOML(part.of.Rho))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// floatTOML prints a number so that it reads back as the same, always as one with a
// point or an exponent.
func floatTOML(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if strings.ContainsAny(text, ".e") {
		return text
	}
	return text + ".0"
}

// printable replaces what may not stand in a comment or text of TOML.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, s)
}
