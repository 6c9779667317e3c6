package papers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/papers"
)

// Every exhibit of both papers has a name that can be chosen, and no two have the same.
func TestNames(t *testing.T) {
	t.Parallel()
	names := papers.Names()
	for _, e := range papers.Exhibits() {
		if !slices.Contains(names, e.Name) {
			t.Errorf("%s cannot be chosen", e.Name)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) || !slices.Contains(names, "table5") || !slices.Contains(names, "bg-fig2") {
		t.Errorf("got %v", names)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	wrong := reproduce.Default()
	wrong.Seeds = 0
	for _, c := range []struct {
		options reproduce.Options
		names   []string
		want    string // of the error; empty: none
	}{
		{reproduce.Default(), []string{"table5", "bg-fig2"}, ""},
		{reproduce.Default(), nil, ""},
		{reproduce.Default(), []string{"fig99"}, `nothing is called "fig99"; choose from `},
		{wrong, []string{"bg-fig2"}, "seeds: 0 is not from 1 to "},
	} {
		_, err := papers.Choose(c.options, c.names)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.names, err, c.want)
		}
	}
}
