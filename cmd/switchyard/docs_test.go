package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// documents are the files that people read, from here.
func documents(t *testing.T) (paths []string) {
	t.Helper()
	const top = "../.."
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != top && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d documents, %v", len(paths), err)
	}
	return paths
}

// paragraph is a line of a document, and what it is.
type paragraph struct {
	number int
	text   string
	code   bool // it is in a block of code
}

func paragraphs(t *testing.T, path string) (lines []paragraph) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fenced := false
	for number, line := range slices.Collect(strings.Lines(string(text))) {
		line = strings.TrimRight(line, "\n")
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		lines = append(lines, paragraph{number + 1, line, fenced || fence || strings.HasPrefix(line, "    ")})
	}
	return lines
}

var (
	linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	linkText   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	madeAnchor = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	codeSpan   = regexp.MustCompile("`([^`]+)`")
)

// anchors are the parts of a document that a link can name, as GitHub names them.
func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, line := range paragraphs(t, path) {
		for _, made := range madeAnchor.FindAllStringSubmatch(line.text, -1) {
			found[made[1]] = true
		}
		title := strings.TrimLeft(line.text, "#")
		if line.code || title == line.text || !strings.HasPrefix(title, " ") {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(linkText.ReplaceAllString(title, "$1")))
		name := anchor
		for again := 1; found[name]; again++ {
			name = fmt.Sprintf("%s-%d", anchor, again)
		}
		found[name] = true
	}
	return found
}

// TestLinks: what a document of this repository links to in it is there.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, path := range documents(t) {
		for _, line := range paragraphs(t, path) {
			for _, link := range linkTarget.FindAllStringSubmatch(line.text, -1) {
				to, anchor, _ := strings.Cut(link[1], "#")
				if line.code || strings.Contains(to, ":") {
					continue
				}
				target := path
				if to != "" {
					target = filepath.Join(filepath.Dir(path), to)
				}
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s:%d: %s: %v", path, line.number, link[1], err)
				} else if anchor != "" && filepath.Ext(target) == ".md" && !anchors(t, target)[anchor] {
					t.Errorf("%s:%d: %s has no part %s", path, line.number, target, anchor)
				}
			}
		}
	}
}

// TestCommandsOfDocuments: the commands that documents show exist, with all their options. The changelog also has those that were.
func TestCommandsOfDocuments(t *testing.T) {
	t.Parallel()
	seen, root := 0, (&app{getenv: func(string) string { return "" }}).root()
	for _, path := range documents(t) {
		if filepath.Base(path) == "CHANGELOG.md" {
			continue
		}
		for _, line := range paragraphs(t, path) {
			for _, command := range commandsOf(line) {
				seen++
				if problem := unknownIn(root, command); problem != "" {
					t.Errorf("%s:%d: switchyard %s: %s", path, line.number, strings.Join(command, " "), problem)
				}
			}
		}
	}
	if seen < 250 {
		t.Errorf("only %d commands were found", seen)
	}
}

// commandsOf are the arguments of switchyard where a line calls it in code.
func commandsOf(line paragraph) (commands [][]string) {
	texts := []string{line.text}
	if !line.code {
		texts = nil
		for _, span := range codeSpan.FindAllStringSubmatch(line.text, -1) {
			texts = append(texts, span[1])
		}
	}
	for _, text := range texts {
		for i, words := 0, strings.Fields(text); i < len(words); i++ {
			first := i == 0 || slices.Contains([]string{"$", "#", "&&", "|", "sudo", "if", "then", "do"}, words[i-1])
			called := first && (words[i] == "switchyard" || strings.HasSuffix(words[i], "/switchyard"))
			if !called && (words[i] != "./cmd/switchyard" || i == 0 || words[i-1] != "run") {
				continue
			}
			args := words[i+1:]
			end := slices.IndexFunc(args, func(word string) bool { return strings.ContainsAny(word, "|;&<>#\\…()`'\"") || word == "--" })
			if end >= 0 {
				args = args[:end]
			}
			if len(args) > 0 {
				commands = append(commands, args)
			}
		}
	}
	return commands
}

// unknownIn says which word of a command below root does not exist; empty: all do.
func unknownIn(root *cobra.Command, args []string) string {
	command, rest, err := root.Find(args)
	if err != nil {
		return err.Error()
	}
	if len(rest) > 0 && command.HasSubCommands() && !strings.HasPrefix(rest[0], "-") && rest[0] == strings.ToLower(rest[0]) {
		return "there is no " + rest[0]
	}
	command.InitDefaultHelpFlag()
	command.InitDefaultVersionFlag()
	for _, word := range rest {
		name, _, _ := strings.Cut(word, "=")
		if strings.HasPrefix(name, "--") && flagOf(command, func(flags *pflag.FlagSet) *pflag.Flag { return flags.Lookup(name[2:]) }) == nil {
			return "there is no " + name
		}
		if len(name) >= 2 && name[0] == '-' && unicode.IsLetter(rune(name[1])) &&
			flagOf(command, func(flags *pflag.FlagSet) *pflag.Flag { return flags.ShorthandLookup(name[1:2]) }) == nil {
			return "there is no " + name
		}
	}
	return ""
}

// flagOf looks a flag up among a command's own and those it has from commands above.
func flagOf(command *cobra.Command, lookup func(*pflag.FlagSet) *pflag.Flag) *pflag.Flag {
	if flag := lookup(command.Flags()); flag != nil {
		return flag
	}
	return lookup(command.InheritedFlags())
}
