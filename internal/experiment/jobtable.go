package experiment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// jobTable reads a CSV file about some jobs of a trace: their numbers are in its first column, job_id.
type jobTable struct {
	about  string                                 // "latencies", for errors
	header func(columns []string) error           // takes the names of the columns
	row    func(job int64, fields []string) error // takes a line, with its job_id
}

// jobIDColumn is the first column.
const jobIDColumn = "job_id"

// read reads a file. The error names the file and the line.
func (t *jobTable) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the %s: %w", t.about, err)
	}
	if err = errors.Join(t.parse(file), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (t *jobTable) parse(from io.Reader) error {
	in := csv.NewReader(from)
	columns, err := in.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err = t.header(columns); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	seen := map[int64]bool{}
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := in.FieldPos(0)
		id, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return fmt.Errorf("line %d: job_id %q is no number", line, fields[0])
		}
		if seen[id] {
			return fmt.Errorf("line %d: job %d comes twice", line, id)
		}
		seen[id] = true
		if err := t.row(id, fields); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}
