package fairshare

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Weights are what the factors of a priority count, as Slurm's PriorityWeightAge and so on. A factor with
// weight 0 does not count.
type Weights struct {
	Age       int64
	FairShare int64
	Size      int64
	QOS       int64
	MaxAge    protocol.Duration // the wait from which the age factor is 1
	// QOSFactors are the priorities of QOS beside each other; a QOS that is not there has 0.
	QOSFactors map[string]int64
}

// Unweighted is the priority of all jobs alike, beside their nice values, where no factor counts: that with which Slurm's
// plugin priority/basic begins.
const Unweighted = 0xffff0000

// MaxWeight is the most that a weight, a priority of a QOS or a nice value may be: what Slurm has.
const MaxWeight = 1<<31 - 3

// Check says what is wrong with the weights, all of it.
func (w Weights) Check() error {
	var problems []error
	for _, one := range []struct {
		name  string
		value int64
	}{{"age", w.Age}, {"fair_share", w.FairShare}, {"size", w.Size}, {"qos", w.QOS}} {
		if one.value < 0 || one.value > MaxWeight {
			problems = append(problems, fmt.Errorf("the weight %s is %d; give 0 to %d", one.name, one.value, MaxWeight))
		}
	}
	for name, value := range w.QOSFactors {
		if value < 0 || value > MaxWeight {
			problems = append(problems, fmt.Errorf("the priority of QOS %q is %d; give 0 to %d", name, value, MaxWeight))
		}
	}
	if w.MaxAge < 1 {
		problems = append(problems, errors.New("the maximum age is not positive"))
	}
	return errors.Join(problems...)
}

// Candidate is what the priority of a job depends on, beside its user's use.
type Candidate struct {
	Waited protocol.Duration
	CPUs   int
	QOS    string
	Nice   int64 // what is taken off, or given if it is negative
}

// Factors are the factors of a priority, each from 0 to [One].
type Factors struct{ Age, FairShare, Size, QOS int64 }

// Of are the factors of a job at a site with a number of CPUs.
func (w Weights) Of(fairShare int64, c *Candidate, cpus int) Factors {
	largest := int64(0)
	for _, value := range w.QOSFactors {
		largest = max(largest, value)
	}
	part := func(a, b int64) int64 { return int64(fraction(One, a, b)) } //nolint:gosec // at most One
	return Factors{
		Age: part(int64(c.Waited), int64(w.MaxAge)), FairShare: fairShare,
		Size: part(int64(c.CPUs), int64(cpus)), QOS: part(w.QOSFactors[c.QOS], largest),
	}
}

// Priority is that of a job with these factors: the higher, the sooner it starts. Each product is rounded
// down. Slurm's smallest priority of a job that is not held is 1, and so is this.
func (w Weights) Priority(f Factors, nice int64) int64 {
	return max(1, weighed(w.Age, f.Age)+weighed(w.FairShare, f.FairShare)+weighed(w.Size, f.Size)+weighed(w.QOS, f.QOS)-nice)
}

func weighed(weight, factor int64) int64 {
	high, low := bits.Mul64(uint64(weight), uint64(factor)) //nolint:gosec // neither is negative
	return int64(high<<32 | low>>32)                        //nolint:gosec // at most weight
}
