package process

import "github.com/switchyard-hpc/switchyard/localsched/spool"

// For tests of what the package keeps to itself.
var (
	ParseStat = func(line string) error { _, err := parseStat(line); return err }
	ReadJob   = spool.ReadJob[jobRecord]
	ReadExit  = readExit
)
