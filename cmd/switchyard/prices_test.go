package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const tableOfPrices = "datetime;Hours;EE;FI\n30.03.2014;01 - 02;25,92;26\n30.03.2014;02 - 03;;\n30.03.2014;03 - 04;-1,5;27\n30.03.2014;04 - 05;0;28\n"

func TestPricesTable(t *testing.T) {
	t.Parallel()
	path := tempFile(t, "elspot.csv", tableOfPrices)
	nordpool := []string{"prices", path, "--format", "nordpool", "--zone", "Europe/Oslo", "--currency", "EUR"}
	code, out, errs := cli(t, append(nordpool, "--area", "EE", "--from", "2014-03-30 01:30", "--until", "2014-03-30T04:00:00+02:00")...)
	want := "" +
		"AREA  START                     LENGTH  EUR/MWh\n" +
		"EE    2014-03-30 01:00 +01:00  1:00:00    25.92\n" +
		"EE    2014-03-30 03:00 +02:00  1:00:00    -1.50\n"
	if code != 0 || out != want {
		t.Errorf("exit code %d, got\n%s%s\nwant\n%s", code, out, errs, want)
	}
	code, _, errs = cli(t, append(nordpool, "--area", "SE1")...)
	if code != exitNotFound || !strings.Contains(errs, `"SE1"; there are EE, FI`) {
		t.Errorf("no such area: exit code %d, %s", code, errs)
	}
	nordpool[5] = "Europe/Helsinki"
	code, _, errs = cli(t, nordpool...)
	if code != exitFailed || !strings.Contains(errs, path+":4: 2014-03-30 03:00 does not exist in Europe/Helsinki") {
		t.Errorf("the wrong zone: exit code %d, %s", code, errs)
	}
}

// TestPricesOfOneArea: another area of the file may be as it is; of this one gaps are
// mistakes, or said.
func TestPricesOfOneArea(t *testing.T) {
	t.Parallel()
	const table = "datetime;Hours;FI;FRE\n01.01.2016;00 - 01;1;7\n01.01.2016;01 - 02;2;\n01.01.2016;02 - 03;3;\n01.01.2016;03 - 04;4;8\n"
	show := func(text string, more ...string) result {
		return command(t, "", "", append([]string{
			"prices", tempFile(t, "elspot.csv", text), "--format", "nordpool", "--zone", "Europe/Oslo", "--currency", "EUR", "--no-header",
		}, more...)...)
	}
	if got := show(table, "--area", "FI"); got.code != 0 || got.stderr != "" || strings.Count(got.stdout, "\n") != 4 {
		t.Errorf("FI: %+v", got)
	}
	const wrong = "elspot.csv:5: FRE has no price from 2016-01-01 01:00 +01:00 until 2016-01-01 03:00 +01:00"
	for _, args := range [][]string{{"--area", "FRE"}, {}} {
		if got := show(table, args...); got.code != exitFailed || got.stdout != "" || !strings.Contains(got.stderr, wrong) {
			t.Errorf("%q: %+v", args, got)
		}
	}
	const said = "switchyard: FRE has no price for 2:00:00, the first time from 2016-01-01 01:00 +01:00 until 2016-01-01 03:00 +01:00\n"
	if got := show(table, "--allow-gaps"); got.code != 0 || got.stderr != said || strings.Count(got.stdout, "\n") != 6 {
		t.Errorf("with gaps: %+v", got)
	}
	if got := show(table, "--area", "NO1"); got.code != exitNotFound || !strings.Contains(got.stderr, `"NO1"; there are FI, FRE`) {
		t.Errorf("NO1: %+v", got)
	}
}

// curvesRead is what is read of the JSON of prices.
type curvesRead struct {
	Currency string
	Curves   []struct {
		Area  string
		Slots []map[string]int64
	}
}

// What --csv prints is read again as the same prices.
func TestPricesCSV(t *testing.T) {
	t.Parallel()
	first := []string{"prices", tempFile(t, "elspot.csv", tableOfPrices), "--format", "nordpool", "--zone", "Europe/Oslo", "--currency", "EUR"}
	read := func(args ...string) (all curvesRead) {
		code, out, errs := cli(t, append(args, "--json")...)
		if err := json.Unmarshal([]byte(out), &all); code != 0 || err != nil {
			t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs)
		}
		return all
	}
	code, text, errs := cli(t, append(first, "--csv")...)
	if code != 0 || !strings.HasPrefix(text, "start,end,area,price_eur_per_mwh\n2014-03-30T00:00:00Z,2014-03-30T01:00:00Z,EE,25.92\n") {
		t.Fatalf("exit code %d\n%s%s", code, text, errs)
	}
	want := read(first...)
	if got := read("prices", tempFile(t, "again.csv", text), "--format", "csv"); !reflect.DeepEqual(got, want) || len(want.Curves) != 2 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The name of a file that names no area stands for it.
func TestPricesHourly(t *testing.T) {
	t.Parallel()
	path := tempFile(t, "Indiana.csv", "\"price\"\n26.1\n-1.72")
	code, out, errs := cli(t, "prices", path, "--format", "hourly", "--zone", "America/Indiana/Indianapolis",
		"--start", "2014-06-01 00:00", "--currency", "USD", "--no-header")
	want := "Indiana  2014-06-01 00:00 -04:00  1:00:00    26.10\nIndiana  2014-06-01 01:00 -04:00  1:00:00    -1.72\n"
	if strings.Join(strings.Fields(out), " ") != strings.Join(strings.Fields(want), " ") || code != 0 {
		t.Errorf("exit code %d, got\n%s%s\nwant\n%s", code, out, errs, want)
	}
}

