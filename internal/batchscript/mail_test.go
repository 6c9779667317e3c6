package batchscript_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestMailTypes(t *testing.T) {
	t.Parallel()
	begin, end, fail, requeue, limit := protocol.MailBegin, protocol.MailEnd, protocol.MailFail, protocol.MailRequeue, protocol.MailTimeLimit
	cases := []struct {
		lines  string
		want   protocol.Mail
		notice string
	}{
		{"--mail-type=END,BEGIN", protocol.Mail{Events: []protocol.MailEvent{begin, end}}, ""},
		{"--mail-type=all --mail-user=ada@example.org,bob", protocol.Mail{Events: []protocol.MailEvent{begin, end, fail, requeue}, To: "ada@example.org,bob"}, ""},
		{"--mail-type=TIME_LIMIT_80,TIME_LIMIT", protocol.Mail{Events: []protocol.MailEvent{limit, protocol.MailTimeLimit80}}, ""},
		{"--mail-type=TIME_LIMIT,STAGE_OUT", protocol.Mail{Events: []protocol.MailEvent{limit}}, "no mail is sent about STAGE_OUT"},
		{"--mail-type=ARRAY_TASKS,FAIL", protocol.Mail{Events: []protocol.MailEvent{fail}}, ""},
		{"--mail-type=ALL\n#SBATCH --mail-type=NONE", protocol.Mail{}, ""},
		{"--mail-user=ada", protocol.Mail{}, ""},
	}
	for _, c := range cases {
		script := batchscript.Script{Name: "job.sh", Data: []byte("#!/bin/sh\n#SBATCH " + c.lines + "\n")}
		batch, notices, err := batchscript.Read(script, nil, batchscript.Origin{User: "ada", Host: "login", Dir: "/home/ada"})
		if err != nil {
			t.Errorf("%s: %v", c.lines, err)
			continue
		}
		if got := batch.Jobs[0].Mail; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.lines, got, c.want)
		}
		if got := strings.Join(notices, "\n"); (c.notice == "") != (got == "") || !strings.Contains(got, c.notice) {
			t.Errorf("%s: notices %q, want %q", c.lines, got, c.notice)
		}
	}
	for lines, want := range map[string]string{
		"--mail-type=ENDS":                       `"ENDS" is not a type of mail`,
		"--mail-type=NONE,END":                   "NONE stands alone",
		"--mail-type=END --mail-user=-oQ/tmp":    `"-oQ/tmp" is not a mail address`,
		"--mail-type=END --mail-user=/etc/x":     `"/etc/x" is not a mail address`,
		"--mail-type=END --mail-user='a, b'":     `" b" is not a mail address`,
		"--mail-type=END --mail-user=|/bin/sh":   `"|/bin/sh" is not a mail address`,
		"--mail-type=END --mail-user=a@b@c":      `"a@b@c" is not a mail address`,
		"--mail-type=END --mail-user=a@-b,c":     `"a@-b" is not a mail address`,
		"--mail-type=END --mail-user=ada@b.org,": `"" is not a mail address`,
	} {
		script := batchscript.Script{Name: "job.sh", Data: []byte("#!/bin/sh\n#SBATCH " + lines + "\n")}
		if _, _, err := batchscript.Read(script, nil, batchscript.Origin{User: "ada", Dir: "/"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", lines, err, want)
		}
	}
}
