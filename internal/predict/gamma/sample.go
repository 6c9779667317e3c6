package gamma

import "math"

// sample is a run as the fit sees it.
type sample struct {
	node
	work     work       // as presumed of this run
	weight   float64    // 1 for the latest of its site
	ran      float64    // ln T, in seconds
	computed float64    // ln t_comp, in seconds
	timed    bool       // computed is known
	counts   [4]float64 // ln of what was counted over what was presumed: of flop, words, sent, messages
	counted  [4]bool
}

// newSample prepares a run of presumed work.
func newSample(e *Execution, w *work, weight float64) sample {
	s := sample{node: e.node(), work: w.at(float64(e.CPUs)), weight: weight, ran: math.Log(e.seconds())}
	if computed, ok := e.computed(); ok {
		s.computed, s.timed = math.Log(computed), true
	}
	presumed := [...]float64{s.work.flop, s.work.words, s.work.sent, s.work.messages}
	counters := [...]float64{million(e.Usage.Mflop), million(e.Usage.Mwords), count(e.Usage.Sent), count(e.Usage.Messages)}
	for i, n := range counters {
		if n > 0 && presumed[i] > 0 {
			s.counts[i], s.counted[i] = math.Log(n/presumed[i]), true
		}
	}
	return s
}

// row is one measurement, compared with what the unknowns say of it.
type row struct {
	off    float64 // by how many doubts more is expected than measured
	weight float64
	slope  vector // of the error, by each unknown
}

// rows compares the run time, the time to compute and the counters with what they are when
// the unknowns are so, and the factors that they stand for. The time to communicate is not a
// row of its own: as a difference of two times it would be doubtful where it is short.
func (s *sample) rows(at, by *vector, rows []row) []row {
	t := s.times(by)
	rows = append(rows, s.row(math.Log(t.total())-s.ran, t.slope()))
	if s.timed {
		rows = append(rows, s.row(math.Log(t.compute)-s.computed, t.computeSlope()))
	}
	for i, ok := range s.counted {
		if ok {
			var alone vector
			alone[i] = 1
			rows = append(rows, s.row(at[i]-s.counts[i], alone))
		}
	}
	return rows
}

// row measures an error in doubts.
func (s *sample) row(more float64, slope vector) row {
	for i := range slope {
		slope[i] /= doubtMeasured
	}
	return row{off: more / doubtMeasured, weight: s.weight, slope: slope}
}

// times are the parts of the run when what was presumed is multiplied by some factors.
func (s *sample) times(by *vector) times {
	w, p := by.apply(&s.work)
	return s.node.times(&w, p)
}

// surplus is the logarithm of the run time over what the model explains of it.
func (s *sample) surplus(by *vector) float64 {
	t := s.times(by)
	return s.ran - math.Log(t.total())
}

// factors are what the unknowns are the logarithms of.
func (v *vector) factors() (by vector) {
	for i := range v {
		by[i] = math.Exp(v[i])
	}
	return by
}

// apply multiplies what was presumed by factors.
func (v *vector) apply(presumed *work) (work, pace) {
	w := *presumed
	w.flop *= v[flop]
	w.words *= v[words]
	w.sent *= v[sent]
	w.messages *= v[messages]
	return w, pace{compute: v[computing], network: v[network]}
}

// slope is that of ln T: each part's share of the run time.
func (t *times) slope() (v vector) {
	total := t.total()
	if t.covered { // the run time is that of all communication
		v[sent] = t.send / (t.send + t.latency)
		v[messages] = 1 - v[sent]
		return v
	}
	v = t.computeSlope()
	for i := range v {
		v[i] *= t.compute / total
	}
	v[sent], v[messages], v[network] = t.send/total, t.latency/total, (t.send+t.latency)/total
	return v
}

// computeSlope is that of ln t_comp: only what bounds the rate counts.
func (t *times) computeSlope() (v vector) {
	v[computing] = 1
	if t.peak {
		v[flop] = 1
		return v
	}
	v[words] = 1
	return v
}
