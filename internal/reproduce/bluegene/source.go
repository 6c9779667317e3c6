package bluegene

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// source is where jobs come from.
type source string

const (
	halfYear source = "half year" // March to August 2009 by the model of the log
	realLog  source = "log"       // what there is of Intrepid's own
	blueLog  source = "blue"      // March to August 2002 of SDSC-BLUE
)

const (
	intrepidLog    = "ANL-Intrepid-2009-1.first10000.swf.gz"
	blueHorizonLog = "SDSC-BLUE-2000-4.2-cln.swf.gz"
)

// names are those of the source's periods.
func (s source) names() []string {
	if s == realLog {
		return []string{"5 January to 15 February", "January", "February"}
	}
	return []string{"March", "April", "May", "June", "July", "August"}
}

// periods are the source's, in the order of its names.
func (s source) periods(data string, seed uint64) ([]*period, error) {
	switch s {
	case halfYear:
		return modelled(seed)
	case realLog:
		return logged(data)
	case blueLog:
		return secondMachine(data)
	}
	return nil, fmt.Errorf("no jobs are called %q", string(s))
}

// modelled are the months of the synthetic half year.
func modelled(seed uint64) ([]*period, error) {
	machine, err := intrepid()
	if err != nil {
		return nil, err
	}
	grid, err := workload.IntrepidHalfYear(seed)
	if err != nil {
		return nil, err
	}
	begin := protocol.Instant(workload.IntrepidBegin * protocol.Second)
	jobs := later(grid.Jobs, begin)
	calendar := workload.IntrepidMonths()
	var all []*period
	for i, name := range halfYear.names() {
		all = append(all, newPeriod(name, machine, jobs, begin+calendar.At(i), begin+calendar.At(i+1)))
	}
	return all, nil
}

// logged are the real log as one period and by its months. It ends with its last
// submission.
func logged(data string) ([]*period, error) {
	machine, err := intrepid()
	if err != nil {
		return nil, err
	}
	jobs, err := read(data, intrepidLog, workload.CleanOptions{})
	if err != nil {
		return nil, err
	}
	from, until := machine.midnight(2009, time.January, 5), jobs[len(jobs)-1].Submit+1
	february := machine.midnight(2009, time.February, 1)
	names := realLog.names()
	return []*period{
		newPeriod(names[0], machine, jobs, from, until),
		newPeriod(names[1], machine, jobs, from, february),
		newPeriod(names[2], machine, jobs, february, until),
	}, nil
}

// secondMachine are six months of Blue Horizon. Records without run time, of jobs that
// were cancelled before they began, are left out.
func secondMachine(data string) ([]*period, error) {
	machine, err := blueHorizon()
	if err != nil {
		return nil, err
	}
	jobs, err := read(data, blueHorizonLog, workload.CleanOptions{ZeroRuns: true})
	if err != nil {
		return nil, err
	}
	var all []*period
	for i, name := range blueLog.names() {
		month := time.March + time.Month(i)
		all = append(all, newPeriod(name, machine, jobs, machine.midnight(2002, month, 1), machine.midnight(2002, month+1, 1)))
	}
	return all, nil
}

// read reads the jobs of a log, in the time since 1970.
func read(data, name string, o workload.CleanOptions) ([]workload.Job, error) {
	path := filepath.Join(data, "traces", name)
	trace, err := experiment.ReadTrace(path, "", false)
	if err != nil {
		return nil, fmt.Errorf("the data that the paper is made again with: %w; name their directory with --data", err)
	}
	begin, ok := trace.Header.Int("UnixStartTime")
	if !ok {
		return nil, fmt.Errorf("%s: the header does not tell when the log begins; add UnixStartTime", path)
	}
	jobs, cleaning := workload.Clean(trace, o)
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%s: there are no jobs: %s", path, cleaning)
	}
	return later(jobs, protocol.Instant(begin*int64(protocol.Second))), nil
}

// later puts jobs into the time since 1970.
func later(jobs []workload.Job, begin protocol.Instant) []workload.Job {
	for i := range jobs {
		jobs[i].Submit += begin
	}
	return jobs
}
