package reproduce

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
)

// dataDir is the data directory, laid out as its README says.
type dataDir string

// text reads a file; one whose name ends in .gz is unpacked. The error names the file,
// and is an [fs.ErrNotExist] if it is not there.
func (f dataDir) text(path ...string) ([]byte, error) {
	name := filepath.Join(append([]string{string(f)}, path...)...)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("the data that the paper is made again with: %w; name their directory with --data", err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return data, nil
	}
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if data, err = io.ReadAll(packed); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// trace reads a log.
func (f dataDir) trace(name string) (*workload.Trace, error) {
	data, err := f.text("traces", name)
	if err != nil {
		return nil, err
	}
	return workload.ReadSWF(bytes.NewReader(data), workload.ReadOptions{Name: filepath.Join(string(f), "traces", name)})
}

// hourly reads prices in the authors' format, which has no dates: the first hour begins
// at the instant 0.
func (f dataDir) hourly(currency string, path ...string) (price.Series, error) {
	text, err := f.text(path...)
	if err != nil {
		return price.Series{}, err
	}
	name := filepath.Join(append([]string{string(f)}, path...)...)
	area := strings.TrimSuffix(strings.TrimSuffix(path[len(path)-1], ".gz"), ".csv")
	set, err := priceformat.Read(priceformat.Hourly, name, text, priceformat.Options{
		Zone: time.UTC, Start: time.Unix(0, 0).UTC(), Area: area, Currency: currency, PerMWh: true,
	})
	if err != nil {
		return price.Series{}, err
	}
	return set.Curves[0].Series, nil
}

// nordPool reads the prices of the year 2014 in Nord Pool's own format.
func (f dataDir) nordPool() (*priceformat.Set, error) {
	const name = "elspot-prices_2014_hourly_eur.csv.gz"
	zone, err := time.LoadLocation("Europe/Oslo")
	if err != nil {
		return nil, fmt.Errorf("the clock of Nord Pool: %w; install the time zone database", err)
	}
	text, err := f.text("prices", "nordpool", name)
	if err != nil {
		return nil, err
	}
	return priceformat.Read(priceformat.Nordpool, filepath.Join(string(f), "prices", "nordpool", name), text,
		priceformat.Options{Zone: zone, Currency: "EUR"})
}
