package protocol

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckText says what is wrong with a name that people choose, if anything: it must be of
// characters that they see, since others may take it for another one, or for the lines around
// it. The error names the first such character.
func CheckText(s string) error {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return fmt.Errorf("byte %d is not UTF-8; use printable text", i+1)
			}
		}
		if !visible(r) {
			return fmt.Errorf("the character %U (byte %d) cannot be seen, or changes how others are shown; use printable text", r, i+1)
		}
	}
	return nil
}

// checkLabel returns what is wrong with a text that people choose, of at most the given bytes.
// It may be empty.
func checkLabel(what, s string, most int) error {
	if len(s) > most {
		return fmt.Errorf("%s %.80q has %d bytes; use at most %d", what, s, len(s), most)
	}
	if err := CheckText(s); err != nil {
		return fmt.Errorf("%s %+.80q: %w", what, s, err)
	}
	return nil
}

// EscapeText makes text of other people, sites or programs harmless to print in a line: a
// character that [CheckText] refuses stands there by its number, as \u202e.
func EscapeText(s string) string {
	if CheckText(s) == nil {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case visible(r):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// visible says whether a character shows as itself and leaves its neighbours alone. No
// control or format character does, nor one that turns the direction of text, is of no
// width, is another blank than the space, or picks a variant of the character before it.
func visible(r rune) bool {
	const brailleBlank, replacement = '\u2800', '\ufffd'
	return unicode.IsPrint(r) && r != brailleBlank && r != replacement &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Count is a number of things in words, as "1 job" and "2 jobs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
