// Package filefeed is the feed of electricity prices that are kept in files: those that
// [curve] reads, packed by gzip or not. A file that changes is read again at the next
// query; while it is wrong, or knows less than before, what it said before holds.
package filefeed

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Source is a file of prices.
type Source struct {
	Path    string
	Format  priceformat.Format
	Options priceformat.Options
}

// Feed implements [price.Feed].
type Feed struct {
	log *slog.Logger

	mu       sync.Mutex
	files    []*watched
	known    map[string]price.Series // of all files together, by area
	currency string
}

// watched is a file, and what it said when it was right the last time.
type watched struct {
	Source

	content // without a set: it was never right

	seen   os.FileInfo // when it was read, right or wrong; nil: not at all
	wrong  error       // what is wrong with it now
	unlike error       // why its curves do not go with those of the other files
}

// New returns the feed of these files. Where several know a price for a time, the first
// counts. Nothing is read before it is asked for, so that files may come later: with
// none of them right, all queries are errors, each after another look.
func New(sources []Source, log *slog.Logger) *Feed {
	f := &Feed{log: log}
	for _, source := range sources {
		f.files = append(f.files, &watched{Source: source})
	}
	return f
}

// Refresh reads the files that have changed. The error is all that is wrong with them
// now.
func (f *Feed) Refresh() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refresh()
}

// Describe implements [price.Feed].
func (f *Feed) Describe(context.Context) (price.Description, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refresh(); len(f.known) == 0 {
		return price.Description{}, cmp.Or(err, f.unknown(f.asked()))
	}
	d := price.Description{Currency: f.currency}
	for area := range f.known {
		d.Areas = append(d.Areas, area)
	}
	slices.Sort(d.Areas)
	return d, nil
}

// Prices implements [price.Feed].
func (f *Feed) Prices(_ context.Context, query price.Query) (price.Series, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.refresh()
	series, ok := f.known[query.Area]
	switch {
	case ok:
		return within(series, query), nil
	case err != nil: // the area may be in a file that cannot be read
		return price.Series{}, err
	}
	return price.Series{}, f.unknown(query.Area)
}

// asked are the areas that are read.
func (f *Feed) asked() string {
	var areas []string
	for _, file := range f.files {
		areas = append(areas, file.Options.Areas...)
	}
	slices.Sort(areas)
	return strings.Join(slices.Compact(areas), ", ")
}

// unknown says which areas there are instead of one, those that are not read as well.
func (f *Feed) unknown(area string) error {
	there := slices.Collect(maps.Keys(f.known))
	for _, file := range f.files {
		if file.set != nil {
			there = append(there, file.set.Others...)
		}
	}
	slices.Sort(there)
	return fmt.Errorf("%w: %.80q; there are %s", price.ErrUnknownArea, area, strings.Join(slices.Compact(there), ", "))
}

// within are the slots that a query asks for.
func within(series price.Series, query price.Query) price.Series {
	if query.From >= query.Until {
		return price.Series{}
	}
	first, _ := slices.BinarySearchFunc(series.Slots, query.From, func(s price.Slot, t protocol.Instant) int {
		if s.End() <= t {
			return -1
		}
		return 1
	})
	last, _ := slices.BinarySearchFunc(series.Slots, query.Until, func(s price.Slot, t protocol.Instant) int {
		if s.Start < t {
			return -1
		}
		return 1
	})
	return price.Series{Slots: slices.Clone(series.Slots[first:last])}
}

// refresh is [Feed.Refresh] for who holds the lock.
func (f *Feed) refresh() error {
	changed := false
	for _, file := range f.files {
		if file.refresh() {
			changed = true
			file.tell(f.log)
		}
	}
	if changed {
		f.join()
	}
	var wrong []error
	for _, file := range f.files {
		wrong = append(wrong, file.wrong, file.unlike)
	}
	return errors.Join(wrong...)
}

// tell logs what came of reading the file.
func (w *watched) tell(log *slog.Logger) {
	switch {
	case w.wrong == nil:
		log.Info("prices_read", "file", w.Path, "areas", len(w.set.Curves), "currency", w.set.Currency)
	case w.set == nil:
		log.Error("price_file_failed", "file", w.Path, "error", w.wrong, "instead", "nothing")
	default:
		log.Error("price_file_failed", "file", w.Path, "error", w.wrong, "instead", "what it said before")
	}
}

// join puts the curves of the files together.
func (f *Feed) join() {
	f.known, f.currency = map[string]price.Series{}, ""
	for _, file := range f.files {
		file.unlike = nil
		if file.set == nil || len(file.set.Curves) == 0 {
			continue
		}
		if f.currency != "" && file.set.Currency != f.currency {
			file.unlike = fmt.Errorf("%s: its prices are in %s, those of the files before it in %s; one feed has one currency",
				file.Path, file.set.Currency, f.currency)
			f.log.Error("prices_rejected", "file", file.Path, "error", file.unlike)
			continue
		}
		f.currency = file.set.Currency
		for _, c := range file.set.Curves {
			f.known[c.Area] = merge(f.known[c.Area], c.Series)
		}
	}
}

// merge adds the slots that do not overlap with any that is known.
func merge(known, more price.Series) price.Series {
	if len(known.Slots) == 0 {
		return more
	}
	all := slices.Clone(known.Slots)
	for _, slot := range more.Slots {
		if len(within(known, price.Query{From: slot.Start, Until: slot.End()}).Slots) == 0 {
			all = append(all, slot)
		}
	}
	slices.SortFunc(all, func(a, b price.Slot) int { return cmp.Compare(a.Start, b.Start) })
	return price.Series{Slots: all}
}

// refresh reads the file if it is another one than at the last time.
func (w *watched) refresh() (changed bool) {
	info, err := look(w.Path)
	if err != nil {
		changed = w.wrong == nil || w.seen != nil
		w.seen, w.wrong = nil, err
		return changed
	}
	if w.seen != nil && same(w.seen, info) {
		return false
	}
	w.seen = info
	if w.wrong = w.read(); w.wrong != nil {
		w.wrong = fmt.Errorf("read prices: %w", w.wrong)
	}
	return true
}

// read reads the file, unless it is wrong or in doubt.
func (w *watched) read() error {
	text, err := load(w.Path)
	if err != nil {
		return err
	}
	said, err := contentOf(w.Source, text)
	if err != nil {
		return err
	}
	if err = said.doubt(w.content); err != nil {
		return fmt.Errorf("%s: %w", w.Path, err)
	}
	w.content = said
	return nil
}

// look says what the file is now. What changes after that is seen at the next look.
func look(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read prices: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read prices: %s is no regular file", path)
	}
	return info, nil
}

// same says whether a file is as it was: by its place, size and time of change.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// MaxSize is the largest file that is read, unpacked: a year of all of Europe.
const MaxSize = 1 << 26

// Read reads a file, once.
func Read(source Source) (*priceformat.Set, error) {
	text, err := load(source.Path)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	said, err := contentOf(source, text)
	return said.set, err
}

// load is the text of a file.
func load(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := readAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// readAll reads to the end, and unpacks what is packed by gzip.
func readAll(from io.Reader) ([]byte, error) {
	text, err := limited(from)
	if err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		return text, err
	}
	unpacker, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return limited(unpacker)
}

func limited(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, MaxSize+1))
	if err == nil && len(text) > MaxSize {
		err = fmt.Errorf("has more than %d MiB; that is no file of prices", MaxSize>>20)
	}
	return text, err
}
