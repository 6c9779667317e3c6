package mincostflow

import "math"

// scan reads rows of costs under prices. Most of a solution's time is spent here, so
// sums are made in 32 bits, relative to the lowest price, and their least is kept
// for each block of a row: to find what is near the least, most blocks are passed
// over.
//
// Sums below Missing are right: higher prices count as Missing, and what is missing
// costs no less. The few rows without such a sum are read again, with care.
type scan struct {
	price []int64  // of each system and of the unserved
	low   int64    // the lowest of a system
	tag   []uint32 // each system's price above low, at most Missing
	block []uint32 // the least sum of each block of the row just read
}

const (
	blockLength = 8
	missingSum  = uint32(Missing)
)

func newScan(price []int64) *scan {
	systems := len(price) - 1
	s := &scan{
		price: price, low: far,
		tag: make([]uint32, systems), block: make([]uint32, systems/blockLength+1),
	}
	for _, p := range price[:systems] {
		s.low = min(s.low, p)
	}
	for i := range s.tag {
		s.retag(i)
	}
	return s
}

// retag takes note of a system's price, which is not below the lowest.
func (s *scan) retag(system int) {
	s.tag[system] = uint32(min(s.price[system]-s.low, int64(missingSum))) //nolint:gosec // below Missing, or it
}

// word is a cost, which is not negative, as what sums are made of.
func word(cost int32) uint32 { return uint32(cost) } //nolint:gosec // not negative

// least is the lowest sum of cost and price in a row, or the price of the unserved.
func (s *scan) least(row []int32) int64 {
	least := missingSum
	tag := s.tag[:len(row)]
	i, block := 0, 0
	for ; i+blockLength <= len(row); i += blockLength {
		r := row[i : i+blockLength : i+blockLength]
		t := tag[i : i+blockLength : i+blockLength]
		a := min(word(r[0])+t[0], word(r[1])+t[1])
		b := min(word(r[2])+t[2], word(r[3])+t[3])
		c := min(word(r[4])+t[4], word(r[5])+t[5])
		d := min(word(r[6])+t[6], word(r[7])+t[7])
		sum := min(a, b, c, d)
		s.block[block] = sum
		block++
		least = min(least, sum)
	}
	sum := missingSum
	for ; i < len(row); i++ {
		sum = min(sum, word(row[i])+tag[i])
	}
	s.block[block] = sum
	least = min(least, sum)
	unserved := s.price[len(row)]
	if least < missingSum {
		return min(int64(least)+s.low, unserved)
	}
	return s.careful(row, unserved)
}

func (s *scan) careful(row []int32, least int64) int64 {
	for i, c := range row {
		if c != Missing {
			least = min(least, int64(c)+s.price[i])
		}
	}
	return least
}

// within appends the pairs of the row just read whose sum is up to a limit, which
// is not below the least; the unserved comes last.
func (s *scan) within(offers []offer, row []int32, limit int64) []offer {
	high := uint32(math.MaxUint32) // sums from Missing on tell nothing
	if limit-s.low < int64(missingSum) {
		high = uint32(max(0, limit-s.low)) //nolint:gosec // below Missing, or it
	}
	for block, sum := range s.block {
		if sum > high {
			continue
		}
		from := block * blockLength
		for i := from; i < min(from+blockLength, len(row)); i++ {
			if c := row[i]; c != Missing && int64(c)+s.price[i] <= limit {
				offers = append(offers, offer{int32(i), c})
			}
		}
	}
	if s.price[len(row)] <= limit {
		offers = append(offers, offer{int32(len(row)), 0}) //nolint:gosec // within MaxSystems
	}
	return offers
}

// emptiest is the first of the cheapest offers with the most places left.
func (s *scan) emptiest(offers []offer, least int64, left []int) offer {
	best := -1
	for i, o := range offers {
		if int64(o.cost)+s.price[o.system] > least {
			continue
		}
		if best < 0 || left[o.system] > left[offers[best].system] {
			best = i
		}
	}
	return offers[best]
}
