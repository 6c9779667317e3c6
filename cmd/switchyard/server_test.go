package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// apiAddress is where a site that runs has its API over TCP.
func apiAddress(t *testing.T, site *testbed.Site) string {
	t.Helper()
	text, err := os.ReadFile(site.Log)
	found := regexp.MustCompile(`"msg":"api_listens","address":"([^"]+)"`).FindAllStringSubmatch(string(text), -1)
	if err != nil || len(found) == 0 {
		t.Fatalf("the site does not say where its API is: %v", err)
	}
	return found[len(found)-1][1]
}

// --server is for commands that speak to a peer only, and for those below them.
func TestCommandsForAnyPeer(t *testing.T) {
	t.Parallel()
	root := (&app{getenv: func(string) string { return "" }}).root()
	for words, want := range map[string]bool{
		"queue": true, "token": true, "token list": true, "plugin list": true, "plugin check": false, "plugin": false, "sim list": false, "doctor": false, "peer": false,
	} {
		cmd, rest, err := root.Find(strings.Fields(words))
		if err != nil || len(rest) > 0 {
			t.Fatal(words, rest, err)
		}
		if got := forAnyPeer(cmd); got != want {
			t.Errorf("%s: %t", words, got)
		}
	}
}

// A person on another machine submits, looks, reads output and cancels with a token, at sites near and far; nobody does without,
// and the token survives the peer and ends with its revocation.
func TestServer(t *testing.T) {
	t.Parallel()
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2, More: "[api]\nlisten = \"127.0.0.1:0\"\n"}, testbed.Machine{Name: "borealis", CPUs: 2})
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	here := g.Sites[0]
	token := filepath.Join(g.Dir, "config", "switchyard", "token") // in a directory that token create makes
	if got := g.at(t, here, "", "token", "create", "--out", token, "--note=e2e"); got.code != 0 || got.stdout != "" || !strings.Contains(got.stderr, "scopes read,submit") {
		t.Fatalf("token create: %+v", got)
	}
	if got := g.at(t, here, "", "token", "create", "--out", token); got.code == 0 {
		t.Error("token create overwrites a file")
	}
	list := g.at(t, here, "", "token", "list", "--no-header")
	tokenID, _, _ := strings.Cut(list.stdout, " ")
	if list.code != 0 || strings.Count(list.stdout, "\n") != 1 || !strings.Contains(list.stdout, "e2e") {
		t.Errorf("token list: %+v", list)
	}
	far := func(stdin string, args ...string) result {
		t.Helper()
		nowhere := &testbed.Site{Socket: "/nonexistent/socket"}
		server := []string{"--server=https://" + apiAddress(t, here), "--token-file=" + token, "--server-ca=" + filepath.Join(here.Dir, "state", "api", "ca.pem")}
		cmd := g.process(patience(t), t, nowhere, append(server, args...)...)
		cmd.Env = append(cmd.Env, "SWITCHYARD_CHECK=local", "LOCAL_CHECK=local")
		return finished(t, cmd, stdin)
	}
	submitted := func(script string, args ...string) protocol.JobID {
		t.Helper()
		got := far(script, append([]string{"submit", "--parsable", "--chdir=" + g.work}, args...)...)
		id, err := protocol.ParseJobID(strings.TrimSpace(got.stdout))
		if got.code != 0 || err != nil {
			t.Fatalf("submit: %+v", got)
		}
		return id
	}
	for _, site := range g.Sites {
		id := submitted("#!/bin/sh\necho \"from $SWITCHYARD_EXEC_SITE\"\n[ -n \"$HOME\" ] && [ -z \"$SWITCHYARD_CHECK$LOCAL_CHECK\" ]\n", "--sites="+string(site.Name)).String()
		want := fmt.Sprintf("from %s\n", site.Name)
		if got := far("", "logs", "-f", id); got.code != 0 || got.stdout != want {
			t.Errorf("logs -f at %s: %+v", site.Name, got)
		}
		if got := far("", "wait", id); got.code != 0 {
			t.Errorf("wait at %s: %+v", site.Name, got)
		}
		if got := far("", "logs", id); got.code != 0 || got.stdout != want {
			t.Errorf("logs at %s: %+v", site.Name, got)
		}
		describedAnswers(t, apiAddress(t, here), token, id)
		for _, query := range [][]string{{"status", id}, {"explain", id}, {"history", "--json"}, {"queue", "--json"}, {"sites"}} {
			if got := far("", query...); got.code != 0 || got.stdout == "" {
				t.Errorf("%v: %+v", query, got)
			}
		}
	}
	long := submitted("#!/bin/sh\nsleep 1000\n", "--sites=borealis")
	g.until(t, here, long, running)
	if got := far("", "cancel", long.String()); got.code != 0 {
		t.Errorf("cancel: %+v", got)
	}
	g.until(t, here, long, ended)
	for _, site := range g.Sites {
		filesOverTCP(t, g, site, far)
	}
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"no directory":       {[]string{"submit"}, exitUsage},
		"a file that is not": {[]string{"submit", "--chdir=" + g.work, "--stage-in=no-such-file"}, exitUsage},
		"no right there":     {[]string{"submit", "--chdir=/proc/none", "--stage-in=/etc/passwd:data"}, exitUsage},
		"nothing to fetch":   {[]string{"fetch", "1000000000001"}, exitUsage},
		"no scope":           {[]string{"reload"}, exitDenied},
		"tokens over TCP":    {[]string{"token", "list"}, exitDenied},
		"a local user's ID":  {[]string{"queue", "--user=0"}, exitUsage},
		"a variable of here": {[]string{"submit", "--chdir=" + g.work, "--export=HOME"}, exitUsage},
		"two peers":          {[]string{"--socket=" + here.Socket, "queue"}, exitUsage},
		"a local command":    {[]string{"statement", "verify", "none.json"}, exitUsage},
		"no such job":        {[]string{"status", "1000000000001"}, exitNotFound},
	} {
		if got := far("#!/bin/sh\n", c.args...); got.code != c.code || got.stdout != "" {
			t.Errorf("%s: %+v, want exit code %d", name, got, c.code)
		}
	}
	if err := here.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := far("", "queue"); got.code != exitUnreachable {
		t.Errorf("while the peer is down: %+v", got)
	}
	if err := here.Start(); err != nil {
		t.Fatal(err)
	}
	for ctx := patience(t); g.at(t, here, "", "token", "list").code != 0; time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("the peer does not come back")
		}
	}
	if got := far("", "queue"); got.code != 0 {
		t.Errorf("after kill -9: %+v", got)
	}
	if got := g.at(t, here, "", "token", "revoke", tokenID); got.code != 0 {
		t.Errorf("token revoke: %+v", got)
	}
	if got := far("", "queue"); got.code != exitDenied {
		t.Errorf("with a revoked token: %+v", got)
	}
}

