package config

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

// The values of [BGP.Partitions] that are no paths: a machine that is known, and what
// begins one of so many rows and columns of racks.
const (
	Intrepid = "intrepid"
	racks    = "racks "
)

// Engine returns the model of the machine that the table describes, on a computer with so
// many CPUs. The error says what [Load] has said already.
func (l LocalSched) Engine(cpusHere int) (engine.Machine, error) {
	capacity := l.Capacity(cpusHere)
	if l.Machine != Partitioned {
		return engine.Of(capacity), nil
	}
	return engine.Partitioned(l.BGP.layout, capacity, engine.Enabled{Smallest: l.BGP.Smallest, TorusOnly: !l.BGP.Mesh})
}

// checkBGP reads the layout of a machine in partitions and checks the machine by it.
func (r *checker) checkBGP(l *LocalSched) {
	if l.Machine != Partitioned {
		if l.BGP != nil {
			r.Warn("localsched.bgp", "has no use with machine = %q; it is for %q", l.Machine, Partitioned)
		}
		return
	}
	if l.BGP == nil {
		l.BGP = new(BGP)
		l.BGP.SetDefaults()
	}
	r.AtLeast("localsched.bgp.smallest", l.BGP.Smallest, 1)
	if l.BGP.Partitions == "" {
		r.Problem("localsched.bgp.partitions", "is missing; write %q, racks as %q, or the path of a file of partitions", Intrepid, racks+"2x8")
		return
	}
	if r.readLayout(l.BGP); l.BGP.layout != nil {
		r.checkPartitioned(l, l.BGP.layout.Nodes())
	}
}

// checkPartitioned checks the machine by the nodes of its layout.
func (r *checker) checkPartitioned(l *LocalSched, nodes int) {
	if !r.Set("localsched.nodes") {
		l.Nodes = nodes
	}
	if l.Nodes != nodes {
		r.Problem("localsched.nodes", "is %d, but the partitions have %d nodes in all; write that, or leave it out", l.Nodes, nodes)
	}
	switch {
	case l.CPUs == 0:
		r.Problem("localsched.cpus", "is missing; with machine = %q set it to the CPUs of all %d nodes together", Partitioned, nodes)
	case l.CPUs%nodes != 0:
		r.Problem("localsched.cpus", "%d are not the same number on each of the %d nodes of the partitions; use a multiple, as %d",
			l.CPUs, nodes, 4*nodes)
	case l.Nodes == nodes:
		if _, err := l.Engine(0); err != nil {
			r.Problem("localsched.bgp.smallest", "%v", err)
		}
	}
}

// readLayout makes the layout that a table names, or tells all that is wrong with it.
func (r *checker) readLayout(b *BGP) {
	const key = "localsched.bgp.partitions"
	var err error
	var rows, columns int
	switch size, isRacks := strings.CutPrefix(b.Partitions, racks); {
	case b.Partitions == Intrepid:
		b.layout, err = partition.Intrepid()
	case isRacks:
		if _, err = fmt.Sscanf(size+"\n", "%dx%d\n", &rows, &columns); err != nil {
			r.Problem(key, "%q are no racks; write rows and columns, as %q", b.Partitions, racks+"2x8")
			return
		}
		b.layout, err = partition.Generate(rows, columns)
	default:
		b.Partitions, err = r.absolute(key, b.Partitions)
		if err == nil {
			b.layout, err = openLayout(b.Partitions)
		}
	}
	if malformed, ok := errors.AsType[*partition.MalformedError](err); ok {
		for _, problem := range malformed.Problems {
			r.Reject(malformed.File, problem.Line, problem.Text)
		}
		return
	}
	if err != nil {
		r.Problem(key, "%v", err)
	}
}

// absolute makes a path that begins at the folder of the file that set a key absolute.
func (r *checker) absolute(key, path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	dir, err := filepath.Abs(filepath.Dir(r.Places().Find(key).File))
	if err != nil {
		return path, fmt.Errorf("%s: %w", path, err)
	}
	return filepath.Join(dir, path), nil
}

// openLayout reads a file of partitions, or one that gzip has packed.
func openLayout(path string) (*partition.Layout, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s %s", path, settings.Unreadable(err))
	}
	defer file.Close() //nolint:errcheck // read only
	var text io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if text, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("%s is not packed by gzip: %w", path, err)
		}
	}
	return partition.Parse(text, path)
}
