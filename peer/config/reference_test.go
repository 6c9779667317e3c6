package config

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// keysOf lists the dotted keys of a struct by its tags.
func keysOf(table reflect.Type, name string) (keys []string) {
	for field := range table.Fields() {
		tag := field.Tag.Get("toml")
		if tag == "" {
			continue
		}
		inner := field.Type
		if inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			keys = append(keys, keysOf(inner, settings.Join(name, tag))...)
			continue
		}
		keys = append(keys, settings.Join(name, tag))
	}
	return keys
}

// uncommented is the sample with every key set, but for the given ones, and for those that
// exclude others: "key" in any table, or "table.key".
func uncommented(without ...string) string {
	without = append(without, "tariff.cpu_hour", "tariff.currency", "waiting_cost.steps", "waiting_cost.parts", "association.ignore", "association.refuse",
		"roster.file", "roster.public_keys", "roster.accept", "roster.max_jobs", "roster.users") // its file is another one
	return every(without...)
}

func every(without ...string) string {
	var b strings.Builder
	table := ""
	for line := range strings.Lines(Sample()) {
		key, _, _ := strings.Cut(strings.TrimPrefix(line, "# "), " = ")
		if strings.HasPrefix(key, "[") {
			table = strings.Trim(key, "[]\n")
		}
		if !slices.Contains(without, key) && !slices.Contains(without, settings.Join(table, key)) {
			b.WriteString(strings.TrimPrefix(line, "# "))
		}
	}
	return b.String()
}

func TestSampleHasEveryKeyAndNoOther(t *testing.T) {
	t.Parallel()
	want := keysOf(reflect.TypeFor[Config](), "")
	var got []string
	table, rows := "", false
	for line := range strings.Lines(every()) {
		if header, ok := strings.CutPrefix(line, "["); ok {
			table = strings.Trim(header, "[]\n")
			rows = slices.ContainsFunc(reference(), func(s section) bool { return s.name == table && s.rows })
			if rows {
				got = append(got, table)
			}
		} else if rows {
			continue
		} else if key, _, ok := strings.Cut(line, " = "); ok && key[0] != '#' {
			got = append(got, settings.Join(table, key))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the sample has\n%v\nand the structs have\n%v", got, want)
	}
}

func TestEveryKeyIsExplained(t *testing.T) {
	t.Parallel()
	for _, s := range reference() {
		if s.about == "" {
			t.Errorf("[%s] is not explained", s.name)
		}
		for _, e := range s.keys {
			if !strings.ContainsAny(e.about, ".:") {
				t.Errorf("%s.%s has no sentence", s.name, e.name)
			}
			value, ok := settings.Field(defaultsOf(s), e.name)
			if ok == s.rows || ok && value.IsZero() == (e.example == "") {
				t.Errorf("%s.%s needs either a default or an example", s.name, e.name)
			}
		}
	}
}

func loadText(t *testing.T, text string) (*Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "site.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(file)
}

func TestSampleLoadsAndHasTheDefaults(t *testing.T) {
	t.Parallel()
	got, err := loadText(t, Sample())
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Site.Name, want.Site.Number = "north", 1
	want.places, want.Warnings = got.places, got.Warnings
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Packages install it: nothing else is worth a warning.
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "no [[partner]]") {
		t.Errorf("the sample has the warnings %q", got.Warnings)
	}
	for _, without := range [][]string{
		{"url", "creds", "nkey", "token", "ca", "public_key_file", "hosts", "endpoint", "headers"},
		{"creds", "nkey", "public_key_file", "cert_file", "key_file", "file"}, // with url, a listen that is the default must go too
	} {
		text := uncommented(without...)
		if slices.Contains(without, "cert_file") {
			text = strings.Replace(text, `listen = "0.0.0.0:7501"`, "", 1)
		}
		if _, err := loadText(t, text); err != nil {
			t.Errorf("without %v: %v", without, err)
		}
	}
}

