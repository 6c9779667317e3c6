package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/archtest"
)

// What the Makefile reads: a line for each call, of this module.
func TestWrite(t *testing.T) {
	t.Chdir("../../..")
	var out strings.Builder
	if err := write(t.Context(), &out, archtest.Switchyard()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "plain . ^$ ./") || !strings.HasPrefix(lines[1], "plain ^Test(Sim|") ||
		!strings.HasPrefix(lines[2], "race . ^Test(Sim|") || !strings.HasPrefix(lines[3], "race Workers|") {
		t.Errorf("got\n%s", out.String())
	}
	if !strings.Contains(lines[0]+" ", " ./peer ") || !strings.Contains(lines[2]+" ", " ./peer/bus ") {
		t.Error("the room peer is pure, and peer/bus is not")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteFails(t *testing.T) {
	t.Chdir("../../..")
	if err := write(t.Context(), full{}, archtest.Switchyard()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
	t.Chdir(t.TempDir())
	if err := write(t.Context(), &strings.Builder{}, archtest.Switchyard()); err == nil {
		t.Error("no error outside any module")
	}
}
