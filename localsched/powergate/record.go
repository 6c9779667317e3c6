package powergate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// recordFormat is the version of the records' layout.
const recordFormat = 3

// ending is that of the records' names.
const ending = ".json"

// status is where a job stands by its record.
type status string

// The statuses, as doc.go explains them.
const (
	statusHeld      status = "held"
	statusReleased  status = "released"
	statusRecalled  status = "recalled"
	statusEnded     status = "ended"
	statusRefused   status = "refused"
	statusWithdrawn status = "withdrawn"
)

// record is what is durable of a job.
type record struct {
	Format   int              `json:"format"`
	Tag      protocol.Tag     `json:"tag"`
	Status   status           `json:"status"`
	Seq      uint64           `json:"seq"` // the place in the order of submission
	Since    protocol.Instant `json:"since_ms,omitempty"`
	Released protocol.Instant `json:"released_ms,omitempty"` // 0: it has not been
	Request  protocol.Request `json:"request"`
	Reason   string           `json:"reason,omitempty"` // of a refusal
	// Submission is there as long as the batch system may still have to get it.
	Submission *localsched.Submission `json:"submission,omitempty"`
}

func (r record) check(tag protocol.Tag) error {
	switch r.Status {
	case statusHeld, statusReleased:
		if r.Submission == nil || r.Submission.Tag != tag {
			return errors.New("the submission is missing, or another job's")
		}
	case statusRecalled, statusEnded, statusRefused, statusWithdrawn:
	default:
		return fmt.Errorf("the status %q is unknown", r.Status)
	}
	switch {
	case r.Format != recordFormat:
		return fmt.Errorf("it has format %d, this software knows %d", r.Format, recordFormat)
	case r.Tag != tag:
		return fmt.Errorf("it is about job %v", r.Tag)
	}
	return nil
}

// records is the directory with the records.
type records struct{ dir string }

func nameOf(tag protocol.Tag) string { return spool.DirName(tag) + ending }

// open makes the directory if need be, and removes what was half written.
func (r records) open() error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(r.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			err = errors.Join(err, os.Remove(filepath.Join(r.dir, e.Name())))
		}
	}
	return err
}

// tags lists the jobs that have a record, and names that are none of one.
func (r records) tags() (tags []protocol.Tag, strangers []string, err error) {
	entries, err := os.ReadDir(r.dir)
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ending)
		tag, known := spool.ParseDirName(name)
		if !ok || !known {
			strangers = append(strangers, e.Name())
			continue
		}
		tags = append(tags, tag)
	}
	return tags, strangers, err
}

func (r records) read(tag protocol.Tag) (record, error) {
	one, err := spool.ReadRecord[record](r.dir, nameOf(tag))
	if err != nil {
		return one, err
	}
	if err = one.check(tag); err != nil {
		return one, fmt.Errorf("%s is damaged: %w", filepath.Join(r.dir, nameOf(tag)), err)
	}
	return one, nil
}

// save replaces a job's record.
func (r records) save(one record) error {
	one.Format = recordFormat
	return spool.ExplainFull(spool.ReplaceRecord(r.dir, nameOf(one.Tag), one))
}

// remove drops a job's record for good. That there is none is no error.
func (r records) remove(tag protocol.Tag) error {
	err := os.Remove(filepath.Join(r.dir, nameOf(tag)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return spool.SyncPath(r.dir) // also of what an earlier call has removed
}

// Empty reports whether a gate's directory holds no job any more, so that the batch system needs
// no gate once there is no budget.
func Empty(dir string) (bool, error) {
	tags, _, err := records{dir}.tags()
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return len(tags) == 0, err
}
