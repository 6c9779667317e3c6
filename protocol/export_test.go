package protocol_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSecretsLeaveOnlyByName: no pattern, and no ALL, lets a variable that looks secret out.
func TestSecretsLeaveOnlyByName(t *testing.T) {
	t.Parallel()
	secrets := []string{
		"GITHUB_TOKEN", "my_secret", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "AWS_PROFILE", "SSH_AUTH_SOCK", "SSHPASS", "KRB5CCNAME",
		"GOOGLE_APPLICATION_CREDENTIALS", "SLURM_JWT", "OPENAI_API_KEY", "X509_USER_PROXY", "XAUTHORITY", "VAULT_ADDR", "SESSION_COOKIE",
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(secrets).Draw(t, "name")
		cut := rapid.IntRange(0, len(name)).Draw(t, "cut")
		export := protocol.Export{All: rapid.Bool().Draw(t, "all")}
		if export.Allows(name, []string{name[:cut] + "*"}) {
			t.Errorf("%s leaves", name)
		}
		if !export.Allows(name, []string{name}) {
			t.Errorf("%s does not leave although the site names it", name)
		}
	})
	for _, name := range []string{"PATH", "PWD", "OLDPWD", "HOME", "KEYBOARD", "MONKEYS", "OMP_NUM_THREADS", "AUTHOR"} {
		if protocol.LooksSecret(name) {
			t.Errorf("%s looks secret", name)
		}
	}
}
