package protocol_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSharedBy: a job runs in place where all of its paths are in directories that both sites name, and nowhere else.
func TestSharedBy(t *testing.T) {
	t.Parallel()
	home := func(change func(*protocol.Payload)) *protocol.Payload {
		p := &protocol.Payload{WorkDir: "/home/ann/x", Stdout: "/home/ann/x/out", Stderr: "/home/ann/x/out"}
		change(p)
		return p
	}
	both := [2][]string{{"/home", "/scratch"}, {"/home", "/work"}}
	for name, tt := range map[string]struct {
		payload *protocol.Payload
		dirs    [2][]string
		want    bool
	}{
		"all":                   {home(func(*protocol.Payload) {}), both, true},
		"one names more":        {home(func(*protocol.Payload) {}), [2][]string{{"/"}, {"/home/ann"}}, false},
		"the narrower counts":   {home(func(*protocol.Payload) {}), [2][]string{{"/home"}, {"/home/ann"}}, true},
		"beside the narrower":   {home(func(*protocol.Payload) {}), [2][]string{{"/home"}, {"/home/a"}}, false},
		"the directory itself":  {home(func(p *protocol.Payload) { p.WorkDir = "/home" }), both, true},
		"none is named there":   {home(func(*protocol.Payload) {}), [2][]string{{"/home"}, nil}, false},
		"none is named here":    {home(func(*protocol.Payload) {}), [2][]string{nil, {"/home"}}, false},
		"no directory":          {home(func(p *protocol.Payload) { p.WorkDir = "" }), both, false},
		"working directory":     {home(func(p *protocol.Payload) { p.WorkDir = "/scratch/x" }), both, false},
		"stdout":                {home(func(p *protocol.Payload) { p.Stdout = "/tmp/out" }), both, false},
		"stderr":                {home(func(p *protocol.Payload) { p.Stderr = "/tmp/err" }), both, false},
		"no output":             {home(func(p *protocol.Payload) { p.Stdout, p.Stderr = "/dev/null", "" }), both, true},
		"a file that is read":   {home(func(p *protocol.Payload) { p.Input = "/home/ann/in" }), both, false},
		"a file elsewhere":      {home(func(p *protocol.Payload) { p.Staging = &protocol.Staging{Places: []string{"/home/b", "/data/c"}} }), both, false},
		"a file in another":     {home(func(p *protocol.Payload) { p.Staging = &protocol.Staging{Places: []string{"/home/b"}} }), both, true},
		"a way out":             {home(func(p *protocol.Payload) { p.Stdout = "/home/../etc/out" }), both, false},
		"a way in":              {home(func(p *protocol.Payload) { p.WorkDir = "/tmp/../home/ann" }), both, false},
		"a name that begins so": {home(func(p *protocol.Payload) { p.WorkDir = "/homes/ann" }), both, false},
	} {
		if got := tt.payload.SharedBy(tt.dirs[0], tt.dirs[1]); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestCheckSharedDirs(t *testing.T) {
	t.Parallel()
	for want, dirs := range map[string][]string{
		"":                                   {"/home", "/home/ann", "/scratch"},
		"not an absolute path":               {"home"},
		"the whole system":                   {"/"},
		"in its shortest form; write \"/a\"": {"/a/"},
		"does not sort after":                {"/b", "/a"},
		"at most 4096":                       {"/" + strings.Repeat("x", protocol.MaxPath)},
		"cannot be seen":                     {"/a\nb"},
	} {
		err := protocol.CheckSharedDirs(dirs)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", dirs, err)
		}
	}
	if protocol.CheckSharedDirs(make([]string, protocol.MaxSharedDirs+1)) == nil {
		t.Error("any number is taken")
	}
}

// TestStayInPlace: of a job that runs in place nothing travels, and what would is as before once it does not.
func TestStayInPlace(t *testing.T) {
	t.Parallel()
	spec := protocol.Spec{Data: 5, DataOut: 6, StageIn: 4, StageOut: true}
	before := spec
	spared := spec.StayInPlace()
	if spec.Data != 0 || spec.DataOut != 0 || spec.Stages() || !spec.InPlace {
		t.Errorf("%+v", spec)
	}
	if spec.LeavePlace(spared); spec.Data != before.Data || spec.DataOut != before.DataOut || spec.StageIn != before.StageIn || !spec.StageOut || spec.InPlace {
		t.Errorf("%+v", spec)
	}
}

// TestDirsInPlace: the directories are those of the job and of its output, each once.
func TestDirsInPlace(t *testing.T) {
	t.Parallel()
	for want, files := range map[string][2]string{
		"/x":          {"/x/out", "/x/out"},
		"/x /x/a /b":  {"/x/a/out", "/b/err"},
		"/x /x/a":     {"/x/a/out", "/x/a/err"},
		"/x /etc":     {"/dev/null", "/etc/err"},
		"/x /x/a/b/c": {"", "/x/a/b/c/d"},
	} {
		if got := strings.Join(protocol.DirsInPlace("/x", files[0], files[1]), " "); got != want {
			t.Errorf("%q: %s, want %s", files, got, want)
		}
	}
}

// TestPlacesStayAtHome: where links lead can be all that is said of a job's files, and no other site hears of it.
func TestPlacesStayAtHome(t *testing.T) {
	t.Parallel()
	files := &protocol.Staging{Places: []string{"/scratch/logs"}}
	if err := files.Check(); err != nil || files.Abroad() != nil {
		t.Errorf("%v, %+v", err, files.Abroad())
	}
}
