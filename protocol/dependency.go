package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// DependencyKind is what a job waits for of another one, in the words of sbatch(1).
type DependencyKind string

// The kinds of dependencies.
const (
	After      DependencyKind = "after"      // its start, or its end if it never starts, and a time after that
	AfterAny   DependencyKind = "afterany"   // its end
	AfterOK    DependencyKind = "afterok"    // its end as COMPLETED
	AfterNotOK DependencyKind = "afternotok" // its end in another state
	AfterCorr  DependencyKind = "aftercorr"  // of an array: of each element, the end as COMPLETED of the element of the same index of another array
	Singleton  DependencyKind = "singleton"  // the end of all earlier jobs of the same user and name
)

// Dependency is what of other jobs a job waits for.
type Dependency struct {
	Terms       []DependencyTerm `json:"terms"`
	Any         bool             `json:"any,omitempty"`          // one of the terms is enough; else all must be met
	KillInvalid bool             `json:"kill_invalid,omitempty"` // the job is cancelled if it can never start; else it stays pending
}

// DependencyTerm is one job that is waited for, or all those of a singleton.
type DependencyTerm struct {
	Kind  DependencyKind `json:"kind"`
	Job   JobID          `json:"job,omitempty"`      // 0: of a singleton
	Delay Duration       `json:"delay_ms,omitempty"` // of [After]

	// What its origin has found out. A user who submits the job leaves both empty.
	Met   Instant `json:"met_ms,omitempty"` // from when on it is met; 0: not yet
	Never string  `json:"never,omitempty"`  // why it is never met; empty: it may be

	// The same of [AfterCorr], by the elements of the job array that waits.
	MetFor   Indexes `json:"met_for,omitzero"`   // elements whose counterparts have ended as COMPLETED
	NeverFor Indexes `json:"never_for,omitzero"` // elements whose counterparts have ended otherwise, or never were
}

// MaxDependencies is the most jobs that a job may wait for.
const MaxDependencies = 1000

// MaxCorresponding is the most other arrays for whose elements those of a job array may wait: each is looked at element by element.
const MaxCorresponding = 8

// MaxDependenciesTogether is the most that jobs which are submitted together may wait for, counted for each.
const MaxDependenciesTogether = 10_000

// maxDependencyMinutes keeps the time after a start within what an instant can be.
const maxDependencyMinutes = 100 * 365 * 24 * 60

// ParseDependency reads a list as --dependency of sbatch(1) has it: kind:job[:job…], and more with commas, if all must be
// met, or question marks, if one is enough. A time in minutes may follow a job of "after" with a plus sign. Empty text is
// no dependency, nil.
func ParseDependency(text string) (*Dependency, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no text, no dependency
	}
	d := &Dependency{Any: strings.Contains(text, "?")}
	separator := ","
	if d.Any {
		separator = "?"
		if strings.Contains(text, ",") {
			return nil, errors.New("commas and question marks exclude each other: either all jobs are waited for, or one of them")
		}
	}
	for one := range strings.SplitSeq(text, separator) {
		terms, err := parseDependencyTerms(one)
		if err != nil {
			return nil, err
		}
		d.Terms = append(d.Terms, terms...)
	}
	return d, d.Check()
}

func parseDependencyTerms(text string) (terms []DependencyTerm, err error) {
	name, jobs, listed := strings.Cut(text, ":")
	kind := DependencyKind(strings.ToLower(name))
	switch kind {
	case Singleton:
		if listed {
			return nil, fmt.Errorf("%.80q: singleton names no jobs", text)
		}
		return []DependencyTerm{{Kind: kind}}, nil
	case After, AfterAny, AfterOK, AfterNotOK, AfterCorr:
	default:
		return nil, fmt.Errorf("%.80q is no kind of dependency; use after, afterany, afterok, afternotok, aftercorr or singleton", name)
	}
	if !listed {
		return nil, fmt.Errorf("%.80q names no job; write %s:JOBID", text, kind)
	}
	for job := range strings.SplitSeq(jobs, ":") {
		term := DependencyTerm{Kind: kind}
		id, minutes, delayed := strings.Cut(job, "+")
		named, err := ParseJobName(id)
		if err != nil {
			return nil, err
		}
		var one bool
		switch term.Job, one = named.ID(); {
		case kind == AfterCorr && !named.Elements.IsZero():
			return nil, fmt.Errorf("%.80q names elements of an array; aftercorr names the array", job)
		case !one:
			return nil, fmt.Errorf("%.80q names several elements of an array; name each", job)
		}
		if delayed {
			n, err := strconv.ParseUint(minutes, 10, 32)
			if err != nil || kind != After || n > maxDependencyMinutes {
				return nil, fmt.Errorf("%.80q: minutes after a start are a whole number, and only \"after\" has them", job)
			}
			term.Delay = Duration(n) * Minute
		}
		terms = append(terms, term)
	}
	return terms, nil
}

