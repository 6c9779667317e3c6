package experiment

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
)

// takeTables checks the tables of sites' configurations, and has them say what the short
// keys of [[site]] say otherwise.
func (p *Plan) takeTables(c *checker) {
	for i := range p.Sites {
		p.takeSite(c, fmt.Sprintf("site[%d]", i), &p.Sites[i])
	}
}

func (p *Plan) takeSite(c *checker, key string, s *Site) {
	if s.Power != nil {
		p.takePower(c, key, s)
	}
	tables := config.SiteTables{LocalSched: s.LocalSched, Tariff: s.Tariff, Power: s.Power, Prices: s.Prices}
	tables.CheckSimulated(c.At(key), s.Price != nil || s.PriceFile != nil)
	if l := s.LocalSched; l != nil {
		c.instead(key, "localsched", "nodes", "cpus_per_node", "mhz", "mflops", "whole_node", "machine", "partitions", "smallest", "mesh",
			"max_wall_time", "memory", "policy", "cpu_model")
		s.machineOf(l)
		s.Policy = l.Policy
		if l.MHz > 0 {
			s.MHz = l.MHz
		}
		if c.Set(key + ".localsched.wait_prediction") {
			s.waits = l.WaitPrediction
		}
	}
	if t := s.Tariff; t != nil {
		c.instead(key, "tariff", "cpu_hour")
		s.CPUHour = t.CPUHour
		if s.Currency == "" && t.Currency != p.Currency {
			s.Currency = t.Currency
		}
	}
	if s.Prices != nil && c.Set(key+".prices.time_zone") {
		c.instead(key, "prices", "zone")
		s.Zone = s.Prices.TimeZone
	}
}

// takePower has watts_per_cpu stand in [site.power] or above it.
func (p *Plan) takePower(c *checker, key string, s *Site) {
	if c.Set(key + ".power.watts_per_cpu") {
		c.instead(key, "power", "watts_per_cpu")
		s.WattsPerCPU = s.Power.WattsPerCPU
	}
	s.Power.WattsPerCPU = s.WattsPerCPU
	if p.plugin(pluginhost.SchedulerKind, s.Policy) != nil && s.budgeted() {
		c.Problem(key+".power", "has no effect with the [[plugin]] %q, which starts jobs by itself; use a built-in policy", s.Policy)
	}
}

// instead reports short keys of a site that has a table for them.
func (c *checker) instead(site, table string, short ...string) {
	for _, name := range short {
		if key := settings.Join(site, name); c.Set(key) {
			c.Problem(key, "stands beside a table [site.%s], which says it; leave it out", table)
		}
	}
}

// machineOf is the machine of a site's configuration.
func (s *Site) machineOf(l *config.LocalSched) {
	capacity := l.Capacity(0)
	s.Machine = ""
	if l.BGP != nil && l.Machine == config.Partitioned {
		s.Machine, s.Partitions, s.Smallest, s.Mesh = config.Partitioned, l.BGP.Partitions, l.BGP.Smallest, l.BGP.Mesh
	}
	s.Nodes, s.CPUsPerNode, s.Mflops = l.Nodes, capacity.CPUs/max(1, l.Nodes), l.Mflops
	s.WholeNode, s.MaxWallTime, s.Memory, s.CPUModel = capacity.WholeNode, l.MaxWallTime, l.Memory, l.CPUModel
}
