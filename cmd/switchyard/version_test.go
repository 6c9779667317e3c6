package main

import (
	"strings"
	"testing"
)

func TestVersionAsAnOption(t *testing.T) {
	t.Parallel()
	want := command(t, "", "", "version")
	if got := command(t, "", "", "--version"); got != want || !strings.HasPrefix(got.stdout, "switchyard ") {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
