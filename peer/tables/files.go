package tables

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Files is how many bytes of the files of jobs lie at this site or are under way to it, as archives: inputs and results of
// guests until their origins have the results, and results that come back. The zero Files has none.
type Files struct {
	of    map[protocol.JobID]files
	bytes map[Owner]int64
}

// Owner is whose files they are.
type Owner struct {
	Origin protocol.SiteName
	User   string
}

type files struct {
	owner Owner
	bytes int64
}

// Note has the files of a job count with this size from now on; 0: no more.
func (f *Files) Note(job protocol.JobID, owner Owner, bytes int64) {
	was, known := f.of[job]
	if !known && bytes == 0 {
		return
	}
	if f.of == nil {
		f.of, f.bytes = map[protocol.JobID]files{}, map[Owner]int64{}
	}
	f.add(was.owner, -was.bytes)
	f.add(owner, bytes)
	if f.of[job] = (files{owner, bytes}); bytes == 0 {
		delete(f.of, job)
	}
}

func (f *Files) add(owner Owner, bytes int64) {
	if f.bytes[owner] += bytes; f.bytes[owner] == 0 {
		delete(f.bytes, owner)
	}
}

// Beside is how many bytes an owner's files have, but for those of a job.
func (f *Files) Beside(job protocol.JobID, owner Owner) int64 {
	all := f.bytes[owner]
	if one := f.of[job]; one.owner == owner {
		all -= one.bytes
	}
	return all
}

// countGuestFiles has the files of a guest count as its rows say.
func (t *Tables) countGuestFiles(id protocol.JobID) {
	g := t.Guests[id]
	if g == nil {
		if t.Jobs[id] == nil {
			t.Files.Note(id, Owner{}, 0)
		}
		return
	}
	var bytes int64
	if g.Phase.Open() && !g.Spec.InPlace {
		bytes = g.Spec.StageIn
		if r := t.Runs[g.Tag()]; r != nil && r.Phase == row.RunEnded {
			bytes += protocol.StageOutBytes(r.Outcome.Files)
		}
	}
	t.Files.Note(id, Owner{g.Origin, g.Spec.User}, bytes)
}
