package main

import (
	"compress/gzip"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// simPartitions is one call of sim partitions.
type simPartitions struct {
	app   *app
	racks string
	check bool
	write string
}

func (a *app) simPartitionsCommand() *cobra.Command {
	p := simPartitions{app: a}
	cmd := &cobra.Command{
		Use:   "partitions [FILE|" + config.Intrepid + "]",
		Short: "Show, check or make the partitions of a Blue Gene",
		Long: "Show how a machine is cut into partitions, for machine = \"bgp\": for each size how many there are,\n" +
			"and how many others, from the fewest to the most, cannot run beside one of them because they\n" +
			"share a node card or a wire. The partitions are those of a file, of the Blue Gene/P Intrepid, or\n" +
			"made in its manner for other racks. What is wrong with a file is told at once, line by line;\n" +
			"the exit code is then 1.",
		Example: "  switchyard sim partitions " + config.Intrepid + "\n" +
			"  switchyard sim partitions --racks 2x8 --write mine.csv\n" +
			"  switchyard sim partitions mine.csv --check",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{config.Intrepid}, cobra.ShellCompDirectiveDefault
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.run(args) },
	}
	cmd.Flags().StringVar(&p.racks, "racks", "", "make the partitions of so many rows and columns of racks, as 5x8")
	cmd.Flags().BoolVar(&p.check, "check", false, "say only whether the file is in order")
	cmd.Flags().StringVar(&p.write, "write", "", "write them to a file, packed by gzip if it ends in .gz; - is the output")
	return a.query(cmd)
}

func (p *simPartitions) run(args []string) error {
	name, err := p.source(args)
	if err != nil {
		return err
	}
	whole, err := p.app.outputs([]string{name}, output{"write", p.write})
	if err != nil {
		return err
	}
	layout, err := config.ReadLayout(name)
	if err != nil {
		return layoutError("racks", name, err)
	}
	if p.write != "" {
		err = p.app.writeFile(p.write, func(w io.Writer) error { return writeLayout(w, layout, strings.HasSuffix(p.write, ".gz")) })
		if err != nil || whole {
			return err
		}
	}
	return p.show(name, layout)
}

// source is what [config.ReadLayout] is to read.
func (p *simPartitions) source(args []string) (string, error) {
	switch {
	case len(args) > 1:
		return "", usage("name one file of partitions, not %d", len(args))
	case len(args) == 1 && p.racks != "":
		return "", usage("%s and --racks %s exclude each other", args[0], p.racks)
	case p.racks != "":
		return config.Racks(p.racks), nil
	case len(args) == 1:
		return args[0], nil
	}
	return "", usage("name a file of partitions or %q, or say with --racks for how many racks to make some", config.Intrepid)
}

// layoutError makes an error of racks that cannot be one of usage.
func layoutError(flag, name string, err error) error {
	if !config.IsRacks(name) {
		return err
	}
	return usage("--%s: %w", flag, err)
}

func writeLayout(w io.Writer, layout *partition.Layout, packed bool) error {
	if !packed {
		return layout.Write(w)
	}
	to := gzip.NewWriter(w)
	return errors.Join(layout.Write(to), to.Close())
}

// partitionsJSON is what sim partitions prints as JSON.
type partitionsJSON struct {
	Source     string            `json:"source"`
	Nodes      int               `json:"nodes"`
	Cards      int               `json:"cards"`
	Partitions int               `json:"partitions"`
	Classes    []partition.Class `json:"classes"`
}

func (p *simPartitions) show(name string, layout *partition.Layout) error {
	shown := partitionsJSON{
		Source: name, Nodes: layout.Nodes(), Cards: len(layout.Cards), Partitions: len(layout.Partitions), Classes: layout.Classes(),
	}
	if p.app.json {
		return p.app.printJSON(shown)
	}
	p.app.printf("%s: %s in %s, %s\n", console.Plain(name), protocol.Count(shown.Partitions, "partition"), protocol.Count(len(shown.Classes), "size"),
		protocol.Count(shown.Nodes, "node")+" on "+protocol.Count(shown.Cards, "card"))
	if p.check {
		return nil
	}
	t := console.NewTable(" NODES", " TORUS", " MESH", " DIAGNOSTICS", " CONFLICTS")
	for _, c := range shown.Classes {
		t.Add(strconv.Itoa(c.Nodes), strconv.Itoa(c.Torus), strconv.Itoa(c.Mesh), strconv.Itoa(c.Diagnostics), c.ConflictsText())
	}
	p.app.printf("\n")
	return t.Write(p.app.stdout, "", true)
}
