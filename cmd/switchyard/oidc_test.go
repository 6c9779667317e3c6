package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/openid/openidtest"
)

// A person uses a site with a token of its issuer; for whom it stands changes with a reload, and the peer starts without the issuer.
func TestIssuer(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	me, err := userName(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.SetDown(true)
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2, More: fmt.Sprintf("[api]\nlisten = \"127.0.0.1:0\"\n[[api.oidc]]\nname = \"hpc\"\nissuer = %q\naudience = \"switchyard\"\nca_file = %q\n"+
		"[[api.oidc.user]]\nsubject = \"s-1\"\nuser = %q\nscopes = [\"read\", \"submit\"]\n", p.Issuer, p.CAFile, me)})
	if err = g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	p.SetDown(false)
	here, token := g.Sites[0], filepath.Join(t.TempDir(), "token")
	if err = os.WriteFile(token, []byte(p.Token(t, openidtest.Claims{Subject: "s-1", Audience: []string{"switchyard"}})+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	far := func(stdin string, args ...string) result {
		t.Helper()
		server := []string{"--server=https://" + apiAddress(t, here), "--token-file=" + token, "--server-ca=" + filepath.Join(here.Dir, "state", "api", "ca.pem")}
		return finished(t, g.process(patience(t), t, &testbed.Site{Socket: "/nonexistent/socket"}, append(server, args...)...), stdin)
	}
	if got := far("#!/bin/sh\necho done\n", "submit", "--wait", "--chdir="+g.work); got.code != 0 || !strings.Contains(got.stdout, "Submitted") {
		t.Errorf("submit: %+v", got)
	}
	if got := far("", "reload"); got.code != exitDenied {
		t.Errorf("without the scope operate: %+v", got)
	}
	edit(t, here, `subject = "s-1"`, `subject = "s-2"`)
	wantWords(t, g.at(t, here, "", "reload"), 0, "api.oidc[hpc].user[1].subject", "s-2")
	if got := far("", "queue"); got.code != exitDenied || !strings.Contains(got.stderr, "[[api.oidc.user]]") {
		t.Errorf("after the reload: %+v", got)
	}
	if text, err := os.ReadFile(here.Log); err != nil || strings.Contains(string(text), "eyJ") || !strings.Contains(string(text), `"token":"oidc:hpc:s-1"`) {
		t.Errorf("the log has a token, or not whose it was: %v", err)
	}
}
