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

// checkPlausible says why an answer of the feed of budgets cannot be meant so.
func (k *Keeper) checkPlausible(answer price.Series) error {
	k.mu.Lock()
	cfg, cpus := k.cfg, k.cpus
	k.mu.Unlock()
	return implausible(cfg, cpus, answer, protocol.InstantOf(time.Now()))
}

// SetCPUs has the keeper know the size of the machine, beyond whose draw no answer is believed.
func (k *Keeper) SetCPUs(cpus int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cpus = cpus
	if !k.dropImplausible() {
		return nil
	}
	k.report(k.cfg, protocol.InstantOf(time.Now()))
	return k.activate(k.cfg)
}

// dropImplausible drops the hours of the latest answer that are beyond what is plausible, and
// says whether there were any. It does so when the size of the machine has become known.
func (k *Keeper) dropImplausible() bool {
	highest, _ := maxPlausible(k.cfg, k.cpus)
	err := implausible(k.cfg, k.cpus, k.latest.Series.series(), protocol.InstantOf(time.Now()))
	if err == nil || highest == 0 {
		return false
	}
	k.faults.series = fmt.Errorf("[power.series]: %w", err)
	kept := *k.latest.Series
	kept.Slots = slices.DeleteFunc(slices.Clone(kept.Slots), func(one storedSlot) bool { return int64(one.Price) > highest })
	k.latest.Series = &kept
	return true
}

// maxPlausible is the highest budget that an answer may have, and what sets it; 0: any.
func maxPlausible(cfg *config.Config, cpus int) (milliwatts int64, of string) {
	switch {
	case cfg.Power.Series.Max > 0:
		return cfg.Power.Series.Max.Milliwatts(), "max_kw"
	case cpus > 0:
		return cfg.Power.Rates().Draw(cpus, cpus, 0), "what all " + protocol.Count(cpus, "CPU") + " of this machine draw together"
	}
	return 0, ""
}

// implausible says why a series of budgets cannot be meant so. What is past does not matter.
func implausible(cfg *config.Config, cpus int, s price.Series, now protocol.Instant) error {
	highest, of := maxPlausible(cfg, cpus)
	for _, slot := range s.Slots {
		limit := int64(slot.Price) // milliwatts, as the millionths of a kilowatt are
		at := slot.Start.Time().UTC().Format(time.RFC3339)
		switch {
		case slot.End() <= now:
		case limit < 0:
			return fmt.Errorf("the feed reports a budget below 0 for %s, -%s; its answer is ignored; fix the feed", at, power.Text(-max(limit, -math.MaxInt64)))
		case highest > 0 && limit > highest:
			return fmt.Errorf("the feed tells a budget of %s for %s, more than %s, %s; nothing of its answer is taken; "+
				"fix the feed, or set max_kw if that is meant", power.Text(limit), at, of, power.Text(highest))
		}
	}
	return nil
}
