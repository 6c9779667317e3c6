package application_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/application"
	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	group = "[[component]]\nname = \"a\"\nscript = \"a.sh\"\ntogether = \"x\"\n" +
		"[[component]]\nname = \"b\"\nscript = \"b.sh\"\ntogether = \"x\"\n"
	apart = "[[component]]\nname = \"a\"\nscript = \"a.sh\"\n[[component]]\nname = \"b\"\nscript = \"b.sh\"\n"
)

func TestStartOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		table     string
		settings  []batchscript.Setting
		tolerance protocol.Duration
		missed    string
	}{
		"none":         {"", nil, 0, ""},
		"seconds":      {"start_tolerance = \"90s\"\n", nil, 90 * protocol.Second, ""},
		"units":        {"start_tolerance = \"1h30m\"\n", nil, 90 * protocol.Minute, ""},
		"minutes":      {"start_tolerance = 5\n", nil, 5 * protocol.Minute, ""},
		"clock":        {"start_tolerance = \"0:45\"\n", nil, 45 * protocol.Second, ""},
		"retry":        {"start_missed = \"retry\"\n", nil, 0, protocol.RetryMissed},
		"fail":         {"start_missed = \"fail\"\nstart_tolerance = \"10s\"\n", nil, 10 * protocol.Second, protocol.FailMissed},
		"command line": {"start_missed = \"fail\"\n", []batchscript.Setting{{Long: "start-missed", Value: "retry"}, {Long: "start-tolerance", Value: "2m"}}, 2 * protocol.Minute, protocol.RetryMissed},
	} {
		a := read(t, source("[application]\n"+c.table+group), c.settings...).Application
		if a.StartTolerance != c.tolerance || a.StartMissed != c.missed {
			t.Errorf("%s: got %v and %q", name, a.StartTolerance, a.StartMissed)
		}
	}
}

func TestWrongStartOptions(t *testing.T) {
	t.Parallel()
	const nothing = "means nothing where no components start together; leave it out, or name those that do with together in an application's file"
	for name, c := range map[string]struct{ text, want string }{
		"no group":        {"[application]\nstart_tolerance = \"10s\"\nstart_missed = \"fail\"\n" + apart, "runs/app.toml:2: application.start_tolerance: " + nothing + "\nruns/app.toml:3: application.start_missed: " + nothing},
		"a component":     {"[application]\n" + apart + "start_tolerance = \"10s\"\n", "runs/app.toml:8: component[b].start_tolerance: unknown key; it belongs to [application]"},
		"alone in it":     {"[application]\nstart_missed = \"fail\"\n" + apart + "together = \"x\"\n", `runs/app.toml:9: component[b].together: no other component starts together with "x"; name it in another component, or leave it out`},
		"an unknown word": {"[application]\nstart_missed = \"sulk\"\n" + group, `runs/app.toml:2: application.start_missed: invalid value "sulk"; use retry or fail`},
		"a number":        {"[application]\nstart_missed = 3\n" + group, `runs/app.toml:2: application.start_missed: invalid value "3"; use retry or fail`},
		"no time":         {"[application]\nstart_tolerance = \"soon\"\n" + group, `runs/app.toml:2: application.start_tolerance: "soon" is not a time; write min,`},
		"a wrong unit":    {"[application]\nstart_tolerance = \"10y\"\n" + group, `runs/app.toml:2: application.start_tolerance: "10y" is not a time; write min,`},
		"nothing":         {"[application]\nstart_tolerance = \"0s\"\n" + group, `runs/app.toml:2: application.start_tolerance: "0s" is no time at all; give more than 0`},
		"below nothing":   {"[application]\nstart_tolerance = \"-5s\"\n" + group, `runs/app.toml:2: application.start_tolerance: "-5s" is not a time; write min,`},
		"a truth":         {"[application]\nstart_tolerance = true\n" + group, "runs/app.toml:2: application.start_tolerance: is true or false; write a text or a number"},
	} {
		_, _, err := application.Read(source(c.text), nil, origin())
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Count(err.Error(), "\n") != strings.Count(c.want, "\n") {
			t.Errorf("%s: got\n%v\nwant\n%s", name, err, c.want)
		}
	}
	_, _, err := application.Read(source("[application]\n"+apart), []batchscript.Setting{{Long: "start-missed", Value: "fail"}}, origin())
	if want := "command line: --start-missed: " + nothing; err == nil || err.Error() != want {
		t.Errorf("command line: got %v, want %s", err, want)
	}
}
