package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// upload are files of this machine that go to a directory of a site before jobs are submitted there over TCP.
type upload struct {
	dir   string // at the site
	files *staging.Sending
}

// findUploads finds the files of this machine that go with jobs to a site over TCP, below the current directory here, and reads them for
// their digests, once for jobs that name the same.
func (a *app) findUploads(ctx context.Context, batch batchscript.Batch) (uploads []upload, err error) {
	for i := range batch.Jobs {
		outputsAnywhere(batch.Jobs[i].Payload)
	}
	if !anyJob(batch, func(job *batchscript.Job) bool { return len(job.StageIn) > 0 }) {
		return nil, nil
	}
	from, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var failed error
	found := map[string]*staging.Sending{} // by the paths
	sent := map[string]bool{}              // by the directory and the paths
	for i := range batch.Jobs {
		job := &batch.Jobs[i]
		if len(job.StageIn) == 0 {
			continue
		}
		paths := strings.Join(job.StageIn, "\x00")
		files := found[paths]
		if files == nil {
			files, err = staging.FindToSend(ctx, from, job.StageIn, a.tooLargeToSend(ctx, job))
			if refused, ok := errors.AsType[*api.Error](err); ok {
				return nil, refused
			}
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			found[paths] = files
		}
		key := job.Payload.WorkDir + "\x00" + paths
		if !sent[key] {
			sent[key] = true
			uploads = append(uploads, upload{job.Payload.WorkDir, files})
		}
		if !a.stays(ctx, job) {
			take(job.Payload, files.Files)
		}
	}
	if failed != nil {
		return nil, usage("%w", failed)
	}
	return uploads, nil
}

// outputsAnywhere has a job from which files come back run in place nowhere: where links at the site lead is not seen from here, so what it
// writes may end up in any place.
func outputsAnywhere(payload *protocol.Payload) {
	if payload.Staging == nil || len(payload.Staging.Out) == 0 {
		return
	}
	files := *payload.Staging
	files.Places = []string{"/"}
	payload.Staging = &files
}

// tooLargeToSend says before files are read whether the site takes them over TCP, and whether it refuses a job with that many of them.
func (a *app) tooLargeToSend(ctx context.Context, job *batchscript.Job) staging.Limit {
	return func(bytes int64, files []protocol.StagedFile) error {
		info, err := a.client().Info(ctx)
		if err == nil {
			err = info.Takes(bytes)
		}
		if err != nil || a.stays(ctx, job) {
			return err
		}
		return a.tooLarge(ctx, job)(bytes, files)
	}
}

// sendFiles sends files to the directories of the jobs at the site.
func (a *app) sendFiles(ctx context.Context, uploads []upload) error {
	for _, one := range uploads {
		archive := api.Archive{Bytes: one.files.Files.Bytes, SHA256: one.files.Files.SHA256, Write: one.files.Write}
		err := a.client().Place(ctx, one.dir, archive)
		if changed, ok := errors.AsType[*staging.ChangedError](err); ok {
			return usage("--stage-in: %w; submit again", changed)
		}
		if err != nil {
			return fmt.Errorf("--stage-in: %w; nothing has been submitted", err)
		}
	}
	return nil
}
