package config

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

// The values of [BGP.Partitions] that are not paths: a machine that is known, and the
// prefix of one given by its rows and columns of racks.
const (
	Intrepid = "intrepid"
	racks    = "racks "
)

// RacksForm is how such a layout is named.
const RacksForm = racks + "2x8"

// Racks is the name of the layout of a size in rows and columns, as "2x8".
func Racks(size string) string { return racks + size }

// IsRacks says whether a layout of the name is made and not read.
func IsRacks(name string) bool { return strings.HasPrefix(name, racks) }

// CheckRacks says what is wrong with the name of a layout that is made, if anything.
func CheckRacks(name string) error {
	rows, columns, made, err := parseRacks(name)
	if err != nil || !made {
		return err
	}
	// Rows and columns are bounded each for itself, so small machines tell soon.
	if _, err = partition.Generate(rows, 1); err != nil {
		return err
	}
	_, err = partition.Generate(1, columns)
	return err
}

// parseRacks reads rows and columns; ok is false for a name that is no such layout.
func parseRacks(name string) (rows, columns int, ok bool, err error) {
	size, ok := strings.CutPrefix(name, racks)
	if !ok {
		return 0, 0, false, nil
	}
	if _, err = fmt.Sscanf(size+"\n", "%dx%d\n", &rows, &columns); err != nil {
		return 0, 0, true, fmt.Errorf("%q are no racks; write rows and columns, as %q", name, RacksForm)
	}
	return rows, columns, true, nil
}

// ReadLayout makes or reads how a machine is cut into partitions: that of Intrepid by the
// name "intrepid", one of rows and columns of racks as "racks 2x8", or a file,
// packed by gzip or not. What is wrong with a file is a [*partition.MalformedError]; that
// there is none wraps [fs.ErrNotExist].
func ReadLayout(name string) (*partition.Layout, error) {
	rows, columns, made, err := parseRacks(name)
	switch {
	case err != nil:
		return nil, err
	case made:
		return partition.Generate(rows, columns)
	case name == Intrepid:
		return partition.Intrepid()
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the partitions: %w", err)
	}
	var text io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if text, err = gzip.NewReader(file); err != nil {
			return nil, errors.Join(fmt.Errorf("%s is not packed by gzip: %w", name, err), file.Close())
		}
	}
	layout, err := partition.Parse(text, name)
	return layout, cmp.Or(err, file.Close())
}
