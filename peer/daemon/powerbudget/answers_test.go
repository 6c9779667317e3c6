package powerbudget

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// logged has a keeper keep what feeds tell in a folder, and its log in a buffer.
func logged(k *Keeper, dir string) *bytes.Buffer {
	log := new(bytes.Buffer)
	k.log, k.path = slog.New(slog.NewTextHandler(log, nil)), filepath.Join(dir, answersFile)
	return log
}

// A peer that starts while its feed is silent goes by what that told before, and says so;
// only where nothing is known it says that, and louder. It asks again soon.
func TestBudgetOutlivesTheFeed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	silent := errors.New("connection refused")
	for i, step := range []struct {
		kilowatts protocol.Micro
		err       error
		area      string
		damage    bool
		want      string
		log       string // empty: nothing is wrong
	}{
		{err: silent, want: "any power", log: "level=ERROR msg=power_budget_unknown why=\"[power.series]: connection refused; "},
		{kilowatts: 7, want: "7 kW"},
		{err: silent, want: "7 kW", log: "level=WARN msg=power_budget_as_last_known why=\"[power.series]: connection refused; the hours that the feed last reported stay active\""},
		{kilowatts: 0, want: "0 W"},
		{err: silent, want: "0 W", log: "power_budget_as_last_known"},
		{err: silent, area: "elsewhere", want: "any power", log: "power_budget_unknown"},
		{err: silent, damage: true, want: "any power", log: "level=WARN msg=power_budget_cache_discarded"},
	} {
		cfg := budgeted(0, "plug")
		cfg.Power.Series.Area = step.area
		k, _ := keeper(cfg, &seriesFeed{kilowatts: step.kilowatts, err: step.err})
		log := logged(k, dir)
		if step.damage {
			writeText(t, k.path, "{\"series\":{\"feed\":\"plug\",\"area\":\"\",\"slots\":[]},\"more\":1}\n")
		}
		if err := k.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if limit, _ := k.Current().Signal.At(protocol.InstantOf(time.Now())); power.Text(limit) != step.want {
			t.Errorf("start %d: %s, want %s", i, power.Text(limit), step.want)
		}
		if wrong := strings.Contains(log.String(), "level=WARN") || strings.Contains(log.String(), "level=ERROR"); wrong != (step.log != "") || !strings.Contains(log.String(), step.log) {
			t.Errorf("start %d: the log is\n%swant %s", i, log, step.log)
		}
		if pause := k.pause(); (pause == time.Minute) != (step.err != nil) {
			t.Errorf("start %d: the feed is asked after %v", i, pause)
		}
	}
}

// While something is wrong with a feed, the hours that it does not tell stay as they were;
// otherwise they have no budget.
func TestBudgetKeepsWhatIsMissing(t *testing.T) {
	t.Parallel()
	now := protocol.InstantOf(time.Now())
	hour := now - now%protocol.Instant(protocol.Hour)
	hours := func(hours map[int]protocol.Micro) *feedAnswer {
		var s price.Series
		for i := range 10 {
			if kilowatts, ok := hours[i]; ok {
				s.Slots = append(s.Slots, price.Slot{Start: hour.Add(protocol.Duration(i-5) * protocol.Hour), Length: protocol.Hour, Price: kilowatts})
			}
		}
		return answerOf(pricefeed.Origin{Feed: "file"}, s)
	}
	before := hours(map[int]protocol.Micro{4: 1, 5: 2, 6: 3, 8: 4})
	for name, c := range map[string]struct {
		reply reply
		want  *feedAnswer
	}{
		"silent":  {reply{err: errors.New("silent")}, before},
		"well":    {reply{answer: hours(map[int]protocol.Micro{6: 5})}, hours(map[int]protocol.Micro{6: 5})},
		"partial": {reply{hours(map[int]protocol.Micro{6: 5, 9: 6}), errors.New("a file")}, hours(map[int]protocol.Micro{5: 2, 6: 5, 8: 4, 9: 6})},
	} {
		if got := c.reply.after(before, now); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A damaged file of what was told says what is wrong with it.
func TestStoredAnswers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), answersFile)
	if reported, err := loadAnswers(path); err != nil || !reported.same(feedAnswers{}) {
		t.Errorf("without a file: %+v, %v", reported, err)
	}
	slots := []price.Slot{{Start: 0, Length: protocol.Hour, Price: -3}, {Start: 7_200_000, Length: protocol.Hour, Price: 1}}
	want := feedAnswers{
		Prices: answerOf(pricefeed.Origin{Feed: "tariff", Config: "/etc/x.toml", Area: "CH"}, price.Series{Slots: slots}),
		Series: answerOf(pricefeed.Origin{Feed: "plug", Area: "response"}, price.Series{}),
	}
	if err := want.save(path); err != nil {
		t.Fatal(err)
	}
	if got, err := loadAnswers(path); err != nil || !got.same(want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for text, wants := range map[string]string{
		"":          "EOF",
		"{}{}":      "more than one value",
		`{"x":1}`:   "unknown field",
		`{"prices"`: "unexpected EOF",
		`{"series":{"feed":"f","area":"a","slots":[{"start_ms":1,"length_ms":3600000,"price_micro":1}]}}`: "not on a quarter",
	} {
		writeText(t, path, text)
		if got, err := loadAnswers(path); err == nil || !strings.Contains(err.Error(), wants) || !got.same(feedAnswers{}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// FuzzAnswers: what is read is written and read as the same.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"series":{"feed":"f","area":"a","slots":[{"start_ms":0,"length_ms":3600000,"price_micro":1}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := parseAnswers(text)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), answersFile)
		var again feedAnswers
		if err = read.save(path); err == nil {
			again, err = loadAnswers(path)
		}
		if err != nil || !again.same(read) {
			t.Fatalf("%s: %+v, %v", text, again, err)
		}
	})
}

// A slow feed holds up its own question, and not what has no need of the answer.
func TestBudgetKeeperAsksAlone(t *testing.T) {
	t.Parallel()
	asked, answered := make(chan struct{}), make(chan struct{})
	k, _ := keeper(budgeted(9, "response"), &seriesFeed{kilowatts: 7})
	k.series.Refresh = func(context.Context) error {
		close(asked)
		<-answered
		return nil
	}
	renewed := make(chan error)
	go func() { renewed <- k.renew(t.Context()) }()
	<-asked
	if err := k.Change(t.Context(), budgeted(3, "response")); err != nil {
		t.Fatal(err)
	}
	limit := func() int64 {
		l, _ := k.Current().Signal.At(protocol.InstantOf(time.Now()))
		return l
	}
	if got := limit(); got != 3*budget.Kilowatt {
		t.Errorf("before the feed answers: %s", power.Text(got))
	}
	close(answered)
	if err := <-renewed; err != nil || limit() != 3*budget.Kilowatt {
		t.Errorf("afterwards: %s, %v", power.Text(limit()), err)
	}
}
