package powerbudget

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// hoursFeed tells budgets of some hours, counted from the present one.
type hoursFeed struct {
	price.Feed

	kilowatts map[int]protocol.Micro
	err       error
}

func (f *hoursFeed) Prices(context.Context, price.Query) (s price.Series, err error) {
	now := protocol.InstantOf(time.Now())
	hour := now - now%protocol.Instant(protocol.Hour)
	for i := -24; i < 24; i++ {
		if kilowatts, ok := f.kilowatts[i]; ok {
			s.Slots = append(s.Slots, price.Slot{
				Start: hour.Add(protocol.Duration(i) * protocol.Hour), Length: protocol.Hour, Price: kilowatts * protocol.Unit,
			})
		}
	}
	return s, f.err
}

// What a feed does not tell lifts no budget: neither an empty answer nor one of yesterday, and
// not the end of the hours that were told. As long as that is so, there is an alarm.
func TestStaleBudgetsHold(t *testing.T) {
	t.Parallel()
	type hours map[int]protocol.Micro
	for name, c := range map[string]struct {
		before, now hours
		err         error
		fallback    config.Kilowatts
		want, later string // now and in two days
		alarm, log  string // empty: none
	}{
		"it tells what comes":         {before: hours{0: 7, 1: 7}, now: hours{0: 5, 1: 4}, want: "5 kW", later: "4 kW"},
		"an hour without a value":     {now: hours{-1: 5, 1: 4}, want: "any power", later: "4 kW"},
		"nothing after a good answer": {before: hours{0: 7, 1: 6}, now: hours{}, want: "7 kW", later: "6 kW"},
		"yesterday after a good one":  {before: hours{0: 7, 1: 6}, now: hours{-20: 9, -19: 9}, want: "7 kW", later: "6 kW"},
		"nothing after all has passed": {
			before: hours{-2: 7, -1: 3}, now: hours{}, want: "3 kW", later: "3 kW",
			alarm: "Z; until it tells more, its last budget holds: 3 kW", log: "level=ERROR msg=power_budget_stale",
		},
		"yesterday and nothing before": {
			now: hours{-20: 9, -19: 8}, want: "8 kW", later: "8 kW",
			alarm: "[power.series]: the last hour that the feed reported ended at 20", log: "level=ERROR msg=power_budget_stale",
		},
		"silent after all has passed": {
			before: hours{-2: 7, -1: 3}, err: errors.New("closed"), want: "3 kW", later: "3 kW",
			alarm: "[power.series]: closed; the last hour", log: "level=ERROR msg=power_budget_stale",
		},
		"a fallback": {
			before: hours{-2: 7, -1: 3}, now: hours{}, fallback: 2_000_000, want: "2 kW", later: "2 kW",
			alarm: "until it tells more, fallback_kw holds: 2 kW", log: "level=ERROR msg=power_budget_stale",
		},
		"a fallback later": {now: hours{0: 5}, fallback: 2_000_000, want: "5 kW", later: "2 kW"},
		"nothing ever": {
			now: hours{}, want: "any power", later: "any power",
			alarm: "has not reported any hour yet; until it does, there is no budget by it; set fallback_kw", log: "level=ERROR msg=power_budget_unknown",
		},
		"a fallback alone": {
			now: hours{}, fallback: 2_000_000, want: "2 kW", later: "2 kW",
			alarm: "has not reported any hour yet; until it tells more, fallback_kw holds: 2 kW", log: "level=ERROR msg=power_budget_unknown",
		},
		"above all that the machine draws": {
			before: hours{0: 7, 1: 6}, now: hours{0: 5, 1: 9_000_000_000_000}, want: "7 kW", later: "6 kW",
			alarm: "more than what all 1000 CPUs of this machine draw together, 30 kW; nothing of its answer is taken", log: "level=WARN msg=power_budget_as_last_known",
		},
		"below zero": {
			before: hours{0: 7, 1: 6}, now: hours{0: -5}, want: "7 kW", later: "6 kW",
			alarm: "reports a budget below 0 for 20", log: "level=WARN msg=power_budget_as_last_known",
		},
		"what is past is not doubted": {now: hours{-3: 50, 0: 5}, want: "5 kW", later: "5 kW"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, feed := budgeted(0, "plug"), &hoursFeed{kilowatts: c.before}
			cfg.Power.Series.Fallback = c.fallback
			k, _ := keeper(cfg, feed)
			k.cpus, k.opened = 1000, protocol.InstantOf(time.Now().Add(-time.Minute))
			log := logged(k, t.TempDir())
			if c.before != nil {
				if err := k.renew(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			log.Reset()
			k.logged = ""
			feed.kilowatts, feed.err = c.now, c.err
			for range 2 {
				if err := k.renew(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for when, want := range map[time.Duration]string{0: c.want, 48 * time.Hour: c.later} {
				if limit, _ := k.Current().Signal.At(protocol.InstantOf(time.Now().Add(when))); power.Text(limit) != want {
					t.Errorf("in %v: %s, want %s", when, power.Text(limit), want)
				}
			}
			alarms := strings.Join(k.Alarms(), "\n")
			if (alarms == "") != (c.alarm == "") || !strings.Contains(alarms, c.alarm) {
				t.Errorf("alarms %q, want %q", alarms, c.alarm)
			}
			if reported := strings.Count(log.String(), "power_budget_"); reported != strings.Count(c.log, "power_budget_") || !strings.Contains(log.String(), c.log) {
				t.Errorf("the log is\n%swant %q once", log, c.log)
			}
			if stale := strings.Contains(c.log, "ERROR"); (k.StaleFor() > 0) != stale {
				t.Errorf("stale for %v", k.StaleFor())
			}
			if pause := k.pause(); pause > time.Hour || c.alarm != "" && pause != retryInterval {
				t.Errorf("the feed is asked after %v", pause)
			}
		})
	}
}

// A batch system that says its size late has what was believed until then looked at again.
func TestSizeDoubtsTheSeries(t *testing.T) {
	t.Parallel()
	k, given := keeper(budgeted(0, "plug"), &hoursFeed{kilowatts: map[int]protocol.Micro{0: 20, 1: 20, 2: 90, 3: 90}})
	if err := errors.Join(k.renew(t.Context()), k.SetCPUs(1000)); err != nil {
		t.Fatal(err)
	}
	last := (*given)[len(*given)-1].Signal
	for _, in := range []time.Duration{0, 5 * time.Hour} {
		if limit, _ := last.At(protocol.InstantOf(time.Now().Add(in))); power.Text(limit) != "20 kW" {
			t.Errorf("in %v: %s", in, power.Text(limit))
		}
	}
	if alarms := k.Alarms(); len(alarms) != 1 || !strings.Contains(alarms[0], "a budget of 90 kW for 20") {
		t.Errorf("alarms %q", alarms)
	}
	k.cfg.Power.Series.Max = 100_000_000
	if err := k.renew(t.Context()); err != nil || len(k.Alarms()) != 0 {
		t.Errorf("with max_kw: %v, %q", err, k.Alarms())
	}
}

// The hour that was told last is waited for, so that its end is told at once.
func TestEndOfASeriesIsNoticed(t *testing.T) {
	t.Parallel()
	k, _ := keeper(budgeted(0, "plug"), &hoursFeed{kilowatts: map[int]protocol.Micro{0: 20}})
	if err := k.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.cfg.Prices.RefreshInterval = protocol.Day
	left := k.latest.Series.end().Sub(protocol.InstantOf(time.Now())).Std()
	if pause := k.pause(); left > 0 && (pause > left || pause < left-time.Minute) {
		t.Errorf("%v are left, the pause is %v", left, pause)
	}
}
