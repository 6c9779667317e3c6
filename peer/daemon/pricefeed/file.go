package pricefeed

import (
	"context"
	"log/slog"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/api"
)

// File is a built-in feed that is asked, with the text of its own configuration.
type File struct {
	table Table
	text  string       // as it is in use
	take  func(Source) // has the feed of another text be asked
}

// OpenFile makes the built-in feed of a table and hands it to those who ask it by take,
// which [Reopened.Use] calls again with the feed of a changed text.
func OpenFile(table Table, take func(Source), log *slog.Logger) (*File, error) {
	f := &File{table: table, take: take}
	from, text, err := f.open(log)
	if err != nil {
		return nil, err
	}
	f.text = text
	take(from)
	return f, nil
}

// key is the key of the peer's configuration that names the file.
func (f *File) key() string { return f.table.Name + ".config" }

// open reads the configuration and makes its feed.
func (f *File) open(log *slog.Logger) (from Source, text string, err error) {
	if text, err = f.table.read(); err != nil {
		return Source{}, "", err
	}
	feed, err := f.table.parse(text, log)
	if err != nil {
		return Source{}, "", err
	}
	return Source{feed, func(context.Context) error { return feed.Refresh() }}, text, nil
}

// Reopened is a feed whose own configuration has changed.
type Reopened struct {
	file *File
	text string
	from Source
}

// Reopen opens the feeds whose own configurations have changed: all of them, or none with an
// error. One that a configuration does not name as before is left alone: that its key has
// changed is reported as for any other.
func Reopen(files []*File, changes []api.Change, log *slog.Logger) (all []Reopened, err error) {
	for _, f := range files {
		named := func(c api.Change) bool {
			return c.Key == f.key() || c.Key == f.table.Name+".feed" || c.Key == f.table.Name+".area"
		}
		if slices.ContainsFunc(changes, named) {
			continue
		}
		if text, readErr := f.table.read(); readErr == nil && text == f.text {
			continue
		}
		from, text, err := f.open(log)
		if err != nil {
			return nil, err
		}
		all = append(all, Reopened{f, text, from})
	}
	return all, nil
}

// Use has the feed be asked from now on, and says so.
func (r *Reopened) Use() api.Change {
	r.file.text = r.text
	r.file.take(r.from)
	return api.Change{Key: r.file.key(), From: string(r.file.table.Config) + " as it was", To: "as it is now"}
}
