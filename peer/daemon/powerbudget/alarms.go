package powerbudget

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// feedFaults are what is wrong with the feeds; nil: nothing.
type feedFaults struct{ prices, series error }

// feedState is a feed that the budget goes by, and its latest answer.
type feedState struct {
	table  string
	answer *feedAnswer
	fault  error
}

// feeds are those that the budget of a configuration goes by.
func (k *Keeper) feeds(cfg *config.Config) (all []feedState) {
	if k.prices != nil && cfg.Power.Price != 0 {
		all = append(all, feedState{"prices", k.latest.Prices, k.faults.prices})
	}
	if k.series != nil {
		all = append(all, feedState{"power.series", k.latest.Series, k.faults.series})
	}
	return all
}

// stale are the feeds that the budget goes by and whose latest answer has nothing of the time to come.
func (k *Keeper) stale(cfg *config.Config, now protocol.Instant) (all []feedState) {
	for _, feed := range k.feeds(cfg) {
		if !feed.answer.ahead(now) {
			all = append(all, feed)
		}
	}
	return all
}

// StaleFor is how long ago the last hour that a feed answered has passed; 0 while all know more.
func (k *Keeper) StaleFor() (longest time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := protocol.InstantOf(time.Now())
	for _, feed := range k.stale(k.cfg, now) {
		longest = max(longest, now.Sub(cmp.Or(feed.answer.end(), k.opened)).Std())
	}
	return longest
}

// Alarms are what is wrong with the feeds of the budget now.
func (k *Keeper) Alarms() (all []string) {
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
func (f feedState) alarm(cfg *config.Config, now protocol.Instant) string {
	var text string
	switch holds := f.meanwhile(cfg); {
	case f.answer.ahead(now) && f.fault == nil:
		return ""
	case f.answer.ahead(now):
		text = "the hours that the feed last reported stay active"
	case f.answer.end() > 0:
		text = fmt.Sprintf("the last hour that the feed reported ended at %s; %s", f.answer.end().Time().UTC().Format(time.RFC3339), holds)
	default:
		text = "the feed has not reported any hour yet; " + holds
	}
	if f.fault != nil {
		return strings.ReplaceAll(f.fault.Error(), "\n", "; ") + "; " + text // which names the table
	}
	return "[" + f.table + "]: " + text
}

// meanwhile says what holds while the latest answer of a feed has no hour of the time to come.
func (f feedState) meanwhile(cfg *config.Config) string {
	fallback := cfg.Power.Series.Fallback
	switch last := lastOf(f.answer); {
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

func lastOf(a *feedAnswer) *storedSlot {
	if a == nil || len(a.Slots) == 0 {
		return nil
	}
	return &a.Slots[len(a.Slots)-1]
}

// report logs what is wrong with the feeds when it is another thing than before.
func (k *Keeper) report(cfg *config.Config, now protocol.Instant) {
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

func (k *Keeper) logAlarm(cfg *config.Config, now protocol.Instant, text string) {
	log, event := k.log.Warn, "power_budget_as_last_known"
	for _, feed := range k.stale(cfg, now) {
		if event != "power_budget_unknown" {
			log, event = k.log.Error, "power_budget_stale"
		}
		if feed.answer.end() == 0 {
			event = "power_budget_unknown"
		}
	}
	log(event, "why", text)
}
