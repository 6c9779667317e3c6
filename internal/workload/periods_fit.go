package workload

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// How fine the model of [FitPeriods] is.
const (
	profileClasses   = 5   // size classes of the periods with about as much work each; there is one more
	jobsPerPeriod    = 25  // at least, in the mean of a log
	ownKindsShare    = 100 // a size with a hundredth of the jobs or of the work has kinds of its own
	kindShare        = 500 // a kind has at least a five-hundredth of the jobs or of the work, if it can be merged
	partsPerKind     = 16  // at most
	jobsPerPart      = 5   // at least
	leastProfileJobs = 100
	leastProfileSpan = protocol.Day
)

// profileGap is the most between two submissions of a batch.
const profileGap = protocol.Hour

// periodLengths are the possible lengths of a period, in h.
func periodLengths() []int { return []int{2, 3, 4, 6, 8, 12, 24} }

// FitPeriods models the jobs of a machine, which may come in any order. When the
// workload's time begins, clocks at the site show begin, in the fields of a time in
// UTC. A log of less than 100 jobs or a day is an error.
func FitPeriods(jobs []Job, m Machine, begin time.Time) (*PeriodModel, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("fit: machine.%w", err)
	}
	if len(jobs) < leastProfileJobs {
		return nil, fmt.Errorf("fit: %d jobs are too few to model their periods; use a log of at least %d", len(jobs), leastProfileJobs)
	}
	jobs = slices.Clone(jobs)
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	if span := jobs[len(jobs)-1].Submit.Sub(jobs[0].Submit); span < leastProfileSpan {
		return nil, fmt.Errorf("fit: a log of %s is too short to model its periods; use one of at least a day", span.Text())
	}
	for _, j := range jobs {
		if j.Run < 1 || j.Estimate < j.Run || j.CPUs < 1 || j.CPUs > m.CPUs() {
			return nil, fmt.Errorf("fit: job %d: %d CPUs for %d ms with an estimate of %d ms, on a machine of %d CPUs",
				j.ID, j.CPUs, int64(j.Run), int64(j.Estimate), m.CPUs())
		}
	}
	f := periodFit{jobs: jobs}
	f.calendar(begin)
	f.periods(m)
	f.kinds()
	f.batches()
	model := &PeriodModel{Machine: m, Profile: f.profile}
	if err := model.Validate(); err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	return model, nil
}

// periodFit is a fit under way.
type periodFit struct {
	jobs    []Job // in the order of their submissions
	profile Profile
	kind    []int // of each job
}

// second is when a job is submitted, in s since the first submission.
func (f *periodFit) second(job int) int {
	return int(f.jobs[job].Submit.Sub(f.jobs[0].Submit) / protocol.Second)
}

// calendar finds when the log begins, its span and the length of a period.
func (f *periodFit) calendar(begin time.Time) {
	p := &f.profile
	first := time.Unix(begin.Unix()+int64(f.jobs[0].Submit)/int64(protocol.Second), 0).UTC()
	p.Weekday, p.Begin = int(first.Weekday()), first.Hour()*secondsPerHour+first.Minute()*60+first.Second()
	p.Span = f.second(len(f.jobs) - 1)
	for _, p.Period = range periodLengths() {
		if len(f.jobs) >= jobsPerPeriod*p.periods() {
			break
		}
	}
}

// periods counts the jobs of each period and size class.
func (f *periodFit) periods(m Machine) {
	p := &f.profile
	p.Widths = workQuantiles(f.jobs, profileClasses, m.CPUs())
	last := 2 * len(p.Widths)
	p.Periods = make([][]int, p.periods())
	for i := range p.Periods {
		p.Periods[i] = make([]int, last+1)
	}
	for i, j := range f.jobs {
		period, class := p.Periods[p.at(f.second(i))], p.class(j.CPUs)
		period[2*class]++
		period[2*class+1] += int(j.Work()) // CPU·ms so far
		period[last] = max(period[last], j.CPUs)
	}
	for _, period := range p.Periods {
		for class := range p.Widths {
			work := &period[2*class+1]
			*work = (*work + 500) / 1000
		}
	}
}

// workQuantiles returns sizes between which jobs have about equal parts of the work,
// then half of the largest size of all, and that: jobs of more than half of a machine
// run alone or block others, and a period without them has shorter waits.
func workQuantiles(jobs []Job, parts, largest int) []int {
	work := map[int]float64{}
	all, sum := 0.0, 0.0
	for _, j := range jobs {
		work[j.CPUs] += float64(j.Work())
		all += float64(j.Work())
	}
	var widths []int
	sizes := sortedKeys(work, cmp.Compare)
	for _, cpus := range sizes {
		sum += work[cpus]
		if cpus < largest && sum >= all*float64(len(widths)+1)/float64(parts) && len(widths) < parts-1 {
			widths = append(widths, cpus)
		}
	}
	if half := largest / 2; len(widths) > 0 && widths[len(widths)-1] < half && sizes[len(sizes)-1] > half {
		widths = append(widths, half)
	}
	return append(widths, largest)
}

