package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// survey is what a walk through the whole file has found.
type survey struct {
	tx     uint64
	format uint64 // 0: none is stated
	found  tallies
	stated tallies // nil: none are
	sizes  map[string]int64
	pages  uint64 // that the file has
	free   uint64 // of these, that hold nothing
	damage []*DamageError
}

// fresh says whether the file is as bbolt makes a new one.
func (s *survey) fresh() bool { return s.format == 0 && len(s.found) == 0 && s.tx <= 1 }

// walker reads every page that is in use once.
type walker struct {
	image
	survey

	used   []uint64 // a bit for each page: it was met
	limit  int      // of the damage to look for
	visit  func(table string, key, value []byte)
	sealed bool // rows have checksums
}

// errEnough ends a walk that has found as much damage as was asked for.
var errEnough = errors.New("enough damage was found")

// walk reads the file in memory, and gives up at the limit of damages; 0: never.
// visit gets each row that is whole, and must not keep its bytes. An error says that the file cannot
// be read at all; damage is in the survey.
func walk(data []byte, limit int, visit func(table string, key, value []byte)) (*survey, error) {
	w := &walker{limit: limit, visit: visit, survey: survey{found: tallies{}, sizes: map[string]int64{}}}
	var err error
	if w.image, err = newImage(data); err != nil {
		return &w.survey, w.note(err)
	}
	w.tx, w.pages = w.meta.tx, w.high
	w.used = make([]uint64, w.high/64+1)
	for _, part := range []func() error{w.readMeta, w.readTables, w.readFree, w.compare} {
		if err = part(); err != nil {
			break
		}
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	return &w.survey, err
}

// note keeps damage for the survey; what is no damage ends the walk.
func (w *walker) note(err error) error {
	d, ok := errors.AsType[*DamageError](err)
	if !ok {
		return err
	}
	w.damage = append(w.damage, d)
	if w.limit > 0 && len(w.damage) >= w.limit {
		return errEnough
	}
	return nil
}

// element is what a leaf page holds.
type element struct {
	page       uint64
	flags      uint32
	key, value []byte
}

// tree is where a walk through a tree of pages is: keys are from low on, and below high
// unless that is nil.
type tree struct {
	table     string
	low, high []byte
	root      bool
}

// descend reads a page and those below it, and passes each element on.
func (w *walker) descend(id uint64, t tree, each func(element) error) error {
	p, err := w.page(id)
	if err == nil {
		err = w.use(p)
	}
	if err == nil {
		switch {
		case p.flags == branchFlag && p.count > 0:
			return w.branches(p, t, each)
		case p.flags == leafFlag && (p.count > 0 || t.root):
			return w.leaves(p, t, each)
		}
		err = damagef(id, "the page is of kind %#x with %d elements, where rows should be", p.flags, p.count)
	}
	return w.noteIn(t.table, err)
}

// noteIn keeps damage of a table.
func (w *walker) noteIn(table string, err error) error {
	if d, ok := errors.AsType[*DamageError](err); ok && d.Table == "" {
		d.Table = table
	}
	return w.note(err)
}

// use notes that a page and those that continue it are in use.
func (w *walker) use(p page) error {
	for id := p.id; id < p.id+p.span; id++ {
		if w.used[id/64]&(1<<(id%64)) != 0 {
			return damagef(id, "the page is in use twice")
		}
		w.used[id/64] |= 1 << (id % 64)
	}
	return nil
}

func (w *walker) branches(p page, t tree, each func(element) error) error {
	for i := range p.count {
		key, child, err := p.branch(i)
		below := tree{table: t.table, low: key, high: t.high}
		if err == nil && i+1 < p.count {
			below.high, _, err = p.branch(i + 1)
		}
		if err == nil && outside(key, t, i == 0) {
			err = damagef(p.id, "the keys are out of order")
		}
		if err != nil {
			return w.noteIn(t.table, err)
		}
		if err = w.descend(child, below, each); err != nil {
			return err
		}
		t.low = key
	}
	return nil
}

// outside says whether a key is out of order; the first of a page may be the lowest
// that is permitted.
func outside(key []byte, t tree, first bool) bool {
	order := bytes.Compare(key, t.low)
	return order < 0 || order == 0 && !first || t.high != nil && bytes.Compare(key, t.high) >= 0
}

func (w *walker) leaves(p page, t tree, each func(element) error) error {
	for i := range p.count {
		flags, key, value, err := p.leaf(i)
		if err == nil && outside(key, t, i == 0) {
			err = damagef(p.id, "the keys are out of order")
		}
		if err != nil {
			return w.noteIn(t.table, err)
		}
		t.low = key
		if err = each(element{p.id, flags, key, value}); err != nil {
			return err
		}
	}
	return nil
}

// readMeta finds the store's own table, which says what the others must be like.
func (w *walker) readMeta() error {
	find := walker{image: w.image, used: make([]uint64, len(w.used)), limit: 1, survey: survey{found: tallies{}}}
	err := find.descend(w.root, tree{root: true}, func(e element) error {
		if string(e.key) != metaTable || e.flags != bucketFlag {
			return nil
		}
		return find.bucket(metaTable, e, func(row element) error { return w.readOwn(row) })
	})
	if !errors.Is(err, errEnough) {
		return err
	}
	if w.format == 0 { // the walk through all tables meets the damage again
		w.format, w.sealed = format, true
	}
	return nil
}

// readOwn reads a row of the store's own table.
func (w *walker) readOwn(row element) error {
	switch string(row.key) {
	case formatKey:
		if len(row.value) != 8 || binary.BigEndian.Uint64(row.value) == 0 {
			return fmt.Errorf("it has the format version %x", row.value)
		}
		w.format = binary.BigEndian.Uint64(row.value)
		w.sealed = w.format >= formatSealed
	case talliesKey:
		value, err := unseal(metaTable, row.key, row.value)
		if err == nil {
			w.stated, err = decodeTallies(value)
		}
		if err != nil {
			return w.note(&DamageError{Table: metaTable, Key: talliesKey, Page: row.page, What: err.Error()})
		}
	}
	return nil
}

// readTables reads all rows of all tables. A file of an unknown format is left to whoever
// knows it.
func (w *walker) readTables() error {
	if w.format > format {
		return nil
	}
	return w.descend(w.root, tree{root: true}, func(e element) error {
		name := string(e.key)
		if e.flags != bucketFlag || !utf8.ValidString(name) || name == "" || len(name) > MaxTable {
			return w.note(damagef(e.page, "%.40q is not a table", name))
		}
		if name == metaTable {
			return w.bucket(name, e, func(element) error { return nil })
		}
		w.found[name] = tally{}
		return w.bucket(name, e, func(row element) error { return w.row(name, row) })
	})
}

// bucket reads a table, whose rows may follow its name in the same page.
func (w *walker) bucket(name string, e element, each func(element) error) error {
	if len(e.value) < bucketHeader {
		return w.noteIn(name, damagef(e.page, "the table is cut off"))
	}
	if root := binary.NativeEndian.Uint64(e.value); root != 0 {
		return w.descend(root, tree{table: name, root: true}, each)
	}
	if len(e.value) < bucketHeader+pageHeader {
		return w.noteIn(name, damagef(e.page, "the table is cut off"))
	}
	p, named := readPage(e.value[bucketHeader:])
	p.id = e.page
	if named != 0 || p.span != 1 || p.flags != leafFlag {
		return w.noteIn(name, damagef(e.page, "the rows of the small table are not where they should be"))
	}
	return w.leaves(p, tree{table: name, root: true}, each)
}

// row checks one row and counts it.
func (w *walker) row(table string, e element) error {
	value, err := e.value, error(nil)
	switch {
	case e.flags != 0:
		err = errors.New("the row is marked as a table")
	case w.sealed:
		value, err = unseal(table, e.key, e.value)
	}
	if err != nil {
		return w.note(&DamageError{Table: table, Key: string(e.key), Page: e.page, What: err.Error()})
	}
	count := w.found[table]
	if w.sealed {
		count.add(e.value)
	} else {
		count.rows++
	}
	w.found[table] = count
	w.sizes[table] += int64(len(e.key) + len(value))
	w.visit(table, e.key, value)
	return nil
}

// readFree counts the free pages. If the file has a list of them it is read: a page that is
// in use and free would be written over.
func (w *walker) readFree() error {
	if w.freelist == noFreelist {
		w.free = w.high - firstPage
		for _, used := range w.used {
			w.free -= uint64(bits.OnesCount64(used)) //nolint:gosec // not negative
		}
		return nil
	}
	p, err := w.page(w.freelist)
	if err == nil && p.flags != freelistFlag {
		err = damagef(p.id, "the page is of kind %#x, where the list of free pages should be", p.flags)
	}
	if err == nil {
		err = w.use(p)
	}
	var ids []byte
	if err == nil {
		ids, err = p.freeIDs()
	}
	if err != nil {
		return w.note(err)
	}
	w.free = uint64(len(ids) / 8)
	for last := uint64(firstPage - 1); len(ids) > 0; ids = ids[8:] {
		id := binary.NativeEndian.Uint64(ids)
		if id <= last || id >= w.high || w.used[id/64]&(1<<(id%64)) != 0 {
			return w.note(damagef(p.id, "page %d is in the list of free pages, where it cannot be", id))
		}
		last = id
	}
	return nil
}

// compare finds what is missing altogether.
func (w *walker) compare() error {
	if w.format > format || !w.sealed {
		return w.missingFormat()
	}
	if w.stated == nil {
		return w.note(&DamageError{Table: metaTable, Key: talliesKey, What: "the row is missing"})
	}
	for _, name := range slices.Sorted(maps.Keys(w.stated)) {
		stated, found := w.stated[name], w.found[name]
		_, there := w.found[name]
		var err error
		switch {
		case there && stated == found:
		case stated.rows == found.rows && there:
			err = &DamageError{Table: name, What: fmt.Sprintf("of %d rows some are not the latest", stated.rows)}
		default:
			err = &DamageError{Table: name, What: fmt.Sprintf("%d rows should be there, %d are", stated.rows, found.rows)}
		}
		if err = w.note(err); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.found)) {
		if _, known := w.stated[name]; !known {
			if err := w.note(&DamageError{Table: name, What: "no such table was made"}); err != nil {
				return err
			}
		}
	}
	return nil
}

// missingFormat judges a file that does not say that its rows have checksums.
func (w *walker) missingFormat() error {
	switch {
	case w.format > 0 || w.fresh():
		return nil
	case len(w.found) == 0:
		return w.note(damagef(w.root, "the file has had tables, and they are gone"))
	}
	return fmt.Errorf("it is the bbolt file of another program, with a bucket %.40q", slices.Sorted(maps.Keys(w.found))[0])
}
