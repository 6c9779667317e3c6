package protocol

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Staging is what files go with a job to another site, and which come back. They travel as one archive
// each way. At its origin a job finds its files where they are.
type Staging struct {
	Bytes  int64        `json:"bytes,omitempty"`   // size of the archive of the job's inputs; 0: it has none
	SHA256 [32]byte     `json:"sha256,omitzero"`   // of that archive
	Inputs []StagedFile `json:"inputs,omitempty"`  // what is in it, sorted by name; known at the origin alone
	Links  []string     `json:"links,omitempty"`   // names of those that are links at the origin, as they were named; known there alone
	Out    []string     `json:"out,omitempty"`     // patterns of what comes back, as [CheckStageOut] takes them
	MaxOut int64        `json:"max_out,omitempty"` // bytes that the archive of what comes back may have at the origin; 0: it does not say
	Places []string     `json:"places,omitempty"`  // absolute paths of inputs, and of where links of the job and of its output lead, outside of its working directory; known at the origin alone
}

// StagedFile is a file or directory that goes with a job, as it was found when the job was submitted.
type StagedFile struct {
	Name     string   `json:"name"` // below the working directory, with slashes; of a directory it ends with one
	Size     int64    `json:"size,omitempty"`
	Mode     uint32   `json:"mode"`                  // permission bits
	Modified int64    `json:"modified_ns,omitempty"` // since the Unix epoch; 0 of a directory
	SHA256   [32]byte `json:"sha256,omitzero"`       // of its content
}

// StageInError says why the files that are to go with a job can never come: it is an [ErrOutputGone].
type StageInError struct{ Reason string }

func (e *StageInError) Error() string { return e.Reason }

// Is says that it is an [ErrOutputGone].
func (e *StageInError) Is(target error) bool { return target == ErrOutputGone }

// Bounds of what travels with a job.
const (
	MaxStagedFiles    = 4096 // each way
	MaxStageOut       = 64   // patterns
	MaxStagedLinks    = 256  // names of links among the paths of inputs
	maxStagedName     = 1024 // bytes
	maxStagedElements = 64   // directories in a name
)

// IsDir says whether it is a directory.
func (f *StagedFile) IsDir() bool { return strings.HasSuffix(f.Name, "/") }

// CheckStagedName says what is wrong with the name of a file that travels, if anything, wherever it comes
// from. It names something below a directory, and nothing outside of it; of a directory it ends with a slash.
func CheckStagedName(name string) error {
	plain := strings.TrimSuffix(name, "/")
	switch {
	case plain == "":
		return errors.New("a file has no name")
	case len(name) > maxStagedName:
		return fmt.Errorf("%.80q has %d bytes; names of files that travel have at most %d", name, len(name), maxStagedName)
	case strings.HasPrefix(plain, "/"):
		return fmt.Errorf("%.80q is absolute; name files below the working directory", name)
	}
	if err := CheckText(name); err != nil {
		return fmt.Errorf("%+.80q: %w", name, err)
	}
	elements := strings.Split(plain, "/")
	if len(elements) > maxStagedElements {
		return fmt.Errorf("%.80q has %d elements; names of files that travel have at most %d", name, len(elements), maxStagedElements)
	}
	if slices.ContainsFunc(elements, func(e string) bool { return e == "" || e == "." || e == ".." }) {
		return fmt.Errorf("%.80q leaves the working directory, or has an empty element; name files below it", name)
	}
	return nil
}

// CheckStageOut says what is wrong with a pattern of files that come back, if anything: it is ".", or a name
// as [CheckStagedName] takes it in which elements may have *, ? and [...].
func CheckStageOut(pattern string) error {
	if pattern == "." {
		return nil
	}
	if err := CheckStagedName(pattern); err != nil {
		return err
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("%.80q is no pattern: a bracket is not closed", pattern)
	}
	return nil
}

