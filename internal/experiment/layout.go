package experiment

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// racks begins the name of a layout that is made: "racks 2x8" has 2 rows of 8 racks.
const racks = "racks "

// RacksForm is how such a layout is named.
const RacksForm = racks + "2x8"

// Racks is the name of the layout of so many rows and columns, as "2x8".
func Racks(size string) string { return racks + size }

// IsRacks says whether a layout of the name is made and not read.
func IsRacks(name string) bool { return strings.HasPrefix(name, racks) }

// parseRacks reads rows and columns; ok is false for a name that is no such layout.
func parseRacks(name string) (rows, columns int, ok bool, err error) {
	size, ok := strings.CutPrefix(name, racks)
	if !ok {
		return 0, 0, false, nil
	}
	if _, err = fmt.Sscanf(size+"\n", "%dx%d\n", &rows, &columns); err != nil {
		return 0, 0, true, fmt.Errorf("%q are no racks; write rows and columns, as %q", name, RacksForm)
	}
	return rows, columns, true, nil
}

// ReadLayout makes or reads how a machine is cut into partitions: that of Intrepid by the
// name "intrepid", one of so many rows and columns of racks as "racks 2x8", or a file,
// packed by gzip or not. What is wrong with a file is a [*partition.MalformedError]; that
// there is none wraps [fs.ErrNotExist].
func ReadLayout(name string) (*partition.Layout, error) {
	rows, columns, made, err := parseRacks(name)
	switch {
	case err != nil:
		return nil, err
	case made:
		return partition.Generate(rows, columns)
	case name == config.Intrepid:
		return partition.Intrepid()
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the partitions: %w", err)
	}
	var text io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if text, err = gzip.NewReader(file); err != nil {
			return nil, errors.Join(fmt.Errorf("%s is not packed by gzip: %w", name, err), file.Close())
		}
	}
	layout, err := partition.Parse(text, name)
	return layout, cmp.Or(err, file.Close())
}

// resolve makes the files of partitions that a plan names absolute.
func (p *Plan) resolve(places settings.Places) {
	for i := range p.Sites {
		s := &p.Sites[i]
		if s.Partitions == "" || s.Partitions == config.Intrepid || IsRacks(s.Partitions) || filepath.IsAbs(s.Partitions) {
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
		c.add(key+".partitions", "is missing; write %q, racks as %q, or the path of a file of partitions", config.Intrepid, RacksForm)
	}
	if _, _, _, err := parseRacks(s.Partitions); err != nil {
		c.add(key+".partitions", "%v", err)
	}
}

// cut reads the layout of a site's machine, if it has one, and checks the machine by it.
func (s *Site) cut() error {
	if s.Machine != config.Partitioned {
		return nil
	}
	layout, err := ReadLayout(s.Partitions)
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
