package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// serverVariables say where a peer over TCP is, if no option does.
const (
	serverVariable    = "SWITCHYARD_SERVER"
	tokenFileVariable = "SWITCHYARD_TOKEN_FILE"
	serverCAVariable  = "SWITCHYARD_SERVER_CA"
	certVariable      = "SWITCHYARD_CLIENT_CERT"
	keyVariable       = "SWITCHYARD_CLIENT_KEY"
)

// serverFlags adds the options that say which peer is meant, if not that of the socket.
func (a *app) serverFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&a.server.URL, "server", a.getenv(serverVariable), "peer over TCP instead of the socket, https://HOST:PORT; overrides "+serverVariable)
	flags.StringVar(&a.server.TokenFile, "token-file", cmp.Or(a.getenv(tokenFileVariable), defaultTokenFile(a.getenv("HOME"))),
		"file with the token for --server; overrides "+tokenFileVariable)
	flags.StringVar(&a.server.CAFile, "server-ca", a.getenv(serverCAVariable), "file with the certificates that are trusted for --server, unset: the machine's; overrides "+serverCAVariable)
	flags.StringVar(&a.server.CertFile, "client-cert", a.getenv(certVariable), "file with a certificate to show to --server instead of a token, in PEM; overrides "+certVariable)
	flags.StringVar(&a.server.KeyFile, "client-key", a.getenv(keyVariable), "file with the key of --client-cert; overrides "+keyVariable)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.choosePeer(cmd) }
}

// peerKey is the annotation of commands with [anyPeer].
const peerKey = "switchyard_any_peer"

// anyPeer annotates a command that --server is for, with those below it: it speaks to a peer only, or the peer refuses it over TCP with a
// reason.
func anyPeer() map[string]string { return map[string]string{peerKey: "true"} }

// forAnyPeer reports whether --server is for a command.
func forAnyPeer(cmd *cobra.Command) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		if cmd.Annotations[peerKey] != "" {
			return true
		}
	}
	return false
}

// choosePeer settles whether the command speaks to a peer over TCP: an option says more than a variable.
func (a *app) choosePeer(cmd *cobra.Command) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	top := cmd
	for top.HasParent() && top.Parent().HasParent() {
		top = top.Parent()
	}
	able := forAnyPeer(cmd)
	switch {
	case !cmd.HasParent():
	case given("server") && given("socket"):
		return usage("--server and --socket name two peers; omit one")
	case given("server") && !able:
		return usage("--server has no effect on `switchyard %s`, which works on this machine", top.Name())
	case given("socket") || !able:
		a.server = api.Server{}
	case (a.server.CertFile == "") != (a.server.KeyFile == ""):
		return usage("--client-cert and --client-key go together; name both, or none")
	case a.server.CertFile != "" && !given("token-file") && a.getenv(tokenFileVariable) == "":
		a.server.TokenFile = "" // the certificate is enough
	}
	return nil
}

// defaultTokenFile is where the token is if nothing else is said.
func defaultTokenFile(home string) string {
	return filepath.Join(home, ".config", "switchyard", "token")
}

// dial makes a client of the peer that commands speak to.
func (a *app) dial() *api.Client {
	if a.server.URL == "" {
		return api.Dial(a.socket)
	}
	client, err := api.DialServer(a.server)
	if err != nil {
		return api.Broken(usage("%w", err))
	}
	return client
}

// caller is the name of the user as whom the peer knows who runs the command.
func (a *app) caller(ctx context.Context) (string, error) {
	if !a.client().Remote() {
		return userName(ctx)
	}
	info, err := a.client().Info(ctx)
	return info.User, err
}

// remoteOrigin is where a job comes from that is submitted over TCP: the site's user, and of this machine nothing but
// the variables that stand for options, and that of its trace.
func (a *app) remoteOrigin(ctx context.Context, host string) (batchscript.Origin, error) {
	user, err := a.caller(ctx)
	if err != nil {
		return batchscript.Origin{}, err
	}
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		option := strings.HasPrefix(name, "SBATCH_") || strings.HasPrefix(name, "SWITCHYARD_") || name == protocol.TraceparentVariable
		return !option || slices.Contains([]string{serverVariable, tokenFileVariable, serverCAVariable, certVariable, keyVariable, "SWITCHYARD_SOCKET"}, name)
	})
	return batchscript.Origin{User: user, Host: host, Env: env, Bare: true, Now: a.now()}, nil
}

// checkRemote refuses what the directories and files of this machine would be needed for.
func checkRemote(batch batchscript.Batch) error {
	for i := range batch.Jobs {
		if !filepath.IsAbs(batch.Jobs[i].Payload.WorkDir) {
			return usage("with --server the current directory means nothing; name the job's directory at the site: --chdir=DIR")
		}
	}
	return nil
}
