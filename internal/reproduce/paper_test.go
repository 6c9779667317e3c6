package reproduce_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

func TestCatalogueChooses(t *testing.T) {
	t.Parallel()
	c := reproduce.Catalogue[reproduce.Exhibit]{All: "x", Exhibits: []reproduce.Exhibit{
		{Name: "x-table1"}, {Name: "x-fig1", Also: []string{"x-fig2"}}, {Name: "x-table2"},
	}}
	for names, want := range map[string]string{
		"":                       "",
		"x-table2 x-table1":      "x-table2 x-table1",
		"x-fig2 x-table1 x-fig1": "x-fig1 x-table1",
		"x-table2 x":             "x-table1 x-fig1 x-table2",
	} {
		chosen, err := c.Chosen(strings.Fields(names))
		var got []string
		for _, e := range chosen {
			got = append(got, e.Name)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %v, %v, want %s", names, got, err, want)
		}
	}
	if got := c.Names(); !slices.Equal(got, []string{"x-table1", "x-fig1", "x-fig2", "x-table2", "x"}) {
		t.Errorf("names %v", got)
	}
	c.All = ""
	for _, unknown := range []string{"", "x", "x-fig3"} {
		if _, err := c.Chosen([]string{unknown}); err == nil || !strings.Contains(err.Error(), "; choose from x-table1, x-fig1") {
			t.Errorf("%q: %v", unknown, err)
		}
	}
}
