package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Reader merges files into a struct and gathers what is wrong.
type Reader struct {
	*merged
	table string // that keys are in, see At; empty: the top
}

// merged is what the views of one reader share.
type merged struct {
	root     reflect.Value
	places   Places
	problems problems.List
	warnings problems.List
	named    int // of the warnings, from the first, whose keys are as people know them already
}

// NewReader reads into the struct that into points to, which holds the defaults.
func NewReader(into any) *Reader {
	return &Reader{merged: &merged{root: reflect.ValueOf(into).Elem(), places: Places{}}}
}

// File merges a file. A key that an earlier file has set gets the new value; the
// elements of arrays of tables and the rows of maps add up.
func (r *Reader) File(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		r.Reject(path, 0, Unreadable(err))
		return
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		r.Reject(path, 0, Unreadable(err))
		return
	}
	r.Text(path, dir, string(text))
}

// Text merges the text of a file. Relative paths in it begin at dir.
func (r *Reader) Text(file, dir, text string) {
	var tree map[string]any
	if _, err := toml.Decode(text, &tree); err != nil {
		line, message := 0, err.Error()
		if syntax, ok := errors.AsType[toml.ParseError](err); ok {
			line, message = syntax.Position.Line, syntax.Message
		}
		r.Reject(file, line, "not TOML: "+strings.TrimPrefix(message, "toml: "))
		return
	}
	if _, ok := r.places[""]; !ok {
		r.places[""] = problems.Place{File: file}
	}
	d := decoder{Reader: r, file: file, dir: dir, lines: keyLines(text, r.length)}
	d.table(r.root, tree, "")
}

// Unreadable is an error of package os in words, without the path.
func Unreadable(err error) string {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err
	}
	return fmt.Sprintf("cannot be read: %v", err)
}

// Reject notes that a whole file cannot be used.
func (r *Reader) Reject(file string, line int, text string) {
	r.problems.Add(problems.Place{File: file, Line: line}, "%s", text)
}

// Broken says whether a whole file could not be used, so that checks would find
// too much missing.
func (r *Reader) Broken() bool {
	return slices.ContainsFunc(r.problems, func(p problems.Problem) bool { return p.Key == "" })
}

// Places are where the keys were set. The map is the Reader's own; who finds that
// a value comes from elsewhere may change it.
func (r *Reader) Places() Places { return r.places }

// At is a view of the reader for one who checks a table, and names keys without it: of
// At("site[2]") the key "power.price" is that of the third site. The whole key is reported.
func (r *Reader) At(table string) *Reader {
	return &Reader{merged: r.merged, table: Join(r.table, table)}
}

// Place is where the key was set, or what it belongs to.
func (r *Reader) Place(key string) problems.Place { return r.places.Find(Join(r.table, key)) }

// Set says whether a file has set the key.
func (r *Reader) Set(key string) bool {
	_, set := r.places[Join(r.table, key)]
	return set
}

// Problem notes that something is wrong with a key. Only the first about a key
// counts: a key that could not be read is not also missing. A key without a
// place is reported where its table is.
func (r *Reader) Problem(key, format string, args ...any) {
	p := r.about(key, format, args...)
	same := func(other problems.Problem) bool { return key != "" && other.Key == p.Key && other.File == p.File }
	if !slices.ContainsFunc(r.problems, same) {
		r.problems = append(r.problems, p)
	}
}

// Warn notes a warning about a key.
func (r *Reader) Warn(key, format string, args ...any) {
	r.warnings = append(r.warnings, r.about(key, format, args...))
}

func (r *Reader) about(key, format string, args ...any) problems.Problem {
	at := r.places.Find(Join(r.table, key))
	at.Key = Join(r.table, key)
	return problems.Problem{Place: at, Text: fmt.Sprintf(format, args...)}
}

// OneOf checks a value that must be one of a few.
func (r *Reader) OneOf(key, value string, allowed ...string) {
	if wrong := oneOf(value, allowed); wrong != "" {
		r.Problem(key, "%s", wrong)
	}
}

// AtLeast checks a number that must not be less.
func (r *Reader) AtLeast(key string, value, least int) {
	if value < least {
		r.Problem(key, "is %d; use %d or more", value, least)
	}
}

// Positive asks for a duration that is not 0; a negative one cannot be written.
func (r *Reader) Positive(key string, d protocol.Duration) {
	if d <= 0 {
		r.Problem(key, "is 0; use 1ms or more")
	}
}

// Err is all that is wrong, of type [problems.List], or nil.
func (r *Reader) Err() error {
	return r.sorted(r.problems, 0).Err()
}

// Warnings are the warnings, in the order of the files, lines and keys.
func (r *Reader) Warnings() problems.List { return r.sorted(r.warnings, r.named) }

// NameWarnings names the keys of the warnings so far for people. Who removes elements of arrays that these are about calls it before.
func (r *Reader) NameWarnings() {
	for ; r.named < len(r.warnings); r.named++ {
		r.warnings[r.named].Key = r.label(r.warnings[r.named].Key)
	}
}

// sorted names the keys for people, but for those of the first problems that are named, and puts the problems in order.
func (r *Reader) sorted(all problems.List, named int) problems.List {
	all = slices.Clone(all)
	for i := named; i < len(all); i++ {
		all[i].Key = r.label(all[i].Key)
	}
	all.Sort()
	return all
}
