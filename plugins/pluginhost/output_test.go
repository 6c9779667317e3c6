package pluginhost_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testlog"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
)

// What plugins write in the ways of Go's loggers keeps its level and fields.
func TestOutputIsUnderstood(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"plain":     {"hello\n", `level=INFO msg=plugin_says text=hello`},
		"no end":    {"hello", `level=INFO msg=plugin_says text=hello`},
		"hclog":     {`{"@level":"warn","@message":"m","@timestamp":"t","b":2,"a":"x"}` + "\n", `level=WARN msg=plugin_says text=m plugin.a=x plugin.b=2`},
		"slog":      {`{"time":"t","level":"ERROR","msg":"m","job":7}` + "\n", `level=ERROR msg=plugin_says text=m plugin.job=7`},
		"no logger": {`{"some":"json"}` + "\n", `level=INFO msg=plugin_says text="{\"some\":\"json\"}"`},
		"binary":    {"\xff\xfe\x00x\n", `text="?\x00x"`},
		"broken":    {"{\n", `text={`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book := new(testlog.Buffer)
			pluginhost.Output(book.Logger(), tt.text)
			if !strings.Contains(book.String(), tt.want) {
				t.Errorf("got %s, want %s", book, tt.want)
			}
		})
	}
}

// Neither a long line nor many lines fill the log.
func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	book := new(testlog.Buffer)
	chunks := slices.Repeat([]string{"a line\n"}, 1000)
	chunks = append(chunks, strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<20), "\n")
	pluginhost.Output(book.Logger(), chunks...)
	if n := strings.Count(book.String(), "plugin_says"); n < 200 || n > 800 {
		t.Errorf("%d of 1001 lines were logged", n)
	}
	if n := len(book.String()); n > 200_000 {
		t.Errorf("the log has %d bytes", n)
	}
}

// The last words are those that explain most.
func TestLastWords(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	for want, text := range map[string]string{
		"":                      "",
		"second":                "first\nsecond\n",
		"panic: no":             "begin\npanic: no\n\ngoroutine 1 [running]:\nmain.main()\n",
		"ValueError: bad":       "Traceback (most recent call last):\nValueError: bad\n",
		"what matters":          "what matters\n" + `{"@level":"debug","@message":"chatter"}` + "\n",
		"fatal error: deadlock": "fatal error: deadlock\nmore\n",
	} {
		if got := pluginhost.Output(log, text); got != want {
			t.Errorf("last words %q, want %q", got, want)
		}
	}
}

// FuzzHello: whatever a plugin says first, it is an address in the directory or refused.
func FuzzHello(f *testing.F) {
	f.Add("1|1|unix|/tmp/x/plugin1|grpc|", true)
	f.Add("1|1|unix|/tmp/x/../y|grpc|cert|", false)
	f.Add("|||||", false)
	f.Fuzz(func(t *testing.T, line string, plain bool) {
		err := pluginhost.CheckHello(line, "/tmp/x", plain)
		if err == nil && !strings.Contains(line, "|unix|/tmp/x/") {
			t.Errorf("%q was accepted", line)
		}
	})
}
