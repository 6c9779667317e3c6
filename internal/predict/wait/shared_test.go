package wait_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// sharedPast reads a trace of the data that is shared beside the checkout.
func sharedPast(tb testing.TB, name string, o wait.PastOptions) []wait.Past {
	tb.Helper()
	return readPast(tb, name, sharedData(tb, "traces", name), o)
}

// sharedData reads a file of the data that is shared beside the checkout.
func sharedData(tb testing.TB, path ...string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "data", filepath.Join(path...)))
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skipf("the shared data is not here: %v", err)
	}
	return data
}

// sharedNumbers reads a packed CSV file without a header.
func sharedNumbers(tb testing.TB, path ...string) (rows [][]float64) {
	tb.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(sharedData(tb, path...)))
	if err != nil {
		tb.Fatal(err)
	}
	records, err := csv.NewReader(unpacked).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	for _, record := range records {
		var row []float64
		for _, field := range record {
			value, err := strconv.ParseFloat(field, 64)
			if err != nil {
				tb.Fatal(err)
			}
			row = append(row, value)
		}
		rows = append(rows, row)
	}
	return rows
}

func readPast(tb testing.TB, name string, data []byte, o wait.PastOptions) []wait.Past {
	tb.Helper()
	trace, err := workload.ReadSWF(bytes.NewReader(data), workload.ReadOptions{Name: name})
	if err != nil {
		tb.Fatal(err)
	}
	past, _ := wait.PastOf(trace, o)
	return past
}

// contestants are the rivals and the baselines, for tables of scores.
func contestants(tb testing.TB) []wait.Predictor {
	tb.Helper()
	return append(rivals(tb), wait.Baselines(1000)...)
}

// rivals are the predictors of this package with their default parameters.
func rivals(tb testing.TB) []wait.Predictor {
	tb.Helper()
	adaptive, err := wait.NewAdaptive(wait.DefaultParams())
	if err != nil {
		tb.Fatal(err)
	}
	bounds, err := wait.NewQBETS(wait.DefaultBoundParams())
	if err != nil {
		tb.Fatal(err)
	}
	instances, err := wait.NewIBL(wait.DefaultLearningParams())
	if err != nil {
		tb.Fatal(err)
	}
	return []wait.Predictor{adaptive, bounds, instances}
}
