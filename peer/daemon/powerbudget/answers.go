package powerbudget

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// tellings are what the feeds of a power budget told last. The peer keeps them in its
// state_dir, so that a restart while a feed is silent does not lift the budget.
type tellings struct {
	Prices *telling `json:"prices,omitempty"` // of electricity, with forecasts; nil: none were told
	Series *telling `json:"series,omitempty"` // kilowatts; likewise
}

// telling is what one feed told of an area.
type telling struct {
	pricefeed.Origin // one of elsewhere says nothing

	Slots []storedSlot `json:"slots"`
}

// storedSlot is a slot as the file has it.
type storedSlot struct {
	Start  protocol.Instant  `json:"start_ms"`
	Length protocol.Duration `json:"length_ms"`
	Price  protocol.Micro    `json:"price_micro"` // millionths
}

// tellingFrom is that of a series.
func tellingFrom(from pricefeed.Origin, told price.Series) *telling {
	t := &telling{Origin: from, Slots: make([]storedSlot, len(told.Slots))}
	for i, slot := range told.Slots {
		t.Slots[i] = storedSlot(slot)
	}
	return t
}

// series is what was told; empty for nil.
func (t *telling) series() (s price.Series) {
	if t == nil {
		return s
	}
	for _, slot := range t.Slots {
		s.Slots = append(s.Slots, price.Slot(slot))
	}
	return s
}

// ahead says whether an hour is told that has not ended.
func (t *telling) ahead(now protocol.Instant) bool { return t.end() > now }

// end is when the last hour that was told ends; 0 where none was.
func (t *telling) end() protocol.Instant {
	if t == nil || len(t.Slots) == 0 {
		return 0
	}
	return price.Slot(t.Slots[len(t.Slots)-1]).End()
}

// same says whether two tellings say the same.
func (t *telling) same(other *telling) bool {
	if t == nil || other == nil {
		return t == other
	}
	return t.Origin == other.Origin && slices.Equal(t.Slots, other.Slots)
}

func (t tellings) same(other tellings) bool {
	return t.Prices.same(other.Prices) && t.Series.same(other.Series)
}

// over is what was told now, with the hours from then on that only an earlier telling has.
func (t *telling) over(before *telling, from protocol.Instant) *telling {
	all := t.series().Slots
	for _, slot := range before.series().Slots {
		overlaps := func(told storedSlot) bool { return told.Start < slot.End() && slot.Start < price.Slot(told).End() }
		if slot.End() > from && !slices.ContainsFunc(t.Slots, overlaps) {
			all = append(all, slot)
		}
	}
	slices.SortFunc(all, func(a, b price.Slot) int { return cmp.Compare(a.Start, b.Start) })
	return tellingFrom(t.Origin, price.Series{Slots: all})
}

// known is what the budget of a time is made of. After the last hour that a feed told, its
// last value goes on, or the budget that the configuration names for such times: that
// nothing is told lifts no budget.
func (t tellings) known(cfg *config.Config, from, until protocol.Instant) budget.Known {
	known := budget.Known{Prices: lasting(t.Prices.series(), until), Series: t.Series.series()}
	if fallback := cfg.Power.Series.Fallback; fallback > 0 && cfg.Power.Series.Feed != "" {
		known.Series = goOn(known.Series, max(from, t.Series.end()), until, protocol.Micro(fallback))
	} else {
		known.Series = lasting(known.Series, until)
	}
	return known
}

// lasting is a series whose last value goes on until an instant.
func lasting(s price.Series, until protocol.Instant) price.Series {
	if len(s.Slots) == 0 {
		return s
	}
	last := s.Slots[len(s.Slots)-1]
	return goOn(s, last.End(), until, last.Price)
}

// goOn is a series with a value after its end.
func goOn(s price.Series, end, until protocol.Instant, value protocol.Micro) price.Series {
	if end < until {
		s.Slots = append(s.Slots, price.Slot{Start: end, Length: until.Sub(end), Price: value})
	}
	return s
}

// of leaves out what comes from elsewhere than a configuration says.
func (t tellings) of(cfg *config.Config) tellings {
	if t.Prices != nil && t.Prices.Origin != pricefeed.Prices(cfg).Origin {
		t.Prices = nil
	}
	if t.Series != nil && t.Series.Origin != pricefeed.Series(cfg).Origin {
		t.Series = nil
	}
	return t
}

// toldFile is where a peer keeps the tellings, below its state_dir.
const toldFile = "budget.json"

// keep writes the tellings.
func (t tellings) keep(path string) error {
	if err := statedir.WriteJSON(path, t); err != nil {
		return fmt.Errorf("keep what the feeds of the power budget tell: %w", err)
	}
	return nil
}

// keptTellings reads what [tellings.keep] has written; there are none without a file.
func keptTellings(path string) (tellings, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return tellings{}, nil
	}
	var t tellings
	if err == nil {
		t, err = parseTellings(text)
	}
	if err != nil {
		return tellings{}, fmt.Errorf("what the feeds of the power budget told before cannot be read from %s: %w", path, err)
	}
	return t, nil
}

// parseTellings reads the text of a file of tellings, and nothing else.
func parseTellings(text []byte) (t tellings, err error) {
	from := json.NewDecoder(bytes.NewReader(text))
	from.DisallowUnknownFields()
	if err = from.Decode(&t); err != nil {
		return tellings{}, err
	}
	if _, err = from.Token(); !errors.Is(err, io.EOF) {
		return tellings{}, errors.New("there is more than one value")
	}
	for _, one := range []*telling{t.Prices, t.Series} {
		told := one.series()
		if err = told.Check(price.Query{From: math.MinInt64, Until: math.MaxInt64}); err != nil {
			return tellings{}, err
		}
	}
	return t, nil
}

func toldPath(cfg *config.Config) string { return filepath.Join(string(cfg.Site.StateDir), toldFile) }
