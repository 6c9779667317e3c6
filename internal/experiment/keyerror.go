package experiment

import "github.com/switchyard-hpc/switchyard/internal/problems"

// KeyError is what is wrong with a key that was set on the command line, or with one that contradicts such a setting.
type KeyError struct {
	Key   string // as it was written, or dotted with its tables
	Value string // as it was written; empty: it is not what was set, or the text has it
	Err   error
}

// Error prints "key = value: text", or "key: text" without a value.
func (e *KeyError) Error() string {
	if e.Value == "" {
		return e.Key + ": " + e.Err.Error()
	}
	return e.Key + " = " + e.Value + ": " + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *KeyError) Unwrap() error { return e.Err }

// Problems returns the one problem, for [problems.Of].
func (e *KeyError) Problems() problems.List {
	return problems.List{{Place: problems.Place{Key: e.Key}, Text: e.Err.Error()}}
}