func TestShownConfigurationIsTheSame(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"least": Sample(),
		"full":  uncommented("url", "creds", "nkey", "token", "ca", "public_key_file", "hosts", "endpoint", "headers"),
		"odd": `[site]
name = "north"
number = 9000
socket = "s \"q\".sock"
[nats]
listen = ""
[metrics]
listen = ""
[rounds]
local_wait_threshold = "90061001ms"
[localsched]
memory = 1025
max_wall_time = "1d12h"
[accounts]
local = { "a b" = "x", cd = "y" }
`,
		"slurm":    "[site]\nname = \"north\"\nnumber = 1\n[localsched]\nplugin = \"slurm\"\n",
		"external": "[site]\nname = \"north\"\nnumber = 1\n[nats]\nurl = \"nats://h:1\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := loadText(t, text)
			if err != nil {
				t.Fatal(err)
			}
			for _, effective := range []bool{true, false} {
				var shown strings.Builder
				if err = want.Show(&shown, effective); err != nil {
					t.Fatal(err)
				}
				got, err := loadText(t, shown.String())
				if err != nil {
					t.Fatalf("%v\n%s", err, shown.String())
				}
				got.places, got.Warnings = want.places, want.Warnings
				if !reflect.DeepEqual(got, want) {
					t.Errorf("effective %v: got %+v, want %+v of\n%s", effective, got, want, shown.String())
				}
			}
		})
	}
}

func TestShowTellsWhereValuesComeFrom(t *testing.T) {
	t.Parallel()
	c, err := loadText(t, "[site]\nname = \"north\"\nnumber = 7\n")
	if err != nil {
		t.Fatal(err)
	}
	var set, all strings.Builder
	if err := c.Show(&set, false); err != nil {
		t.Fatal(err)
	}
	if err := c.Show(&all, true); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(set.String(), "default") || !strings.Contains(set.String(), "site.toml:3\n") {
		t.Errorf("what is set:\n%s", set.String())
	}
	if !strings.Contains(all.String(), "check_interval = \"5m\" # default\n") || !strings.Contains(all.String(), "site.toml:3\n") {
		t.Errorf("all:\n%s", all.String())
	}
}

// docs/configuration.md is the reference of this package; go test -update writes it.
func TestDocumentationIsUpToDate(t *testing.T) {
	t.Parallel()
	page := filepath.Join("..", "..", "docs", "configuration.md")
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(page, []byte(markdown()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != markdown() {
		t.Errorf("docs/configuration.md is out of date (%v); run: go test ./peer/config -update", err)
	}
}

const pageHead = `# Configuration

<!-- Generated by "go test ./peer/config -update" from the program's own reference; manual changes are lost. -->

A peer reads its configuration when it starts, from the files and directories that ` + "`--config`" + ` names, or
from all of ` + "`/etc/switchyard/*.toml`" + `. The format is [TOML](https://toml.io/en/v1.0.0).

- **Several files** are merged in the order of their names: a key has the value of the last file that sets it,
  and each ` + "`[[partner]]`" + ` adds a partner. Use a separate file for each partner.
- **Durations** are strings such as ` + "`\"500ms\"`" + `, ` + "`\"30s\"`" + `, ` + "`\"2h\"`" + `, ` + "`\"7d\"`" + ` or ` + "`\"1h30m\"`" + `. **Sizes** are strings such as
  ` + "`\"512MB\"`" + ` or ` + "`\"4GB\"`" + ` (1 GB is 1024 MB), or numbers of megabytes.
- **Relative paths** start at the directory of the file that contains them.
- **Secrets** are never in the configuration, only the paths of their files. Key files must have mode 0600 and belong to
  root or to the peer's account. No other account may be able to change a directory above them.
- **Errors**: ` + "`switchyard config check`" + ` reports all errors in one run, each with its file, line and remedy. A peer
  with an error in its configuration does not start. Unknown keys are errors.
  - The command also reports what a start or a later job would find: keys and secrets that are missing or that other
    accounts can use, accounts that do not exist, and accounts that need a peer that runs as root.
  - It checks price files and price areas, and starts each policy and price plugin for a moment.
  - It opens no ports and starts no plugin of the kind "localsched". Of Slurm it asks the version and the partitions.
  - Run it as root or as the peer's account. Files that another account may not read are listed, and not checked.
- **Changes** of the keys marked ⟳ take effect with ` + "`switchyard reload`" + `, those of the other keys when the peer is
  restarted; see [operations.md](operations.md#changing-the-configuration).
- **Active values**: ` + "`switchyard config show --effective`" + ` prints every value and its source.

A site needs at least ` + "`[site]`" + ` with ` + "`name`" + ` and ` + "`number`" + `; [two-sites.md](two-sites.md) shows the
minimum for two sites.
`

// markdown is the page made of the reference.
func markdown() string {
	var tables []settings.Table
	for _, s := range reference() {
		table := settings.Table{Name: s.header(), About: s.about}
		for _, e := range s.keys {
			table.Keys = append(table.Keys, settings.Key{
				Name: e.name, Default: e.initial(defaultsOf(s)), Required: e.required, Live: e.live, Example: e.example, About: e.about,
			})
		}
		tables = append(tables, table)
	}
	return pageHead + settings.Reference("##", tables)
}
