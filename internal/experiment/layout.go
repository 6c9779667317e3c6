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
func (p *Plan) resolve(places settings.Places) {
	for i := range p.Sites {
		s := &p.Sites[i]
		if s.Partitions == "" || s.Partitions == config.Intrepid || config.IsRacks(s.Partitions) || filepath.IsAbs(s.Partitions) {
			continue
		}
		file := places.Find(fmt.Sprintf("site[%d].partitions", i)).File
		if dir, err := filepath.Abs(filepath.Dir(file)); err == nil {
			s.Partitions = filepath.Join(dir, s.Partitions)
		}
	}
}

// checkMachine checks a site's nodes, and how its machine is cut. Its layout is looked at by [Plan.Open].
func (s *Site) checkMachine(c *checker, key string) {
	usual := defaultSite()
	if s.Machine != config.Partitioned {
		c.atLeast(key+".nodes", s.Nodes, 1)
	}
	if s.Machine == "" {
		c.idle(key, "a machine without partitions", []idleKey{
			{"partitions", s.Partitions != ""}, {"smallest", s.Smallest != usual.Smallest}, {"mesh", s.Mesh != usual.Mesh},
		})
		return
	}
	if s.Machine != config.Partitioned {
		c.add(key+".machine", "%q is no machine; use %q, or leave it out and say whole_node or not", s.Machine, config.Partitioned)
		return
	}
	c.idle(key, "a machine of partitions", []idleKey{{"whole_node", s.WholeNode}})
	c.atLeast(key+".nodes", s.Nodes, 0) // its layout knows them
	c.atLeast(key+".smallest", s.Smallest, 1)
	if s.Partitions == "" {
		c.add(key+".partitions", "is missing; write %q, racks as %q, or the path of a file of partitions", config.Intrepid, config.RacksForm)
	}
	if err := config.CheckRacks(s.Partitions); err != nil {
		c.add(key+".partitions", "%v", err)
	}
}

// cut reads the layout of a site's machine, if it has one, and checks the machine by it.
func (s *Site) cut() error {
	if s.Machine != config.Partitioned {
		return nil
	}
	layout, err := config.ReadLayout(s.Partitions)
	if err != nil {
		return siteError(s.Name, err)
	}
	if s.Nodes == 0 {
		s.Nodes = layout.Nodes()
	}
	s.layout = layout
	if s.CPUsPerNode > maxCPUs/s.Nodes {
		return fmt.Errorf("site %s: %d nodes of %d CPUs are more than %d CPUs", s.Name, s.Nodes, s.CPUsPerNode, maxCPUs)
	}
	if _, err = s.machine().Model(); err != nil {
		return siteError(s.Name, err)
	}
	return nil
}

// siteError names the site, but for what names a file and its lines.
func siteError(site string, err error) error {
	if _, ok := errors.AsType[*partition.MalformedError](err); ok {
		return err
	}
	return fmt.Errorf("site %s: %w", site, err)
}

// partitions are those of the site's machine; nil: it has none.
func (s *Site) partitions() *sim.Partitions {
	if s.layout == nil {
		return nil
	}
	return &sim.Partitions{Layout: s.layout, Enabled: engine.Enabled{Smallest: s.Smallest, TorusOnly: !s.Mesh}}
}
