package feeds

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/plugins/price/filefeed"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// File is the configuration of the feed of that name.
type File struct {
	Files   []PriceFile     `toml:"file"`
	Areas   []string        `toml:"areas"`    // that are read; empty: all
	GridFee settings.Amount `toml:"grid_fee"` // per MWh
	Tax     settings.Amount `toml:"tax"`      // percent of price and fee
}

// PriceFile is a table [[file]]: the keys of [priceformat.Options].
type PriceFile struct {
	Path     settings.Path     `toml:"path"`
	Format   string            `toml:"format"`
	Zone     Zone              `toml:"zone"`
	Start    Clock             `toml:"start"`
	Hours    string            `toml:"hours"`
	Area     string            `toml:"area"`
	Currency string            `toml:"currency"`
	Unit     string            `toml:"unit"`
	Slot     protocol.Duration `toml:"slot"`
	Gaps     bool              `toml:"gaps"`
	MaxPrice settings.Amount   `toml:"max_price"`
	Sequence int               `toml:"sequence"`
	Rename   map[string]string `toml:"rename"`
}

// The values of [PriceFile.Hours] and [PriceFile.Unit]; the empty one is the default of
// both: hours that pass, and a unit that the file says or that is guarded against.
const (
	HoursElapsed = "elapsed"
	HoursClock   = "clock"
	UnitMWh      = "MWh"
)

// Check finds what is wrong with the configuration.
func (c *File) Check(r *settings.Reader) {
	checkSurcharge(r, c.GridFee, c.Tax)
	for _, area := range c.Areas {
		if err := priceformat.CheckArea(area); err != nil {
			r.Problem("areas", "%v", err)
		}
	}
	if len(c.Files) == 0 {
		r.Problem("file", "is missing; add a table [[file]] for each file of prices")
	}
	for i := range c.Files {
		c.Files[i].Check(r, fmt.Sprintf("file[%d]", i))
	}
}

// Check finds what is wrong with the table at a key; at the empty one, it is the whole
// configuration.
func (f *PriceFile) Check(r *settings.Reader, key string) {
	if f.Path == "" {
		r.Problem(settings.Join(key, "path"), "is missing; set the path of the price file")
	}
	if f.Hours != "" {
		r.OneOf(settings.Join(key, "hours"), f.Hours, HoursElapsed, HoursClock)
	}
	if f.Unit != "" {
		r.OneOf(settings.Join(key, "unit"), f.Unit, UnitMWh)
	}
	if f.Format == "" {
		r.Problem(settings.Join(key, "format"), "is missing; use one of %s", strings.Join(priceformat.Formats(), ", "))
		return
	}
	r.OneOf(settings.Join(key, "format"), f.Format, priceformat.Formats()...)
	source := f.Source(nil)
	for _, fault := range source.Options.Faults(source.Format) {
		r.Problem(settings.Join(key, fault.Option), "%s", fault.Text)
	}
}

// Source is the file as the feed reads it, for the areas that will be asked for; none:
// for all.
func (f *PriceFile) Source(areas []string) filefeed.Source {
	return filefeed.Source{
		Path: string(f.Path), Format: priceformat.Format(f.Format),
		Options: priceformat.Options{
			Zone: f.Zone.Location, Start: f.Start.Reading, ByClock: f.Hours == HoursClock, Area: f.Area,
			Currency: f.Currency, PerMWh: f.Unit == UnitMWh, Slot: f.Slot, Gaps: f.Gaps,
			MaxPrice: protocol.Micro(f.MaxPrice), Sequence: f.Sequence, Rename: f.Rename,
			Areas: areas,
		},
	}
}

// Open makes the feed. It looks for changes of the files whenever it is asked, and logs
// what it finds.
func (c *File) Open(log *slog.Logger) Feed {
	sources := make([]filefeed.Source, len(c.Files))
	for i := range c.Files {
		sources[i] = c.Files[i].Source(c.Areas)
	}
	files := filefeed.New(sources, log)
	return watching{contract.Adjusted(files, adjustment(c.GridFee, c.Tax)), files}
}

// watching is a feed that goes by files.
type watching struct {
	price.Feed

	files *filefeed.Feed
}

// Refresh implements [Feed].
func (w watching) Refresh() error { return w.files.Refresh() }

func adjustment(fee, tax settings.Amount) contract.Adjustment {
	return contract.Adjustment{GridFee: protocol.Micro(fee), Tax: contract.Percent(tax)}
}
