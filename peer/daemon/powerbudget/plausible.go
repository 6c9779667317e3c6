package powerbudget

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// doubt says why what the feed of the series tells cannot be meant so.
func (k *Keeper) doubt(told price.Series) error {
	k.mu.Lock()
	cfg, cpus := k.cfg, k.cpus
	k.mu.Unlock()
	return doubt(cfg, cpus, told, protocol.InstantOf(time.Now()))
}

// SetCPUs has the feed of the series be believed no more than such a machine can draw.
func (k *Keeper) SetCPUs(cpus int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cpus = cpus
	if !k.forgetDoubtful() {
		return nil
	}
	k.report(k.cfg, protocol.InstantOf(time.Now()))
	return k.adopt(k.cfg)
}

// forgetDoubtful drops the hours of which more was told than is believed, and says whether
// there were any. It does so when the size of the machine has become known.
func (k *Keeper) forgetDoubtful() bool {
	most, _ := mostBelieved(k.cfg, k.cpus)
	err := doubt(k.cfg, k.cpus, k.told.Series.series(), protocol.InstantOf(time.Now()))
	if err == nil || most == 0 {
		return false
	}
	k.wrong.series = fmt.Errorf("[power.series]: %w", err)
	kept := *k.told.Series
	kept.Slots = slices.DeleteFunc(slices.Clone(kept.Slots), func(one storedSlot) bool { return int64(one.Price) > most })
	k.told.Series = &kept
	return true
}

// mostBelieved is the highest budget that a feed is believed, and what it is; 0: any.
func mostBelieved(cfg *config.Config, cpus int) (milliwatts int64, of string) {
	switch {
	case cfg.Power.Series.Max > 0:
		return cfg.Power.Series.Max.Milliwatts(), "max_kw"
	case cpus > 0:
		return cfg.Power.Rates().Draw(cpus, cpus, 0), "what all " + protocol.Count(cpus, "CPU") + " of this machine draw together"
	}
	return 0, ""
}

// doubt says why a series of budgets cannot be meant so. What is past does not matter.
func doubt(cfg *config.Config, cpus int, s price.Series, now protocol.Instant) error {
	most, of := mostBelieved(cfg, cpus)
	for _, slot := range s.Slots {
		told := int64(slot.Price) // milliwatts, as the millionths of a kilowatt are
		at := slot.Start.Time().UTC().Format(time.RFC3339)
		switch {
		case slot.End() <= now:
		case told < 0:
			return fmt.Errorf("the feed tells a budget below 0 for %s, -%s; nothing of its answer is taken; mend the feed", at, power.Text(-max(told, -math.MaxInt64)))
		case most > 0 && told > most:
			return fmt.Errorf("the feed tells a budget of %s for %s, more than %s, %s; nothing of its answer is taken; "+
				"mend the feed, or set max_kw if that is meant", power.Text(told), at, of, power.Text(most))
		}
	}
	return nil
}
