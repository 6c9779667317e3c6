package usage

import "github.com/switchyard-hpc/switchyard/protocol"

// For tests of what the package keeps to itself.
var ParseTimes = func(line string) (protocol.Duration, error) {
	p, err := parseStat(line)
	return p.cpu, err
}
