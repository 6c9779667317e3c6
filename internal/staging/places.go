package staging

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// places are where files of a job are that is not in its working directory, as links lead there: see
// [protocol.Staging.Places].
func (s *search) places() []string {
	outside := outsideOf(s.dir)
	for _, name := range slices.Sorted(maps.Keys(s.renamed)) {
		outside.add(s.renamed[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.found)) {
		outside.follow(s.path(strings.TrimSuffix(name, "/")))
	}
	return outside.places
}

// OutPlaces are where what a job writes ends up outside of its working directory: to patterns of what comes back and, through
// links, to the files of its output, in whose names % stands for what is not known yet, and %% for itself.
func OutPlaces(dir string, patterns []string, outputs ...string) []string {
	outside := outsideOf(dir)
	for _, output := range outputs {
		if known := certain(output); output != "/dev/null" && target(known) != known {
			outside.follow(known)
		}
	}
	for _, pattern := range patterns {
		for name := strings.TrimSuffix(pattern, "/"); literal(name) && name != "."; name = filepath.Dir(name) {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				outside.follow(filepath.Join(dir, name))
				break
			}
		}
	}
	return outside.places
}

// certain is an output's file, or of its directories the innermost whose name is known.
func certain(output string) string {
	const percent = "\x00" // in no path
	known, _, found := strings.Cut(strings.ReplaceAll(output, "%%", percent), "%")
	if found {
		known = known[:strings.LastIndexByte(known, '/')+1]
	}
	return filepath.Clean(strings.ReplaceAll(known, percent, "%"))
}

// maxLinks is how many links a path may lead through, as on Linux.
const maxLinks = 40

// target is where a path leads. The file, and directories above it, need not be there yet. Of a path that leads nowhere it is the
// root of all.
func target(path string) string {
	for range maxLinks {
		for above, below := path, ""; ; above, below = filepath.Dir(above), filepath.Join(filepath.Base(above), below) {
			if found, err := filepath.EvalSymlinks(above); err == nil {
				return filepath.Join(found, below)
			}
			if link, err := os.Readlink(above); err == nil { // to what is not there
				if !filepath.IsAbs(link) {
					link = filepath.Join(target(filepath.Dir(above)), link)
				}
				path = filepath.Join(link, below)
				break
			}
			if above == "/" {
				return "/"
			}
		}
	}
	return "/"
}

// outside collects paths that are not below a directory.
type outside struct {
	dirs   []string // the directory and the places, without links
	places []string
}

func outsideOf(dir string) *outside {
	o := &outside{dirs: []string{dir}}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		o.dirs = append(o.dirs, target)
	}
	return o
}

// add adds a path that is named, and what is below it.
func (o *outside) add(path string) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil || !o.has(path) || !o.has(target) {
		o.places = append(o.places, path)
		o.dirs = append(o.dirs, path, target)
	}
	o.bound()
}

// follow adds where a path leads.
func (o *outside) follow(path string) {
	if to := target(path); !o.has(to) {
		o.places, o.dirs = append(o.places, to), append(o.dirs, to)
	}
	o.bound()
}

// bound keeps the places to as many as a job may have. With more of them it does not run in place: none shares the root of all.
func (o *outside) bound() {
	if len(o.places) > protocol.MaxStagedLinks {
		o.places, o.dirs = []string{"/"}, []string{"/"}
	}
}

func (o *outside) has(path string) bool {
	return slices.ContainsFunc(o.dirs, func(dir string) bool {
		return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
	})
}
