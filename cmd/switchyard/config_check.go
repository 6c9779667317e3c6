package main

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/price"
)

// knowsArea says why a feed does not know an area.
func knowsArea(described price.Description, area string) error {
	if slices.Contains(described.Areas, area) {
		return nil
	}
	return unknownArea(area, described.Areas)
}
