package slurm_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAssociationComesLast: of two options sbatch takes the later one, which is the job's where one is mapped for it,
// and else the configuration's.
func TestAssociationComesLast(t *testing.T) {
	t.Parallel()
	extra := []string{"--partition=x", "--account=grid", "--qos=grid"}
	for name, tt := range map[string]struct {
		of                      protocol.Association
		partition, account, qos string
	}{
		"nothing mapped":   {protocol.Association{}, "x", "grid", "grid"},
		"all mapped":       {protocol.Association{Account: "phys", Partition: "batch,long", QOS: "low"}, "batch", "phys", "low"},
		"only a partition": {protocol.Association{Partition: "batch"}, "batch", "grid", "grid"},
		"only an account":  {protocol.Association{Account: "phys"}, "x", "phys", "grid"},
	} {
		got := map[string]string{}
		for _, arg := range slurm.ShapeFor(extra, protocol.Request{CPUs: 1, WallTime: protocol.Hour}, "batch", tt.of) {
			option, value, _ := strings.Cut(arg, "=")
			got[option] = value
		}
		if got["--partition"] != tt.partition || got["--account"] != tt.account || got["--qos"] != tt.qos {
			t.Errorf("%s: %v", name, got)
		}
	}
}
