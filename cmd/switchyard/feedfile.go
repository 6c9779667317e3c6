package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
)

// feedFile is a built-in feed's own configuration.
type feedFile struct {
	table, name string // of the configuration that names it; the feed's kind
	path        settings.Path
	area        string
	text        string       // as it is in use
	take        func(source) // has the feed of another text be asked
}

func (f *feedFile) key() string { return f.table + ".config" }

func (f *feedFile) read() (string, error) {
	text, err := os.ReadFile(string(f.path))
	if err != nil {
		return "", fmt.Errorf("[%s] config: %w", f.table, err)
	}
	return string(text), nil
}

func (f *feedFile) parse(text string, log *slog.Logger) (feeds.Feed, error) {
	feed, err := feeds.Open(f.name, string(f.path), filepath.Dir(string(f.path)), text, f.area, log)
	if err != nil {
		return nil, err // it names the file, the lines and the keys
	}
	return feed, nil
}

// open reads the configuration and makes its feed.
func (f *feedFile) open(log *slog.Logger) (from source, text string, err error) {
	if text, err = f.read(); err != nil {
		return source{}, "", err
	}
	feed, err := f.parse(text, log)
	if err != nil {
		return source{}, "", err
	}
	return source{feed, func(context.Context) error { return feed.Refresh() }}, text, nil
}

// reopened is a feed whose own configuration has changed.
type reopened struct {
	file *feedFile
	text string
	from source
}

// reopen opens the feeds whose own configurations have changed. One that a configuration does not
// name as before is left alone: that its key has changed is told as for any other.
func reopen(files []*feedFile, changes []api.Change, log *slog.Logger) (all []reopened, err error) {
	for _, f := range files {
		named := func(c api.Change) bool {
			return c.Key == f.key() || c.Key == f.table+".feed" || c.Key == f.table+".area"
		}
		if slices.ContainsFunc(changes, named) {
			continue
		}
		if text, readErr := f.read(); readErr == nil && text == f.text {
			continue
		}
		from, text, err := f.open(log)
		if err != nil {
			return nil, err
		}
		all = append(all, reopened{f, text, from})
	}
	return all, nil
}

// use has the feed be asked from now on, and says so.
func (r *reopened) use() api.Change {
	r.file.text = r.text
	r.file.take(r.from)
	return api.Change{Key: r.file.key(), From: string(r.file.path) + " as it was", To: "as it is now"}
}
