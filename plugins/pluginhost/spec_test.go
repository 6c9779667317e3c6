package pluginhost_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
)

// What is wrong with a spec or a file is said before anything runs.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "plugin")
	script(t, path, "exit")
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	script(t, filepath.Join(open, "plugin"), "exit")
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	mode := func(name string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		script(t, file, "exit")
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	link := func(name, to string) string {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	tests := map[string]struct {
		change func(*pluginhost.Spec)
		want   string
	}{
		"name":       {func(s *pluginhost.Spec) { s.Name = "" }, "it has no name"},
		"kind":       {func(s *pluginhost.Spec) { s.Kind = "router" }, `kind "router" does not exist; use policy, localsched or price`},
		"path":       {func(s *pluginhost.Spec) { s.Path = "bin/plugin" }, `path "bin/plugin" is not absolute`},
		"plain":      {func(s *pluginhost.Spec) { s.Plain = true }, "without TLS it must be pinned"},
		"sum":        {func(s *pluginhost.Spec) { s.SHA256 = "abc" }, `SHA-256 "abc" is not 64 hexadecimal digits`},
		"other sum":  {func(s *pluginhost.Spec) { s.SHA256 = strings.Repeat("ab", 32) }, "its file is not the pinned one"},
		"absent":     {func(s *pluginhost.Spec) { s.Path += "-absent" }, "its file cannot be used: no such file"},
		"folder":     {func(s *pluginhost.Spec) { s.Path = dir }, "it is not a file"},
		"executable": {func(s *pluginhost.Spec) { s.Path = mode("data", 0o644) }, "not executable: chmod +x"},
		"writable":   {func(s *pluginhost.Spec) { s.Path = mode("all", 0o777) }, "all users may change its file " + dir + "/all: chmod o-w"},
		"open":       {func(s *pluginhost.Spec) { s.Path = filepath.Join(open, "plugin") }, "all users may change the directory " + open + ": chmod o-w"},
		"link":       {func(s *pluginhost.Spec) { s.Path = link("to-all", mode("all2", 0o777)) }, "all users may change its file " + dir + "/all2: chmod o-w"},
		"link out":   {func(s *pluginhost.Spec) { s.Path = link("to-open", filepath.Join(open, "plugin")) }, "all users may change the directory " + open},
		"open link":  {func(s *pluginhost.Spec) { s.Path = link("open/link", path) }, "all users may change the directory " + open},
		"loose link": {func(s *pluginhost.Spec) { s.Path = link("loose", filepath.Join(dir, "nowhere")) }, "its file cannot be used: no such file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := pluginhost.Spec{Name: "x", Kind: pluginhost.PolicyKind, Path: path}
			tt.change(&spec)
			_, err := pluginhost.Open(spec, logOf(t))
			wants(t, err, "plugin "+spec.Name+" ("+spec.Path+"): ", tt.want)
		})
	}
}

// Whoever may change a directory above the plugin's own can put another one in its place.
func TestOpenLooksAtTheDirectoriesAbove(t *testing.T) {
	t.Parallel()
	top := filepath.Join(t.TempDir(), "top")
	path := filepath.Join(top, "middle", "plugin")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	script(t, path, "exit")
	if err := os.Chmod(top, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := pluginhost.Open(pluginhost.Spec{Name: "x", Kind: pluginhost.PolicyKind, Path: path}, logOf(t))
	wants(t, err, "plugin x ("+path+"): ", "all users may change the directory "+top+": chmod o-w")
}

// What belongs to others, or to their groups, they can change between two starts.
func TestOpenRefusesWhatOthersMayChange(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const other = 65534
	type owned struct {
		uid, gid int
		mode     os.FileMode
	}
	right := owned{0, 0, 0o755}
	tests := map[string]struct {
		dir, file owned
		want      string // empty: nothing is wrong
	}{
		"root's":           {right, right, ""},
		"root's group":     {owned{0, 0, 0o775}, owned{0, 0, 0o775}, ""},
		"a group that may": {right, owned{0, other, 0o755}, ""},
		"file's owner":     {right, owned{other, 0, 0o755}, "belongs to user 65534, who may change it: chown it to root"},
		"file's group":     {right, owned{0, other, 0o775}, "group 65534 may change its file "},
		"folder's owner":   {owned{other, 0, 0o755}, right, "belongs to user 65534, who may change it: chown it to root"},
		"folder's group":   {owned{0, other, 0o775}, right, "group 65534 may change the directory "},
		"sticky":           {owned{0, other, 0o777 | os.ModeSticky}, right, ""},
		"in sticky":        {owned{0, 0, 0o777 | os.ModeSticky}, owned{other, 0, 0o755}, "belongs to user 65534"},
		"other's sticky":   {owned{other, 0, 0o777 | os.ModeSticky}, right, "belongs to user 65534"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "plugin")
			script(t, path, "exit")
			for path, o := range map[string]owned{path: tt.file, dir: tt.dir} {
				if err := errors.Join(os.Chown(path, o.uid, o.gid), os.Chmod(path, o.mode)); err != nil {
					t.Fatal(err)
				}
			}
			plugin, err := pluginhost.Open(pluginhost.Spec{Name: "x", Kind: pluginhost.PolicyKind, Path: path}, logOf(t))
			if err == nil {
				err = plugin.Close()
			}
			if tt.want != "" {
				wants(t, err, tt.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// Behind a link the program runs under the link's name, as one that is several expects.
func TestLinkedPlugin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "linked")
	if err := os.Symlink(self(t), path); err != nil {
		t.Fatal(err)
	}
	spec := specOf(t, "moody")
	spec.Path, spec.SHA256 = path, sumOf(t, path)
	pid := up(t, spec).Status().PID
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.HasPrefix(string(line), path+"\x00") {
		t.Errorf("it runs as %q, %v", line, err)
	}
}

// A configuration that is wrong is refused with every mistake, its file and line.
func TestWrongConfiguration(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ config, want string }{
		"several": {
			"epsilon = \"2h\"\nleast = 0\nepsilom = 1\n",
			"its configuration is wrong:\npeer.toml:1: epsilon: is more than an hour\npeer.toml:2: least: ",
		},
		"unknown key": {"\nepsilom = \"1s\"", "peer.toml:2: epsilom: unknown key"},
		"no TOML":     {"epsilon = \n", "peer.toml:1: not TOML: "},
		"wrong type":  {"epsilon = 3", "peer.toml:1: epsilon: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf(t, "tc")
			spec.Config = tt.config
			spec.Timing.Backoff, spec.Timing.BackoffMax = time.Hour, time.Hour
			wants(t, opened(t, spec).Wait(t.Context()), "plugin tc (", tt.want)
		})
	}
	t.Run("cannot be made", func(t *testing.T) {
		t.Parallel()
		spec := specOf(t, "tc")
		spec.Host.Site = ""
		spec.Timing.Backoff, spec.Timing.BackoffMax = time.Hour, time.Hour
		wants(t, opened(t, spec).Wait(t.Context()), "peer.toml: no site")
	})
}
