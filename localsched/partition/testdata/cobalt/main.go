// Cobalt turns the partitions of Cobalt's simulator, an XML file on the standard
// input, into a layout on the standard output:
//
//	git clone https://github.com/ido/cobalt
//	go run ./testdata/cobalt <cobalt/tools/local_sim/simulator.xml | gzip -9n >intrepid.csv.gz
//
// The file has cards and wires but no parents: they are those of [partition.Layout.Above].
// Partitions without wires are parts of a midplane and those named MESH; both are
// meshes.
package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

const cardNodes = 32

type file struct {
	Partitions []struct {
		Name  string `xml:"name,attr"`
		Cards []part `xml:"NodeCard"`
		Wires []part `xml:"Wire"`
	} `xml:"PartitionList>Partition"`
}

type part struct {
	ID string `xml:"id,attr"`
}

func main() {
	log.SetFlags(0)
	if err := convert(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func convert(r io.Reader, w io.Writer) error {
	var from file
	if err := xml.NewDecoder(r).Decode(&from); err != nil {
		return err
	}
	var text bytes.Buffer
	cards := map[string]bool{}
	for _, p := range from.Partitions {
		for _, card := range p.Cards {
			cards[card.ID] = true
		}
		fmt.Fprintf(&text, "partition,%s,%d,%s,%s,%s\n",
			p.Name, len(p.Cards)*cardNodes, kindOf(p.Name, len(p.Wires)), list(p.Cards), list(p.Wires))
	}
	for _, card := range slices.Sorted(maps.Keys(cards)) {
		fmt.Fprintf(&text, "card,%s,%d\n", card, cardNodes)
	}
	layout, err := partition.Parse(&text, "simulator.xml")
	if err != nil {
		return err
	}
	for i := range layout.Partitions {
		layout.Partitions[i].Parents = layout.Above(i)
	}
	return layout.Write(w)
}

func kindOf(name string, wires int) partition.Kind {
	switch {
	case strings.HasPrefix(name, "_"):
		return partition.Diagnostics
	case strings.HasPrefix(name, "MESH-") || wires == 0:
		return partition.Mesh
	}
	return partition.Torus
}

func list(parts []part) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.ID
	}
	return strings.Join(names, " ")
}
