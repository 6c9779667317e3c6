package staging_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// archiveOf writes an archive of any entries, each with its name as content, where it may have some.
func archiveOf(f *testing.F, headers ...tar.Header) []byte {
	f.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		h.Format, h.Mode = tar.FormatPAX, 0o644
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		if err := w.WriteHeader(&h); err != nil {
			f.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(h.Name)); err != nil {
				f.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	return out.Bytes()
}

// sparse is a short archive of a file of 8 TB, in the second format of sparse files that tar knows.
func sparse(f testing.TB) []byte {
	f.Helper()
	const huge = "8796093022208"
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	records := "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n23 GNU.sparse.name=big\n37 GNU.sparse.realsize=" + huge + "\n"
	content := "1\n" + huge + "\n0\n"
	content += strings.Repeat("\x00", 512-len(content))
	for _, one := range []struct {
		header tar.Header
		data   string
	}{
		{tar.Header{Name: "records", Typeflag: tar.TypeXHeader}, records}, {tar.Header{Name: "big", Typeflag: tar.TypeReg}, content},
	} {
		one.header.Mode, one.header.Size, one.header.Format = 0o644, int64(len(one.data)), tar.FormatUSTAR
		kind := one.header.Typeflag
		one.header.Typeflag = tar.TypeReg
		var entry bytes.Buffer
		alone := tar.NewWriter(&entry)
		if err := alone.WriteHeader(&one.header); err != nil {
			f.Fatal(err)
		}
		if _, err := alone.Write([]byte(one.data)); err != nil {
			f.Fatal(err)
		}
		if err := alone.Flush(); err != nil {
			f.Fatal(err)
		}
		raw := entry.Bytes()
		setKind(raw, kind)
		out.Write(raw)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	return out.Bytes()
}

// setKind makes a header one of another kind of entry, and its checksum right.
func setKind(header []byte, kind byte) {
	header[156] = kind
	copy(header[148:156], "        ")
	sum := 0
	for _, b := range header[:512] {
		sum += int(b)
	}
	copy(header[148:156], fmt.Sprintf("%06o\x00 ", sum))
}

// TestASmallArchiveFillsNoDisk: a file that is longer than the archive is refused before any of it is written.
func TestASmallArchiveFillsNoDisk(t *testing.T) {
	t.Parallel()
	archive := sparse(t)
	if h, err := tar.NewReader(bytes.NewReader(archive)).Next(); err != nil || h.Size != 8796093022208 {
		t.Fatalf("%+v, %v", h, err)
	}
	_, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, t.TempDir())})
	if !errors.Is(err, staging.ErrArchive) || !strings.Contains(err.Error(), "more than a name") {
		t.Error(err)
	}
}

