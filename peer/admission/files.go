package admission

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// filesReason says why the files of a job cannot go with it to another site, if it may go to one; empty: they can.
func (d *Desk) filesReason(one *protocol.Job) string {
	if one.Payload == nil || !one.Payload.Staging.ComesBack() && one.Payload.Staging.BytesOf() == 0 || !d.mayLeave(one) {
		return ""
	}
	const mega = 1_000_000
	files := one.Payload.Staging
	advice := fmt.Sprintf("keep the job at this site with --sites=%s", d.Site.Name)
	switch size := files.BytesOf(); {
	case d.MaxStaging == 0:
		return "no files travel with jobs of this site ([staging] max_bytes is 0); " + advice
	case size > d.MaxStaging:
		return fmt.Sprintf("the files of --stage-in have %d MB, and at most %d MB go with a job of this site ([staging] max_bytes)%s; %s, or name fewer",
			(size+mega-1)/mega, d.MaxStaging/mega, largest(files.Inputs), advice)
	}
	return ""
}

// mayLeave says whether another site may get a job with files that go there.
func (d *Desk) mayLeave(one *protocol.Job) bool {
	if d.Policy.LocalOnly() || readsFile(one) {
		return false
	}
	return slices.ContainsFunc(d.Partners, func(partner Partner) bool {
		return one.Spec.Allows(partner.Name) && !partner.Shares(one.Payload)
	})
}

// largest names the largest of the files, if they are known.
func largest(files []protocol.StagedFile) string {
	most := protocol.StagedFile{}
	for _, f := range files {
		if f.Size > most.Size {
			most = f
		}
	}
	if most.Size == 0 {
		return ""
	}
	return fmt.Sprintf(", the largest, %s, %d bytes", protocol.EscapeText(most.Name), most.Size)
}
