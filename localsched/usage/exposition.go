package usage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// sample is a line of Prometheus' text format: the value of one series.
type sample struct {
	name   string
	labels []label
	value  float64
}

type label struct{ name, value string }

// label is the value of a label; empty when there is none.
func (s sample) label(name string) string {
	for _, l := range s.labels {
		if l.name == name {
			return l.value
		}
	}
	return ""
}

// The bounds of what an exporter may tell.
const (
	maxExposition = 8 << 20 // bytes; a large node tells of half a megabyte
	maxLine       = 64 << 10
)

// parseExposition reads Prometheus' text format and hands the samples on whose names are
// wanted. Of the format it knows what exporters write: comments, empty lines, and
// name{label="value",…} value [milliseconds]. The error names the first line that is not
// such.
func parseExposition(from io.Reader, wanted func(name string) bool, take func(sample)) error {
	limited := &io.LimitedReader{R: from, N: maxExposition + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxLine)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := parseSample(line)
		if err != nil {
			return fmt.Errorf("line %d, %.60q: %w", number, line, err)
		}
		if wanted(s.name) {
			take(s)
		}
	}
	if limited.N == 0 {
		return fmt.Errorf("there are more than %d bytes; that is no exporter of one node", maxExposition)
	}
	return lines.Err()
}

// parseSample reads a line that is neither empty nor a comment.
func parseSample(line string) (s sample, err error) {
	s.name, line = cutName(line, true)
	if s.name == "" {
		return sample{}, errors.New("it does not begin with the name of a metric")
	}
	if rest, ok := strings.CutPrefix(line, "{"); ok {
		if s.labels, line, err = parseLabels(rest); err != nil {
			return sample{}, err
		}
	}
	words := strings.Fields(line)
	if len(words) < 1 || len(words) > 2 {
		return sample{}, errors.New("behind its name there must be a value and at most a time")
	}
	if s.value, err = strconv.ParseFloat(words[0], 64); err != nil {
		return sample{}, fmt.Errorf("%.30q is no value", words[0])
	}
	if len(words) == 2 {
		if _, err = strconv.ParseInt(words[1], 10, 64); err != nil {
			return sample{}, fmt.Errorf("%.30q is no time in milliseconds", words[1])
		}
	}
	return s, nil
}

// parseLabels reads what follows the opening brace, and returns what follows the closing
// one.
func parseLabels(line string) (labels []label, rest string, err error) {
	for {
		line = skipBlanks(line)
		if rest, closed := strings.CutPrefix(line, "}"); closed {
			return labels, rest, nil
		}
		var l label
		if l, line, err = parseLabel(line); err != nil {
			return nil, "", err
		}
		labels = append(labels, l)
		rest, more := strings.CutPrefix(skipBlanks(line), ",")
		if !more && !strings.HasPrefix(rest, "}") {
			return nil, "", errors.New("its labels are not parted by commas and closed by a brace")
		}
		line = rest
	}
}

// parseLabel reads name="value".
func parseLabel(line string) (l label, rest string, err error) {
	l.name, rest = cutName(line, false)
	rest, ok := strings.CutPrefix(skipBlanks(rest), "=")
	if l.name == "" || !ok {
		return label{}, "", errors.New(`its labels are not name="value"`)
	}
	l.value, rest, err = parseText(skipBlanks(rest))
	return l, rest, err
}

func skipBlanks(line string) string { return strings.TrimLeft(line, " \t") }

// parseText reads a quoted text, in which \\, \" and \n stand for other characters.
func parseText(line string) (text, rest string, err error) {
	line, ok := strings.CutPrefix(line, `"`)
	if !ok {
		return "", "", errors.New("the value of a label is not in quotes")
	}
	var out strings.Builder
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			return out.String(), line[i+1:], nil
		case c != '\\':
			out.WriteByte(c)
		default:
			i++
			at := -1
			if i < len(line) {
				at = strings.IndexByte(`\"n`, line[i])
			}
			if at < 0 {
				return "", "", errors.New(`the value of a label has a \ that is not before \, " or n`)
			}
			out.WriteByte("\\\"\n"[at])
		}
	}
	return "", "", errors.New("the value of a label does not end")
}

// cutName cuts the name of a metric, which may have colons, or of a label off a line.
func cutName(line string, colons bool) (name, rest string) {
	end := strings.IndexFunc(line, func(r rune) bool {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || colons && r == ':'
		return !letter && (r < '0' || r > '9')
	})
	if end < 0 {
		end = len(line)
	}
	if end > 0 && '0' <= line[0] && line[0] <= '9' {
		return "", line
	}
	return line[:end], line[end:]
}

// whole is a value as a whole number of so small parts; false for what cannot be one.
func whole(value, parts float64) (int64, bool) {
	const most = 1 << 60
	scaled := math.Round(value * parts)
	if !(scaled >= 0 && scaled <= most) { // also NaN
		return 0, false
	}
	return int64(scaled), true
}
