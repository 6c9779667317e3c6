package engine

import (
	"math"
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// classes is the number of classes of sizes that a [sizeBound] tells apart.
const classes = 18

// sizeBound bounds some jobs of the queue from below. By it a search for a job that
// would fit passes over those that have none.
type sizeBound struct {
	units int                        // no job is smaller
	time  [classes]protocol.Duration // no job of this class or a smaller one is shorter; never rising
}

// classOf doubles the units from class to class; the last has no bound.
func classOf(units int) int {
	return min(bits.Len(uint(max(0, units))), classes-1)
}

// noJobs is the bound of no jobs.
func noJobs() (low sizeBound) {
	low.units = math.MaxInt
	for i := range low.time {
		low.time[i] = protocol.Never
	}
	return low
}

func sizeBoundOf(jobs []PendingJob) sizeBound {
	low := noJobs()
	for i := range jobs {
		low.units = min(low.units, jobs[i].Units)
		class := classOf(jobs[i].Units)
		low.time[class] = min(low.time[class], jobs[i].least)
	}
	for i := 1; i < classes; i++ {
		low.time[i] = min(low.time[i], low.time[i-1])
	}
	return low
}

// include lowers the bound for one more job.
func (low *sizeBound) include(job *PendingJob) {
	low.units = min(low.units, job.Units)
	for i := classOf(job.Units); i < classes && low.time[i] > job.least; i++ {
		low.time[i] = job.least
	}
}

// rests reports whether the bound may rise without one of its jobs.
func (low *sizeBound) rests(job *PendingJob) bool {
	return job.Units <= low.units || job.least <= low.time[classOf(job.Units)]
}

// merge lowers the bound for all jobs of another one.
func (low *sizeBound) merge(other *sizeBound) {
	low.units = min(low.units, other.units)
	for i, time := range other.time {
		low.time[i] = min(low.time[i], time)
	}
}

// jobQuery matches jobs with units ≤ free and (units ≤ extra or time ≤ window), by the least time that each takes.
type jobQuery struct {
	free, extra int
	window      protocol.Duration
	class       int // of free
}

func (a *jobQuery) admits(job *PendingJob) bool {
	return job.Units <= a.free && (job.Units <= a.extra || job.least <= a.window)
}

// mayAdmit reports whether a job within the bound could be one.
func (a *jobQuery) mayAdmit(low *sizeBound) bool {
	return low.units <= a.free && (low.units <= a.extra || low.time[a.class] <= a.window)
}
