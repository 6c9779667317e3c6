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

// feedAnswers are the latest answers of the feeds of a power budget. The peer keeps them in its
// state_dir, so that a restart while a feed is silent does not lift the budget.
type feedAnswers struct {
	Prices *feedAnswer `json:"prices,omitempty"` // of electricity, with forecasts; nil before the first
	Series *feedAnswer `json:"series,omitempty"` // budgets in kilowatts; nil before the first
}

// feedAnswer is the latest answer of one feed about its area.
type feedAnswer struct {
	pricefeed.Origin // an answer of another origin says nothing

	Slots []storedSlot `json:"slots"`
}

// storedSlot is a slot as the file has it.
type storedSlot struct {
	Start  protocol.Instant  `json:"start_ms"`
	Length protocol.Duration `json:"length_ms"`
	Price  protocol.Micro    `json:"price_micro"` // millionths
}

// answerOf makes the answer of a series from there.
func answerOf(from pricefeed.Origin, s price.Series) *feedAnswer {
	a := &feedAnswer{Origin: from, Slots: make([]storedSlot, len(s.Slots))}
	for i, slot := range s.Slots {
		a.Slots[i] = storedSlot(slot)
	}
	return a
}

// series is the answer as prices; empty for nil.
func (a *feedAnswer) series() (s price.Series) {
	if a == nil {
		return s
	}
	for _, slot := range a.Slots {
		s.Slots = append(s.Slots, price.Slot(slot))
	}
	return s
}

// ahead says whether the answer has an hour that has not ended.
func (a *feedAnswer) ahead(now protocol.Instant) bool { return a.end() > now }

// end is when the last hour of the answer ends; 0 without one.
func (a *feedAnswer) end() protocol.Instant {
	if a == nil || len(a.Slots) == 0 {
		return 0
	}
	return price.Slot(a.Slots[len(a.Slots)-1]).End()
}

// same says whether two answers are equal.
func (a *feedAnswer) same(other *feedAnswer) bool {
	if a == nil || other == nil {
		return a == other
	}
	return a.Origin == other.Origin && slices.Equal(a.Slots, other.Slots)
}

func (a feedAnswers) same(other feedAnswers) bool {
	return a.Prices.same(other.Prices) && a.Series.same(other.Series)
}

// over is the answer with the hours from then on that only an earlier one has.
func (a *feedAnswer) over(before *feedAnswer, from protocol.Instant) *feedAnswer {
	all := a.series().Slots
	for _, slot := range before.series().Slots {
		overlaps := func(own storedSlot) bool { return own.Start < slot.End() && slot.Start < price.Slot(own).End() }
		if slot.End() > from && !slices.ContainsFunc(a.Slots, overlaps) {
			all = append(all, slot)
		}
	}
	slices.SortFunc(all, func(one, other price.Slot) int { return cmp.Compare(one.Start, other.Start) })
	return answerOf(a.Origin, price.Series{Slots: all})
}

// known is what the budget of a time is made of. After the last hour of an answer its last
// value goes on, or the budget that the configuration names for such times: a silent feed
// lifts no budget.
func (a feedAnswers) known(cfg *config.Config, from, until protocol.Instant) budget.Known {
	known := budget.Known{Prices: extended(a.Prices.series(), until), Series: a.Series.series()}
	if fallback := cfg.Power.Series.Fallback; fallback > 0 && cfg.Power.Series.Feed != "" {
		known.Series = extendedBy(known.Series, max(from, a.Series.end()), until, protocol.Micro(fallback))
	} else {
		known.Series = extended(known.Series, until)
	}
	return known
}

// extended is a series whose last value goes on until an instant.
func extended(s price.Series, until protocol.Instant) price.Series {
	if len(s.Slots) == 0 {
		return s
	}
	last := s.Slots[len(s.Slots)-1]
	return extendedBy(s, last.End(), until, last.Price)
}

// extendedBy is a series with a value after its end.
func extendedBy(s price.Series, end, until protocol.Instant, value protocol.Micro) price.Series {
	if end < until {
		s.Slots = append(s.Slots, price.Slot{Start: end, Length: until.Sub(end), Price: value})
	}
	return s
}

// from leaves out the answers that have another origin than a configuration says.
func (a feedAnswers) from(cfg *config.Config) feedAnswers {
	if a.Prices != nil && a.Prices.Origin != pricefeed.Prices(cfg).Origin {
		a.Prices = nil
	}
	if a.Series != nil && a.Series.Origin != pricefeed.Series(cfg).Origin {
		a.Series = nil
	}
	return a
}

// answersFile is where a peer keeps the latest answers, below its state_dir.
const answersFile = "budget.json"

// save writes the file of the answers.
func (a feedAnswers) save(path string) error {
	if err := statedir.WriteJSON(path, a); err != nil {
		return fmt.Errorf("keep what the feeds of the power budget tell: %w", err)
	}
	return nil
}

// loadAnswers reads what [feedAnswers.save] has written; there are none without a file.
func loadAnswers(path string) (feedAnswers, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return feedAnswers{}, nil
	}
	var a feedAnswers
	if err == nil {
		a, err = parseAnswers(text)
	}
	if err != nil {
		return feedAnswers{}, fmt.Errorf("the last answers of the power budget feeds cannot be read from %s: %w", path, err)
	}
	return a, nil
}

// parseAnswers reads the text of a file of answers, and nothing else.
func parseAnswers(text []byte) (a feedAnswers, err error) {
	from := json.NewDecoder(bytes.NewReader(text))
	from.DisallowUnknownFields()
	if err = from.Decode(&a); err != nil {
		return feedAnswers{}, err
	}
	if _, err = from.Token(); !errors.Is(err, io.EOF) {
		return feedAnswers{}, errors.New("there is more than one value")
	}
	for _, one := range []*feedAnswer{a.Prices, a.Series} {
		series := one.series()
		if err = series.Check(price.Query{From: math.MinInt64, Until: math.MaxInt64}); err != nil {
			return feedAnswers{}, err
		}
	}
	return a, nil
}

func answersPath(cfg *config.Config) string {
	return filepath.Join(string(cfg.Site.StateDir), answersFile)
}
