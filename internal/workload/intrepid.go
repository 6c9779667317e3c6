package workload

import (
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Intrepid's machine and the time of [IntrepidMonths].
const (
	IntrepidNodes       = 40_960
	IntrepidCPUsPerNode = 4

	// IntrepidBegin is 1 March 2009 00:00 in Chicago, in seconds since the Unix epoch.
	IntrepidBegin = 1_235_887_200
	// IntrepidZone is Chicago's standard time, in seconds east of UTC.
	IntrepidZone = -6 * 3600
)

// IntrepidMonths returns the half year of [BG] with the job counts of its Table 1.
//
// The loads are how full the machine was under the default scheduling, as far as
// the paper's text tells its Figure 3: June around 75 %, July around 55 %, all
// "roughly 50 % to 70 %", of which the middle stands for the months that it does
// not name. March is 70 %: Figure 5(b) has it fluctuate around 80 % by day, with a
// drop to 70 %, and lower in the early morning.
func IntrepidMonths() Calendar {
	return Calendar{
		FirstDay: time.Sunday,
		Forward:  protocol.Instant(7*protocol.Day + 2*protocol.Hour), // 8 March, 2:00
		Months: []Month{
			{Name: "March 2009", Days: 31, Jobs: 9709, Load: 0.70},
			{Name: "April 2009", Days: 30, Jobs: 10503, Load: 0.60},
			{Name: "May 2009", Days: 31, Jobs: 7925, Load: 0.60},
			{Name: "June 2009", Days: 30, Jobs: 8317, Load: 0.75},
			{Name: "July 2009", Days: 31, Jobs: 8241, Load: 0.55},
			{Name: "August 2009", Days: 31, Jobs: 7592, Load: 0.60},
		},
	}
}

// IntrepidHalfYear draws the jobs of [IntrepidMonths] by [IntrepidModel], the first
// of them at the beginning of March. It is synthetic: what is not in the calendar is
// as in January and February of 2009, when the machine was new and its weekends were
// its busiest days. Sizes are those of the partitions that jobs were given.
func IntrepidHalfYear(seed uint64) (*Grid, error) {
	model := IntrepidModel()
	jobs, err := model.Generate(IntrepidMonths(), seed)
	if err != nil {
		return nil, err
	}
	jobs[0].Submit = 0
	longest := protocol.Duration(0)
	for _, j := range jobs {
		longest = max(longest, j.Estimate)
	}
	return &Grid{
		Name: "Intrepid's half year of 2009, synthetic",
		Systems: []System{{
			Name: "intrepid", Cores: model.CPUs, MflopsPerCore: 3400, MaxRun: longest, MaxRequest: model.CPUs,
		}},
		Jobs: jobs,
		Credits: []string{
			HeaderField("Acknowledge", "Narayan Desai, Susan Coghlan (ANL) for the log ANL-Intrepid-2009-1, to which the model is fitted"),
			HeaderField("UnixStartTime", strconv.Itoa(IntrepidBegin)),
			HeaderField("TimeZone", strconv.Itoa(IntrepidZone)),
			HeaderField("TimeZoneString", "America/Chicago"),
			HeaderField("MaxNodes", strconv.Itoa(IntrepidNodes)),
		},
	}, nil
}
