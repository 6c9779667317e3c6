package priceforecast

import (
	"cmp"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The hours of the two prices and what they are, as [MC 5] has them.
const (
	noon           = 12 // on-peak hours are from noon to midnight
	offPeakPercent = 10
	onPeakPercent  = 90
)

// twoPrices are the prices from one instant to another of who knows but two prices a day:
// the 10th percentile of the known ones from midnight to noon, and the 90th from noon to
// midnight [MC 5].
func twoPrices(known []price.Slot, from, until protocol.Instant, zone *time.Location) price.Series {
	offPeak, onPeak := percentile(known, offPeakPercent), percentile(known, onPeakPercent)
	var s price.Series
	// Step by step, as clocks that are put forward or back may skip or repeat midnight.
	for at := from - from%protocol.Instant(price.Resolution); at < until; at = at.Add(price.Resolution) {
		cost := offPeak
		if at.Time().In(zone).Hour() >= noon {
			cost = onPeak
		}
		n := len(s.Slots)
		if n > 0 && s.Slots[n-1].Price == cost && s.Slots[n-1].Length < price.MaxSlot {
			s.Slots[n-1].Length += price.Resolution
			continue
		}
		s.Slots = append(s.Slots, price.Slot{Start: at, Length: price.Resolution, Price: cost})
	}
	return s
}

// percentile is the least price that holds for at least this percentage of the slots'
// time, with those below it.
func percentile(slots []price.Slot, percent int64) protocol.Micro {
	sorted := slices.Clone(slots)
	slices.SortFunc(sorted, func(a, b price.Slot) int { return cmp.Compare(a.Price, b.Price) })
	total := protocol.Duration(0)
	for _, slot := range sorted {
		total += slot.Length
	}
	passed := protocol.Duration(0)
	for _, slot := range sorted {
		passed += slot.Length
		if int64(passed)*100 >= int64(total)*percent {
			return slot.Price
		}
	}
	return 0
}
