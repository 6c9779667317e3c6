package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/nodebench"
)

func (a *app) machineCommand() *cobra.Command {
	span := nodebench.DefaultSpan
	cmd := &cobra.Command{
		Use:   "machine",
		Short: "Measure this computer's CPUs and memory, for run time predictions",
		Long: "Measure the peak R∞ and the memory bandwidth M∞ of a CPU of this computer, while all of its CPUs\n" +
			"are at work, and print the table [localsched.gamma] of a peer whose nodes are such computers. Run\n" +
			"it on a node that does nothing else. The network is not measured, which takes two nodes: its keys\n" +
			"are there to be filled in.\n\n" +
			"What is measured is Go code, which makes no use of vector units. The memory bandwidth is as\n" +
			"good as in other languages; of the peak, what programs may reach that are compiled for this\n" +
			"computer is printed beside it.",
		Example: "  switchyard machine >> switchyard.toml\n" +
			"  switchyard machine --json\n" +
			"  srun -N1 --exclusive switchyard machine --span 5s",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if span <= 0 {
				return usage("--span %v is no time to measure in", span)
			}
			measured, err := nodebench.Measure(cmd.Context(), span)
			if err != nil {
				return fmt.Errorf("measure this computer: %w", err)
			}
			return a.printMachine(measured)
		},
	}
	cmd.Flags().DurationVar(&span, "span", span, "how long to measure, about")
	return a.query(cmd)
}

// machineJSON is what machine prints as JSON.
type machineJSON struct {
	CPUs       int   `json:"cpus"`
	MHz        int   `json:"mhz,omitempty"`
	Flops      int64 `json:"flops"`                   // of a CPU, a second
	Nominal    int64 `json:"nominal_flops,omitempty"` // likewise
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

// gammaTable is the table [localsched.gamma] of a machine whose CPUs are as measured.
func gammaTable(r nodebench.Result) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("# Measured by switchyard machine on this computer, %d CPUs at once.", r.CPUs)
	line("[localsched.gamma]")
	if r.Nominal > r.Flops {
		line("# Of Go code, without vector units. By its clock (%d MHz) and its instruction sets a CPU may reach", r.MHz)
		line("# %s Gflop/s: write that, if the programs here are compiled for it.", inBillions(r.Nominal))
	}
	line("peak_gflops = %s", inBillions(r.Flops))
	if r.Cached() {
		line("# Over %d MB, of which the cache holds %d: main memory may be slower.", r.WorkingSet>>20, r.Cache>>20)
	}
	const wordBytes, mega = 8, 1_000_000
	line("memory_bandwidth = \"%dMB/s\"", (wordBytes*r.Words+mega/2)/mega)
	line("# Not measured: what a CPU can send, and the latency of a message. A ping-pong benchmark between")
	line("# two nodes tells both (IMB, OSU).")
	line("#network_bandwidth = \"100Mbit/s\"")
	line("#latency_us = 60.0")
	return out.String()
}

// inBillions prints a rate with three digits behind the point, as TOML has numbers.
func inBillions(rate int64) string { return strconv.FormatFloat(float64(rate)/1e9, 'f', 3, 64) }
