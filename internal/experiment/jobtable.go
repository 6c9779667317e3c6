package experiment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

// jobTable reads a CSV file about some jobs of a trace: their numbers are in its first column, job_id.
type jobTable struct {
	about  string                                 // "latencies", for errors
	header func(columns []string) error           // takes the names of the columns
	row    func(job int64, fields []string) error // takes a line, with its job_id
}

// jobIDColumn is the first column.
const jobIDColumn = "job_id"

// read reads a file. What is wrong with a line is a [*problems.FileError].
func (t *jobTable) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the %s: %w", t.about, err)
	}
	line, err := t.parse(file)
	if malformed, ok := errors.AsType[*csv.ParseError](err); ok {
		line, err = malformed.Line, malformed.Err
	}
	switch {
	case err != nil && line > 0:
		at := problems.Place{File: path, Line: line}
		err = problems.List{{Place: at, Text: err.Error()}}.OfFile(1)
	case err != nil:
		err = fmt.Errorf("%s: %w", path, err)
	}
	return errors.Join(err, file.Close())
}

// parse reads the lines. An error is of the line from 1, or with 0 of the file.
func (t *jobTable) parse(from io.Reader) (line int, _ error) {
	in := csv.NewReader(from)
	columns, err := in.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if err = t.header(columns); err != nil {
		return 1, err
	}
	seen := map[int64]bool{}
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		line, _ := in.FieldPos(0)
		id, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return line, fmt.Errorf("job_id %q is no number", fields[0])
		}
		if seen[id] {
			return line, fmt.Errorf("job %d comes twice", id)
		}
		seen[id] = true
		if err := t.row(id, fields); err != nil {
			return line, err
		}
	}
}
