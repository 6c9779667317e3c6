package experiment

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// resolve makes the files of partitions that a plan names absolute.
func (p *Plan) resolve() {
	for i := range p.Sites {
		resolvePartitions(&p.Sites[i], p.places.Find(fmt.Sprintf("site[%d].partitions", i)).File)
	}
}

// resolvePartitions makes the file of a site's partitions absolute, which begins where the
// plan's file is.
func resolvePartitions(s *Site, file string) {
	if s.Partitions == "" || s.Partitions == config.Intrepid || config.IsRacks(s.Partitions) || filepath.IsAbs(s.Partitions) {
		return
	}
	if dir, err := filepath.Abs(filepath.Dir(file)); err == nil {
		s.Partitions = filepath.Join(dir, s.Partitions)
	}
}

// checkMachine checks a site's nodes, and how its machine is cut. Its layout is looked at by [Plan.Open].
func (s *Site) checkMachine(c *checker, key string) {
	usual := defaultSite()
	if s.Machine != config.Partitioned {
		c.AtLeast(key+".nodes", s.Nodes, 1)
	}
	if s.Machine == "" {
		c.idle(key, "a machine without partitions", []idleKey{
			{"partitions", s.Partitions != ""}, {"smallest", s.Smallest != usual.Smallest}, {"mesh", s.Mesh != usual.Mesh},
		})
		return
	}
	if s.Machine != config.Partitioned {
		c.Problem(key+".machine", "invalid machine %q; use %q, or remove it and set whole_node", s.Machine, config.Partitioned)
		return
	}
	c.idle(key, "a machine of partitions", []idleKey{{"whole_node", s.WholeNode}})
	c.AtLeast(key+".nodes", s.Nodes, 0) // its layout knows them
	c.AtLeast(key+".smallest", s.Smallest, 1)
	if s.Partitions == "" {
		c.Problem(key+".partitions", "is missing; write %q, racks as %q, or the path of a file of partitions", config.Intrepid, config.RacksForm)
	}
	if err := config.CheckRacks(s.Partitions); err != nil {
		c.Problem(key+".partitions", "%v", err)
	}
}

// cut reads the layout of a site's machine, if it has one, and checks the machine by it.
func (p *Plan) cut(site int) error {
	s := &p.Sites[site]
	if s.Machine != config.Partitioned {
		return nil
	}
	layout, err := config.ReadLayout(s.Partitions)
	if _, ok := errors.AsType[*partition.MalformedError](err); ok {
		return err // it names the file and its lines
	}
	if err != nil {
		return p.wrong(site, "partitions", err)
	}
	if s.Nodes == 0 {
		s.Nodes = layout.Nodes()
	}
	s.layout = layout
	switch nodes := layout.Nodes(); {
	case s.Nodes != nodes:
		return p.wrong(site, "nodes", fmt.Errorf("is %d, but the partitions have %d nodes in all; write that, or leave it out", s.Nodes, nodes))
	case s.CPUsPerNode > maxCPUs/nodes:
		return p.wrong(site, "cpus_per_node", fmt.Errorf("%d nodes of %d CPUs are more than %d CPUs", nodes, s.CPUsPerNode, maxCPUs))
	}
	if _, err = s.machine().Model(); err != nil {
		return p.wrong(site, "smallest", err)
	}
	return nil
}

// wrong says where in the plan's file the key of a site is that something is wrong with.
func (p *Plan) wrong(site int, key string, err error) error {
	at := p.places.Find(fmt.Sprintf("site[%d].%s", site, key))
	where := settings.Problem{File: at.File, Line: at.Line, Key: fmt.Sprintf("site[%s].%s", p.Sites[site].Name, key)}
	return fmt.Errorf("%s%w", where, err)
}

// partitions are those of the site's machine; nil: it has none.
func (s *Site) partitions() *sim.Partitions {
	if s.layout == nil {
		return nil
	}
	return &sim.Partitions{Layout: s.layout, Enabled: engine.Enabled{Smallest: s.Smallest, TorusOnly: !s.Mesh}}
}
