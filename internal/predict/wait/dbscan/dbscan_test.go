package dbscan_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait/dbscan"
)

// plane and space are what scikit-learn's labels in the shared data were made with.
func plane() dbscan.Density { return dbscan.Density{Reach: 0.04, MinPoints: 2} }
func space() dbscan.Density { return dbscan.Density{Reach: 0.3, MinPoints: 5} }

// reference reads a file of numbers of the data that is shared beside the checkout.
func reference(tb testing.TB, name string) [][]float64 {
	tb.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "data", "reference", "wait", name))
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skipf("the shared data is not here: %v", err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	var rows [][]float64
	lines := bufio.NewScanner(unpacked)
	for lines.Scan() {
		var row []float64
		for field := range strings.SplitSeq(lines.Text(), ",") {
			value, err := strconv.ParseFloat(field, 64)
			if err != nil {
				tb.Fatalf("%s, line %d: %v", name, len(rows)+1, err)
			}
			row = append(row, value)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return rows
}

func labels(tb testing.TB, name string) (labels []int) {
	tb.Helper()
	for _, row := range reference(tb, name) {
		labels = append(labels, int(row[0]))
	}
	return labels
}

// sortedPlane labels points of a plane by way of their order, and returns the
// labels in the order of the points.
func sortedPlane(points [][]float64, density dbscan.Density) []int {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(points[a][0], points[b][0]) })
	x, y := make([]float64, len(points)), make([]float64, len(points))
	for at, i := range order {
		x[at], y[at] = points[i][0], points[i][1]
	}
	found := make([]int, len(points))
	for at, label := range dbscan.Sorted(x, y, density) {
		found[order[at]] = label
	}
	return found
}

// renamed numbers clusters by their first appearance.
func renamed(labels []int) []int {
	names := map[int]int{dbscan.Noise: dbscan.Noise}
	out := make([]int, len(labels))
	for i, label := range labels {
		if _, ok := names[label]; !ok {
			names[label] = len(names) - 1
		}
		out[i] = names[label]
	}
	return out
}

func TestPlaneAsScikitLearn(t *testing.T) {
	t.Parallel()
	points := reference(t, "dbscan2d_points.csv.gz")
	want := renamed(labels(t, "dbscan2d_labels.csv.gz"))
	if got := renamed(sortedPlane(points, plane())); !slices.Equal(got, want) {
		t.Error("the labels of sorted points differ")
	}
	if got := renamed(dbscan.Points(points, plane())); !slices.Equal(got, want) {
		t.Error("the labels of points in general differ")
	}
}

// TestSpaceAsScikitLearn has border points: there the names are equal too.
func TestSpaceAsScikitLearn(t *testing.T) {
	t.Parallel()
	points := reference(t, "dbscan_2000x8.csv.gz")
	if got := dbscan.Points(points, space()); !slices.Equal(got, labels(t, "dbscan_labels_eps0.3_min5.csv.gz")) {
		t.Error("the labels differ")
	}
}

func TestByHand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		x, y    []float64
		density dbscan.Density
		want    []int
	}{
		"nothing":                      {nil, nil, dbscan.Density{Reach: 1, MinPoints: 2}, []int{}},
		"alone":                        {[]float64{3}, []float64{4}, dbscan.Density{Reach: 1, MinPoints: 2}, []int{-1}},
		"alone is enough":              {[]float64{3}, []float64{4}, dbscan.Density{Reach: 1, MinPoints: 1}, []int{0}},
		"at the very reach":            {[]float64{0, 0.5}, []float64{0, 0.5}, dbscan.Density{Reach: 1, MinPoints: 2}, []int{0, 0}},
		"just beyond":                  {[]float64{0, 0.5}, []float64{0, 0.625}, dbscan.Density{Reach: 1, MinPoints: 2}, []int{-1, -1}},
		"a chain":                      {[]float64{0, 1, 2, 3}, []float64{0, 0, 0, 0}, dbscan.Density{Reach: 1, MinPoints: 3}, []int{0, 0, 0, 0}},
		"the first of two takes a rim": {[]float64{0, 0, 1, 2, 2}, []float64{0, 0, 0, 0, 0}, dbscan.Density{Reach: 1, MinPoints: 3}, []int{0, 0, 0, 0, 0}},
		"a rim between two": {
			[]float64{0, 0, 0, 1, 2, 2, 2},
			[]float64{0, 0, 0, 0, 0, 0, 0},
			dbscan.Density{Reach: 1, MinPoints: 8},
			[]int{-1, -1, -1, -1, -1, -1, -1},
		},
		"apart in y": {[]float64{0, 0, 0, 0}, []float64{0, 9, 0, 9}, dbscan.Density{Reach: 1, MinPoints: 2}, []int{0, 1, 0, 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := make([][]float64, len(test.x))
			for i := range points {
				points[i] = []float64{test.x[i], test.y[i]}
			}
			if got := dbscan.Sorted(test.x, test.y, test.density); !slices.Equal(got, test.want) {
				t.Errorf("sorted: %v, want %v", got, test.want)
			}
			if got := dbscan.Points(points, test.density); !slices.Equal(got, test.want) {
				t.Errorf("in general: %v, want %v", got, test.want)
			}
		})
	}
}

// TestDefinition holds the labels against the definition: core points within
// reach share a cluster, a rim lies beside a core point of its cluster, and only
// what is beside no core point is noise. Both ways agree.
func TestDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// Coordinates in eighths, so that distances are exact.
		eighth := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 40).Draw(t, "eighths")) / 8 })
		points := rapid.SliceOfN(rapid.SliceOfN(eighth, 2, 2), 0, 40).Draw(t, "points")
		density := dbscan.Density{Reach: 0.5, MinPoints: rapid.IntRange(1, 5).Draw(t, "points needed")}
		slices.SortStableFunc(points, func(a, b []float64) int { return cmp.Compare(a[0], b[0]) })
		got := dbscan.Points(points, density)
		if other := sortedPlane(points, density); !slices.Equal(got, other) {
			t.Fatalf("in general %v, sorted %v", got, other)
		}
		beside := func(i, j int) bool {
			return math.Abs(points[i][0]-points[j][0])+math.Abs(points[i][1]-points[j][1]) <= density.Reach
		}
		core := make([]bool, len(points))
		for i := range points {
			count := 0
			for j := range points {
				if beside(i, j) {
					count++
				}
			}
			core[i] = count >= density.MinPoints
		}
		for i := range points {
			reached := false
			for j := range points {
				if !core[j] || !beside(i, j) {
					continue
				}
				reached = reached || got[i] == got[j]
				if got[i] == dbscan.Noise || core[i] && got[i] != got[j] {
					t.Fatalf("point %d has label %d beside core point %d of %d", i, got[i], j, got[j])
				}
			}
			if got[i] != dbscan.Noise && !reached {
				t.Fatalf("point %d is in cluster %d without a core point beside it", i, got[i])
			}
		}
	})
}

func BenchmarkSorted(b *testing.B) {
	points := reference(b, "dbscan2d_points.csv.gz")
	slices.SortStableFunc(points, func(a, b []float64) int { return cmp.Compare(a[0], b[0]) })
	x, y := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		x[i], y[i] = p[0], p[1]
	}
	for b.Loop() {
		dbscan.Sorted(x, y, plane())
	}
	b.ReportMetric(17.6e6*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "of-scikit-learn")
}

func BenchmarkPoints(b *testing.B) {
	points := reference(b, "dbscan_2000x8.csv.gz")
	for b.Loop() {
		dbscan.Points(points, space())
	}
	b.ReportMetric(28e6*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "of-scikit-learn")
}
