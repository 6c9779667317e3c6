package slurm

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The names in a job's folder beside those of every spool.
const (
	launchFile  = "launch"
	nativeFile  = "native.json"
	endFile     = "end.json"
	logFile     = "slurm.log"
	claimDir    = "claim"
	startedFile = "started"
	exitFile    = "exit"
	troubleFile = "trouble"
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
	Place place `json:"place"`
}

// readEnd reads how a job ended.
func readEnd(dir string) (endRecord, error) { return spool.ReadEnd[endRecord](dir, endFile) }

// nameOf is a job's name in Slurm: without blanks, commas and whatever else would
// mean something in one of its lists.
func nameOf(site protocol.SiteName, tag protocol.Tag) string {
	return "sy." + string(site) + "." + spool.FolderOf(tag)
}

// parseName reads what nameOf prints for this site, and nothing else.
func parseName(site protocol.SiteName, name string) (tag protocol.Tag, ok bool) {
	folder, ours := strings.CutPrefix(name, "sy."+string(site)+".")
	if !ours {
		return protocol.Tag{}, false
	}
	return spool.ParseFolder(folder)
}
