package fileguard_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
)

const other = 65534 // an account that is neither root nor this one

// owned is who has a file and what others may do with it.
type owned struct {
	uid, gid int
	mode     os.FileMode
}

// tree makes directories above a file of mode 0600 and gives each what is said of it.
func tree(t *testing.T, change map[string]owned) (file string) {
	t.Helper()
	root := t.TempDir()
	file = filepath.Join(root, "top", "middle", "key")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("seed"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, o := range change {
		path := filepath.Join(root, name)
		if err := errors.Join(os.Chown(path, o.uid, o.gid), os.Chmod(path, o.mode)); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// TestSecretRefuses: whoever owns a key file or may change one of the directories above it
// chooses the key.
func TestSecretRefuses(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const key = "top/middle/key"
	for name, c := range map[string]struct {
		change map[string]owned
		want   string // empty: it is read
	}{
		"right":                    {nil, ""},
		"group may read":           {map[string]owned{key: {0, 0, 0o640}}, "can be used by others (mode 0640); run: chmod 600 "},
		"group may write":          {map[string]owned{key: {0, 0, 0o620}}, "mode 0620"},
		"others may read":          {map[string]owned{key: {0, 0, 0o604}}, "mode 0604"},
		"another's":                {map[string]owned{key: {other, 0, 0o600}}, "key belongs to user 65534, who may change it: chown it to root"},
		"in another's directory":   {map[string]owned{"top/middle": {other, 0, 0o755}}, "the directory /"},
		"below another's":          {map[string]owned{"top": {other, 0, 0o755}}, "top belongs to user 65534"},
		"all users may change":     {map[string]owned{"top/middle": {0, 0, 0o777}}, "all users may change the directory "},
		"all users may change top": {map[string]owned{"top": {0, 0, 0o777}}, "/top: chmod o-w"},
		"a group may change top":   {map[string]owned{"top": {0, other, 0o775}}, "group 65534 may change the directory "},
		"root's group may":         {map[string]owned{"top": {0, 0, 0o775}}, ""},
		"sticky":                   {map[string]owned{"top": {0, 0, 0o777 | os.ModeSticky}}, ""},
		"another's sticky":         {map[string]owned{"top": {other, 0, 0o777 | os.ModeSticky}}, "top belongs to user 65534"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := fileguard.Secret(tree(t, c.change), 100)
			switch {
			case c.want == "" && (err != nil || string(text) != "seed"):
				t.Errorf("got %q, %v", text, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "seed")):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestFindLooksBehindLinks: at the directories on both sides, at links to links, and at who
// may change a link in a directory that is open to all.
func TestFindLooksBehindLinks(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	link := func(from, to string) {
		t.Helper()
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	good, bad, dir := tree(t, nil), tree(t, map[string]owned{"top": {0, 0, 0o777}}), t.TempDir()
	link(filepath.Join(dir, "good"), good)
	link(filepath.Join(dir, "relative"), "../"+filepath.Base(dir)+"/./good")
	link(filepath.Join(dir, "bad"), bad)
	link(filepath.Join(dir, "to-bad"), "bad")
	link(filepath.Join(filepath.Dir(bad), "out"), good)
	link(filepath.Join(dir, "round"), "round")
	sticky := filepath.Join(dir, "sticky")
	if err := errors.Join(os.Mkdir(sticky, 0o755), os.Chmod(sticky, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(sticky, "another's"), good)
	if err := os.Lchown(filepath.Join(sticky, "another's"), other, other); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"good": "", "relative": "", "bad": "all users may change", "to-bad": "all users may change", "round": "too many levels",
		"sticky/another's": "another's belongs to user 65534", "none": "no such file", "good/none": "not a directory",
	} {
		found, err := fileguard.Find(filepath.Join(dir, path))
		if want == "" && (err != nil || found != good) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v; want %q", path, found, err, want)
		}
	}
	if _, err := fileguard.Find(filepath.Join(filepath.Dir(bad), "out")); err == nil {
		t.Error("a link in a directory that all users may change is followed")
	}
}

func TestSecretIsBounded(t *testing.T) {
	t.Parallel()
	file := tree(t, nil)
	if _, err := fileguard.Secret(file, 3); err == nil || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("got %v", err)
	}
	if _, err := fileguard.Secret(filepath.Dir(file), 3); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := fileguard.Secret(file+"-none", 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// The text of a secret has no white space around it, and is not empty.
func TestSecretText(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	for text, want := range map[string]string{" a b\n": "a b", "a": "a", " \n": "", "": ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := fileguard.SecretText(file, 10)
		if got != want || (err == nil) != (want != "") || err != nil && !strings.Contains(err.Error(), file+" is empty") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if err := os.WriteFile(file, []byte("abcd"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := fileguard.SecretText(file, 3); got != "" || err == nil || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("got %q, %v", got, err)
	}
}
