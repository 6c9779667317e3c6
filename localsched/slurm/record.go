package slurm

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The names in a job's directory beside those of every spool.
const (
	launchFile  = "launch"
	nativeFile  = "native.json"
	endFile     = "end.json"
	logFile     = "slurm.log"
	claimDir    = "claim"
	startedFile = "started"
	exitFile    = "exit"
	troubleFile = "trouble"
	fullFile    = "full" // there was no room for the file exit
	lateFile    = "late" // it was claimed, and the script never began, as it was too late for that
	withdrawnBy = "withdrawn"
	closedBy    = "closed"
)

// nativeRecord is native.json: which job of Slurm's it is. It is there once Slurm
// has acknowledged one.
type nativeRecord struct {
	native
	Tries     int       `json:"tries"`               // submissions so far
	Past      []native  `json:"past,omitempty"`      // earlier ones that ended without a start
	Estimates estimates `json:"estimates,omitempty"` // of the wait, when it was submitted
}

// endRecord is end.json: how the job ended, and which change said so.
type endRecord struct {
	spool.End
	Place changefeed.Place `json:"place"`
}

// readEnd reads how a job ended.
func readEnd(dir string) (endRecord, error) { return spool.ReadEnd[endRecord](dir, endFile) }

// nameOf is how a job is known here, and the end of its name in Slurm: without blanks, commas and
// whatever else would mean something in one of its lists.
func nameOf(site protocol.SiteName, tag protocol.Tag) string {
	return "sy." + string(site) + "." + spool.DirName(tag)
}

// jobName is a job's name in Slurm: what its user calls it, as far as a name can be, and how it is
// known here. squeue shows the beginning.
func jobName(called, name string) string {
	if called = words(called, 64); called == "" {
		return name
	}
	return called + "." + name
}

// commentOf returns the comment of a job in Slurm: the user's comment first, then the origin.
func commentOf(record spool.Job, name string) string {
	sub := record.Submission
	text := fmt.Sprintf("Switchyard job %v (%s) of %s from site %s, here %s",
		sub.Tag.Job, words(sub.Spec.Name, 64), words(sub.Spec.User, 64), sub.Origin, name)
	if sub.Spec.Comment != "" {
		return protocol.EscapeText(sub.Spec.Comment) + "; " + text
	}
	return text
}

// words is a text as it can stand in a line of any of Slurm's lists and logs, cut to the given number of bytes.
func words(text string, most int) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._+-", r):
			return r
		}
		return '_'
	}, text)
	return clean[:min(len(clean), most)]
}

// tagName is how a job of a peer's is known here by its name in Slurm; of other jobs, and of those
// of an earlier version, that name itself.
func tagName(name string) string {
	const parts = 4 // sy, site, job, epoch
	f := strings.Split(name, ".")
	if len(f) <= parts {
		return name
	}
	last := f[len(f)-parts:]
	if _, ok := spool.ParseDirName(last[2] + "." + last[3]); !ok || last[0] != "sy" {
		return name
	}
	return strings.Join(last, ".")
}

// parseName reads what nameOf prints for this site, and nothing else.
func parseName(site protocol.SiteName, name string) (tag protocol.Tag, ok bool) {
	dir, ours := strings.CutPrefix(name, "sy."+string(site)+".")
	if !ours {
		return protocol.Tag{}, false
	}
	return spool.ParseDirName(dir)
}
