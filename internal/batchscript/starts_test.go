package batchscript_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
)

// Components of one script do not start together: what is wanted of such a start is refused
// where it is said, and what is wrong with it is told once.
func TestStartOptionsWithoutAGroup(t *testing.T) {
	t.Parallel()
	const nothing = "means nothing where no components start together; leave it out, or name those that do with together in an application's file"
	for name, c := range map[string]struct {
		lines    []string
		settings []batchscript.Setting
		want     string
	}{
		"a job":          {nil, []batchscript.Setting{said("start-tolerance", "10s")}, "command line: --start-tolerance: " + nothing},
		"a directive":    {[]string{"#SWITCHYARD --start-missed=fail"}, nil, "job.sh:2: --start-missed: " + nothing},
		"with a limit":   {[]string{"#SWITCHYARD --max-time=2h", "#SWITCHYARD --start-missed=retry"}, nil, "job.sh:3: --start-missed: " + nothing},
		"components":     {[]string{"#SWITCHYARD --start-tolerance=90s", "#SWITCHYARD component a", "#SWITCHYARD component b"}, nil, "job.sh:2: --start-tolerance: " + nothing},
		"an unknown one": {[]string{"#SWITCHYARD --start-missed=sulk"}, nil, `job.sh:2: --start-missed: invalid value "sulk"; use retry or fail`},
		"no time":        {[]string{"#SWITCHYARD --start-tolerance=soon"}, nil, `job.sh:2: --start-tolerance: "soon" is not a time; write min, min:s, h:min:s, d-h, d-h:min or d-h:min:s, or as 1h30m`},
	} {
		_, _, err := batchscript.Read(script(c.lines...), c.settings, origin())
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got\n%v\nwant\n%s", name, err, c.want)
		}
	}
}
