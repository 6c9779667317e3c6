// Package skeleton writes the source of plugins to begin with, in Go or Python: each runs as it
// is written, passes the suite of its kind and has a test.
package skeleton

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

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/sdk/python"
)

// files are those of new plugins: for each language those of all kinds, and a directory for
// each kind.
//
//go:embed files
var files embed.FS

// The languages of plugins.
const (
	Go     = "go"
	Python = "python"
)

// Languages lists the languages of plugins.
func Languages() []string { return []string{Go, Python} }

// modulePath is what plugins import.
const modulePath = "github.com/switchyard-hpc/switchyard"

// Skeleton is a plugin to begin with. [Skeleton.Complete] says what it is built against.
type Skeleton struct {
	Language string // see [Languages]
	Kind     string // see [pluginhost.Kinds]; in Python only policies
	Name     string
	Source   string // of a plugin in Go: checkout of Switchyard to build against; empty: the released module

	GoVersion string
	Version   string // of Switchyard's module
}

// Complete checks what is asked for, and finds out what to build against.
func (s *Skeleton) Complete() error {
	if !slices.Contains(pluginhost.Kinds(), s.Kind) {
		return fmt.Errorf("%q is no kind of plugin; use %s", s.Kind, strings.Join(pluginhost.Kinds(), ", "))
	}
	if !slices.Contains(Languages(), s.Language) {
		return fmt.Errorf("unknown language %q; use %s", s.Language, strings.Join(Languages(), " or "))
	}
	if s.Name == "" || len(s.Name) > 64 || strings.ContainsFunc(s.Name, notInModule) || !unicode.IsLetter(rune(s.Name[0])) {
		return fmt.Errorf("%q is no name of a plugin; use lower case letters, digits and hyphens, and begin with a letter", s.Name)
	}
	if s.Language == Python {
		return s.completePython()
	}
	s.GoVersion = strings.TrimPrefix(strings.Fields(runtime.Version())[0], "go")
	s.Version = "v0.0.0"
	if s.Source != "" {
		full, err := filepath.Abs(s.Source)
		if err != nil {
			return err
		}
		if !isSource(full) {
			return fmt.Errorf("--source %s is no checkout of Switchyard: it has no go.mod of the module %s", s.Source, modulePath)
		}
		s.Source = full
		return nil
	}
	if built, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(built.Main.Version, "v") && !strings.ContainsAny(built.Main.Version, "-+") {
		s.Version = built.Main.Version
		return nil
	}
	return errors.New("this switchyard is no release, so there is no module to build against; name its source with --source")
}

// completePython checks what is asked for of a plugin in Python, which has its SDK beside it.
func (s *Skeleton) completePython() error {
	if s.Kind != string(pluginhost.PolicyKind) {
		return fmt.Errorf("the SDK for Python has no plugins of kind %q; use --language go, or kind policy", s.Kind)
	}
	return nil
}

func notInModule(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
}

// SourceHere is the checkout of Switchyard that the working directory is in; empty: it is in
// none.
func SourceHere() string {
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

// Write writes the files into a directory, which it makes. The skeleton must be complete.
func (s *Skeleton) Write(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // source code, as people keep it
		return fmt.Errorf("make the plugin's directory: %w; choose another with --dir", err)
	}
	common, err := fs.Glob(files, path.Join("files", s.Language, "*.tmpl"))
	if err != nil {
		return err
	}
	own, err := fs.Glob(files, path.Join("files", s.Language, s.Kind, "*.tmpl"))
	if err != nil {
		return err
	}
	for _, file := range append(common, own...) {
		if err := s.fill(file, dir); err != nil {
			return err
		}
	}
	if s.Language == Python {
		return os.CopyFS(dir, python.Files)
	}
	return nil
}

// fill fills a file in.
func (s *Skeleton) fill(file, dir string) (err error) {
	filled, err := template.New(path.Base(file)).Delims("«", "»").ParseFS(files, file)
	if err != nil {
		return err
	}
	name, mode := strings.TrimSuffix(path.Base(file), ".tmpl"), fs.FileMode(0o644)
	switch name {
	case "config.toml":
		name = s.Name + ".toml"
	case "program": // without .py: nothing imports it in place of a module of this name
		name, mode = s.Name, 0o755
	}
	out, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return filled.Execute(out, s)
}