// Check says what is wrong with what travels with a job, if anything, wherever it comes from. There may be
// none.
func (s *Staging) Check() error {
	if s == nil {
		return nil
	}
	if err := s.checkSizes(); err != nil {
		return err
	}
	for i := range s.Inputs {
		if err := s.checkInput(i); err != nil {
			return &FieldError{"inputs", err}
		}
	}
	return s.checkNames()
}

// checkSizes looks at the numbers of bytes and of names.
func (s *Staging) checkSizes() error {
	switch {
	case s.Bytes < 0 || (s.Bytes == 0) != (s.SHA256 == [32]byte{}):
		return wrongField("bytes", "%d of files, and the SHA-256 of them, do not belong together", s.Bytes)
	case s.MaxOut < 0 || s.MaxOut > 0 && len(s.Out) == 0:
		return wrongField("max_out", "is %d; it is a positive number of bytes, and goes with files that come back", s.MaxOut)
	case len(s.Inputs) > MaxStagedFiles:
		return wrongField("inputs", "has %d files, at most %d are allowed; pack them into one", len(s.Inputs), MaxStagedFiles)
	case len(s.Out) > MaxStageOut:
		return wrongField("out", "has %d patterns, at most %d are allowed", len(s.Out), MaxStageOut)
	case len(s.Links) > MaxStagedLinks:
		return wrongField("links", "has %d names, at most %d are allowed", len(s.Links), MaxStagedLinks)
	case len(s.Places) > 2*MaxStagedLinks: // of inputs, and of what comes back
		return wrongField("places", "has %d paths, at most %d are allowed", len(s.Places), 2*MaxStagedLinks)
	case s.Bytes == 0 && len(s.Inputs)+len(s.Out)+len(s.Places) == 0:
		return wrongField("bytes", "is 0, and no file comes back: leave it out")
	}
	return nil
}

func (s *Staging) checkNames() error {
	for _, name := range s.Links {
		if err := CheckStagedName(name); err != nil {
			return &FieldError{"links", err}
		}
	}
	for _, place := range s.Places {
		if err := checkPath("file to go with it", place); err != nil {
			return &FieldError{"places", err}
		}
	}
	for _, pattern := range s.Out {
		if err := CheckStageOut(pattern); err != nil {
			return &FieldError{"out", err}
		}
	}
	return nil
}

func (s *Staging) checkInput(i int) error {
	f := &s.Inputs[i]
	if err := CheckStagedName(f.Name); err != nil {
		return err
	}
	const bits = 0o777
	switch {
	case f.Size < 0 || f.Size > s.Bytes || f.IsDir() && f.Size > 0:
		return fmt.Errorf("%.80q has %d bytes, of %d in all", f.Name, f.Size, s.Bytes)
	case f.Mode > bits:
		return fmt.Errorf("%.80q has the mode %o, beyond %o", f.Name, f.Mode, bits)
	case i > 0 && s.Inputs[i-1].Name >= f.Name:
		return fmt.Errorf("%.80q does not sort after %.80q", f.Name, s.Inputs[i-1].Name)
	}
	return nil
}

// Abroad is what another site gets: the inputs are in the archive. Nil: nothing travels.
func (s *Staging) Abroad() *Staging {
	switch {
	case s == nil || s.Bytes == 0 && len(s.Out) == 0:
		return nil
	case len(s.Inputs)+len(s.Links)+len(s.Places) == 0:
		return s
	}
	out := *s
	out.Inputs, out.Links, out.Places = nil, nil, nil
	return &out
}

// Bounded is the same with how many bytes the archive of what comes back may have at the origin; 0: it does not say.
func (s *Staging) Bounded(most int64) *Staging {
	if !s.ComesBack() {
		return s
	}
	out := *s
	out.MaxOut = most
	return &out
}

// ComesBack says whether files come back from another site.
func (s *Staging) ComesBack() bool { return s != nil && len(s.Out) > 0 }

// BytesOf is the size of the archive of the inputs; 0: there are none.
func (s *Staging) BytesOf() int64 {
	if s == nil {
		return 0
	}
	return s.Bytes
}
