package protocol

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxNameWidth is the greatest width of a number in a file name, as in Slurm.
const maxNameWidth = 10

// NamePattern is a pattern in the name of a file of a job, as sbatch(1) and srun(1) have them: %j, or %5a with a width.
type NamePattern struct {
	Letter byte   // 0: the name ends within the pattern
	Text   string // as it is written
	width  int    // least width of a number; 0: it has none
}

// Padded is a number that stands for the pattern, with zeros before it as the width asks for, up to 10 digits.
func (p NamePattern) Padded(number string) string {
	return strings.Repeat("0", max(0, min(p.width, maxNameWidth)-len(number))) + number
}

// Unknown is the error for a pattern that nothing stands for; use lists those that there are.
func (p NamePattern) Unknown(use string) error {
	if p.Letter == 0 {
		return errors.New("it ends within a pattern; write %% for a per cent sign")
	}
	return fmt.Errorf("%%%s is unknown; use %s", strings.ToValidUTF8(string([]byte{p.Letter}), "?"), use)
}

// ReplacePatterns puts what replace returns in the place of each pattern of a file name, from the left. %% is a pattern, too. The
// error is that of replace, with the name.
func ReplacePatterns(name string, replace func(NamePattern) (string, error)) (string, error) {
	var out strings.Builder
	for rest := name; ; {
		before, after, found := strings.Cut(rest, "%")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		letter := strings.TrimLeft(after, "0123456789")
		digits := len(after) - len(letter)
		p := NamePattern{Text: "%" + after[:min(len(after), digits+1)]}
		p.width, _ = strconv.Atoi(after[:digits]) // of none it is 0, and of too many digits the greatest number
		if letter != "" {
			p.Letter, letter = letter[0], letter[1:]
		}
		text, err := replace(p)
		if err != nil {
			return "", fmt.Errorf("the file name %q: %w", name, err)
		}
		out.WriteString(text)
		rest = letter
	}
}
