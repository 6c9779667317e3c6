package oldnames_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/oldnames"
)

func TestFlag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, name, want string }{
		{"switchyard queue", "finished", "recent"},
		{"switchyard plugin check", "plain", "no-tls"},
		{"switchyard sim tune", "buy", "rank-candidates"},
		{"switchyard submit", "alpha", "compute-weight"},
		{"switchyard quote", "data-out", "stage-out-size"},
		{"switchyard queue", "plain", ""},
		{"switchyard queues", "finished", ""},
		{"switchyard sim", "buy", ""},
		{"switchyard", "finished", ""},
		{"switchyard queue", "recent", ""},
	} {
		if got := oldnames.Flag(c.command, c.name); got != c.want {
			t.Errorf("%s --%s was renamed to %q, want %q", c.command, c.name, got, c.want)
		}
	}
}

func TestDirective(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"waiting": "waiting-cost", "finished": "", "ntasks": ""} {
		if got := oldnames.Directive(name); got != want {
			t.Errorf("--%s was renamed to %q, want %q", name, got, want)
		}
	}
}
