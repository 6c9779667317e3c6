package batchscript_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestNiceAndPriority: what a script and its options make of a job's place in queues.
func TestNiceAndPriority(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		nice     int64
		priority int64
		hold     protocol.Hold
		wrong    string
	}{
		"--nice":                {nice: 100},
		"--nice=-7":             {nice: -7},
		"--nice=5 --nice=9":     {nice: 9},
		"--nice=2147483646":     {wrong: "job.sh:2: --nice: \"2147483646\" is not a whole number from -2147483645 to 2147483645"},
		"--nice=1.5":            {wrong: `job.sh:2: --nice: "1.5" is not a whole number`},
		"--priority=7":          {priority: 7},
		"--priority=top":        {priority: protocol.MaxPriority},
		"--priority=0":          {hold: protocol.HeldByUser},
		"--priority=4294967294": {wrong: `job.sh:2: --priority: "4294967294" is not a whole number from 0 to 4294967293, or TOP`},
		"--priority=-1":         {wrong: `job.sh:2: --priority: "-1" is not`},
	} {
		batch, notices, err := batchscript.Read(script("#SBATCH "+line), nil, batchscript.Origin{User: "ada", Host: "h", Dir: "/w"})
		switch {
		case want.wrong != "":
			if err == nil || !strings.HasPrefix(err.Error(), want.wrong) {
				t.Errorf("%s: %v", line, err)
			}
		case err != nil || len(notices) > 0:
			t.Errorf("%s: %v, %q", line, err, notices)
		default:
			if job := batch.Jobs[0]; job.Spec.Nice != want.nice || job.Conditions.Priority != want.priority || job.Conditions.Hold != want.hold {
				t.Errorf("%s: nice %d, %+v", line, job.Spec.Nice, job.Conditions)
			}
		}
	}
}

// TestReadChange: options of update have the values that submit would take, and an empty one takes back what can be.
func TestReadChange(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{ // settings, and what is to be changed, or "wrong: " and why it is not
		"time=1:30:00":                    "time limit 1:30:00",
		"time=4h,2h":                      "wrong: --time: several time limits",
		"time=":                           "wrong: --time: ",
		"time-min=10 job-name=sum":        "name sum, least time limit 0:10:00",
		"comment=":                        "comment none",
		"job-name=":                       "wrong: --job-name: the job's name is empty",
		"sites=a,b":                       "sites a, b",
		"sites=":                          "any site",
		"nice=":                           "nice 100",
		"nice=5":                          "nice 5",
		"priority=-1":                     "the priority that is worked out",
		"priority=TOP":                    "priority 4294967293",
		"priority=0":                      "wrong: --priority: a job with the priority 0 is held; use switchyard hold",
		"begin=now+1hour deadline=":       "begin 2026-11-28 13:00:00Z, no deadline",
		"dependency=":                     "dependency none",
		"dependency=singleton":            "dependency singleton(unfulfilled)",
		"dependency=afterok":              `wrong: --dependency: "afterok" names no job`,
		"account=chem partition= qos=low": "account chem, partition none, QOS low",
		"throttle=0":                      "throttle 0",
		"throttle=x nice=y":               "wrong: --throttle: \"x\" is not a whole number from 0 on\n--nice: \"y\" is not a whole number",
		"cpus=4":                          "wrong: --cpus: it cannot be changed",
	} {
		var settings []batchscript.Setting
		for one := range strings.FieldsSeq(text) {
			long, value, _ := strings.Cut(one, "=")
			settings = append(settings, batchscript.Setting{Long: long, Value: value})
		}
		change, err := batchscript.ReadChange(settings, noon)
		got := change.String()
		if err != nil {
			got = "wrong: " + err.Error()
		}
		if got != want && (err == nil || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestChangeable: each option that update has is one that submit has, with a help, but for the throttle of arrays.
func TestChangeable(t *testing.T) {
	t.Parallel()
	for _, option := range batchscript.Changeable() {
		if option.Help == "" || option.Value == "" {
			t.Errorf("--%s has the help %q and the value %q", option.Long, option.Help, option.Value)
		}
	}
}
