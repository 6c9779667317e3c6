package engine

import (
	"math"
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// classes is the number of classes of sizes that a [least] tells apart.
const classes = 18

// least is the summary of a chunk of the queue, by which a search for a job that
// would fit passes over chunks that have none.
type least struct {
	units int                        // no job is smaller
	time  [classes]protocol.Duration // no job of this class or a smaller one is shorter
}

// classOf doubles the units from class to class; the last has no bound.
func classOf(units int) int {
	return min(bits.Len(uint(max(0, units))), classes-1)
}

func leastOf(jobs []Waiting) (low least) {
	low.units = math.MaxInt
	for i := range low.time {
		low.time[i] = protocol.Never
	}
	for i := range jobs {
		low.units = min(low.units, jobs[i].Units)
		class := classOf(jobs[i].Units)
		low.time[class] = min(low.time[class], jobs[i].Time)
	}
	for i := 1; i < classes; i++ {
		low.time[i] = min(low.time[i], low.time[i-1])
	}
	return low
}
