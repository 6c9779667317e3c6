package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

// Engine returns the model of the machine that the table describes, on a computer with so
// many CPUs. The error says what [Load] has said already.
func (l *LocalSched) Engine(cpusHere int) (engine.Machine, error) {
	capacity := l.Capacity(cpusHere)
	if l.Machine != Partitioned {
		return engine.Of(capacity), nil
	}
	return engine.Partitioned(l.BGP.layout, capacity, engine.Enabled{Smallest: l.BGP.Smallest, TorusOnly: !l.BGP.Mesh})
}

// Layout is how the machine is cut into partitions, after it was checked; nil: it is not.
func (l *LocalSched) Layout() *partition.Layout {
	if l.Machine != Partitioned || l.BGP == nil {
		return nil
	}
	return l.BGP.layout
}

// checkBGP reads the layout of a machine in partitions and checks the machine by it.
func (r *checker) checkBGP(l *LocalSched) {
	if l.Machine != Partitioned {
		if l.BGP != nil {
			r.Warn("localsched.bgp", "has no effect with machine = %q; it is for %q", l.Machine, Partitioned)
		}
		return
	}
	if l.BGP == nil {
		l.BGP = new(BGP)
		l.BGP.SetDefaults()
	}
	r.AtLeast("localsched.bgp.smallest", l.BGP.Smallest, 1)
	if l.BGP.Partitions == "" {
		r.Problem("localsched.bgp.partitions", "is missing; write %q, racks as %q, or the path of a file of partitions", Intrepid, RacksForm)
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
		r.Problem("localsched.nodes", "is %d, but the partitions have %d nodes in all; write that, or remove it", l.Nodes, nodes)
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
	if b.Partitions != Intrepid && !IsRacks(b.Partitions) {
		b.Partitions, err = r.absolute(key, b.Partitions)
	}
	if err == nil {
		b.layout, err = ReadLayout(b.Partitions)
	}
	if malformed, ok := errors.AsType[*partition.MalformedError](err); ok {
		for _, problem := range malformed.List {
			r.Reject(problem.File, problem.Line, problem.Text)
		}
		return
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		r.Problem(key, "%s %s", b.Partitions, settings.Unreadable(err))
		return
	}
	if err != nil {
		r.Problem(key, "%v", err)
	}
}

// absolute makes a path that begins at the directory of the file that set a key absolute.
func (r *checker) absolute(key, path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	dir, err := filepath.Abs(filepath.Dir(r.Place(key).File))
	if err != nil {
		return path, fmt.Errorf("%s: %w", path, err)
	}
	return filepath.Join(dir, path), nil
}
