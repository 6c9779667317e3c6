package wait

import "slices"

// window is the last values of a sequence, in the order that they came and sorted.
type window struct {
	limit  int
	values []float64 // a ring once it is full
	next   int       // place of the oldest value once it is full
	sorted []float64
}

// add takes a value in. A full window drops its oldest.
func (w *window) add(value float64) (dropped float64, full bool) {
	to, _ := slices.BinarySearch(w.sorted, value)
	if len(w.values) < w.limit {
		w.values = append(w.values, value)
		w.sorted = slices.Insert(w.sorted, to, value)
		return 0, false
	}
	dropped = w.values[w.next]
	w.values[w.next] = value
	w.next = (w.next + 1) % w.limit
	// Only what lies between the two values moves.
	from, _ := slices.BinarySearch(w.sorted, dropped)
	if from < to {
		to--
		copy(w.sorted[from:to], w.sorted[from+1:to+1])
	} else {
		copy(w.sorted[to+1:from+1], w.sorted[to:from])
	}
	w.sorted[to] = value
	return dropped, true
}

// inOrder is the values, oldest first.
func (w *window) inOrder() []float64 { return slices.Concat(w.values[w.next:], w.values[:w.next]) }

// keep drops all but the latest values.
func (w *window) keep(latest int) {
	values := w.inOrder()
	w.values, w.next = values[max(0, len(values)-latest):], 0
	w.sorted = append(w.sorted[:0], w.values...)
	slices.Sort(w.sorted)
}
