package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestManualHasWhatHelpSays: nothing of a command's texts is lost as markup, such as <id>.
func TestManualHasWhatHelpSays(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	a := &app{getenv: func(name string) string { return map[string]string{"SOURCE_DATE_EPOCH": "1700006399"}[name] }}
	if err := a.writeManual(dir); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	root := (&app{getenv: func(string) string { return "" }}).root()
	pages := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		pages++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		page, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			t.Error(err)
			return
		}
		if title := `.TH "` + strings.ToUpper(name) + `" "1" "Nov 2023" "switchyard ` + version + `" "Switchyard"`; !strings.Contains(string(page), title) {
			t.Errorf("%s has no %s", name, title)
		}
		text := readable(string(page))
		if here := repository(t); strings.Contains(text, here) {
			t.Errorf("%s depends on where it was made: it has %s", name, here)
		}
		wants := append([]string{cmd.UseLine(), name + " - " + cmd.Short, cmd.Example}, strings.Split(cmd.Long, "\n\n")...)
		cmd.InitDefaultHelpFlag()
		for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			flags.VisitAll(func(flag *pflag.Flag) {
				value, about := pflag.UnquoteUsage(flag)
				if !flag.Hidden {
					wants = append(wants, "--"+flag.Name+" "+value+" "+about)
				}
			})
		}
		for _, want := range wants {
			if want = strings.Join(strings.Fields(want), " "); !strings.Contains(text, want) {
				t.Errorf("the page of %s has no %q:\n%s", name, want, text)
			}
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				check(sub)
			}
		}
	}
	check(root)
	if pages != len(files) {
		t.Errorf("there are %d commands and %d pages", pages, len(files))
	}
}

// readable is the text of a manual page without its requests and fonts.
func readable(page string) string {
	var words []string
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, ".") {
			words = append(words, strings.Fields(roff.Replace(line))...)
		}
	}
	return strings.Join(words, " ")
}

var roff = strings.NewReplacer(`\fB`, "", `\fI`, "", `\fP`, "", `\fR`, "", `\&`, "", `\-`, "-", `\\`, `\`)

func TestManualDoesNotDependOnTheMachine(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, socket := range []string{"", "/elsewhere.sock"} {
		dir := t.TempDir()
		a := &app{getenv: func(name string) string {
			return map[string]string{"SOURCE_DATE_EPOCH": "0", "SWITCHYARD_SOCKET": socket, "SWITCHYARD_CONF": socket}[name]
		}}
		if err := a.writeManual(dir); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(dir, "switchyard-reload.1"))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, string(page))
	}
	if pages[0] != pages[1] || !strings.Contains(pages[0], serviceSocket) {
		t.Errorf("got\n%s\nand\n%s", pages[0], pages[1])
	}
}
