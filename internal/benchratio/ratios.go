package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// key is what a ratio is of.
type key struct {
	benchmark string // with the package, without the module
	unit      string // timeUnit, or one of the benchmark's own that begins with ownRatio
}

const (
	timeUnit = "x-reference"
	ownRatio = "x-"
)

type ratios map[key]float64

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.benchmark, b.benchmark), cmp.Compare(a.unit, b.unit))
}

// cpus is the number of CPUs that go test adds to a benchmark's name.
var cpus = regexp.MustCompile(`-\d+$`)

// parseBenchmarks reads what go test prints of one package; reference is the
// time of the reference workload in nanoseconds. The median of each benchmark's repetitions counts.
func parseBenchmarks(lines *bufio.Scanner, reference float64) ratios {
	all := map[key][]float64{}
	pkg := ""
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "pkg: "); ok {
			_, path, _ := strings.Cut(name, "/") // host
			_, path, _ = strings.Cut(path, "/")  // owner
			_, pkg, _ = strings.Cut(path, "/")
			continue
		}
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := pkg + "." + strings.TrimPrefix(cpus.ReplaceAllString(fields[0], ""), "Benchmark")
		for i := 2; i+1 < len(fields); i += 2 { // after the name and the number of iterations
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				break // a line of a log
			}
			switch unit := fields[i+1]; {
			case unit == "ns/op":
				all[key{name, timeUnit}] = append(all[key{name, timeUnit}], value/reference)
			case strings.HasPrefix(unit, ownRatio):
				all[key{name, unit}] = append(all[key{name, unit}], value)
			}
		}
	}
	medians := ratios{}
	for k, values := range all {
		slices.Sort(values)
		medians[k] = values[len(values)/2]
	}
	return medians
}

// parseRatios reads the recorded ratios: a benchmark, a unit and a ratio on each line, with tabs between.
func parseRatios(text []byte) (ratios, error) {
	recorded := ratios{}
	for i, line := range strings.Split(string(bytes.TrimSpace(text)), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d has %d columns; want 3: benchmark, unit, ratio", i+1, len(fields))
		}
		ratio, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: invalid ratio %q", i+1, fields[2])
		}
		recorded[key{fields[0], fields[1]}] = ratio
	}
	return recorded, nil
}

func (r ratios) text() []byte {
	var out bytes.Buffer
	out.WriteString("# Written by make bench-record. Benchmark, unit, ratio: docs/performance.md explains them.\n")
	for _, key := range slices.SortedFunc(maps.Keys(r), compareKeys) {
		fmt.Fprintf(&out, "%s\t%s\t%s\n", key.benchmark, key.unit, number(r[key]))
	}
	return out.Bytes()
}

// number has three significant digits: repetitions vary by more.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
