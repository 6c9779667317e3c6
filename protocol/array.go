package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Array is what a job array is: the indexes of its elements, each of which is a job of its own.
type Array struct { //nolint:recvcheck // Check takes none, too
	Indexes  Indexes `json:"indexes"`
	Throttle int     `json:"throttle,omitempty"` // the most elements that are placed or run at once, at all sites together; 0: any number
}

// ParseArray reads an array as --array of sbatch(1) has it: indexes as [ParseIndexes] reads them, and after a
// percent sign the most elements that run at once.
func ParseArray(s string) (Array, error) {
	list, limit, limited := strings.Cut(s, "%")
	indexes, err := ParseIndexes(list)
	if err != nil {
		return Array{}, err
	}
	a := Array{Indexes: indexes}
	if limited {
		if a.Throttle, err = strconv.Atoi(limit); err != nil || a.Throttle < 1 || limit[0] == '+' {
			return Array{}, fmt.Errorf("array %.80q: %.40q is not a number of elements that run at once; use 1 or more", s, limit)
		}
	}
	return a, nil
}

// String is the array as [ParseArray] reads it.
func (a Array) String() string {
	if a.Throttle == 0 {
		return a.Indexes.String()
	}
	return a.Indexes.String() + "%" + strconv.Itoa(a.Throttle)
}

// Check says what is wrong with the array, if anything. A nil array is none.
func (a *Array) Check() error {
	switch {
	case a == nil:
		return nil
	case a.Indexes.IsZero():
		return errors.New("the array has no elements; give it one index or more")
	case a.Throttle < 0:
		return fmt.Errorf("the array may have %d elements running at once; use 1 or more, or 0 for any number", a.Throttle)
	}
	return nil
}

// Block is how many job IDs the array takes: its own, and one for each index up to the greatest, so that the ID of
// an element follows from its index.
func (a Array) Block() uint64 { return uint64(a.Indexes.Last()) + 2 } //nolint:gosec // the last is -1 or more

// ArrayVariables are those that name an element in its environment, as sbatch(1) has them.
func ArrayVariables() []string {
	return []string{
		"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
		"SLURM_ARRAY_TASK_STEP",
	}
}

// IsArrayVariable says whether a variable is one of [ArrayVariables].
func IsArrayVariable(name string) bool { return slices.Contains(ArrayVariables(), name) }

// Element names an element of a job array. The zero Element is none: the job is on its own.
type Element struct {
	Array JobID `json:"array"` // the ID of the array, which no job has
	Index int   `json:"index"`
}

// ID is the job ID of the element.
func (e Element) ID() JobID { return e.Array + 1 + JobID(e.Index) } //nolint:gosec // an index is not negative

// String is the element as people write it, 1000000000042_7.
func (e Element) String() string { return e.Array.String() + "_" + strconv.Itoa(e.Index) }

// JobName is how people name jobs: one, an array, or some elements of one.
type JobName struct {
	Job      JobID   // of the job or the array
	Elements Indexes // of the array; empty: the job, or the whole array
}

// ParseJobName reads a job ID, an element of an array as ID_7, or several of its elements as ID_[1-5,9].
func ParseJobName(s string) (JobName, error) {
	job, list, elements := strings.Cut(s, "_")
	id, err := ParseJobID(job)
	if err != nil || !elements {
		return JobName{Job: id}, err
	}
	if inner, ok := strings.CutPrefix(list, "["); ok {
		if list, ok = strings.CutSuffix(inner, "]"); !ok {
			return JobName{}, fmt.Errorf("job %.80q: the list of elements has no closing bracket", s)
		}
		list, _, _ = strings.Cut(list, "%") // as queue and squeue print it
	} else if strings.Trim(list, "0123456789") != "" {
		return JobName{}, fmt.Errorf("job %.80q: name an element as %s, or several as %s_[1-5,9]", s, Element{id, 7}, id)
	}
	name := JobName{Job: id}
	if name.Elements, err = ParseIndexes(list); err != nil {
		return JobName{}, fmt.Errorf("job %.80q: %w", s, err)
	}
	return name, nil
}

// ID is the job ID of the job, of the array, or of the one element; false if the name is of several elements.
func (n JobName) ID() (JobID, bool) {
	switch n.Elements.Len() {
	case 0:
		return n.Job, true
	case 1:
		return Element{n.Job, n.Elements.First()}.ID(), true
	}
	return n.Job, false
}

// String is the name as [ParseJobName] reads it.
func (n JobName) String() string {
	switch n.Elements.Len() {
	case 0:
		return n.Job.String()
	case 1:
		return Element{n.Job, n.Elements.First()}.String()
	}
	return n.Job.String() + "_[" + n.Elements.String() + "]"
}
