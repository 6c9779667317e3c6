// Command benchratio runs the benchmarks of packages, for `make bench`, and prints their ratios beside
// the recorded ones. Machines differ in speed, and one machine from hour to hour, so a time is divided
// by that of a fixed workload, which runs before and after each package. A unit of a benchmark that
// begins with "x-" is a ratio already: to something else that the benchmark has measured in the same
// run, such as a bare fsync. Nothing here passes or fails by its ratio.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/console"
)

func main() {
	var cfg config
	flag.StringVar(&cfg.pattern, "bench", ".", "run the benchmarks that match this `regexp`")
	flag.StringVar(&cfg.benchTime, "benchtime", "1s", "run each for this `duration`, or this number of times (100x)")
	flag.IntVar(&cfg.count, "count", 1, "run each `n` times; the median counts")
	flag.StringVar(&cfg.recorded, "recorded", "internal/benchratio/recorded.tsv", "`file` of the recorded ratios")
	flag.BoolVar(&cfg.record, "record", false, "write the new ratios to that file")
	flag.Parse()
	if err := run(context.Background(), cfg, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "benchratio:", err)
		os.Exit(1)
	}
}

type config struct {
	pattern   string
	benchTime string
	count     int
	recorded  string
	record    bool
}

// run runs the benchmarks of the packages. When one fails, the others' ratios are printed and recorded
// all the same.
func run(ctx context.Context, cfg config, packages []string, out io.Writer) error {
	file, err := os.ReadFile(cfg.recorded)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the recorded ratios: %w", err)
	}
	recorded, err := parseRatios(file)
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.recorded, err)
	}
	measured := ratios{}
	var failed []error
	for _, pkg := range packages {
		results, failure := benchmark(ctx, cfg, pkg, out)
		if failure != nil {
			failed = append(failed, fmt.Errorf("%s: %w", pkg, failure))
		}
		maps.Copy(measured, results)
	}
	_, err = fmt.Fprintln(out, "\nRatios: 1 is the time of the reference workload, or what the unit names.")
	if err = errors.Join(err, table(measured, recorded).Write(out, "", true)); err != nil {
		return fmt.Errorf("print the ratios: %w", err)
	}
	if cfg.record {
		maps.Copy(recorded, measured)
		if err := os.WriteFile(cfg.recorded, recorded.text(), 0o644); err != nil { //nolint:gosec // a file of the repository
			failed = append(failed, fmt.Errorf("record the ratios: %w", err))
		}
	}
	return errors.Join(failed...)
}

// benchmark runs the benchmarks of one package and copies to out what go test prints.
func benchmark(ctx context.Context, cfg config, pkg string, out io.Writer) (ratios, error) {
	before := reference()
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", cfg.pattern, //nolint:gosec // our own flags
		"-benchtime", cfg.benchTime, "-count", strconv.Itoa(cfg.count), "-benchmem", pkg)
	var printed bytes.Buffer
	cmd.Stdout = io.MultiWriter(&printed, out)
	cmd.Stderr = os.Stderr
	err := cmd.Run()
	return parseBenchmarks(bufio.NewScanner(&printed), (before+reference())/2), err
}

// table has the measured ratios beside the recorded ones.
func table(measured, recorded ratios) *console.Table {
	t := console.NewTable("BENCHMARK", "UNIT", " NEW", " RECORDED", " NEW/RECORDED")
	for _, key := range slices.SortedFunc(maps.Keys(measured), compareKeys) {
		before, change := "-", "-"
		if old, ok := recorded[key]; ok {
			before = number(old)
			if old != 0 {
				change = fmt.Sprintf("%.2f", measured[key]/old)
			}
		}
		t.Add(key.benchmark, key.unit, number(measured[key]), before, change)
	}
	return t
}
