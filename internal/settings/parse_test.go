package settings

import (
	"maps"
	"testing"
)

func TestKeyLines(t *testing.T) {
	t.Parallel()
	got := keyLines(`# top
[site] # a comment with [brackets]
name = "a # b \" ="
long = """
[fake]
x = 1
"""""
[[partner]]
name = 'it''s'
list = [ # [
  "]",
  1,
]

[partner.users]
"*" = "guest"

[[partner]]
a.b = { c = 1 }
['quo.ted']
k = '''
[fake]'''
`, func(array string) int {
		if array == "partner" {
			return 5
		}
		return 0
	})
	want := map[string]int{
		"site": 2, "site.name": 3, "site.long": 4,
		"partner": 8, "partner[5]": 8, "partner[5].name": 9, "partner[5].list": 10,
		"partner[5].users": 15, "partner[5].users.*": 16,
		"partner[6]": 18, "partner[6].a.b": 19,
		"quo.ted": 20, "quo.ted.k": 21,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestNearestName(t *testing.T) {
	t.Parallel()
	names := []string{"listen", "url", "round_jobs", "max_jobs"}
	for name, want := range map[string]string{
		"listne": "listen", "Listen": "listen", "roundjobs": "round_jobs", "maxjobs": "max_jobs", "colour": "", "": "",
	} {
		if got, _ := Nearest(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
