package store

import (
	"errors"
	"fmt"
	"strings"
)

// DamageError is one thing that is wrong in a store's file. Either it names a row,
// or a table, or neither.
type DamageError struct {
	Table string // empty: no table's
	Key   string // empty: not one row's
	Page  uint64 // number in the file, where it is known
	What  string
}

func (d *DamageError) Error() string {
	var where []string
	if d.Table != "" {
		where = append(where, "table "+d.Table)
	}
	if d.Key != "" {
		where = append(where, fmt.Sprintf("key %.80q", d.Key))
	}
	if d.Page != 0 || len(where) == 0 {
		where = append(where, fmt.Sprintf("page %d", d.Page))
	}
	return strings.Join(where, ", ") + ": " + d.What
}

// damaged says whether the file holds something else than what was written.
func damaged(err error) bool {
	_, known := errors.AsType[*DamageError](err)
	return known || errors.As(err, new(fault))
}

// damagef is damage of a page.
func damagef(id uint64, format string, args ...any) error {
	return &DamageError{Page: id, What: fmt.Sprintf(format, args...)}
}

// Remedy is what to do about a file that cannot be used, once the disk is known to work.
const Remedy = "put back a backup of the state directory and run \"switchyard recover\" (what happened after the backup is lost)," +
	" or give up its jobs and start with \"switchyard peer --new-store\""

const remedy = "check the disk, and run \"switchyard store verify\", which lists all that is wrong; then " + Remedy

// unusable words why a file cannot be used: it is damaged, or something else.
func unusable(path string, err error) error {
	kind := ErrForeign
	if damaged(err) {
		kind = ErrDamaged
	}
	return fmt.Errorf("store %s: %w: %w; %s", path, kind, err, remedy)
}
