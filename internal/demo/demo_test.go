package demo_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/demo"
)

// rules are those of a demonstration that is run as it is.
func rules() demo.Config { return demo.Config{Policy: "tc", Local: "easy"} }

// What suits a policy is chosen where nothing is asked for.
func TestNewChoosesRules(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]struct {
		initiation string
		jobs       int
	}{"tc": {"sender", 30}, "mcmf": {"cycle", 30}, "iss": {"cycle", 8}} {
		cfg := rules()
		cfg.Policy = policy
		if d, err := demo.New(cfg); err != nil || d.Initiation != want.initiation || d.Jobs != want.jobs {
			t.Errorf("%s: %+v, %v", policy, d, err)
		}
	}
}

func TestNewRefusesRulesThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*demo.Config){
		`--policy "tcc" is unknown; use `:               func(c *demo.Config) { c.Policy = "tcc" },
		`--initiation "never" is unknown; use `:         func(c *demo.Config) { c.Initiation = "never" },
		`--policy tc does not serve --initiation cycle`: func(c *demo.Config) { c.Initiation = "cycle" },
		`--localsched: `:                                func(c *demo.Config) { c.Local = "fifo" },
	} {
		cfg := rules()
		change(&cfg)
		if _, err := demo.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A folder of somebody else's is left as it is.
func TestRunLeavesADirectoryAlone(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	cfg := rules()
	cfg.Dir, cfg.Out = t.TempDir(), &out
	kept := filepath.Join(cfg.Dir, "mine")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := demo.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err = d.Run(t.Context()); !errors.Is(err, demo.ErrNotEmpty) || out.Len() > 0 {
		t.Errorf("%v\n%s", err, out.String())
	}
	if _, err = os.Stat(kept); err != nil {
		t.Error(err)
	}
}
