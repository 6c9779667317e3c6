// Package feeds are the built-in feeds of electricity prices by name, with their
// configuration: [File] reads files, [Tariff] goes by a contract. A program that has
// the text of a configuration calls [Open]; a plugin embeds the configuration of one
// of them and its Check.
package feeds

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/price"
)

// The names of the feeds.
const (
	FileName   = "file"
	TariffName = "tariff"
)

// Names lists the names of the feeds.
func Names() []string { return []string{FileName, TariffName} }

// Feed is a feed, and a look at what it takes its prices from.
type Feed interface {
	price.Feed
	// Refresh reads what has changed. The error is all that is wrong with the sources
	// now; the feed goes on with what they said before.
	Refresh() error
}

// Open makes a feed from the text of its configuration, which the file's name stands
// for in errors; relative paths begin at dir. The area, if one is named, is the only one
// that the feed will be asked for: others in its files are not read, so that nothing that
// is wrong with them keeps anybody from its prices. The error is all that is wrong with the
// configuration, of type [problems.List]. What is wrong with files of prices is
// logged and reported by the feed itself, as it may be fixed while the feed is in use.
func Open(name, file, dir, text, area string, log *slog.Logger) (Feed, error) {
	switch name {
	case FileName:
		var c File
		if err := read(&c, c.Check, file, dir, text); err != nil {
			return nil, err
		}
		if len(c.Areas) == 0 && area != "" {
			c.Areas = []string{area}
		}
		return c.Open(log), nil
	case TariffName:
		var c Tariff
		if err := read(&c, c.Check, file, dir, text); err != nil {
			return nil, err
		}
		return c.Open(), nil
	}
	return nil, fmt.Errorf("unknown price feed %q; built-in feeds are %s", name, strings.Join(Names(), " and "))
}

// read reads a configuration into a struct.
func read(into any, check func(*settings.Reader), file, dir, text string) error {
	r := settings.NewReader(into)
	r.Text(file, dir, text)
	if !r.Broken() {
		check(r)
	}
	return r.Err()
}
