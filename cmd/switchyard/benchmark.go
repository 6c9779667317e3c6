package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/nodebench"
)

func (a *app) benchmarkCommand() *cobra.Command {
	span := nodebench.DefaultSpan
	cmd := &cobra.Command{
		Use:   "benchmark",
		Short: "Measure the CPUs and memory of this node, for run time predictions",
		Long: "Measure the peak performance R∞ and the memory bandwidth M∞ per CPU of this node while all its\n" +
			"CPUs are busy, and print the table [localsched.cpu_model] for nodes of this type. Run it on an idle\n" +
			"node. The network is not measured, because that takes two nodes; fill in its keys.\n\n" +
			"The benchmark is Go code without vector instructions. Its memory bandwidth is representative.\n" +
			"Compiled programs may reach a higher peak, which is printed as a comment.",
		Example: "  switchyard benchmark >> switchyard.toml\n" +
			"  switchyard benchmark --json\n" +
			"  srun -N1 --exclusive switchyard benchmark --span 5s",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if span <= 0 {
				return usage("invalid --span %v; use a duration above 0", span)
			}
			measured, err := nodebench.Measure(cmd.Context(), span)
			if err != nil {
				return fmt.Errorf("benchmark this node: %w", err)
			}
			return a.printMachine(measured)
		},
	}
	cmd.Flags().DurationVar(&span, "span", span, "approximate duration of the measurement")
	return a.query(cmd)
}

// machineJSON is the JSON output of benchmark.
type machineJSON struct {
	CPUs       int   `json:"cpus"`
	MHz        int   `json:"mhz,omitempty"`
	Flops      int64 `json:"flops"`                   // of a CPU, a second
	Nominal    int64 `json:"nominal_flops,omitempty"` // of a CPU, a second
	Words      int64 `json:"words"`                   // of 64 bits, of a CPU, a second
	WorkingSet int64 `json:"working_set_bytes"`
	Cache      int64 `json:"cache_bytes,omitempty"`
	Cached     bool  `json:"cached"` // caches may have served the memory's measurement
}

func (a *app) printMachine(r nodebench.Result) error {
	if a.json {
		return a.printJSON(machineJSON{
			CPUs: r.CPUs, MHz: r.MHz, Flops: r.Flops, Nominal: r.Nominal, Words: r.Words,
			WorkingSet: r.WorkingSet, Cache: r.Cache, Cached: r.Cached(),
		})
	}
	a.printf("%s", gammaTable(r))
	return nil
}

// gammaTable is the table [localsched.cpu_model] with the measured values.
func gammaTable(r nodebench.Result) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("# Measured by switchyard benchmark on this node, %d CPUs in parallel.", r.CPUs)
	line("[localsched.cpu_model]")
	if r.Nominal > r.Flops {
		line("# Go code without vector instructions. From its clock (%d MHz) and instruction sets a CPU may reach", r.MHz)
		line("# %s Gflop/s: use that value if programs are compiled for this CPU.", inBillions(r.Nominal))
	}
	line("peak_gflops = %s", inBillions(r.Flops))
	if r.Cached() {
		line("# Measured over %d MB, of which %d fit into the cache: main memory may be slower.", r.WorkingSet>>20, r.Cache>>20)
	}
	const wordBytes, mega = 8, 1_000_000
	line("memory_bandwidth = \"%dMB/s\"", (wordBytes*r.Words+mega/2)/mega)
	line("# Not measured: network bandwidth per CPU and message latency. A ping-pong benchmark between")
	line("# two nodes measures both (IMB, OSU).")
	line("#network_bandwidth = \"100Mbit/s\"")
	line("#latency_us = 60.0")
	return out.String()
}

// inBillions formats a rate in units of 1e9 with three decimals.
func inBillions(rate int64) string { return strconv.FormatFloat(float64(rate)/1e9, 'f', 3, 64) }
