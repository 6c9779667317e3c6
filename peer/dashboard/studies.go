package dashboard

import (
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	studyPage     = "index.html"
	maxStudies    = 500
	studyHeadSize = 64 << 10 // bytes of a page in which its title is, behind its style sheet
)

// studyKinds are the kinds of files of a study that are shown, by their extensions.
func studyKinds() map[string]string {
	return map[string]string{
		".html": "text/html", ".svg": "image/svg+xml", ".csv": "text/csv", ".json": "application/json", ".toml": "text/plain", ".txt": "text/plain",
	}
}

// study is a directory with a page about simulations.
type study struct {
	Name  string
	Title string // of its page
	Of    protocol.Instant
}

// Path is that of its page.
func (s study) Path() string { return "/studies/" + url.PathEscape(s.Name) + "/" }

// studiesPage lists the studies.
type studiesPage struct {
	Answer string
	List   []study // the latest first
}

func (d *Dashboard) showStudies(r *request) error {
	if d.Studies == "" {
		return notFound("There are no studies at this site.")
	}
	all, err := studiesIn(d.Studies)
	if err != nil {
		d.Log.Warn("studies_unreadable", "error", err)
		return &pageError{http.StatusServiceUnavailable, "The directory of the studies cannot be read; the log of the peer says why."}
	}
	page := studiesPage{Answer: "There are no studies yet.", List: all}
	if len(all) > 0 {
		page.Answer = fmt.Sprintf("The latest is “%s”.", all[0].Title)
	}
	return d.show(r, http.StatusOK, "studies", frame{Title: "Studies", Path: "/studies", Body: page})
}

// studiesIn are the studies in a directory, the latest first. Directories whose page cannot be read are none.
func studiesIn(dir string) (all []study, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if one, ok := studyOf(root, entry.Name()); ok {
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(a, b study) int { return int(b.Of.Sub(a.Of)) })
	return all[:min(len(all), maxStudies)], nil
}

// studyOf reads the title of a study; false: the directory has none.
func studyOf(root *os.Root, name string) (study, bool) {
	file, info, err := openStudyFile(root, path.Join(name, studyPage))
	if err != nil {
		return study{}, false
	}
	defer func() { _ = file.Close() }()
	head, err := io.ReadAll(io.LimitReader(file, studyHeadSize))
	if err != nil {
		return study{}, false
	}
	one := study{Name: name, Title: name, Of: protocol.InstantOf(info.ModTime())}
	if found := regexp.MustCompile(`<title>([^<]+)</title>`).FindSubmatch(head); found != nil {
		one.Title = strings.TrimSpace(html.UnescapeString(string(found[1])))
	}
	return one, true
}

// openStudyFile opens a regular file below a directory. Links do not lead out of it.
func openStudyFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := root.Open(name)
	return file, info, err
}

// showStudy answers with a file of a study: its page, or one that the page links to. Browsers run no script in it, whatever it is.
func (d *Dashboard) showStudy(r *request) error {
	name := path.Join(r.PathValue("study"), r.PathValue("file"))
	if r.PathValue("file") == "" {
		name = path.Join(name, studyPage)
	}
	kind := studyKinds()[path.Ext(name)]
	if d.Studies == "" || kind == "" || !fs.ValidPath(name) {
		return notFound("There is no page %s.", r.URL.Path)
	}
	root, err := os.OpenRoot(d.Studies)
	if err != nil {
		d.Log.Warn("studies_unreadable", "error", err)
		return notFound("There is no page %s.", r.URL.Path)
	}
	defer func() { _ = root.Close() }()
	file, info, err := openStudyFile(root, name)
	if err != nil {
		d.Log.Debug("study_unreadable", "error", err)
		return notFound("There is no page %s.", r.URL.Path)
	}
	defer func() { _ = file.Close() }()
	header := r.w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; sandbox; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Type", mime.FormatMediaType(kind, map[string]string{"charset": "utf-8"}))
	http.ServeContent(r.w, r.Request, "", info.ModTime().Truncate(time.Second), file)
	return nil
}
