package handoff

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Collectable are those of a job's files that are collected: its output may have at most a number of bytes together,
// and the archive of files that come back another. Of the others it says why they are not; empty: all are.
func Collectable(files []protocol.File, most, mostFiles int64) (wanted []protocol.File, why string) {
	var reasons []string
	total := int64(0)
	for _, file := range files {
		switch {
		case file.Stream == protocol.StageOutArchive && file.Size > mostFiles:
			reasons = append(reasons, fmt.Sprintf("the archive of the files that come back has %d bytes, more than the %d that [staging] max_bytes allows here", file.Size, mostFiles))
			continue
		case file.Stream == protocol.StageOutArchive:
		case total > most || file.Size > most-total:
			total = math.MaxInt64
		default:
			total += file.Size
		}
		wanted = append(wanted, file)
	}
	if total > most {
		reasons = append(reasons, fmt.Sprintf("it has more than the %d MiB that [results] max_output allows here", most>>20))
		wanted = slices.DeleteFunc(wanted, func(f protocol.File) bool { return f.Stream != protocol.StageOutArchive })
	}
	return wanted, strings.Join(reasons, "; ")
}

// NotWritten says why the collected output of a job is not where its user wants it; empty: it is there.
func NotWritten(done event.CollectResult) string {
	switch {
	case done.Problem == "":
		return ""
	case done.Kept() == "":
		return "output not written: " + done.Problem
	}
	return fmt.Sprintf("output not written: %s; it is kept in %s", done.Problem, done.Kept())
}

// OutputGone says why a job's site has its output no longer: a store of an earlier time asks again for what
// a lost life of it has taken.
func OutputGone(done event.CollectResult) string {
	why := "it has the output no longer; an earlier life of this site's store has taken it, or it is lost"
	if kept := done.Kept(); kept != "" {
		why += "; what had come of it is kept in " + kept
	}
	return why
}

// Undelivered are the files of a job that are not where its user wants them: those that are left of the ones that were
// brought, and all that were not. With stageOut the user wants files back, which are missing without an archive of them.
func Undelivered(o *protocol.Outcome, stageOut bool, brought []protocol.File, left []view.Undelivered) (all []view.Undelivered) {
	is := func(stream protocol.Stream) func(view.Undelivered) bool {
		return func(u view.Undelivered) bool { return u.File == stream.String() }
	}
	for _, file := range o.Files {
		at := slices.IndexFunc(left, is(file.Stream))
		switch {
		case at >= 0:
			all = append(all, left[at])
		case !slices.ContainsFunc(brought, func(b protocol.File) bool { return b.Stream == file.Stream }):
			all = append(all, view.Undelivered{File: file.Stream.String()})
		}
	}
	if stageOut && !HasFiles(o.Files) && o.State == protocol.Completed {
		all = append(all, view.Undelivered{File: protocol.StageOutArchive.String()})
	}
	return all
}

// HasFiles says whether the archive of files that come back is among a job's files.
func HasFiles(files []protocol.File) bool {
	return slices.ContainsFunc(files, func(f protocol.File) bool { return f.Stream == protocol.StageOutArchive })
}

// FilesMissing says why the files of a job do not come back that its user wants back; empty: they do.
func FilesMissing(spec *protocol.Spec, o *protocol.Outcome) string {
	if !spec.StageOut || HasFiles(o.Files) || o.State != protocol.Completed {
		return ""
	}
	return "its site has sent none of the files that were to come back"
}

// WithoutFiles is the outcome of a job whose files have not come back: it has not completed for who waits for
// them.
func WithoutFiles(o *protocol.Outcome) *protocol.Outcome {
	if o.State != protocol.Completed {
		return o
	}
	with := *o
	with.State = protocol.Failed
	with.Reason = view.Clip(with.Reason + "; the script itself ended with exit code 0")
	return &with
}

// WithOutput is the outcome of a job with what is to be said of its output; empty: nothing.
func WithOutput(o *protocol.Outcome, output string) *protocol.Outcome {
	if output == "" {
		return o
	}
	with := *o
	if o.Reason != "" {
		output = o.Reason + "; " + output
	}
	with.Reason = view.Clip(output)
	return &with
}
