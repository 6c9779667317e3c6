package power

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// History remembers what jobs drew that are alike ([protocol.PowerClassOf]: one user's jobs of
// one name), and expects the next one to draw as much. [BG 5] leaves open how a site learns
// the power of its jobs. Draws are in parts per million of what the site states, as in
// [protocol.Request]. The zero value has no measurements.
//
// Likenesses live in two generations. A run makes its likeness young. When [Generation] of
// them are young these are the old ones, and those that were old are forgotten: so the
// Generation likenesses that ran last are always known, and never more than twice as many.
type History struct{ young, old map[uint64]runs }

// Generation bounds what a [History] remembers.
const Generation = 1 << 15

// HistoryRuns is how many runs of a likeness count. While a user's program stays as it is,
// the mean of eight is off by 6 % more than the best guess; of another program it knows
// nothing else after eight runs.
const HistoryRuns = 8

// runs are the powers of the last runs of one likeness drew, the oldest first.
type runs struct {
	powers [HistoryRuns]int32
	count  int
}

func (h *runs) add(ppm int) {
	if h.count == HistoryRuns {
		copy(h.powers[:], h.powers[1:])
		h.count--
	}
	h.powers[h.count] = int32(ppm) //nolint:gosec // at most protocol.MaxPower
	h.count++
}

// Add adds a run that drew ppm. One of likeness 0, of no power or of more than
// [protocol.MaxPower] teaches nothing.
func (l *History) Add(like uint64, ppm int) {
	if like == 0 || ppm < 1 || ppm > protocol.MaxPower {
		return
	}
	h, known := l.young[like]
	if !known {
		h = l.old[like]
		delete(l.old, like)
		if l.young == nil || len(l.young) == Generation {
			l.young, l.old = make(map[uint64]runs), l.young
		}
	}
	h.add(ppm)
	l.young[like] = h
}

// Predict is the mean of what the last runs drew, to the nearest, and how many runs these
// are; 0 when none is known. It changes nothing.
func (l *History) Predict(like uint64) (ppm, runs int) {
	h, known := l.young[like]
	if !known {
		h = l.old[like]
	}
	if h.count == 0 {
		return 0, 0
	}
	sum := 0
	for _, drew := range h.powers[:h.count] {
		sum += int(drew)
	}
	return (sum + h.count/2) / h.count, h.count
}

// Clone is a copy with a life of its own, at a small part of the cost of
// [History.MarshalText].
func (l *History) Clone() History { return History{young: maps.Clone(l.young), old: maps.Clone(l.old)} }

// What the lines of a Likely's text begin with: their order is that of the words.
const (
	historyHeader = "likely 1\n" // the form and its version
	wordOld       = "old"
	wordYoung     = "young"
)

// MarshalText encodes the measurements; equal histories have equal texts: a line for each likeness with
// its generation, itself in hexadecimal, and what its runs drew in parts per million, the
// oldest first.
//
//	likely 1
//	old 00000000000000ff 1000000
//	young 8c0a3f11d20e77b4 950000 1010000 990000
func (l *History) MarshalText() ([]byte, error) {
	text := appendHabits([]byte(historyHeader), wordOld, l.old)
	return appendHabits(text, wordYoung, l.young), nil
}

func appendHabits(text []byte, word string, habits map[uint64]runs) []byte {
	for _, like := range slices.Sorted(maps.Keys(habits)) {
		text = appendHabit(text, word, like, habits[like])
	}
	return text
}

func appendHabit(text []byte, word string, like uint64, h runs) []byte {
	text = fmt.Appendf(text, "%s %016x", word, like)
	for _, drew := range h.powers[:h.count] {
		text = strconv.AppendInt(append(text, ' '), int64(drew), 10)
	}
	return append(text, '\n')
}

// UnmarshalText reads what [History.MarshalText] prints, and nothing else. The error names
// the line, and then nothing is changed.
func (l *History) UnmarshalText(text []byte) error {
	read := History{young: make(map[uint64]runs), old: make(map[uint64]runs)}
	number, last := 0, ""
	for line := range strings.Lines(string(text)) {
		number++
		switch {
		case number == 1 && line == historyHeader:
			continue
		case number == 1:
			return fmt.Errorf("line 1: %.40q is not %q; the file is not a power history, or is of another version", line, historyHeader)
		case line <= last:
			return fmt.Errorf("line %d: it is out of order; old likenesses come first, and low before high", number)
		}
		if err := read.line(line); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		last = line
	}
	if number == 0 {
		return fmt.Errorf("line 1: the text is empty; it must begin with %q", historyHeader)
	}
	*l = read
	return nil
}

// line reads a likeness.
func (l *History) line(line string) error {
	words := strings.Fields(line)
	if len(words) < 3 || len(words) > 2+HistoryRuns {
		return fmt.Errorf("it has %d words; there must be a generation, a likeness, and 1 to %d runs", len(words), HistoryRuns)
	}
	habits := l.young
	switch words[0] {
	case wordYoung:
	case wordOld:
		habits = l.old
	default:
		return fmt.Errorf("%.40q is no generation; there are %s and %s", words[0], wordOld, wordYoung)
	}
	like, err := strconv.ParseUint(words[1], 16, 64)
	if err != nil || like == 0 {
		return fmt.Errorf("%.40q is no likeness; that is a hexadecimal number that is not 0", words[1])
	}
	h, err := habitOf(words[2:])
	if err != nil {
		return err
	}
	_, young := l.young[like]
	_, old := l.old[like]
	switch {
	case young || old:
		return fmt.Errorf("the likeness %016x has a line already", like)
	case len(habits) == Generation:
		return fmt.Errorf("there are more than %d %s likenesses", Generation, words[0])
	case string(appendHabit(nil, words[0], like, h)) != line:
		return errors.New("it has spaces or zeros too many or too few")
	}
	habits[like] = h
	return nil
}

func habitOf(words []string) (runs, error) {
	var h runs
	for _, word := range words {
		ppm, err := strconv.Atoi(word)
		if err != nil || ppm < 1 || ppm > protocol.MaxPower {
			return runs{}, fmt.Errorf("%.40q is no power; that is a number from 1 to %d", word, protocol.MaxPower)
		}
		h.add(ppm)
	}
	return h, nil
}
