package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/switchyard-hpc/switchyard/peer/identity"
)

// DefaultDir is where [Load] looks when it is given no paths.
const DefaultDir = "/etc/switchyard"

// Load reads the configuration from files, and from the *.toml files of folders
// in the order of their names; without paths, from [DefaultDir]. A key that
// stands in several files has the value of the last; partners add up. The error
// is of type [Problems].
func Load(paths ...string) (*Config, error) {
	if len(paths) == 0 {
		paths = []string{DefaultDir}
	}
	r := newReport()
	for _, file := range r.find(paths) {
		r.read(file)
	}
	return r.finish()
}

// finish checks what was read.
func (r *report) finish() (*Config, error) {
	r.resolveKeys()
	// What stands in a file that could not be read would be reported as missing.
	if !slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Key == "" }) {
		r.check()
	}
	r.config.Warnings = r.sorted(r.warnings)
	if len(r.problems) > 0 {
		return nil, Problems(r.sorted(r.problems))
	}
	return r.config, nil
}

// find lists the files that the paths stand for.
func (r *report) find(paths []string) (files []string) {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.fileProblem(path, 0, "there is no such file or folder; begin with: switchyard config sample")
		case err != nil:
			r.fileProblem(path, 0, reason(err))
		case !info.IsDir():
			files = append(files, filepath.Clean(path))
		default:
			inside, err := filepath.Glob(filepath.Join(escape(path), "*.toml"))
			if err != nil || len(inside) == 0 {
				r.fileProblem(path, 0, "this folder has no *.toml file; begin with: switchyard config sample")
			}
			files = append(files, inside...)
		}
	}
	return files
}

// escape makes a path match itself alone in a glob.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(filepath.Clean(path))
}

// read merges a file into the configuration.
func (r *report) read(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		r.fileProblem(file, 0, reason(err))
		return
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		r.fileProblem(file, 0, reason(err))
		return
	}
	r.parse(file, dir, string(text))
}

// parse merges the text of a file into the configuration. Relative paths in it
// begin at dir.
func (r *report) parse(file, dir, text string) {
	var tree map[string]any
	if _, err := toml.Decode(text, &tree); err != nil {
		line, message := 0, err.Error()
		if syntax, ok := errors.AsType[toml.ParseError](err); ok {
			line, message = syntax.Position.Line, syntax.Message
		}
		r.fileProblem(file, line, "not TOML: "+strings.TrimPrefix(message, "toml: "))
		return
	}
	if _, ok := r.config.origins[""]; !ok {
		r.config.origins[""] = origin{file: file}
	}
	d := decoder{report: r, file: file, dir: dir, lines: keyLines(text, len(r.config.Partners))}
	d.decode(tree)
}

func (r *report) fileProblem(file string, line int, text string) {
	r.problems = append(r.problems, Problem{File: file, Line: line, Text: text})
}

// reason is an error of package os without the path, which is printed anyway.
func reason(err error) string {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err
	}
	return fmt.Sprintf("cannot be read: %v", err)
}

// resolveKeys reads the partners' public keys that stand in files of their own.
func (r *report) resolveKeys() {
	for i := range r.config.Partners {
		p := &r.config.Partners[i]
		key := fmt.Sprintf("partner[%d].public_key_file", i)
		if p.PublicKeyFile == "" || p.PublicKey != "" { // both: check says so
			continue
		}
		public, err := readPublicKey(string(p.PublicKeyFile))
		if err != nil {
			r.problem(key, "%v", err)
			continue
		}
		p.PublicKey, p.PublicKeyFile = public, ""
		r.config.origins[fmt.Sprintf("partner[%d].public_key", i)] = r.config.origins[key]
		delete(r.config.origins, key)
	}
}

// readPublicKey reads the file that "switchyard keygen" writes beside a key.
func readPublicKey(path string) (public string, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist; ask the partner for the .pub file that \"switchyard keygen\" wrote there", path)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s", path, reason(err))
	}
	defer file.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(io.LimitReader(file, 1024))
	if err != nil {
		return "", fmt.Errorf("%s %s", path, reason(err))
	}
	public = strings.TrimSpace(string(text))
	if isSeed(public) {
		return "", fmt.Errorf("%s holds a secret seed; name the .pub file beside it, and keep the seed at its own site", path)
	}
	if identity.ValidatePublic(public) != nil {
		return "", fmt.Errorf("%s holds no public key of a site; one begins with U and has 56 characters", path)
	}
	return public, nil
}

// isSeed says whether the text looks like the seed of an nkey.
func isSeed(text string) bool {
	return len(text) == 58 && text[0] == 'S' && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
