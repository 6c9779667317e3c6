package view_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
)

func TestClipTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit      int
		text, want string
	}{
		"shorter":                        {4, "abc", "abc"},
		"as long":                        {3, "abc", "abc"},
		"longer":                         {2, "abc", "ab…"},
		"nothing fits":                   {0, "abc", "…"},
		"not inside a character":         {2, "aé", "a…"},
		"a character that fits is whole": {3, "aéb", "aé…"},
		"one character, and it is long":  {3, "💡", "…"},
	} {
		if got := view.ClipTo(c.limit, c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := view.Clip(strings.Repeat("x", view.MaxReason)); len(got) != view.MaxReason {
		t.Errorf("a reason of %d bytes was cut to %d", view.MaxReason, len(got))
	}
	if got := view.Clip(strings.Repeat("x", view.MaxReason+1)); len(got) != view.MaxReason+len("…") {
		t.Errorf("a reason that is too long has %d bytes", len(got))
	}
}

func TestDetailed(t *testing.T) {
	t.Parallel()
	if got := view.Detailed("AllSitesDeclined", ""); got != "AllSitesDeclined" {
		t.Errorf("without a detail: %q", got)
	}
	if got := view.Detailed("AllSitesDeclined", "b: full"); got != "AllSitesDeclined (b: full)" {
		t.Errorf("with one: %q", got)
	}
}
