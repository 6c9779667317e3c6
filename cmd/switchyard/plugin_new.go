package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/plugins/catalog"
)

// skeletons are the files of new plugins: those for all kinds, and a folder for each.
//
//go:embed skeletons
var skeletons embed.FS

// modulePath is what plugins import.
const modulePath = "github.com/switchyard-hpc/switchyard"

// skeleton fills the files of a new plugin in.
type skeleton struct {
	Kind    string
	Name    string
	Go      string // version of the language
	Version string // of Switchyard's module
	Source  string // checkout of Switchyard to build against; empty: the released module
}

func (a *app) pluginNewCommand() *cobra.Command {
	var s skeleton
	var dir string
	cmd := &cobra.Command{
		Use:   "new policy|localsched|price NAME",
		Short: "Write a plugin to begin with: it compiles, passes the suite and has a test",
		Long: "Write the source of a plugin to begin with into a new folder: a Go module with its test. The\n" +
			"policy keeps jobs at home unless they would wait too long, the local scheduler runs the shortest\n" +
			"job first, the price feed has a price by day and one by night; change that. Plugins are built\n" +
			"against a checkout of Switchyard with --source, else against the released module.",
		Example: "  switchyard plugin new policy cheapest\n" +
			"  switchyard plugin new localsched widest --dir ~/src/widest --source ~/src/switchyard",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("%s needs a kind, one of %s, and a name", cmd.CommandPath(), strings.Join(kinds(), ", "))
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(kinds(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			s.Kind, s.Name = args[0], args[1]
			if dir == "" {
				dir = s.Name
			}
			return a.newPlugin(s, dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the new folder (NAME)")
	cmd.Flags().StringVar(&s.Source, "source", sourceHere(), "a checkout of Switchyard to build against")
	return cmd
}

func kinds() []string {
	return []string{string(catalog.PolicyKind), string(catalog.SchedulerKind), string(catalog.FeedKind)}
}

// newPlugin writes the files.
func (a *app) newPlugin(s skeleton, dir string) error {
	if !slices.Contains(kinds(), s.Kind) {
		return usage("%q is no kind of plugin; use %s", s.Kind, strings.Join(kinds(), ", "))
	}
	if s.Name == "" || len(s.Name) > 64 || strings.ContainsFunc(s.Name, notInModule) || !unicode.IsLetter(rune(s.Name[0])) {
		return usage("%q is no name of a plugin; use lower case letters, digits and hyphens, and begin with a letter", s.Name)
	}
	if err := s.complete(); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // source code, as people keep it
		return fmt.Errorf("make the plugin's folder: %w; choose another with --dir", err)
	}
	files, err := s.files()
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := s.write(file, dir); err != nil {
			return err
		}
	}
	a.printf("Wrote a %s plugin into %s. Next:\n\n  cd %s\n  go mod tidy\n  go test ./...\n  go build .\n"+
		"  switchyard plugin check ./%s --config %s.toml\n", s.Kind, console.Plain(dir), console.Plain(dir), s.Name, s.Name)
	return nil
}

func notInModule(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
}

// complete finds out what to build against.
func (s *skeleton) complete() error {
	s.Go = strings.TrimPrefix(strings.Fields(runtime.Version())[0], "go")
	s.Version = "v0.0.0"
	if s.Source != "" {
		full, err := filepath.Abs(s.Source)
		if err != nil {
			return err
		}
		if !isSource(full) {
			return usage("--source %s is no checkout of Switchyard: it has no go.mod of the module %s", s.Source, modulePath)
		}
		s.Source = full
		return nil
	}
	if built, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(built.Main.Version, "v") && !strings.ContainsAny(built.Main.Version, "-+") {
		s.Version = built.Main.Version
		return nil
	}
	return usage("this switchyard is no release, so there is no module to build against; name its source with --source")
}

// sourceHere is the checkout that the working folder is in; empty: it is in none.
func sourceHere() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for ; ; dir = filepath.Dir(dir) {
		if isSource(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func isSource(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && strings.HasPrefix(string(text), "module "+modulePath+"\n")
}

// files lists the skeletons of the kind.
func (s *skeleton) files() ([]string, error) {
	common, err := fs.Glob(skeletons, "skeletons/*.tmpl")
	if err != nil {
		return nil, err
	}
	own, err := fs.Glob(skeletons, "skeletons/"+s.Kind+"/*.tmpl")
	return append(common, own...), err
}

// write fills a file in.
func (s *skeleton) write(file, dir string) (err error) {
	filled, err := template.New(path.Base(file)).Delims("«", "»").ParseFS(skeletons, file)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(path.Base(file), ".tmpl")
	if name == "config.toml" {
		name = s.Name + ".toml"
	}
	out, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // source code
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return filled.Execute(out, s)
}