func sortedKeys[K comparable, V any](of map[K]V, compare func(a, b K) int) []K {
	keys := make([]K, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, compare)
	return keys
}

// profileBand tells estimates of up to 15 min, an hour, 3, 6, 12 and 24 hours apart.
func profileBand(estimate protocol.Duration) int {
	bounds := [...]protocol.Duration{
		15 * protocol.Minute, protocol.Hour, 3 * protocol.Hour, 6 * protocol.Hour, 12 * protocol.Hour, 24 * protocol.Hour,
	}
	for i, bound := range bounds {
		if estimate <= bound {
			return i
		}
	}
	return len(bounds)
}

// sizeAndBand is of which sizes and estimates a kind is before small ones are merged.
type sizeAndBand struct {
	class int // kinds do not span the size classes of the periods
	size  int // CPUs; or minus the bits of the sizes of less frequent ones
	band  int
}

func (k sizeAndBand) compare(other sizeAndBand) int {
	return cmp.Or(cmp.Compare(k.class, other.class), cmp.Compare(k.size, other.size), cmp.Compare(k.band, other.band))
}

// kinds groups the jobs.
func (f *periodFit) kinds() {
	weight := weighing{jobs: len(f.jobs)}
	bySize, groups := map[int]*weighing{}, map[sizeAndBand]*kindMembers{}
	for _, j := range f.jobs {
		if bySize[j.CPUs] == nil {
			bySize[j.CPUs] = &weighing{}
		}
		bySize[j.CPUs].add(j)
		weight.work += float64(j.Work())
	}
	for i, j := range f.jobs {
		key := sizeAndBand{f.profile.class(j.CPUs), j.CPUs, profileBand(j.Estimate)}
		if bySize[j.CPUs].share(weight)*ownKindsShare < 1 {
			key.size = -bits.Len(uint(j.CPUs))
		}
		if groups[key] == nil {
			groups[key] = &kindMembers{key: key}
		}
		groups[key].jobs = append(groups[key].jobs, i)
		groups[key].add(j)
	}
	few := func(g *kindMembers) bool {
		return len(g.jobs) < jobsPerPart || g.share(weight)*kindShare < 1
	}
	var merged []*kindMembers
	for _, key := range sortedKeys(groups, sizeAndBand.compare) {
		next := groups[key]
		if last := len(merged) - 1; last >= 0 && merged[last].key.class == key.class && merged[last].key.size == key.size &&
			(few(next) || few(merged[last])) {
			merged[last].merge(next)
			continue
		}
		merged = append(merged, next)
	}
	f.kind = make([]int, len(f.jobs))
	for k, group := range merged {
		for _, job := range group.jobs {
			f.kind[job] = k
		}
		f.profile.Kinds = append(f.profile.Kinds, f.describe(group.jobs))
	}
}

// weighing is how many jobs there are, and their work in CPU·ms.
type weighing struct {
	jobs int
	work float64
}

func (w *weighing) add(j Job) {
	w.jobs++
	w.work += float64(j.Work())
}

// share is the larger of those of the jobs and of the work.
func (w *weighing) share(of weighing) float64 {
	return max(float64(w.jobs)/float64(of.jobs), w.work/of.work)
}

// kindMembers is the jobs of a kind.
type kindMembers struct {
	weighing

	key  sizeAndBand
	jobs []int
}

func (k *kindMembers) merge(other *kindMembers) {
	k.jobs = append(k.jobs, other.jobs...)
	k.weighing.jobs += other.weighing.jobs
	k.work += other.work
}

// describe makes a kind of jobs.
func (f *periodFit) describe(jobs []int) PeriodKind {
	k := PeriodKind{Jobs: len(jobs)}
	jobs = slices.Clone(jobs)
	slices.SortStableFunc(jobs, func(a, b int) int { return cmp.Compare(f.jobs[a].CPUs, f.jobs[b].CPUs) })
	parts := max(1, min(partsPerKind, len(jobs)/jobsPerPart))
	for part := range parts {
		members := jobs[part*len(jobs)/parts : (part+1)*len(jobs)/parts]
		sum := 0
		for _, job := range members {
			sum += f.jobs[job].CPUs
		}
		k.CPUs = append(k.CPUs, (sum+len(members)/2)/len(members))
	}
	if k.CPUs[0] == k.CPUs[len(k.CPUs)-1] {
		k.CPUs = k.CPUs[:1]
	}
	f.sortByTimes(jobs)
	for part := range parts {
		run, estimate := f.times(jobs[part*len(jobs)/parts : (part+1)*len(jobs)/parts])
		k.Runs, k.Estimates = append(k.Runs, run), append(k.Estimates, estimate)
	}
	return k
}

