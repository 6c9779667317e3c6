package experiment

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// checkTables checks the tables of sites' configurations, and fills in what they leave to
// others: the nodes of a machine in partitions, and a currency that only [site.tariff] states.
func (p *Plan) checkTables(c *checker) {
	for i := range p.Sites {
		p.checkSiteTables(c, fmt.Sprintf("site[%d]", i), &p.Sites[i])
	}
}

func (p *Plan) checkSiteTables(c *checker, key string, s *Site) {
	nodes := s.checkNodeGroups(c, key)
	if len(s.NodeGroups) > 0 {
		s.LocalSched.Nodes = 1 // its CPUs are not to be divided among the nodes
	}
	config.SiteTables{
		LocalSched: &s.LocalSched, Tariff: &s.Tariff, Power: &s.Power, Prices: &s.Prices, Cost: &s.Cost,
		Plugins: p.Plugins, Priced: s.Price != nil || s.PriceFile != nil, Counted: p.Tune != nil && p.Tune.Goal.Energy > 0,
	}.CheckSimulated(c.At(key))
	if len(s.NodeGroups) > 0 {
		s.LocalSched.Nodes = nodes
	}
	if own := s.Tariff.Currency; s.Currency == "" && own != p.Currency {
		s.Currency = own
	}
	if s.scheduler(p) != nil && s.budgeted() {
		c.Problem(key+".power", "has no effect with the [[plugin]] %q, which starts jobs by itself; use a built-in policy", s.LocalSched.Plugin)
	}
}

// scheduler is the plugin that schedules a site's jobs; nil: the built-in local scheduler.
func (s *Site) scheduler(p *Plan) *Plugin {
	return p.plugin(pluginhost.SchedulerKind, s.LocalSched.Plugin)
}

// scheduledBy sets what orders the local queue: a policy of the built-in local scheduler, or
// a plugin of the plan.
func (s *Site) scheduledBy(p *Plan, name string) {
	if p.plugin(pluginhost.SchedulerKind, name) != nil {
		s.LocalSched.Plugin = name
		return
	}
	s.LocalSched.Plugin, s.LocalSched.Policy = config.Process, name
}

// cpusPerNode is how many CPUs each node of the site has.
func (s *Site) cpusPerNode() int { return s.LocalSched.CPUs / max(1, s.LocalSched.Nodes) }

// machine is the site's machine for a simulation.
func (s *Site) machine() sim.Machine {
	l := &s.LocalSched
	states := l.Capacity(0)
	if len(s.NodeGroups) > 0 {
		states.Groups = s.nodeGroups()
	}
	return sim.Machine{
		Name: protocol.SiteName(s.Name), Nodes: l.Nodes, CPUsPerNode: s.cpusPerNode(), MHz: l.MHz, WholeNode: states.WholeNode,
		Mflops: l.Mflops, MaxWallTime: l.MaxWallTime, Partitions: s.partitions(), MemoryMB: int64(l.Memory), Gamma: s.model(),
		Groups: states.Groups, Shared: states.Shared, Exclusive: states.Exclusive,
	}
}

// partitions are those of the site's machine; nil: it has none.
func (s *Site) partitions() *sim.Partitions {
	layout := s.LocalSched.Layout()
	if layout == nil {
		return nil
	}
	b := s.LocalSched.BGP
	return &sim.Partitions{Layout: layout, Enabled: engine.Enabled{Smallest: b.Smallest, TorusOnly: !b.Mesh}}
}
