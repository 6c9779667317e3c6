package bluegene

import (
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
	"github.com/switchyard-hpc/switchyard/localsched/power"
)

// site is a machine and what is known of its surroundings.
type site struct {
	sim.Machine

	model engine.Machine
	zone  *time.Location
	rack  int // CPUs of what draws as much as a rack of Blue Gene/P
}

const (
	idleRack  = 13_000 // W of a rack without work [BG 2]
	rackNodes = 1024
	midplane  = 512 // nodes; smaller partitions are for development, and qsim disables them

	blueNodes = 144
	blueCPUs  = 8 // of a node
	// blueRack makes a node of Blue Horizon, of which no measurement is known, draw a
	// kilowatt at the top of the range of 20 to 33 kW.
	blueRack = 33 * blueCPUs
)

// intrepid is the Blue Gene/P of [BG], with its real partitions.
func intrepid() (*site, error) {
	layout, err := partition.Intrepid()
	if err != nil {
		return nil, err
	}
	return newSite(sim.Machine{
		Name: "intrepid", Nodes: workload.IntrepidNodes, CPUsPerNode: workload.IntrepidCPUsPerNode,
		Partitions: &sim.Partitions{Layout: layout, Enabled: engine.Enabled{Smallest: midplane}},
	}, "America/Chicago", rackNodes*workload.IntrepidCPUsPerNode)
}

// blueHorizon is the second machine, that of the log SDSC-BLUE: its nodes run one job at a
// time. It has the hours and prices of Intrepid by its own clock.
func blueHorizon() (*site, error) {
	machine := sim.Machine{Name: "blue", Nodes: blueNodes, CPUsPerNode: blueCPUs, WholeNode: true}
	return newSite(machine, "America/Los_Angeles", blueRack)
}

func newSite(m sim.Machine, clock string, rack int) (*site, error) {
	model, err := m.Model()
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(clock)
	if err != nil {
		return nil, fmt.Errorf("the clock of %s: %w; install the time zone database", m.Name, err)
	}
	return &site{Machine: m, model: model, zone: zone, rack: rack}, nil
}

// rates are what CPUs of the site draw if jobs have a range of powers.
func (s *site) rates(r workload.PowerRange) power.Rates {
	const micro = 1_000_000
	return power.Rates{Busy: int64(r.High) * micro / int64(s.rack), Idle: idleRack * micro / int64(s.rack)}
}
