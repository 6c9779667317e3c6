package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxValues bounds how many values an axis has.
const maxValues = 1000

// defaultStep is the step of a range that says none.
const defaultStep = 0.1

// ParseAxis reads an axis as people write it: key=a,b,c, or key=0.7..1.3/0.1 for
// numbers, whose step is 0.1 if it is left out.
func ParseAxis(text string) (Axis, error) {
	key, values, found := strings.Cut(text, "=")
	if !found {
		return Axis{}, fmt.Errorf("%q is not of the form key=a,b,c", text)
	}
	axis := Axis{Key: strings.TrimSpace(key)}
	if !slices.Contains(SettableKeys(), axis.Key) && !strings.Contains(axis.Key, ".") {
		return axis, unsettable(axis.Key)
	}
	var err error
	axis.Values, err = ParseValues(values)
	if err != nil {
		return axis, fmt.Errorf("%s: %w", axis.Key, err)
	}
	return axis, nil
}

// ParseValues reads the values of an axis: a list, or a range of numbers.
func ParseValues(text string) ([]string, error) {
	if low, rest, isRange := strings.Cut(text, ".."); isRange {
		return parseRange(low, rest)
	}
	var values []string
	for value := range strings.SplitSeq(text, ",") {
		value = strings.TrimSpace(value)
		switch {
		case value == "":
			return nil, fmt.Errorf("an empty value in %q", text)
		case slices.Contains(values, value):
			return nil, fmt.Errorf("%s comes twice", value)
		}
		values = append(values, value)
	}
	return values, nil
}

// parseRange lists the numbers of low..high/step. They are computed in units of
// the last decimal place, so that 0.1 three times is 0.3.
func parseRange(low, rest string) ([]string, error) {
	high, step, hasStep := strings.Cut(rest, "/")
	if !hasStep {
		step = strconv.FormatFloat(defaultStep, 'g', -1, 64)
	}
	var numbers [3]float64
	places := 0
	for i, word := range []string{low, high, step} {
		word = strings.TrimSpace(word)
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || !(math.Abs(x) <= 1e9) {
			return nil, fmt.Errorf("%q is no number of a range like 0.7..1.3/0.1", word)
		}
		_, decimals, _ := strings.Cut(word, ".")
		numbers[i], places = x, max(places, min(9, len(decimals)))
	}
	unit := math.Pow10(places)
	from, to, by := math.Round(numbers[0]*unit), math.Round(numbers[1]*unit), math.Round(numbers[2]*unit)
	switch {
	case by <= 0:
		return nil, errors.New("the step of a range must be above 0")
	case from > to:
		return nil, fmt.Errorf("the range ends at %s, below its beginning", strings.TrimSpace(high))
	case (to-from)/by >= maxValues:
		return nil, fmt.Errorf("the range has more than %d values", maxValues)
	}
	var values []string
	for x := from; x <= to; x += by {
		values = append(values, strconv.FormatFloat(x/unit, 'f', -1, 64))
	}
	return values, nil
}
