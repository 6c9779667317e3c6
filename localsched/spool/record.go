package spool

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Encode prints a record as a file holds it.
func Encode(record any) ([]byte, error) {
	data, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode a record: %w", err)
	}
	return append(data, '\n'), nil
}

// ReplaceRecord is [ReplaceFile] for a record.
func ReplaceRecord(dir, name string, record any) error {
	data, err := Encode(record)
	if err != nil {
		return err
	}
	return ReplaceFile(dir, name, data)
}

// ReadRecord reads a record that the peer has written. The error is fs.ErrNotExist
// when there is none.
func ReadRecord[T any](dir, name string) (record T, err error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return record, err
	}
	if err = json.Unmarshal(data, &record); err != nil {
		return record, fmt.Errorf("%s is damaged, or of another version: %w", filepath.Join(dir, name), err)
	}
	return record, nil
}
