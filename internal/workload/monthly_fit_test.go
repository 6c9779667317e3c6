package workload

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// batchGap is the most between two submissions of a batch. In Intrepid's log it
// makes 4.4 jobs a batch; half an hour would make 3.2, two hours 6.1.
const batchGap = protocol.Hour

// FitMonthly, by which the models in this package were made, fits a model to the jobs of a machine with so many CPUs, which are in
// the order of their submits, with estimates of at least their run times, as
// [Clean] makes them. The clock of the site shows begin, in the fields of a time in
// UTC, when the jobs' time begins. A log of less than a year gives no seasons, and
// one of a few weeks the days of the week as they happened to be.
func FitMonthly(jobs []Job, cpus int, begin time.Time) Monthly {
	f := monthlyFit{model: Monthly{CPUs: cpus}, kinds: map[kindKey][]Job{}, habits: map[habitKey]*habitFit{}}
	for _, j := range jobs {
		f.add(j, begin)
	}
	f.model.Gaps = decilesOf(f.gaps)
	for _, key := range slices.SortedFunc(maps.Keys(f.kinds), kindKey.compare) {
		f.addKind(key)
	}
	return f.model
}

// estimateBand is that of a [Kind]. The last one is beyond the twelve hours that
// Intrepid's usual queues allow: in the log such jobs end soon.
func estimateBand(estimate protocol.Duration) int {
	switch {
	case estimate <= protocol.Hour:
		return 0
	case estimate <= 3*protocol.Hour:
		return 1
	case estimate <= 6*protocol.Hour:
		return 2
	case estimate <= 12*protocol.Hour:
		return 3
	}
	return 4
}

type kindKey struct{ cpus, band int }

func (k kindKey) compare(other kindKey) int {
	return cmp.Or(cmp.Compare(k.cpus, other.cpus), cmp.Compare(k.band, other.band))
}

type habitKey struct {
	kind kindKey
	user int
}

type habitFit struct {
	batches, jobs int
	last          protocol.Instant // submission
}

// monthlyFit is one call of [FitMonthly].
type monthlyFit struct {
	model  Monthly
	kinds  map[kindKey][]Job
	habits map[habitKey]*habitFit
	gaps   []int
}

func (f *monthlyFit) add(j Job, begin time.Time) {
	kind := kindKey{j.CPUs, estimateBand(j.Estimate)}
	f.kinds[kind] = append(f.kinds[kind], j)
	key := habitKey{kind, j.User}
	h := f.habits[key]
	if h == nil {
		h = &habitFit{}
		f.habits[key] = h
	}
	gap := j.Submit.Sub(h.last)
	if h.jobs > 0 && gap <= batchGap {
		f.gaps = append(f.gaps, seconds(gap))
	} else {
		h.batches++
		clock := begin.Add(protocol.Duration(j.Submit).Std())
		f.model.Hours[clock.Hour()]++
		f.model.Days[clock.Weekday()]++
	}
	h.jobs++
	h.last = j.Submit
}

// addKind adds a kind to the model, and its habits by user.
func (f *monthlyFit) addKind(key kindKey) {
	kind := Kind{CPUs: key.cpus}
	var estimates, runs []int
	for _, j := range f.kinds[key] {
		estimates = append(estimates, seconds(j.Estimate))
		runs = append(runs, int(math.Round(float64(j.Run)/float64(j.Estimate)*protocol.PPM)))
	}
	slices.Sort(estimates)
	for i := range kind.Estimates {
		kind.Estimates[i] = estimates[(2*i+1)*len(estimates)/(2*len(kind.Estimates))]
	}
	kind.Runs = decilesOf(runs)
	index := len(f.model.Kinds)
	f.model.Kinds = append(f.model.Kinds, kind)

	var habits []Habit
	for of, h := range f.habits {
		if of.kind == key {
			habits = append(habits, Habit{User: of.user, Kind: index, Batches: h.batches, Jobs: h.jobs})
		}
	}
	slices.SortFunc(habits, func(a, b Habit) int { return cmp.Compare(a.User, b.User) })
	f.model.Habits = append(f.model.Habits, habits...)
}

// decilesOf returns those of a sample, which it sorts; of none they are 0.
func decilesOf(sample []int) Deciles {
	var d Deciles
	if len(sample) == 0 {
		return d
	}
	slices.Sort(sample)
	for i := range d {
		d[i] = sample[i*(len(sample)-1)/(len(d)-1)]
	}
	return d
}

// seconds of a span, rounded up, so that what is not 0 stays so.
func seconds(d protocol.Duration) int { return int((d + protocol.Second - 1) / protocol.Second) }
