package wait

import "math"

// ranker ranks columns of the history. It keeps its room between calls.
type ranker struct {
	keys, spareKeys   []uint64
	order, spareOrder []int32
}

// ranks are the ranks of values, which must not be negative, from 1; equal values
// share the mean of theirs. Floats from 0 on sort as their bits do, so that a
// radix sort serves, which passes over digits that all values share.
func (r *ranker) ranks(values, into []float64) []float64 {
	r.fit(len(values))
	for i, v := range values {
		r.keys[i], r.order[i] = math.Float64bits(v), int32(i)
	}
	const bits = 11
	for shift := 0; shift < 64; shift += bits {
		r.pass(shift, bits)
	}
	into = into[:0]
	into = append(into, values...)
	for first := 0; first < len(r.keys); {
		after := first + 1
		for after < len(r.keys) && r.keys[after] == r.keys[first] {
			after++
		}
		for _, i := range r.order[first:after] {
			into[i] = float64(first+1+after) / 2
		}
		first = after
	}
	return into
}

// pass sorts by one digit, stably.
func (r *ranker) pass(shift, bits int) {
	var starts [1 << 11]int32
	mask := uint64(1)<<bits - 1
	for _, key := range r.keys {
		starts[key>>shift&mask]++
	}
	if int(starts[r.keys[0]>>shift&mask]) == len(r.keys) {
		return
	}
	sum := int32(0)
	for digit, count := range starts {
		starts[digit] = sum
		sum += count
	}
	for i, key := range r.keys {
		to := &starts[key>>shift&mask]
		r.spareKeys[*to], r.spareOrder[*to] = key, r.order[i]
		*to++
	}
	r.keys, r.spareKeys = r.spareKeys, r.keys
	r.order, r.spareOrder = r.spareOrder, r.order
}

func (r *ranker) fit(n int) {
	if cap(r.keys) < n {
		r.keys, r.spareKeys = make([]uint64, n), make([]uint64, n)
		r.order, r.spareOrder = make([]int32, n), make([]int32, n)
	}
	r.keys, r.spareKeys = r.keys[:n], r.spareKeys[:n]
	r.order, r.spareOrder = r.order[:n], r.spareOrder[:n]
}
