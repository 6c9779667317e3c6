package slurm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// shellLimits are commands of a shell that give the job soft limits of the shell that has submitted it. One above the
// hard limit is that limit. The shells that may be /bin/sh agree on these letters of ulimit, but for the number
// of processes, which is -u or -p.
func shellLimits(limits []protocol.ResourceLimit) string {
	letters := map[string]string{
		"AS": "v", "CORE": "c", "CPU": "t", "DATA": "d", "FSIZE": "f", "MEMLOCK": "l", "NOFILE": "n", "NPROC": "u", "RSS": "m", "STACK": "s",
	}
	units := map[string]uint64{ // in which ulimit counts, where these are not single ones
		"AS": 1 << 10, "CORE": 512, "DATA": 1 << 10, "FSIZE": 512, "MEMLOCK": 1 << 10, "RSS": 1 << 10, "STACK": 1 << 10,
	}
	var all []string
	for _, one := range limits {
		soft := "unlimited"
		if one.Soft != protocol.NoSoftLimit {
			soft = strconv.FormatUint(one.Soft/max(1, units[one.Name]), 10)
		}
		letter := letters[one.Name]
		set := fmt.Sprintf("ulimit -S -%s %s", letter, soft)
		if one.Name == "NPROC" {
			set += " || ulimit -S -p " + soft
		}
		all = append(all, fmt.Sprintf(`{ %s || ulimit -S -%s "$(ulimit -H -%s)"; } 2>/dev/null`, set, letter, letter))
	}
	if len(all) == 0 {
		return ":"
	}
	return strings.Join(all, "\n\t")
}
