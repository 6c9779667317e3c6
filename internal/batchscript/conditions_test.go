package batchscript_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestConditions: when a job may start, from directives and the command line, by the clock of the user.
func TestConditions(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.FixedZone("CET", 3600))
	from := batchscript.Origin{User: "ada", Host: "h", Dir: "/w", Now: noon}
	at := func(h int) protocol.Instant {
		return protocol.InstantOf(noon).Add(protocol.Duration(h) * protocol.Hour)
	}
	for name, tt := range map[string]struct {
		lines    []string
		settings []batchscript.Setting
		want     protocol.Conditions
		wrong    string
	}{
		"none":      {want: protocol.Conditions{}},
		"directive": {lines: []string{"#SBATCH --hold -b 16:00 --deadline=2026-11-29"}, want: protocol.Conditions{Hold: protocol.HeldByUser, Begin: at(4), Deadline: at(12)}},
		"overrides": {
			lines: []string{"#SBATCH --begin=now+1hour"}, settings: []batchscript.Setting{{Long: "begin", Value: "tomorrow"}, {Long: "hold"}},
			want: protocol.Conditions{Hold: protocol.HeldByUser, Begin: at(12)},
		},
		"dependency": {
			lines: []string{"#SBATCH -d afterok:1000000000001 --kill-on-invalid-dep=yes"},
			want: protocol.Conditions{Dependency: &protocol.Dependency{
				Terms: []protocol.DependencyTerm{{Kind: protocol.AfterOK, Job: 1_000_000_000_001}}, KillInvalid: true,
			}},
		},
		"no dependency": {
			lines: []string{"#SBATCH -d afterok:1000000000001 --kill-on-invalid-dep=no"}, settings: []batchscript.Setting{{Long: "dependency"}},
			want: protocol.Conditions{},
		},
		"no job":  {lines: []string{"#SBATCH -d afterok"}, wrong: `job.sh:2: --dependency: "afterok" names no job`},
		"no time": {lines: []string{"#SBATCH --begin=soon"}, wrong: `job.sh:2: --begin: "soon" is not an instant`},
		"no date": {lines: []string{"#SBATCH --deadline=2026-02-30"}, wrong: `job.sh:2: --deadline: "2026-02-30" is not a date`},
	} {
		batch, _, err := batchscript.Read(script(tt.lines...), tt.settings, from)
		switch {
		case tt.wrong != "":
			if err == nil || !strings.HasPrefix(err.Error(), tt.wrong) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || !reflect.DeepEqual(batch.Jobs[0].Conditions, tt.want):
			t.Errorf("%s: %+v, %v", name, batch, err)
		}
	}
	from.Now = time.Time{}
	if _, _, err := batchscript.Read(script("#SBATCH --begin=16:00"), nil, from); err == nil || !strings.Contains(err.Error(), "simulations") {
		t.Errorf("%v", err)
	}
}