// Check says what is wrong with a dependency, if anything. Nil is none.
func (d *Dependency) Check() error {
	switch {
	case d == nil:
		return nil
	case len(d.Terms) == 0:
		return errors.New("the dependency names no job")
	case len(d.Terms) > MaxDependencies:
		return fmt.Errorf("the dependency names %d jobs; at most %d are allowed", len(d.Terms), MaxDependencies)
	}
	corresponding := 0
	for _, t := range d.Terms {
		if t.Kind == AfterCorr {
			corresponding++
		}
	}
	if corresponding > MaxCorresponding {
		return fmt.Errorf("the dependency has %d arrays after %s; at most %d are allowed", corresponding, AfterCorr, MaxCorresponding)
	}
	for _, t := range d.Terms {
		switch known := slices.Contains([]DependencyKind{After, AfterAny, AfterOK, AfterNotOK, AfterCorr, Singleton}, t.Kind); {
		case !known:
			return fmt.Errorf("the dependency %.20q is of no kind that there is", string(t.Kind))
		case t.Kind == Singleton != (t.Job == 0), t.Job != 0 && t.Job.Origin() == 0:
			return fmt.Errorf("the dependency %s names the job %v", t.Kind, t.Job)
		case t.Delay < 0 || t.Delay > maxDependencyMinutes*Minute || t.Delay > 0 && t.Kind != After:
			return fmt.Errorf("the dependency %s has a delay of %s", t.Kind, t.Delay.Text())
		}
	}
	return nil
}

// MetAt says whether the job may start, as far as other jobs matter, at an instant. Of a job array with [AfterCorr] some
// elements may before all do: see [Dependency.MetOf].
func (d *Dependency) MetAt(now Instant) bool {
	if d == nil {
		return true
	}
	met := func(t DependencyTerm) bool { return t.Met != 0 && t.Met <= now }
	if d.Any {
		return slices.ContainsFunc(d.Terms, met)
	}
	return !slices.ContainsFunc(d.Terms, func(t DependencyTerm) bool { return !met(t) })
}

// Next is the first instant after now from which on a term is met; 0: there is none.
func (d *Dependency) Next(now Instant) (next Instant) {
	if d == nil {
		return 0
	}
	for _, t := range d.Terms {
		if t.Met > now && (next == 0 || t.Met < next) {
			next = t.Met
		}
	}
	return next
}

// NeverReason is why the job never starts; empty: it may.
func (d *Dependency) NeverReason() string {
	if d == nil {
		return ""
	}
	i := slices.IndexFunc(d.Terms, func(t DependencyTerm) bool { return t.Never != "" })
	if i < 0 || d.Any && slices.ContainsFunc(d.Terms, func(t DependencyTerm) bool { return t.Never == "" }) {
		return ""
	}
	return d.Terms[i].Never
}

// WaitsFor says whether the dependency has terms about a job that are neither met nor never will be.
func (d *Dependency) WaitsFor(job JobID) bool {
	return d != nil && slices.ContainsFunc(d.Terms, func(t DependencyTerm) bool { return t.Job == job && t.Open() })
}

// Open says whether it is not known yet what becomes of the term.
func (t DependencyTerm) Open() bool { return t.Met == 0 && t.Never == "" }

// Ended is the term once its job has ended in a state at an instant.
func (t DependencyTerm) Ended(state State, at Instant) DependencyTerm {
	ok := state == Completed
	switch {
	case !t.Open():
	case t.Kind == AfterCorr: // which its elements have settled
		t.Met = max(1, at)
	case t.Kind == AfterOK && !ok, t.Kind == AfterNotOK && ok:
		t.Never = fmt.Sprintf("job %v ended as %v, and this job waits with %s", t.Job, state, t.Kind)
	default:
		t.Met = max(1, at.Add(t.Delay))
	}
	return t
}

// Started is the term once its job has started at an instant.
func (t DependencyTerm) Started(at Instant) DependencyTerm {
	if t.Open() && t.Kind == After {
		t.Met = max(1, at.Add(t.Delay))
	}
	return t
}

// String is what is still waited for, as squeue prints it: each term with whether it failed.
func (d *Dependency) String() string {
	if d == nil {
		return ""
	}
	var words []string
	for _, t := range d.Terms {
		if t.Met != 0 {
			continue
		}
		word := string(t.Kind)
		if t.Job != 0 {
			word += ":" + t.Job.String()
		}
		if t.Kind == AfterCorr {
			word += "_*"
		}
		if t.Delay > 0 {
			word += fmt.Sprintf("+%d", t.Delay/Minute)
		}
		if t.Never == "" {
			word += "(unfulfilled)"
		} else {
			word += "(failed)"
		}
		words = append(words, word)
	}
	if d.Any {
		return strings.Join(words, "?")
	}
	return strings.Join(words, ",")
}