func TestPricesConfig(t *testing.T) {
	t.Parallel()
	prices := tempFile(t, "elspot.csv", tableOfPrices)
	config := tempFile(t, "prices.toml", fmt.Sprintf("tax = 10\n[[file]]\npath = %q\nformat = \"nordpool\"\nzone = \"Europe/Oslo\"\ncurrency = \"EUR\"\n", prices))
	code, out, errs := cli(t, "prices", "--config", config, "--area", "EE", "--no-header")
	if code != 0 || !strings.Contains(out, "28.512") || !strings.Contains(out, "2014-03-30 00:00 +00:00") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	contract := tempFile(t, "tariff.toml", "area = \"hall\"\ncurrency = \"EUR\"\nzone = \"Europe/Berlin\"\nprice = 100\n"+
		"[[period]]\nhours = \"22:00-06:00\"\nprice = 50\n")
	code, out, errs = cli(t, "prices", "--config", contract, "--feed", "tariff", "--from", "2026-03-29", "--until", "2026-03-30",
		"--zone", "Europe/Berlin", "--no-header")
	if code != 0 || strings.Count(out, "\n") != 23 || strings.Count(out, " 50.00\n") != 7 {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if code, out, errs = cli(t, "prices", "--config", contract, "--feed", "tariff", "--no-header"); code != 0 || strings.Count(out, "\n") < 24 {
		t.Errorf("from now on: exit code %d\n%s%s", code, out, errs)
	}
	wrong := tempFile(t, "wrong.toml", "prize = 1\n")
	code, _, errs = cli(t, "prices", "--config", wrong, "--feed", "tariff")
	if code != exitFailed || !strings.Contains(errs, "wrong.toml:1: prize: unknown key; did you mean \"price\"?") {
		t.Errorf("a wrong configuration: exit code %d, %s", code, errs)
	}
}

func TestPricesRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		args []string
	}{
		{"give one price file", nil},
		{"give one price file", []string{"x", "--config", "y"}},
		{"--format is missing", []string{"x"}},
		{"--zone is missing", []string{"x", "--format", "nordpool", "--currency", "EUR"}},
		{"--zone: invalid time zone \"Mars\"", []string{"x", "--format", "nordpool", "--zone", "Mars"}},
		{"invalid --max-price; use a number from 0 to 1000000", []string{"x", "--format", "csv", "--max-price", "2000000"}},
		{"--start: \"noon\" is no date", []string{"x", "--format", "hourly", "--start", "noon"}},
		{"--from: \"noon\" is no date", []string{"x", "--format", "csv", "--from", "noon"}},
		{"--feed: unknown value \"wind\"", []string{"--config", "x", "--feed", "wind"}},
	} {
		code, _, errs := cli(t, append([]string{"prices"}, c.args...)...)
		if code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit code %d, %s", c.args, code, errs)
		}
	}
	missing := filepath.Join(t.TempDir(), "none.csv")
	if code, _, errs := cli(t, "prices", missing, "--format", "csv"); code != exitNotFound || !strings.Contains(errs, missing) {
		t.Errorf("a missing file: exit code %d, %s", code, errs)
	}
}

// The built-in feeds as plugins of their own pass the suite, and say what is wrong with
// their configuration.
func TestStandaloneFeeds(t *testing.T) {
	t.Parallel()
	binary := builtInPlugin(t, "tariff")
	config := tempFile(t, "tariff.toml", "area = \"hall\"\ncurrency = \"EUR\"\nzone = \"Europe/Berlin\"\nprice = 100\n"+
		"[[period]]\ndays = \"sun\"\nhours = \"22:15-06:00\"\nprice = 50\n")
	if c := checkPlugin(t, binary, "--config", config); c.Kind != "price" || len(c.Cases) < 9 {
		t.Errorf("checked %+v", c)
	}
	binary = builtInPlugin(t, "pricefile")
	prices := tempFile(t, "elspot.csv", tableOfPrices)
	table := fmt.Sprintf("[[file]]\npath = %q\nformat = \"nordpool\"\nzone = \"Europe/Oslo\"\ncurrency = \"EUR\"\n", prices)
	if c := checkPlugin(t, binary, "--config", tempFile(t, "prices.toml", table)); c.Kind != "price" || len(c.Cases) < 9 {
		t.Errorf("checked %+v", c)
	}
	code, out, _ := cli(t, "plugin", "info", binary, "--config", tempFile(t, "prices.toml", table), "--json")
	if code != 0 || !strings.Contains(out, `"switchyard.price.v1.Feed"`) {
		t.Errorf("info: exit code %d\n%s", code, out)
	}
	code, _, errs := cli(t, "plugin", "check", binary, "--config", tempFile(t, "wrong.toml", table+"zome = 1\n"))
	if code != exitFailed || !strings.Contains(errs, "wrong.toml:6: file[1].zome: unknown key") {
		t.Errorf("a wrong configuration: exit code %d\n%s", code, errs)
	}
}