// FuzzUnpack: whatever bytes come from another site, nothing is written outside of the directory, nothing but
// files and directories is made in it, none has another name than it may have, and none stays half written.
func FuzzUnpack(f *testing.F) {
	plain := archiveOf(f, tar.Header{Name: "a/", Typeflag: tar.TypeDir}, tar.Header{Name: "a/b", Typeflag: tar.TypeReg}, tar.Header{Name: "c", Typeflag: tar.TypeReg})
	f.Add(plain)
	f.Add(plain[:len(plain)/2])
	for _, h := range []tar.Header{
		{Name: "../x", Typeflag: tar.TypeReg},
		{Name: "/tmp/x", Typeflag: tar.TypeReg},
		{Name: "link/x", Typeflag: tar.TypeReg},
		{Name: "x", Typeflag: tar.TypeSymlink, Linkname: "../outside"},
		{Name: "x", Typeflag: tar.TypeLink, Linkname: "c"},
		{Name: "x", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3},
		{Name: "x", Typeflag: tar.TypeFifo},
		{Name: "x", Typeflag: tar.TypeBlock},
	} {
		f.Add(archiveOf(f, h))
	}
	huge := bytes.Clone(plain)
	copy(huge[512+124:], "77777777777\x00") // the size of the second entry
	f.Add(huge)
	f.Add(sparse(f))
	f.Fuzz(func(t *testing.T, archive []byte) {
		above := t.TempDir()
		dir := filepath.Join(above, "work")
		outside := filepath.Join(above, "outside")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(outside, 0o700), os.Symlink("../outside", filepath.Join(dir, "link"))); err != nil {
			t.Fatal(err)
		}
		placed, err := staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, dir)})
		if err == nil {
			for i := range placed {
				if protocol.CheckStagedName(placed[i].Name) != nil {
					t.Errorf("a file is named %q", placed[i].Name)
				}
			}
		}
		err = filepath.WalkDir(above, func(path string, entry fs.DirEntry, err error) error {
			name := entry.Name()
			switch {
			case err != nil:
				return err
			case !strings.HasPrefix(path+"/", dir+"/") && path != above && path != outside:
				t.Errorf("%s is outside", path)
			case path != filepath.Join(dir, "link") && !entry.IsDir() && !entry.Type().IsRegular():
				t.Errorf("%s is %v", path, entry.Type())
			case strings.HasPrefix(name, ".switchyard-") && !bytes.Contains(archive, []byte(".switchyard-")):
				t.Errorf("%s stays", path)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestWhatIsPackedIsUnpacked: any tree of files arrives as it is, and comes back as what was changed.
func TestWhatIsPackedIsUnpacked(t *testing.T) {
	t.Parallel()
	scratch := t.TempDir()
	me := uint32(os.Geteuid())
	name := rapid.StringMatching(`[a-zé][a-z0-9 ._-]{0,6}(/[a-z][a-z0-9=+]{0,8}){0,3}`)
	rapid.Check(t, func(rt *rapid.T) {
		from, to, home := within(rt, scratch), within(rt, scratch), within(rt, scratch)
		files := rapid.MapOfN(name, rapid.StringN(0, 2000, 4000), 1, 6).Draw(rt, "files")
		for one, content := range files {
			put(rt, from, one, content, files)
		}
		found, err := staging.Find(t.Context(), from, []string{"."})
		if err != nil {
			rt.Fatal(err)
		}
		var archive bytes.Buffer
		if err = staging.Pack(t.Context(), &archive, from, found.Inputs); err != nil {
			rt.Fatal(err)
		}
		root, err := os.OpenRoot(to)
		if err != nil {
			rt.Fatal(err)
		}
		defer root.Close()
		before, err := staging.Unpack(t.Context(), &archive, staging.Into{Root: root})
		if err != nil {
			rt.Fatal(err)
		}
		same(rt, from, to)
		made := put(rt, to, "made by the job/out", "new", nil)
		var back bytes.Buffer
		after, _, err := staging.Collect(t.Context(), &back, staging.Left{Root: root, Patterns: []string{"."}, Before: before, Owner: me, MaxBytes: 1 << 20})
		if err != nil || !slices.Equal(namesOf(after), []string{made}) {
			rt.Fatalf("back come %q, %v", namesOf(after), err)
		}
		homeRoot, err := os.OpenRoot(home)
		if err != nil {
			rt.Fatal(err)
		}
		defer homeRoot.Close()
		if _, err = staging.Unpack(t.Context(), &back, staging.Into{Root: homeRoot, Patterns: []string{"."}}); err != nil {
			rt.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(home, made)); err != nil || string(got) != "new" {
			rt.Errorf("%q, %v", got, err)
		}
	})
}

func within(rt *rapid.T, scratch string) string {
	dir, err := os.MkdirTemp(scratch, "*")
	if err != nil {
		rt.Fatal(err)
	}
	return dir
}

// put writes a file, unless another one is to be where it needs a directory.
func put(rt *rapid.T, dir, name, content string, all map[string]string) string {
	for above := filepath.Dir(name); above != "."; above = filepath.Dir(above) {
		if _, taken := all[above]; taken {
			return ""
		}
	}
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		rt.Fatal(err)
	}
	return name
}

// same says what is different in two trees.
func same(rt *rapid.T, one, other string) {
	a, b := tree(rt, one), tree(rt, other)
	if !maps.Equal(a, b) {
		rt.Errorf("%v and %v", slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
	}
}

func tree(rt *rapid.T, dir string) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		rt.Fatal(err)
	}
	return all
}
