package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The names in every job's directory.
const (
	JobFile    = "job.json"
	ScriptFile = "script"
	// VerdictFile holds how a job has ended whose files are being packed, which may take long: a record that begins with an [End].
	VerdictFile = "verdict"

	workDir    = "work"
	outFile    = "out"
	errFile    = "err"
	usageFile  = "usage"
	inputsFile = "inputs"
	filesFile  = "files.tar"
	filesPart  = "files.tar.part"
)

// recordFormat is the version of the files' layout.
const recordFormat = 3

// Job is what job.json holds: what was submitted, but for the script. A scheduler
// that has more to say of a job embeds it.
type Job struct {
	Format     int                   `json:"format"`
	Submitted  protocol.Instant      `json:"submitted_ms"`
	Submission localsched.Submission `json:"submission"`
	Account    Account               `json:"account"`
	Site       protocol.SiteName     `json:"site"`                  // that runs it
	MaxOutput  int64                 `json:"max_output,omitempty"`  // bytes in a file of a guest; 0: [DefaultMaxOutput]
	Container  []string              `json:"container,omitempty"`   // the site's container command, for a job that has an image
	MaxStaging int64                 `json:"max_staging,omitempty"` // bytes of files of a guest that come with it, and that go back; 0: none do
}

// NewJob describes a submission that comes now. The submission must have a payload. A
// guest may write maxOutput bytes to a file; 0: [DefaultMaxOutput].
func NewJob(submission localsched.Submission, owner Account, site protocol.SiteName, maxOutput int64) Job {
	payload := *submission.Payload
	payload.Script = nil
	submission.Payload = &payload
	return Job{
		Format:     recordFormat,
		Submitted:  protocol.InstantOf(time.Now()),
		Submission: submission,
		Account:    owner,
		Site:       site,
		MaxOutput:  maxOutput,
	}
}

// Check says what is wrong with a record that was found in the directory of this tag.
func (j Job) Check(tag protocol.Tag) error {
	switch {
	case j.Format != recordFormat:
		return fmt.Errorf("has format %d, this software knows %d", j.Format, recordFormat)
	case j.Submission.Tag != tag:
		return fmt.Errorf("is about job %v", j.Submission.Tag)
	case j.Submission.Payload == nil:
		return errors.New("has no payload")
	}
	return nil
}

// ReadJob reads and checks job.json of a directory: a [Job], or what embeds one. The
// error wraps fs.ErrNotExist when there is none.
func ReadJob[T interface{ Check(tag protocol.Tag) error }](dir string, tag protocol.Tag) (record T, err error) {
	record, err = ReadRecord[T](dir, JobFile)
	if err != nil {
		return record, err
	}
	if err = record.Check(tag); err != nil {
		err = fmt.Errorf("%s %w", filepath.Join(dir, JobFile), err)
	}
	return record, err
}

// WorkDir is where a job runs whose directory is dir: a guest within it.
func (j Job) WorkDir(dir string) string {
	switch {
	case j.Submission.Private():
		return filepath.Join(dir, workDir)
	case j.Submission.Payload.WorkDir != "":
		return j.Submission.Payload.WorkDir
	}
	return j.Account.Home
}

// AddFiles makes, in a directory that is being filled, the file in which a job may report what
// it has done and, for a guest, a working directory and output files: where the job cannot put
// others in their place. It ends soon when the context does.
func (j Job) AddFiles(ctx context.Context, dir string) error {
	if err := j.Account.AddFile(filepath.Join(dir, usageFile), nil, 0o600); err != nil {
		return err
	}
	if !j.Submission.Private() {
		return nil
	}
	if err := j.Account.AddDir(filepath.Join(dir, workDir)); err != nil {
		return err
	}
	if err := j.addInputs(ctx, dir); err != nil {
		return err
	}
	out := j.Outputs(dir)
	for _, path := range []string{out.Stdout, out.Stderr} {
		if err := j.Account.AddFile(path, nil, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// OpenUsage opens the file in which the job whose directory is dir may report what it has done.
// The errors are those of [OpenPlain].
func (j Job) OpenUsage(dir string) (*os.File, error) {
	return OpenPlain(filepath.Join(dir, usageFile), j.Account.UID)
}

// What stands in a site's container command for parts of a job.
const (
	ContainerImage = "{image}" // in which the job runs
	ContainerDir   = "{dir}"   // the job's directory, in which its script and, for a guest, its working directory are
)

// Command is what a job runs whose directory is dir: its script with its arguments, behind the container
// command if it runs in a container.
func (j Job) Command(dir string) []string {
	fill := strings.NewReplacer(ContainerImage, j.Submission.Spec.Container, ContainerDir, dir)
	var words []string
	for _, word := range j.Container {
		words = append(words, fill.Replace(word))
	}
	return slices.Concat(words, []string{filepath.Join(dir, ScriptFile)}, j.Submission.Payload.Args)
}

// InContainer has the job run by a site's container command if it has an image.
func (j Job) InContainer(command []string) Job {
	if j.Submission.Spec.Container != "" {
		j.Container = command
	}
	return j
}

// Staging has the job take as many bytes of files with it, and leave as many to go back.
func (j Job) Staging(most int64) Job {
	if j.Submission.Guest {
		j.MaxStaging = most
	}
	return j
}

// UnfitReason is why a submission can never run at a site with a container command, or none; empty when it
// can.
func UnfitReason(submission localsched.Submission, container []string) (reason string) {
	payload := submission.Payload
	switch {
	case payload == nil || len(payload.Script) == 0:
		return "it has no script"
	case submission.Spec.WallTime < 1:
		return "it has no wall-time limit; ask for at least 1ms"
	case submission.Private() && payload.Input != "":
		return "its standard input is a file at its origin"
	case submission.Guest && payload.Staging.BytesOf() > 0 && submission.Inputs == "":
		return "its files have not come with it"
	case submission.Spec.Container != "" && len(container) == 0:
		return "it runs in a container, and this site runs none"
	}
	for _, word := range slices.Concat(payload.Args, payload.Env,
		[]string{payload.WorkDir, payload.Stdout, payload.Stderr, payload.Input, submission.Spec.Name}) {
		if strings.ContainsRune(word, 0) || !utf8.ValidString(word) {
			return fmt.Sprintf("%.40q, among its name, arguments, environment and paths, is no UTF-8 text without NUL", word)
		}
	}
	return ""
}
