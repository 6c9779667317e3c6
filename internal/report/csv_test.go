package report_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/report"
)

func TestCSV(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := report.NewCSV(&out, "job", "start", "kW")
	for _, row := range []struct {
		job   string
		start int64
		kW    float64
	}{{"1", 2000, 1}, {`a "b", c`, -1500, 0.12345}} {
		c.Text(row.job)
		c.Seconds(row.start)
		c.Number(row.kW, 3)
		c.End()
	}
	want := "job,start,kW\n1,2,1.000\n\"a \"\"b\"\", c\",-1.5,0.123\n"
	if err := c.Flush(); err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space is left") }

func TestCSVTellsThatItWasNotWritten(t *testing.T) {
	t.Parallel()
	c := report.NewCSV(full{}, "job")
	if err := c.Flush(); err == nil {
		t.Error("no error")
	}
}
