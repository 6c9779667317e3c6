package batchscript

import (
	"errors"
	"fmt"
	"strings"
)

// splitter cuts a directive into words as sbatch does: at white space, but not
// within quotes or after a backslash, and up to a word that begins with #.
type splitter struct {
	words   []string
	word    strings.Builder
	inWord  bool
	escaped bool
	quote   rune // the open quote; 0: none
	comment bool
}

func split(line string) ([]string, error) {
	var s splitter
	for _, c := range line {
		s.take(c)
	}
	s.endWord()
	switch {
	case s.quote != 0:
		return nil, fmt.Errorf("the quote %c is not closed", s.quote)
	case s.escaped:
		return nil, errors.New(
			"the backslash at the end of the line escapes nothing; a directive ends with its line")
	}
	return s.words, nil
}

func (s *splitter) take(c rune) {
	switch {
	case s.comment:
	case s.escaped:
		s.add(c)
		s.escaped = false
	case c == '\\' && s.quote != '\'':
		s.escaped, s.inWord = true, true
	case s.quote != 0:
		s.quoted(c)
	case c == '"' || c == '\'':
		s.quote, s.inWord = c, true
	case c == ' ' || c == '\t':
		s.endWord()
	case c == '#' && !s.inWord:
		s.comment = true
	default:
		s.add(c)
	}
}

func (s *splitter) quoted(c rune) {
	if c == s.quote {
		s.quote = 0
		return
	}
	s.add(c)
}

func (s *splitter) add(c rune) {
	s.word.WriteRune(c)
	s.inWord = true
}

func (s *splitter) endWord() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
		s.word.Reset()
	}
	s.inWord = false
}
