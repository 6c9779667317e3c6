package dashboard

import (
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	studyPage     = "index.html"
	maxStudies    = 500
	studyHeadSize = 8 << 10 // bytes of a page in which its title is
	studiesKept   = 10 * time.Second
)

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
	all, err := d.studies.in(d.Studies)
	if err != nil {
		d.Log.Debug("studies_unreadable", "error", err)
		return &pageError{http.StatusServiceUnavailable, "The directory of the studies cannot be read."}
	}
	page := studiesPage{Answer: "There are no studies yet.", List: all}
	if len(all) > 0 {
		page.Answer = fmt.Sprintf("The latest is “%s”.", all[0].Title)
	}
	return d.show(r, http.StatusOK, "studies", frame{Title: "Studies", Path: "/studies", Body: page})
}

// studies is the list of the studies, which is made at most every [studiesKept], whoever asks.
type studies struct {
	mu    sync.Mutex
	until time.Time
	all   []study
	err   error
}

// in are the studies in a directory, the latest first.
func (s *studies) in(dir string) ([]study, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); !now.Before(s.until) {
		s.all, s.err = studiesIn(dir)
		s.until = now.Add(studiesKept)
	}
	return s.all, s.err
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
	file, written, err := openStudy(root, name)
	if err != nil {
		return study{}, false
	}
	defer func() { _ = file.Close() }()
	head, err := io.ReadAll(io.LimitReader(file, studyHeadSize))
	if err != nil {
		return study{}, false
	}
	one := study{Name: name, Title: name, Of: protocol.InstantOf(written)}
	_, behind, _ := strings.Cut(string(head), "<title>")
	if title, _, ends := strings.Cut(behind, "</title>"); ends {
		one.Title = strings.TrimSpace(html.UnescapeString(title))
	}
	return one, true
}

// openStudy opens the page of a study, and says when it was written. Links do not lead out of the directory.
func openStudy(root *os.Root, name string) (file *os.File, written time.Time, err error) {
	if strings.HasPrefix(name, ".") || strings.Contains(name, "/") {
		return nil, written, fs.ErrNotExist
	}
	name = path.Join(name, studyPage)
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, written, err
	}
	file, err = root.Open(name)
	return file, info.ModTime(), err
}

// showStudy answers with the page of a study, which needs no other file. Browsers run no script in it, whatever it is.
func (d *Dashboard) showStudy(r *request) error {
	unknown := notFound("There is no page %s.", r.URL.Path)
	if d.Studies == "" {
		return unknown
	}
	root, err := os.OpenRoot(d.Studies)
	if err != nil {
		d.Log.Debug("studies_unreadable", "error", err)
		return unknown
	}
	defer func() { _ = root.Close() }()
	file, written, err := openStudy(root, r.PathValue("study"))
	if err != nil {
		d.Log.Debug("study_unreadable", "error", err)
		return unknown
	}
	defer func() { _ = file.Close() }()
	header := r.w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; base-uri 'none'; frame-ancestors 'none'")
	header.Set("Content-Type", "text/html; charset=utf-8")
	http.ServeContent(r.w, r.Request, "", written.Truncate(time.Second), file)
	return nil
}
