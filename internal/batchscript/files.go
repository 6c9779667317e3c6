package batchscript

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// files are the options about files that travel with the job.
func files() []Option {
	return []Option{
		{
			Long: "stage-in", Value: "path[:name][,path]", Help: "files and directories below the working directory that go with the job to another site; patterns have *, ? and [...]; . is all of it; with a name: the path of anything, which gets that name there; may be repeated",
			set: addStageIn,
		},
		{
			Long: "stage-out", Value: "path[,path]", Help: "files and directories of the working directory that come back from another site; . is what the job has made or changed; may be repeated",
			set: addStageOut,
		},
		{
			Long: "stage-in-size", Value: "size[K|M|G|T|P]", Help: "size of the input data, used to estimate transfer time (nothing is transferred); MB unless a unit is given; 0 if the job needs only its script (default: that of --stage-in, or unknown)",
			set: setData(func(w *jobOptions) *int64 { return &w.spec.Data }),
		},
		{
			Long: "stage-out-size", Value: "size[K|M|G|T|P]", Help: "size of the output data, used to estimate transfer time (default: 0)",
			set: setData(func(w *jobOptions) *int64 { return &w.spec.DataOut }),
		},
	}
}

// stage has files of the working directory come back.
func (w *jobOptions) stage(files *protocol.Payload, script Script, r *report) {
	if len(w.stageOut) == 0 {
		return
	}
	out := make([]string, len(w.stageOut))
	for i, one := range w.stageOut {
		out[i] = filepath.Clean(one)
		if relative, err := filepath.Rel(files.WorkDir, out[i]); err == nil && filepath.IsAbs(out[i]) && filepath.IsLocal(relative) {
			out[i] = relative
		}
	}
	files.Staging = &protocol.Staging{Out: out}
	if err := files.Staging.Check(); err != nil {
		w.fault(r, script, "stage-out", "%s", err)
	}
}

// noData says whether the user has said what data the job needs besides its script.
func (w *jobOptions) noData() bool {
	if len(w.stageIn)+len(w.stageOut) > 0 {
		return true
	}
	_, said := w.spots["stage-in-size"]
	return said && !w.wrong("stage-in-size") && w.spec.Data == 0 && w.spec.DataOut == 0
}

// noReturn says whether the user has said what files go with the job, and not whether any come back.
func (w *jobOptions) noReturn() bool {
	_, said := w.spots["stage-out-size"]
	return len(w.stageIn) > 0 && len(w.stageOut) == 0 && !said
}

// addStageIn adds paths of files that go with the job to those said before.
func addStageIn(w *jobOptions, value string) error {
	return addPaths(&w.stageIn, value, func(one string) error {
		if from, name, renamed := strings.Cut(one, ":"); renamed && (from == "" || name == "" || strings.Contains(name, ":")) {
			return fmt.Errorf("%q is not PATH:NAME, the path of a file and its name in the working directory; names of files that travel have no colon", one)
		}
		return nil
	})
}

// addStageOut adds paths of files that come back to those said before.
func addStageOut(w *jobOptions, value string) error {
	return addPaths(&w.stageOut, value, func(one string) error {
		if strings.Contains(one, ":") {
			return fmt.Errorf("%q has a colon, and files that come back are not renamed: at its own site the job leaves them where it writes them", one)
		}
		return nil
	})
}

func addPaths(to *[]string, value string, check func(string) error) error {
	for one := range strings.SplitSeq(value, ",") {
		if one == "" {
			return errors.New("a path is empty; write for instance data,params.txt")
		}
		if err := protocol.CheckText(one); err != nil {
			return fmt.Errorf("%+.80q: %w", one, err)
		}
		if err := check(one); err != nil {
			return err
		}
		if !slices.Contains(*to, one) {
			*to = append(slices.Clip(*to), one)
		}
	}
	return nil
}
