package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// machineFlags describe the machine of sim schedule.
type machineFlags struct {
	procs      int
	sized      bool // procs was given
	kind       string
	perNode    int // CPUs; 0: as usual for the kind
	partitions string
	smallest   int
	mesh       bool
}

func (f *machineFlags) addTo(cmd *cobra.Command) {
	var layout config.BGP
	layout.SetDefaults()
	choice(cmd, &f.kind, "machine", config.PerCPU, "how jobs share the machine", config.PerCPU, config.WholeNode, config.Partitioned)
	cmd.Flags().IntVar(&f.perNode, "cpus-per-node", 0, "processors per node (default: 4 for "+config.Partitioned+", else 1)")
	cmd.Flags().StringVar(&f.partitions, "partitions", config.Intrepid,
		"for "+config.Partitioned+": \""+config.Intrepid+"\", racks as \""+config.RacksForm+"\", or a file")
	_ = cmd.RegisterFlagCompletionFunc("partitions", // the flag was just made
		cobra.FixedCompletions([]string{config.Intrepid, config.RacksForm}, cobra.ShellCompDirectiveDefault))
	cmd.Flags().IntVar(&f.smallest, "smallest", layout.Smallest, "for "+config.Partitioned+": nodes of the smallest partition to use")
	cmd.Flags().BoolVar(&f.mesh, "mesh", layout.Mesh, "for "+config.Partitioned+": also use partitions whose loops are not closed")
}

// check refuses what says nothing of such a machine.
func (f *machineFlags) check(cmd *cobra.Command) error {
	f.sized = cmd.Flags().Changed("procs")
	if err := chosen("machine", f.kind, config.PerCPU, config.WholeNode, config.Partitioned); err != nil {
		return err
	}
	idle := []string{"procs"}
	if f.kind != config.Partitioned {
		idle = []string{"partitions", "smallest", "mesh"}
	}
	if f.kind == config.PerCPU {
		idle = append(idle, "cpus-per-node")
	}
	for _, name := range idle {
		if cmd.Flags().Changed(name) {
			return usage("--%s does not apply to --machine %s", name, f.kind)
		}
	}
	if f.perNode < 0 || cmd.Flags().Changed("cpus-per-node") && f.perNode == 0 {
		return usage("--cpus-per-node: invalid value %d; use at least 1", f.perNode)
	}
	if f.smallest < 1 {
		return usage("--smallest: invalid value %d; use at least 1", f.smallest)
	}
	return nil
}

// cpusPerNode is how many CPUs a node has.
func (f *machineFlags) cpusPerNode() int {
	switch {
	case f.perNode > 0:
		return f.perNode
	case f.kind == config.Partitioned:
		return workload.IntrepidCPUsPerNode
	}
	return 1
}

// machine is that which the flags describe, for a trace.
func (f *machineFlags) machine(trace *workload.Trace) (sim.Machine, error) {
	if f.kind == config.Partitioned {
		return f.partitioned()
	}
	procs := f.procs
	if !f.sized {
		procs, _ = trace.Header.CPUs()
	}
	perNode := f.cpusPerNode()
	switch {
	case procs < 1:
		return sim.Machine{}, usage("missing --procs; set it to the processors of the machine")
	case procs%perNode != 0:
		return sim.Machine{}, usage("--procs: %d processors are not a multiple of %d per node", procs, perNode)
	}
	return sim.Machine{Name: "machine", Nodes: procs / perNode, CPUsPerNode: perNode, WholeNode: f.kind == config.WholeNode}, nil
}

func (f *machineFlags) partitioned() (sim.Machine, error) {
	layout, err := config.ReadLayout(f.partitions)
	if err != nil {
		return sim.Machine{}, layoutError("partitions", f.partitions, err)
	}
	machine := sim.Machine{
		Name: "machine", Nodes: layout.Nodes(), CPUsPerNode: f.cpusPerNode(),
		Partitions: &sim.Partitions{Layout: layout, Enabled: engine.Enabled{Smallest: f.smallest, TorusOnly: !f.mesh}},
	}
	if _, err = machine.Model(); err != nil {
		return sim.Machine{}, usage("--smallest: %w", err)
	}
	return machine, nil
}

// whole says whether jobs hold CPUs that they have not asked for.
func (f *machineFlags) whole() bool { return f.kind != config.PerCPU }

// larger says how to make more jobs fit.
func (f *machineFlags) larger() string {
	if f.kind == config.Partitioned {
		return "name larger partitions with --partitions"
	}
	return "name a larger machine with --procs"
}
