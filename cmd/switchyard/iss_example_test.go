package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// The example of two sites that weigh costs can be prepared, its configurations are right
// and its applications are read.
func TestBrokerExample(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "example")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "iss", "live"))); err != nil {
		t.Fatal(err)
	}
	prepare := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "prepare.sh"))
	prepare.Env = append(os.Environ(), "PATH="+pathWithSwitchyard(t))
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("prepare.sh: %v\n%s", err, out)
	}
	for site, currency := range map[string]string{"alp": "CHF", "lowland": "EUR"} {
		cfg, err := config.Load(filepath.Join(dir, site+".toml"), filepath.Join(dir, "exchange.toml"))
		if err != nil {
			t.Fatal(err)
		}
		reported := cfg.Peer(config.Parts{})
		if reported.Costs == nil || reported.Currency != currency || reported.Exchange["EUR"] == 0 || cfg.Policy.Name != "iss" || !reported.Capacity.Machine.Stated() {
			t.Errorf("%s: %+v", site, reported)
		}
	}
	from := batchscript.Origin{User: "ada", Host: "alp", Dir: dir}
	for file, components := range map[string]int{"app.toml": 3, "together.toml": 2} {
		batch, notices, err := readApplication(filepath.Join(dir, file), nil, from)
		if err != nil || len(batch.Jobs) != components || len(notices) > 0 {
			t.Errorf("%s: %d components, %q, %v", file, len(batch.Jobs), notices, err)
		}
	}
}

// pathWithSwitchyard is a PATH on which this binary is switchyard.
func pathWithSwitchyard(t *testing.T) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=%s exec %q \"$@\"\n", asBinary, testCommit, binary)
	testprogram.Write(t, filepath.Join(dir, "switchyard"), script)
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}
