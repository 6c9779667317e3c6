package main

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

// TestElementsInLists: commas within the brackets of an array's elements separate no jobs.
func TestElementsInLists(t *testing.T) {
	t.Parallel()
	const id, other = "1000000000042", "1000000000007"
	for _, args := range [][]string{
		{"-j", id + "_[1-5,9]," + other + "," + id + "_[2,4-6]"},
		{"--jobs=" + id + "_[1-5,9]", "-j", other, "-j", id + "_[2,4-6]"},
	} {
		var o jobConditions
		flags := pflag.NewFlagSet("queue", pflag.ContinueOnError)
		o.addTo(flags, conditionTexts{nameLetter: "n", statesLetter: "t"})
		err := flags.Parse(args)
		if err == nil {
			err = o.read(t.Context(), newApp())
		}
		var got []string
		for _, name := range o.jobs {
			got = append(got, name.String())
		}
		if want := []string{id + "_[1-5,9]", other, id + "_[2,4-6]"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", args, got, err)
		}
	}
}
