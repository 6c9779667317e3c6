package quantity_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/quantity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A Saturday in winter, in a zone an hour ahead of UTC.
func saturday() time.Time {
	return time.Date(2026, 11, 28, 10, 30, 15, 500, time.FixedZone("CET", 3600))
}

func TestInstants(t *testing.T) {
	t.Parallel()
	now := saturday()
	for _, c := range []struct {
		text          string
		ahead, behind string // in the zone of now
	}{
		{"16:00", "2026-11-28T16:00:00", "2026-11-28T16:00:00"},
		{"9:05", "2026-11-29T09:05:00", "2026-11-28T09:05:00"},
		{"10:30:15", "2026-11-29T10:30:15", "2026-11-28T10:30:15"},
		{"10:30:16", "2026-11-28T10:30:16", "2026-11-28T10:30:16"},
		{"4:00PM", "2026-11-28T16:00:00", "2026-11-28T16:00:00"},
		{"12:00 am", "2026-11-29T00:00:00", "2026-11-28T00:00:00"},
		{"12:15pm", "2026-11-28T12:15:00", "2026-11-28T12:15:00"},
		{"midnight", "2026-11-29T00:00:00", "2026-11-28T00:00:00"},
		{"Noon", "2026-11-28T12:00:00", "2026-11-28T12:00:00"},
		{"fika", "2026-11-28T15:00:00", "2026-11-28T15:00:00"},
		{"teatime", "2026-11-28T16:00:00", "2026-11-28T16:00:00"},
		{"today", "2026-11-28T00:00:00", "2026-11-28T00:00:00"},
		{"tomorrow", "2026-11-29T00:00:00", "2026-11-29T00:00:00"},
		{"tomorrow 8:00", "2026-11-29T08:00:00", "2026-11-29T08:00:00"},
		{"noon tomorrow", "2026-11-29T12:00:00", "2026-11-29T12:00:00"},
		{"now", "2026-11-28T10:30:15", "2026-11-28T10:30:15"},
		{"now+60", "2026-11-28T10:31:15", "2026-11-28T10:31:15"},
		{"now+1hour", "2026-11-28T11:30:15", "2026-11-28T11:30:15"},
		{"now + 2 Weeks", "2026-12-12T10:30:15", "2026-12-12T10:30:15"},
		{"now-7days", "2026-11-21T10:30:15", "2026-11-21T10:30:15"},
		{"2026-12-24", "2026-12-24T00:00:00", "2026-12-24T00:00:00"},
		{"2026-12-24T18:30", "2026-12-24T18:30:00", "2026-12-24T18:30:00"},
		{"2026-2-3T18:30:59", "2026-02-03T18:30:59", "2026-02-03T18:30:59"},
		{"2028-02-29", "2028-02-29T00:00:00", "2028-02-29T00:00:00"},
		{"1224", "2026-12-24T00:00:00", "2025-12-24T00:00:00"},
		{"1128", "2027-11-28T00:00:00", "2026-11-28T00:00:00"},
		{"1128-11:00", "2026-11-28T11:00:00", "2026-11-28T11:00:00"},
		{"010203", "2003-01-02T00:00:00", "2003-01-02T00:00:00"},
		{"01/02/30-23:59:58", "2030-01-02T23:59:58", "2030-01-02T23:59:58"},
		{"1.2", "2027-01-02T00:00:00", "2026-01-02T00:00:00"},
		{"10:00 01/02", "2027-01-02T10:00:00", "2026-01-02T10:00:00"},
		{"uts1700000000", "2023-11-14T23:13:20", "2023-11-14T23:13:20"},
	} {
		for side, want := range []string{c.ahead, c.behind} {
			got, err := quantity.ParseInstant(c.text, now, quantity.Side(side))
			if text := got.Time().In(now.Location()).Format("2006-01-02T15:04:05"); err != nil || text != want {
				t.Errorf("%q, side %d: %s, %v; want %s", c.text, side, text, err, want)
			}
		}
	}
}

func TestInstantsThatAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"": quantity.ErrInstant, " ": quantity.ErrInstant, "soon": quantity.ErrInstant, "12": quantity.ErrInstant, "123": quantity.ErrInstant,
		"now+": quantity.ErrInstant, "now+x": quantity.ErrInstant, "now+1year": quantity.ErrInstant, "now 5": quantity.ErrInstant,
		"nowadays": quantity.ErrInstant, "now+99999999999": quantity.ErrInstant, "10:00 11:00": quantity.ErrInstant,
		"tomorrow today": quantity.ErrInstant, "2026-12": quantity.ErrInstant, "2026-12-24T": quantity.ErrInstant, "1:2": quantity.ErrInstant,
		"10:00:1": quantity.ErrInstant, "01/02/2030": quantity.ErrInstant, "-10:00": quantity.ErrInstant, "T10:00": quantity.ErrInstant,
		"uts": quantity.ErrInstant, "uts-5": quantity.ErrInstant, "tomorrow at 8": quantity.ErrInstant,
		"24:00": quantity.ErrNoSuchDate, "10:60": quantity.ErrNoSuchDate, "13:00pm": quantity.ErrNoSuchDate, "0:30am": quantity.ErrNoSuchDate,
		"2026-02-29": quantity.ErrNoSuchDate, "2026-13-01": quantity.ErrNoSuchDate, "1301": quantity.ErrNoSuchDate, "0431": quantity.ErrNoSuchDate,
	} {
		if got, err := quantity.ParseInstant(text, saturday(), quantity.Ahead); !errors.Is(err, want) || got != 0 {
			t.Errorf("%q: %v, %v; want %v", text, got.Text(), err, want)
		}
	}
}

// TestInstantsReadBack: what Slurm prints of an instant is the instant, and no time of day alone is past.
func TestInstantsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := saturday().Add(time.Duration(rapid.Int64Range(0, 366*24*3600).Draw(t, "now")) * time.Second)
		at := time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "at"), 0).In(now.Location())
		text := at.Format("2006-01-02T15:04:05")
		if got, err := quantity.ParseInstant(text, now, quantity.Behind); err != nil || got != protocol.InstantOf(at) {
			t.Fatalf("%s is read as %s, %v", text, got.Text(), err)
		}
		clock := at.Format("15:04:05")
		got, err := quantity.ParseInstant(clock, now, quantity.Ahead)
		if wait := got.Sub(protocol.InstantOf(now)); err != nil || wait < 0 || wait > protocol.Day {
			t.Fatalf("%s at %s: %s, %v", clock, now, got.Text(), err)
		}
	})
}

func FuzzInstant(f *testing.F) {
	for _, text := range []string{"now+1hour", "2026-12-24T18:30", "12/24/26-10:00PM", "tomorrow noon", "1224"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, side := range []quantity.Side{quantity.Ahead, quantity.Behind} {
			if got, err := quantity.ParseInstant(text, saturday(), side); err != nil && got != 0 {
				t.Fatalf("%q: %v and %v", text, got, err)
			}
		}
	})
}

// TestDayWithoutMidnight: where clocks go forward at midnight, the day begins at its first instant; no other date
// becomes one of the calendar by that.
func TestDayWithoutMidnight(t *testing.T) {
	t.Parallel()
	santiago, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	apia, err := time.LoadLocation("Pacific/Apia")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"2026-09-06": "2026-09-06T01:00:00-03:00", "2026-09-06T00:30": "2026-09-06T01:00:00-03:00", "2026-09-07": "2026-09-07T00:00:00-03:00"} {
		at, err := quantity.ParseInstant(text, time.Date(2026, 10, 1, 0, 0, 0, 0, santiago), quantity.Behind)
		if got := at.Time().In(santiago).Format(time.RFC3339); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for text, zone := range map[string]*time.Location{"2011-12-30": apia, "2026-02-29": santiago, "2026-08-37": santiago} {
		if at, err := quantity.ParseInstant(text, time.Date(2026, 10, 1, 0, 0, 0, 0, zone), quantity.Behind); err == nil {
			t.Errorf("%s in %v: %s", text, zone, at.Text())
		}
	}
}
