package partition

import (
	"bytes"
	"compress/gzip"
	_ "embed" // of the layout
	"fmt"
)

// The file is made, with Cobalt's simulator.xml at hand, by
//
//	go run ./testdata/cobalt <simulator.xml | gzip -9n >intrepid.csv.gz
//
//go:embed intrepid.csv.gz
var intrepid []byte

// Intrepid is the layout of the Blue Gene/P of Argonne National Laboratory, 40 racks
// with 40,960 nodes in 5 rows: the 1,467 partitions in the file
// tools/local_sim/simulator.xml of Cobalt, its resource manager. Besides those of
// [Generate] there are blocks of columns over the rows 0 and 1, some partitions that
// were made for single occasions and 40 node cards under diagnosis.
//
// This product includes software produced by UChicago Argonne, LLC under Contract
// No. DE-AC02-06CH11357 with the Department of Energy.
func Intrepid() (*Layout, error) {
	r, err := gzip.NewReader(bytes.NewReader(intrepid))
	if err != nil {
		return nil, fmt.Errorf("the layout of Intrepid: %w", err)
	}
	return Parse(r, "intrepid.csv")
}
