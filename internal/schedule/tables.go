package schedule

import (
	"fmt"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/console"
)

// Tables are what people read of the schedules: how they serve the jobs and, where power is
// reported, what they draw and cost.
func (s *Study) Tables() []*console.Table {
	tables := []*console.Table{s.servedTable()}
	if s.Power != nil {
		tables = append(tables, s.powerTable())
	}
	return tables
}

func (s *Study) servedTable() *console.Table {
	titles := []string{"POLICY", " JOBS", " WAIT", " RESPONSE", " DEVIATION", " SLOWDOWN", " UTIL", " MAKESPAN"}
	if s.Whole {
		titles = append(titles, " ALLOCATED")
	}
	t := console.NewTable(titles...)
	for i := range s.runs {
		m := s.shown(i)
		row := []string{
			s.name(i), strconv.Itoa(m.Jobs), console.Seconds(m.MeanWait), console.Seconds(m.MeanResponse), console.Seconds(m.WaitDeviation),
			console.Decimals(m.BoundedSlowdown), console.Part(m.Utilization), console.Seconds(m.Makespan),
		}
		if s.Whole {
			row = append(row, console.Part(m.Allocated))
		}
		t.Add(row...)
	}
	return t
}

func (s *Study) powerTable() *console.Table {
	t := console.NewTable("POLICY", " BUDGET", " MEAN POWER", " ENERGY", " COST", " SAVING", " RAW SAVING", " INVERSE PAIRS")
	for i := range s.runs {
		m := s.shown(i)
		t.Add(s.name(i), s.limitText(i), fmt.Sprintf("%.1f kW", m.MeanPower), console.Decimals(m.MWh)+" MWh", console.Decimals(m.Cost),
			s.against(i, console.Part(m.Saving)), s.against(i, console.Part(m.RawSaving)), s.against(i, strconv.FormatInt(m.Inverse, 10)))
	}
	return t
}
