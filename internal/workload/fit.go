package workload

import (
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// FitOptions are what [SS 3.1]'s method leaves to choose.
type FitOptions struct {
	LeastShare float64   // classes of less are merged; 0: 0.02, as in the paper
	Merge      MergeRule // with which neighbour
	MaxOrder   int       // the most stages of a fitted distribution; 0: 32, at most 1000
}

const (
	paperLeastShare = 0.02
	usualMaxOrder   = 32
)

// Fitted is a model made from jobs, with what there is to say about each class.
type Fitted struct {
	Model   Model
	Classes []ClassFit // as Model.Classes
}

// ClassFit says how well a class's two distributions stand for its jobs.
type ClassFit struct {
	Min, Max int // CPUs
	Jobs     int
	Arrival  MomentFit // of the times between submits
	Service  MomentFit // of the run times
}

// MomentFit compares a fitted distribution with its data.
type MomentFit struct {
	Values  int        `json:"values"`           // how many times were measured
	Data    Moments    `json:"moments"`          // of these times; s, s², s³
	Fit     Moments    `json:"fitted_moments"`   // of the distribution
	Error   [3]float64 `json:"relative_error"`   // |Fit − Data| / Data; 0 where both are 0
	Matched int        `json:"matched_moments"`  // how many moments the distribution matches, see [Match]: 3 is the paper's method, less a fallback
	Reason  string     `json:"reason,omitempty"` // why it is less than 3; empty otherwise
}

// Fit models jobs as [SS 3.1] does: classes by size ([SizeClasses]), and for each the
// distributions that match the first three moments of its inter-arrival and
// service times ([Match]). The jobs may come in any order; they are those of one
// machine.
//
// A class whose times cannot be matched says so in its diagnostics. If it has
// no usable inter-arrival time (a single job, or all at one instant), it gets
// exponential ones with a mean of the workload's span divided by its jobs.
func Fit(jobs []Job, m Machine, o FitOptions) (*Fitted, error) {
	if o.LeastShare == 0 {
		o.LeastShare = paperLeastShare
	}
	if o.MaxOrder == 0 {
		o.MaxOrder = usualMaxOrder
	}
	if o.MaxOrder < 1 || o.MaxOrder > maxStages {
		return nil, fmt.Errorf("fit: max order: %d is not from 1 to %d", o.MaxOrder, maxStages)
	}
	classes, err := SizeClasses(jobs, m, o.LeastShare, o.Merge)
	if err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	times, err := splitTimes(jobs, classes)
	if err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	f := &Fitted{Model: Model{Machine: m}}
	for i, c := range classes {
		arrival, arrivalFit := fitTimes(times[i].gaps(), o.MaxOrder, times[i].meanGap)
		service, serviceFit := fitTimes(times[i].runs, o.MaxOrder, 0)
		f.Model.Classes = append(f.Model.Classes, Class{
			Min: c.Min, Max: c.Max, Share: float64(c.Jobs) / float64(len(jobs)), Arrival: arrival, Service: service,
		})
		f.Classes = append(f.Classes, ClassFit{
			Min: c.Min, Max: c.Max, Jobs: c.Jobs, Arrival: arrivalFit, Service: serviceFit,
		})
	}
	return f, nil
}

// classTimes are the times of one class, in seconds.
type classTimes struct {
	submits []float64
	runs    []float64
	meanGap float64 // if submits tell nothing
}

func splitTimes(jobs []Job, classes []SizeClass) ([]classTimes, error) {
	times := make([]classTimes, len(classes))
	first, last := jobs[0].Submit, jobs[0].Submit
	for _, j := range jobs {
		if j.Run < 1 {
			return nil, fmt.Errorf("job %d: a run time of %d ms, it must be at least 1", j.ID, int64(j.Run))
		}
		first, last = min(first, j.Submit), max(last, j.Submit)
		c := &times[classOf(classes, j.CPUs)]
		c.submits = append(c.submits, inSeconds(protocol.Duration(j.Submit)))
		c.runs = append(c.runs, inSeconds(j.Run))
	}
	// A workload of one instant has no span; a second stands for it.
	span := max(inSeconds(last.Sub(first)), 1)
	for i := range times {
		slices.Sort(times[i].submits)
		times[i].meanGap = span / float64(max(1, len(times[i].submits)))
	}
	return times, nil
}

func inSeconds(d protocol.Duration) float64 { return float64(d) / float64(protocol.Second) }

// gaps returns the times between submits.
func (c classTimes) gaps() []float64 {
	gaps := make([]float64, 0, len(c.submits))
	for i := 1; i < len(c.submits); i++ {
		gaps = append(gaps, c.submits[i]-c.submits[i-1])
	}
	return gaps
}

// fitTimes matches the moments of times, or takes exponential ones of the mean
// instead if these have none.
func fitTimes(times []float64, most int, instead float64) (HyperErlang, MomentFit) {
	f := MomentFit{Values: len(times), Data: MomentsOf(times)}
	h, matched := Match(f.Data, most)
	if matched == 0 {
		h = HyperErlang{N: 1, Lambda1: 1 / instead, Lambda2: 1 / instead, Rho: 1}
	}
	f.Matched, f.Reason = matched, whyNot(f.Data, len(times), matched, most)
	f.Fit = h.Moments()
	for k, data := range f.Data {
		if f.Fit[k] != data {
			f.Error[k] = math.Abs(f.Fit[k]-data) / data
		}
	}
	return h, f
}

// MomentsOf returns the moments of times in seconds, 0 of none.
func MomentsOf(times []float64) Moments {
	var m Moments
	for _, t := range times {
		m[0] += t
		m[1] += t * t
		m[2] += t * t * t
	}
	for k := range m {
		m[k] /= max(1, float64(len(times)))
	}
	return m
}

// whyNot says in words what kept a match from all three moments.
func whyNot(m Moments, values, matched, most int) string {
	switch matched {
	case 3:
		return ""
	case 2:
		return fmt.Sprintf("no order up to %d reaches so small a third moment (m1·m3/m2² = %.4g, more than %.4g needed): "+
			"two moments are matched", most, m[0]*m[2]/(m[1]*m[1]), float64(most+2)/float64(most+1))
	case 1:
		return fmt.Sprintf("no order up to %d varies so little (squared coefficient of variation %.4g, more than %.4g needed): "+
			"only the mean is matched", most, m.Variation(), 1/float64(most))
	}
	if values == 0 {
		return "too little data: no times between submits; the mean is the workload's span divided by the jobs"
	}
	return "all times are 0; the mean is the workload's span divided by the jobs"
}
