package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
)

// Who has Slurm and configures no local scheduler is warned, and nobody else.
func TestUnusedSlurm(t *testing.T) {
	t.Parallel()
	slurms, links, empty := t.TempDir(), t.TempDir(), t.TempDir()
	program := filepath.Join(empty, "switchyard")
	testprogram.Write(t, program, "#!/bin/sh\n")
	for _, name := range []string{"sbatch", "sinfo"} {
		testprogram.Write(t, filepath.Join(slurms, name), "#!/bin/sh\n")
		if err := os.Symlink(program, filepath.Join(links, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		text, path, want string
	}{
		{"", empty + ":" + links + ":" + slurms, "Slurm's commands are in " + slurms + ", and [localsched] plugin is not set"},
		{"", empty + ":" + links, ""},
		{"[localsched]\nplugin = \"process\"\n", slurms, ""},
		{"[localsched]\nplugin = \"slurm\"\n", slurms, ""},
	} {
		file := filepath.Join(t.TempDir(), "site.toml")
		if err := os.WriteFile(file, []byte("[site]\nname = \"north\"\nnumber = 1\nkey = \"site.key\"\n"+c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := daemon.UnusedSlurm(cfg, c.path); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s with PATH %s: %q", c.text, c.path, got)
		}
	}
}
