package handoff

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// OutputLimitReason says why the files of a job are not collected: its output may have at most a number of bytes
// together, and the archive of files that come back another; empty: they are.
func OutputLimitReason(files []protocol.File, most, mostFiles int64) string {
	total := int64(0)
	for _, file := range files {
		if file.Stream == protocol.StageOutArchive {
			if file.Size > mostFiles {
				return fmt.Sprintf("the files that come back have more than the %d bytes that [staging] max_bytes allows here", mostFiles)
			}
			continue
		}
		if file.Size > most-total {
			return fmt.Sprintf("it has more than the %d MiB that [results] max_output allows here", most>>20)
		}
		total += file.Size
	}
	return ""
}

// NotWritten says why the collected output of a job is not where its user wants it; empty: it is there.
func NotWritten(done event.CollectResult) string {
	switch {
	case done.Problem == "":
		return ""
	case done.Kept == "":
		return "output not written: " + done.Problem
	}
	return fmt.Sprintf("output not written: %s; it is kept in %s", done.Problem, done.Kept)
}

// OutputGone says why a job's site has its output no longer: a store of an earlier time asks again for what
// a lost life of it has taken.
func OutputGone(done event.CollectResult) string {
	why := "it has the output no longer; an earlier life of this site's store has taken it, or it is lost"
	if done.Kept != "" {
		why += "; what had come of it is kept in " + done.Kept
	}
	return why
}

// FilesMissing says why the files of a job do not come back that its user wants back; empty: they do.
func FilesMissing(spec *protocol.Spec, o *protocol.Outcome) string {
	has := slices.ContainsFunc(o.Files, func(f protocol.File) bool { return f.Stream == protocol.StageOutArchive })
	if !spec.StageOut || has || o.State != protocol.Completed {
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
