package spool

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// End is how a job ended. A scheduler embeds it in the record that it keeps.
type End struct {
	State    protocol.State    `json:"state"`
	ExitCode int               `json:"exit_code"`
	Signal   int               `json:"signal,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Started  protocol.Instant  `json:"started_ms,omitempty"` // 0: it never did, or that is not known
	Ran      protocol.Duration `json:"ran_ms"`
	Files    []File            `json:"files,omitempty"` // of a guest
	Usage    protocol.Usage    `json:"usage,omitzero"`
}

// Noted is a reason with what people are to know besides.
func Noted(reason string, notices ...string) string {
	all := slices.DeleteFunc(append([]string{reason}, notices...), func(text string) bool { return text == "" })
	return strings.Join(all, "; ")
}

// LoseOutput says of a guest's end that the disk of the spool was full, so that some of its
// output may not be there. Such a job has failed, however its script ended.
func (j Job) LoseOutput(end *End) {
	if !j.Submission.Private() || strings.Contains(end.Reason, outputLost) {
		return
	}
	why := fmt.Sprintf(outputLost+" at %s was full", j.Site)
	if end.State == protocol.Completed {
		end.State = protocol.Failed
		why += "; the script itself ended with exit code 0"
	}
	end.Reason = Noted(end.Reason, why)
}

// outputLost begins what is said of output that was lost.
const outputLost = "output may be missing: the spool's disk"

// Check says what is wrong with a record that was found in a spool.
func (e End) Check() error {
	if !e.State.Terminal() {
		return fmt.Errorf("is damaged: the state %v is not a last one", e.State)
	}
	return nil
}

// ReadEnd reads and checks a record of a job's end: an [End], or what embeds one. The
// error wraps fs.ErrNotExist when there is none.
func ReadEnd[T interface{ Check() error }](dir, name string) (record T, err error) {
	record, err = ReadRecord[T](dir, name)
	if err != nil {
		return record, err
	}
	if err = record.Check(); err != nil {
		err = fmt.Errorf("%s %w", filepath.Join(dir, name), err)
	}
	return record, err
}

// Change reports the end of a job that was submitted then; 0: the time is not known.
func (e End) Change(tag protocol.Tag, submitted protocol.Instant) localsched.Change {
	outcome := protocol.Outcome{
		State:    e.State,
		ExitCode: e.ExitCode,
		Signal:   e.Signal,
		Reason:   e.Reason,
		Ran:      e.Ran,
		Files:    e.files(),
		Usage:    e.Usage,
	}
	if submitted > 0 && e.Started > 0 {
		outcome.Waited = max(0, e.Started.Sub(submitted))
	}
	return localsched.Change{Tag: tag, State: e.State, Reason: e.Reason, Started: e.Started, Outcome: outcome}
}

// files is the list of files as peers tell it. One whose checksum is damaged is not
// among them.
func (e End) files() (files []protocol.File) {
	for _, f := range e.Files {
		file := protocol.File{Stream: f.Stream, Size: f.Size}
		sum, err := hex.DecodeString(f.SHA256)
		if err == nil && len(sum) == len(file.SHA256) {
			copy(file.SHA256[:], sum)
			files = append(files, file)
		}
	}
	return files
}