// filesOverTCP has a job at a site read files of this machine, and gets its results, without a look into its directory.
func filesOverTCP(t *testing.T, g *grid, site *testbed.Site, far func(stdin string, args ...string) result) {
	t.Helper()
	here, back := t.TempDir(), filepath.Join(t.TempDir(), "back")
	model := filepath.Join(here, "model")
	if err := os.WriteFile(model, []byte("a model\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(g.work, "over-tcp", string(site.Name))
	got := far("#!/bin/sh\nmkdir results && cat in/model - >results/sum <<END\nran\nEND\n", "submit", "--wait", "--parsable", "--sites="+string(site.Name), "--chdir="+dir,
		"--stage-in="+model+":in/model", "--stage-out=results")
	if got.code != 0 || strings.Contains(got.stderr, "no files") {
		t.Fatalf("submit with files at %s: %+v", site.Name, got)
	}
	id := strings.TrimSpace(got.stdout)
	if got = far("", "fetch", "--to="+back, id, "results"); got.code != 0 || got.stdout != "results/sum\n" {
		t.Errorf("fetch from %s: %+v", site.Name, got)
	}
	if text, err := os.ReadFile(filepath.Join(back, "results", "sum")); err != nil || string(text) != "a model\nran\n" {
		t.Errorf("fetched from %s: %q, %v", site.Name, text, err)
	}
	if got = far("", "fetch", "--to="+back, id, "none", "results"); got.code != exitFailed || !strings.Contains(got.stderr, "none is not there") {
		t.Errorf("fetch what is not there: %+v", got)
	}
}

// describedAnswers checks answers of a peer against the description that it gives of them.
func describedAnswers(t *testing.T, address, tokenFile, job string) {
	t.Helper()
	secret, err := os.ReadFile(tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	get := func(path string) any {
		t.Helper()
		request, failed := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+path, nil)
		if failed != nil {
			t.Fatal(failed)
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(secret)))
		answer, failed := client.Do(request)
		if failed != nil {
			t.Fatal(failed)
		}
		defer answer.Body.Close()
		value, failed := jsonschema.UnmarshalJSON(answer.Body)
		if failed != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, answer.Status, failed)
		}
		return value
	}
	compiler := jsonschema.NewCompiler()
	if err = compiler.AddResource("openapi.json", get("/v1/openapi.json")); err != nil {
		t.Fatal(err)
	}
	for described, path := range map[string]string{
		"/v1/jobs": "?all=true", "/v1/jobs/{id}": "/v1/jobs/" + job, "/v1/jobs/{id}/explain": "/v1/jobs/" + job + "/explain",
		"/v1/sites": "", "/v1/history": "", "/v1/usage": "?by=user&by=site", "/v1/info": "", "/v1/shares": "", "/v1/runs": "?all=true", "/v1/recovery": "", "/v1/plugins": "", "/v1/counts": "", "/v1/prices": "", "/v1/settings/changes": "",
	} {
		at := strings.NewReplacer("~", "~0", "/", "~1").Replace(described)
		schema, err := compiler.Compile("openapi.json#/paths/" + at + "/get/responses/200/content/application~1json/schema")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(path, "/") {
			path = described + path
		}
		if err = schema.Validate(get(path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
