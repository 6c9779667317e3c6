package reproduce_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// small are options whose data are made up: prices with a peak in the evening, and logs
// of a few hundred jobs.
func small(t *testing.T) reproduce.Options {
	t.Helper()
	o := reproduce.Default()
	o.Data, o.Seeds, o.Jobs = madeUp(t), 1, 200
	return o
}

// madeUp is a folder with the files of the shared data, far smaller.
func madeUp(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i, area := range []string{"Indiana", "Louisiana", "Pittsburgh", "San_Diego", "Tennessee", "Texas"} {
		put(t, []byte(hourly(12, 25+4*i)), dir, "prices", "xsede-2014-06", area+".csv")
	}
	for i, area := range []string{
		"DK1", "DK2", "EE", "FI", "Kr.sand", "LT", "LV", "Molde", "Norway1", "Norway2", "Norway3", "SE1", "SE2", "SE3",
		"SE4", "Slovenia1", "Swiss_Static", "Troms", "UK_Static", "Ukraine_Static",
	} {
		put(t, packed(t, []byte(hourly(12, 20+i))), dir, "prices", "nordu-2014", area+".csv.gz")
	}
	put(t, packed(t, []byte(nordPool(12))), dir, "prices", "nordpool", "elspot-prices_2014_hourly_eur.csv.gz")
	for _, log := range []string{
		"CEA-Curie-2011-2.1-cln", "SDSC-Par-1996-3.1-cln", "SDSC-BLUE-2000-4.2-cln", "KTH-SP2-1996-2.1-cln", "SDSC-SP2-1998-4.2-cln",
		"ANL-Intrepid-2009-1.first10000", "LCG", "xsede-sample-4100",
	} {
		put(t, packed(t, trace(t, 500)), dir, "traces", log+".swf.gz")
	}
	return dir
}

func put(t *testing.T, data []byte, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func packed(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// hourly are prices in the authors' format: twice the base in the evening.
func hourly(days, base int) string {
	var b strings.Builder
	b.WriteString("\"price\"\n")
	for hour := range 24 * days {
		price := base + hour%7
		if hour%24 >= 17 && hour%24 < 22 {
			price *= 2
		}
		fmt.Fprintf(&b, "%d\n", price)
	}
	return b.String()
}

// nordPool are prices of two areas in Nord Pool's format.
func nordPool(days int) string {
	var b strings.Builder
	b.WriteString("datetime;Hours;SE1;FI\n")
	start := time.Date(2014, 1, 1, 0, 0, 0, 0, time.UTC)
	for hour := range 24 * days {
		at := start.Add(time.Duration(hour) * time.Hour)
		fmt.Fprintf(&b, "%s;%02d - %02d;%d,5;%d,25\n", at.Format("02.01.2006"), at.Hour(), (at.Hour()+1)%24, 20+hour%24, 30+hour%11)
	}
	return b.String()
}

// trace is a log of jobs that waited, of eight sites.
func trace(t *testing.T, jobs int) []byte {
	t.Helper()
	log := &workload.Trace{Header: workload.Header{" Acknowledge: nobody"}}
	for i := range jobs {
		r := workload.UnknownRecord()
		r.ID, r.Submit, r.User = int64(i)+1, protocol.Instant(i)*protocol.Instant(protocol.Minute), i%5
		r.Wait, r.Run = protocol.Duration(i%13)*protocol.Minute, protocol.Minute
		if i%20 == 0 {
			r.Run = 20 * protocol.Hour
		}
		r.Status = workload.StatusCompleted
		r.CPUs, r.ReqTime, r.Partition, r.Extra = 1, 2*r.Run, i%8+1, i%8+1
		log.Records = append(log.Records, r)
	}
	var text bytes.Buffer
	if err := workload.WriteSWF(&text, log); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// run makes exhibits.
func run(t *testing.T, o reproduce.Options, names ...string) []reproduce.Report {
	t.Helper()
	reports, err := reproduce.MCMF().Run(t.Context(), o, names, nil)
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

// values are our values in a column, by row.
func values(t *testing.T, table reproduce.Table, key string) map[string]float64 {
	t.Helper()
	for c := range table.Columns {
		if table.Columns[c].Key != key {
			continue
		}
		out := map[string]float64{}
		for _, row := range table.Rows {
			out[row.Label] = row.Cells[c].Ours.Mean
		}
		return out
	}
	t.Fatalf("%s has no column %s", table.Title, key)
	return nil
}
