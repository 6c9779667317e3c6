package application_test

import (
	"os"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/application"
	"github.com/switchyard-hpc/switchyard/internal/batchscript"
)

// What the user's guide shows is read as it says.
func TestTheGuidesExamplesAreRight(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/applications.md")
	if err != nil {
		t.Fatal(err)
	}
	files := blocks(string(data), "```toml\n")
	if len(files) != 2 {
		t.Fatalf("the guide has %d examples in TOML", len(files))
	}
	whole := files[0]
	if batch := read(t, source(whole)); batch.Name != "coupled" || len(batch.Jobs) != 2 || len(batch.Jobs[0].Component.Shapes) != 2 {
		t.Errorf("the whole application is %+v", batch)
	}
	withRates := strings.Replace(whole, "[[component]]", files[1]+"[[component]]", 1)
	_, _, err = application.Read(source(withRates), nil, origin())
	if err == nil || !strings.Contains(err.Error(), "application.waiting_cost: names a curve of the site") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a curve and rates: %v", err)
	}
	batch := read(t, source(strings.Replace(withRates, "waiting_cost =", "# waiting_cost =", 1)))
	if len(batch.Application.Rates) != 2 {
		t.Errorf("its rates are %+v", batch.Application.Rates)
	}
	var scripts int
	for _, text := range blocks(string(data), "```sh\n") {
		if !strings.HasPrefix(text, "#!") {
			continue
		}
		scripts++
		script := batchscript.Script{Name: "guide.sh", Data: []byte(text)}
		if batch, _, err = batchscript.Read(script, nil, origin()); err != nil || len(batch.Jobs) != 2 || batch.Name != "coupled" {
			t.Errorf("the script is %+v, %v", batch, err)
		}
	}
	if scripts != 1 {
		t.Errorf("the guide has %d batch scripts", scripts)
	}
}

// blocks are the texts between a fence and the next one.
func blocks(text, fence string) (found []string) {
	for {
		_, rest, ok := strings.Cut(text, fence)
		if !ok {
			return found
		}
		block, after, _ := strings.Cut(rest, "```")
		found, text = append(found, block), after
	}
}