func (f *periodFit) sortByTimes(jobs []int) {
	slices.SortStableFunc(jobs, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.jobs[a].Estimate, f.jobs[b].Estimate), cmp.Compare(f.jobs[a].Run, f.jobs[b].Run))
	})
}

// times returns the mean run time of jobs and their most frequent estimate, in s.
func (f *periodFit) times(jobs []int) (run, estimate int) {
	sum, frequent := protocol.Duration(0), f.jobs[jobs[0]].Estimate
	counts := map[protocol.Duration]int{}
	for _, job := range jobs {
		sum += f.jobs[job].Run
		e := f.jobs[job].Estimate
		if counts[e]++; counts[e] > counts[frequent] {
			frequent = e
		}
	}
	mean := sum / protocol.Duration(len(jobs))
	run = max(1, int((mean+protocol.Second/2)/protocol.Second))
	return run, max(run, int((frequent+protocol.Second-1)/protocol.Second))
}

// batches counts the batches of the kinds and what there is to know of them. A batch
// is of one user, one kind and one period.
func (f *periodFit) batches() {
	p := &f.profile
	p.Hours, p.Gaps = make([]int, 24), [][]int{}
	var gaps [][]int
	var alike correlation
	ranks := f.ranks()
	for _, batch := range f.findBatches() {
		k, level := &p.Kinds[f.kind[batch[0]]], batchLevel(len(batch))
		for len(k.Batches) <= level {
			k.Batches = append(k.Batches, 0)
		}
		k.Batches[level]++
		p.Hours[(p.Begin+f.second(batch[0]))%secondsPerDay/secondsPerHour]++
		for len(gaps) < level {
			gaps = append(gaps, nil)
		}
		for i, job := range batch[1:] {
			gaps[level-1] = append(gaps[level-1], f.second(job)-f.second(batch[i]))
			alike.add(ranks[job] - ranks[batch[i]])
		}
	}
	p.Alike = alike.ppm()
	for i, some := range gaps {
		if len(some) == 0 { // no batch has this length: that of the next shorter ones, or longer
			some = nearestGaps(gaps, i)
		}
		p.Gaps = append(p.Gaps, profileDeciles(slices.Clone(some)))
	}
}

// nearestGaps are the last before an index that are not empty, or the first after it.
// The last of all are not.
func nearestGaps(gaps [][]int, i int) []int {
	for before := i - 1; before >= 0; before-- {
		if len(gaps[before]) > 0 {
			return gaps[before]
		}
	}
	return gaps[slices.IndexFunc(gaps, func(some []int) bool { return len(some) > 0 })]
}

// batchLevel is the index of a batch's length in [PeriodKind.Batches].
func batchLevel(jobs int) int { return bits.Len(uint(jobs)) - 1 }

// findBatches returns the jobs of each batch, in the order of the first ones.
func (f *periodFit) findBatches() [][]int {
	type who struct{ user, kind int }
	type open struct{ batch, last int }
	latest := map[who]open{}
	var batches [][]int
	for i, j := range f.jobs {
		key := who{j.User, f.kind[i]}
		of, ok := latest[key]
		if !ok || j.Submit.Sub(f.jobs[of.last].Submit) > profileGap ||
			f.profile.at(f.second(i)) != f.profile.at(f.second(of.last)) {
			of.batch = len(batches)
			batches = append(batches, nil)
		}
		batches[of.batch] = append(batches[of.batch], i)
		latest[key] = open{of.batch, i}
	}
	return batches
}

// ranks are those of the jobs in their kinds by their times, from 0 to 1.
func (f *periodFit) ranks() []float64 {
	byKind := make([][]int, len(f.profile.Kinds))
	for job, kind := range f.kind {
		byKind[kind] = append(byKind[kind], job)
	}
	ranks := make([]float64, len(f.jobs))
	for _, jobs := range byKind {
		f.sortByTimes(jobs)
		for rank, job := range jobs {
			ranks[job] = float64(rank) / float64(len(jobs))
		}
	}
	return ranks
}

// correlation is that of pairs of ranks, each uniform from 0 to 1: their differences
// have the mean square (1−ρ)/6.
type correlation struct {
	squares float64
	pairs   int
}

func (c *correlation) add(difference float64) {
	c.squares += difference * difference
	c.pairs++
}

// ppm is ρ, 0 if it is negative or there are no pairs.
func (c *correlation) ppm() int {
	if c.pairs == 0 {
		return 0
	}
	return int(protocol.PPM * max(0, 1-6*c.squares/float64(c.pairs)))
}

func profileDeciles(values []int) []int {
	slices.Sort(values)
	d := make([]int, len(Deciles{}))
	for i := range d {
		d[i] = values[i*(len(values)-1)/(len(d)-1)]
	}
	return d
}
