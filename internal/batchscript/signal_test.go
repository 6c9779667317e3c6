package batchscript_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestParseLimitSignal: the grammar is that of --signal in sbatch(1).
func TestParseLimitSignal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]protocol.LimitSignal{
		"USR1":           {Signal: 10, Before: protocol.Minute},
		"10":             {Signal: 10, Before: protocol.Minute},
		"sigterm@0":      {Signal: 15},
		"B:USR2@120":     {Signal: 12, Before: 2 * protocol.Minute, ScriptOnly: true},
		"r:HUP":          {Signal: 1, Before: protocol.Minute, OverlapReservation: true},
		"RB:34@65535":    {Signal: 34, Before: 65535 * protocol.Second, ScriptOnly: true, OverlapReservation: true},
		"":               {},
		"B:":             {},
		"BB:USR1":        {},
		"X:USR1":         {},
		"KILL":           {},
		"B:STOP@10":      {},
		"65":             {},
		"0":              {},
		"USR1@":          {},
		"USR1@65536":     {},
		"USR1@1m":        {},
		"USR1@-1":        {},
		"WINCH":          {},
		"USR1@10@10":     {},
		"B:USR1 @10":     {},
		"B:USR1@+10":     {},
		"SIGSIGUSR1@10":  {},
		"USR1@10:B:USR1": {},
	} {
		got, err := batchscript.ParseLimitSignal(text)
		if got != want || (err == nil) != (want != protocol.LimitSignal{}) {
			t.Errorf("%q is %+v, %v, want %+v", text, got, err, want)
		}
	}
}

// TestInputAndOpenMode: paths are completed as those of the output are, and the last mode counts.
func TestInputAndOpenMode(t *testing.T) {
	t.Parallel()
	job, _ := read(t, script("#SBATCH --input=data/%x.%j", "#SBATCH --open-mode=append", "#SBATCH -J mesh"))
	if p := job.Payload; p.Input != "/home/ada/data/mesh.%j" || !p.AppendOutput {
		t.Errorf("%+v", p)
	}
	job, _ = read(t, script("#SBATCH --input=/dev/null", "#SBATCH --open-mode=append", "#SBATCH --open-mode=t"))
	if p := job.Payload; p.Input != "" || p.AppendOutput {
		t.Errorf("%+v", p)
	}
}
