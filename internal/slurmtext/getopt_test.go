package slurmtext_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
)

func flags() []slurmtext.Flag {
	return []slurmtext.Flag{
		{Long: "format", Letter: 'o', Argument: slurmtext.WithValue},
		{Long: "Format", Letter: 'O', Argument: slurmtext.WithValue},
		{Long: "jobs", Letter: 'j', Argument: slurmtext.MaybeValue},
		{Long: "noheader", Letter: 'h'},
		{Long: "nodelist", Also: "node nodes", Letter: 'w', Argument: slurmtext.WithValue},
		{Long: "me"},
	}
}

// TestParse reads command lines as getopt_long of the C library does; what is rejected is rejected in its words.
func TestParse(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"-h -o x":            "noheader format=x",
		"-hox":               "noheader format=x",
		"a -h b":             "noheader | a b",
		"-h -- -o":           "noheader | -o",
		"-j -h":              "jobs= noheader",
		"-j7 7":              "jobs=7 | 7",
		"--jo=7":             "jobs=7",
		"--jobs 7":           "jobs= | 7",
		"--form x":           "format=x",
		"--nodes=a --me":     "nodelist=a me",
		"--nod=a":            "nodelist=a",
		"- -h":               "noheader | -",
		"-o":                 "option requires an argument -- 'o'",
		"--format":           "option '--format' requires an argument",
		"--zz":               "unrecognized option '--zz'",
		"-z":                 "invalid option -- 'z'",
		"--me=1":             "option '--me' doesn't allow an argument",
		"--no":               "option '--no' is ambiguous; possibilities: '--noheader' '--nodelist' '--node' '--nodes'",
		"--format= --Format": "option '--Format' requires an argument",
	} {
		given, rest, err := slurmtext.Parse(flags(), strings.Fields(line), false)
		if got := said(given, rest, err); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	given, rest, err := slurmtext.Parse(flags(), []string{"-h", "script", "-o", "x"}, true)
	if got := said(given, rest, err); got != "noheader | script -o x" {
		t.Errorf("in order: %s", got)
	}
}

func said(given []slurmtext.Given, rest []string, err error) string {
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, one := range given {
		word := one.Flag.Long
		if one.Flag.Argument != slurmtext.NoValue {
			word += "=" + one.Value
		}
		words = append(words, word)
	}
	if len(rest) > 0 {
		words = append(append(words, "|"), rest...)
	}
	return strings.Join(words, " ")
}

// FuzzParse: no command line is read in part. What is neither an option nor its value is left over.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"-h -o x", "--jo=7 a", "-- x", "--", "-", "-j", "--no", "-hhh"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Fields(line)
		before := slices.Clone(args)
		given, rest, err := slurmtext.Parse(flags(), args, false)
		if !slices.Equal(args, before) {
			t.Fatalf("the command line was changed: %q, %q", before, args)
		}
		if err == nil && len(given)+len(rest) == 0 && len(args) > 0 && !slices.Contains(args, "--") {
			t.Fatalf("%q was dropped", args)
		}
		for _, one := range given {
			if one.Flag == nil || one.Flag.Argument == slurmtext.NoValue && one.Value != "" {
				t.Fatalf("%q: %+v", args, one)
			}
		}
	})
}

// TestHosts expands and joins lists of host names as scontrol show hostnames and hostlist do.
func TestHosts(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"a[1-3,5],b02": "a1 a2 a3 a5 b02",
		"n[08-11]":     "n08 n09 n10 n11",
		"a[1-2]b[3-4]": "a1b3 a1b4 a2b3 a2b4",
		"x":            "x",
		"a,,b":         "a b",
	} {
		got, err := slurmtext.ExpandHosts(list)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v, want %s", list, got, err, want)
		}
	}
	for _, list := range []string{"a[1", "a]", "a[]", "a[2-1]", "a[x]", "a[1-]", "a[0-99999]", "a[1-300][1-300]"} {
		if got, err := slurmtext.ExpandHosts(list); err == nil {
			t.Errorf("%s: %d names", list, len(got))
		}
	}
	for names, want := range map[string]string{
		"a1 a2 a3 b5":     "a[1-3],b5",
		"a1 a3":           "a[1,3]",
		"n08 n09 n10":     "n[08-10]",
		"n9 n10":          "n[9-10]",
		"north south":     "north,south",
		"a1 b1 a2":        "a1,b1,a2",
		"a1":              "a1",
		"n1 n01":          "n1,n01",
		"x99999999999999": "x99999999999999",
	} {
		if got := slurmtext.JoinHosts(strings.Fields(names)); got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
	if got := slurmtext.SortHosts([]string{"a10", "b1", "a2", "a2"}); fmt.Sprint(got) != "[a2 a10 b1]" {
		t.Errorf("sorted: %v", got)
	}
}

// FuzzHosts: what is joined expands to the same names.
func FuzzHosts(f *testing.F) {
	for _, list := range []string{"a[1-3,5],b02", "n[08-11]", "a[1", "x,x,x1", "a[1-2]b[3-4]", "n[9-10],n[001-002]"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		names, err := slurmtext.ExpandHosts(list)
		if err != nil {
			return
		}
		joined := slurmtext.JoinHosts(names)
		again, err := slurmtext.ExpandHosts(joined)
		if err != nil || !slices.Equal(names, again) {
			t.Fatalf("%q is %q, joined %q, again %q, %v", list, names, joined, again, err)
		}
	})
}
