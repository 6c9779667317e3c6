package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// troubles are what is wrong with the feeds; nil: nothing.
type troubles struct{ prices, series error }

// toldFeed is a feed that the budget goes by, and what it told last.
type toldFeed struct {
	table   string
	told    *telling
	trouble error
}

// feeds are those that the budget of a configuration goes by.
func (k *budgetKeeper) feeds(cfg *config.Config) (all []toldFeed) {
	if k.prices != nil && cfg.Power.Price != 0 {
		all = append(all, toldFeed{"prices", k.told.Prices, k.wrong.prices})
	}
	if k.series != nil {
		all = append(all, toldFeed{"power.series", k.told.Series, k.wrong.series})
	}
	return all
}

// stale are the feeds that the budget goes by and that have told nothing of the time to come.
func (k *budgetKeeper) stale(cfg *config.Config, now protocol.Instant) (all []toldFeed) {
	for _, feed := range k.feeds(cfg) {
		if !feed.told.ahead(now) {
			all = append(all, feed)
		}
	}
	return all
}

// staleFor is how long ago the last hour that a feed told has passed; 0 while all know more.
func (k *budgetKeeper) staleFor() (longest time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := protocol.InstantOf(time.Now())
	for _, feed := range k.stale(k.cfg, now) {
		longest = max(longest, now.Sub(cmp.Or(feed.told.end(), k.opened)).Std())
	}
	return longest
}

// alarms are what is wrong with the feeds of the budget now.
func (k *budgetKeeper) alarms() (all []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := protocol.InstantOf(time.Now())
	for _, feed := range k.feeds(k.cfg) {
		if text := feed.alarm(k.cfg, now); text != "" {
			all = append(all, "power budget: "+text)
		}
	}
	return all
}

// alarm says what is wrong with a feed, and what holds meanwhile.
func (f toldFeed) alarm(cfg *config.Config, now protocol.Instant) string {
	var text string
	switch holds := f.meanwhile(cfg); {
	case f.told.ahead(now) && f.trouble == nil:
		return ""
	case f.told.ahead(now):
		text = "the hours that the feed told last go on to hold"
	case f.told.end() > 0:
		text = fmt.Sprintf("the last hour that the feed told ended at %s; %s", f.told.end().Time().UTC().Format(time.RFC3339), holds)
	default:
		text = "the feed has not told any hour yet; " + holds
	}
	if f.trouble != nil {
		return strings.ReplaceAll(f.trouble.Error(), "\n", "; ") + "; " + text // which names the table
	}
	return "[" + f.table + "]: " + text
}

// meanwhile says what holds while a feed tells no hour of the time to come.
func (f toldFeed) meanwhile(cfg *config.Config) string {
	fallback := cfg.Power.Series.Fallback
	switch last := lastOf(f.told); {
	case f.table == "power.series" && fallback > 0:
		return "until it tells more, fallback_kw holds: " + power.Text(fallback.Milliwatts())
	case last == nil && f.table == "power.series":
		return "until it does, there is no budget by it; set fallback_kw to have one"
	case last == nil:
		return "until it does, there is no budget by price"
	case f.table == "power.series":
		return "until it tells more, its last budget holds: " + power.Text(int64(last.Price))
	}
	return "until it tells more, its last price counts"
}

func lastOf(t *telling) *slotJSON {
	if t == nil || len(t.Slots) == 0 {
		return nil
	}
	return &t.Slots[len(t.Slots)-1]
}

// report logs what is wrong with the feeds when it is another thing than before.
func (k *budgetKeeper) report(cfg *config.Config, now protocol.Instant) {
	var texts []string
	for _, feed := range k.feeds(cfg) {
		if text := feed.alarm(cfg, now); text != "" {
			texts = append(texts, text)
		}
	}
	text := strings.Join(texts, "; ")
	if text != "" && text != k.logged {
		k.logAlarm(cfg, now, text)
	}
	k.logged = text
}

func (k *budgetKeeper) logAlarm(cfg *config.Config, now protocol.Instant, text string) {
	log, event := k.log.Warn, "power_budget_as_last_known"
	for _, feed := range k.stale(cfg, now) {
		if event != "power_budget_unknown" {
			log, event = k.log.Error, "power_budget_stale"
		}
		if feed.told.end() == 0 {
			event = "power_budget_unknown"
		}
	}
	log(event, "why", text)
}

// knownCPUs are those of the machine as far as that is known before its batch system says
// it; 0: not.
func (p *peerProcess) knownCPUs() int {
	if p.cfg.LocalSched.Plugin == config.Process {
		return p.cfg.LocalSched.Capacity(runtime.NumCPU()).CPUs
	}
	last, err := lastMachine(filepath.Join(string(p.cfg.Site.StateDir), "machine.json"))
	if err != nil {
		return 0 // describe tells
	}
	return last.Capacity.CPUs
}

// doubt says why what the feed of the series tells cannot be meant so.
func (k *budgetKeeper) doubt(told price.Series) error {
	k.mu.Lock()
	cfg, cpus := k.cfg, k.cpus
	k.mu.Unlock()
	return doubt(cfg, cpus, told, protocol.InstantOf(time.Now()))
}

// sized has the feed of the series be believed no more than such a machine can draw.
func (k *budgetKeeper) sized(cpus int) error {
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
func (k *budgetKeeper) forgetDoubtful() bool {
	most, _ := mostBelieved(k.cfg, k.cpus)
	err := doubt(k.cfg, k.cpus, k.told.Series.series(), protocol.InstantOf(time.Now()))
	if err == nil || most == 0 {
		return false
	}
	k.wrong.series = fmt.Errorf("[power.series]: %w", err)
	kept := *k.told.Series
	kept.Slots = slices.DeleteFunc(slices.Clone(kept.Slots), func(one slotJSON) bool { return int64(one.Price) > most })
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
