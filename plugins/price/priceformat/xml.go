package priceformat

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// element is an element of an XML document, with the line where it begins. Its name
// is without the namespace.
type element struct {
	name  string
	line  int
	text  string
	inner []*element
}

// maxDepth bounds how deep elements lie within others: ENTSO-E's have five.
const maxDepth = 32

// parseXML reads a document. The error comes with its line.
func parseXML(text []byte) (root *element, line int, err error) {
	decoder := xml.NewDecoder(bytes.NewReader(text))
	open := []*element{{}}
	for {
		token, err := decoder.Token()
		line, _ = decoder.InputPos()
		switch {
		case errors.Is(err, io.EOF) && len(open[0].inner) > 0:
			return open[0].inner[0], line, nil
		case errors.Is(err, io.EOF):
			return nil, line, errors.New("the document is empty")
		case err != nil:
			return nil, line, notXML(err)
		}
		last := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			if len(open) > maxDepth {
				return nil, line, fmt.Errorf("its elements lie more than %d deep in each other", maxDepth)
			}
			begun := &element{name: token.Name.Local, line: line}
			last.inner = append(last.inner, begun)
			open = append(open, begun)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 1 && len(last.inner) == 0 {
				last.text += string(token)
			}
		}
	}
}

// notXML says why, without the line, which the caller adds.
func notXML(err error) error {
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return errors.New(syntax.Msg)
	}
	return err
}

// find returns the first inner element of the name, at the end of a path; nil: there is
// none.
func (e *element) find(path ...string) *element {
	at := e
	for _, name := range path {
		next := at.all(name)
		if len(next) == 0 {
			return nil
		}
		at = next[0]
	}
	return at
}

// all returns the inner elements of the name.
func (e *element) all(name string) (found []*element) {
	for _, inner := range e.inner {
		if inner.name == name {
			found = append(found, inner)
		}
	}
	return found
}

// value is the text of an element at the end of a path, and its line; empty, with the
// line of e, if there is none.
func (e *element) value(path ...string) (text string, line int) {
	found := e.find(path...)
	if found == nil {
		return "", e.line
	}
	return strings.TrimSpace(found.text), found.line
}
