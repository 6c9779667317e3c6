// Package signedtext is the form of texts that sites give each other in files: JSON of one struct, which is signed without its
// signature. A mail program may wrap lines between values, and change nothing in them.
package signedtext

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// MaxURL is the longest URL or address of one server, in bytes.
const MaxURL = 256

// Encode is the text of a struct.
func Encode(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// Message is what the signature of a text is over: all of it but the signature, to which the function points.
func Message[T any](text T, signature func(*T) *[]byte) ([]byte, error) {
	*signature(&text) = nil
	return json.Marshal(&text)
}

// Decode reads exactly what [Encode] writes, of a number of bytes at most, but for white space between values: no other keys, none
// twice, and nothing behind it. The error is of type [problems.List], and says that the file is none of what it should be.
func Decode(file, what string, text []byte, most int, into any) error {
	var wrong problems.List
	at := problems.Place{File: file}
	if len(text) > most {
		wrong.Add(at, "has more than %d bytes, so it is no %s", most, what)
		return wrong
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		wrong.Add(at, "is no %s: %s", what, protocol.EscapeText(err.Error()))
		return wrong
	}
	var given bytes.Buffer
	same, err := json.Marshal(into)
	if err == nil {
		err = json.Compact(&given, text)
	}
	if err != nil || !bytes.Equal(given.Bytes(), same) {
		wrong.Add(at, "is no %s as switchyard writes it: keys are missing, twice or in another order, or something follows; send the file itself", what)
		return wrong
	}
	return nil
}

// Places are those of the keys of a file.
func Places(file string) func(key string) problems.Place {
	return func(key string) problems.Place { return problems.Place{File: file, Key: key} }
}

// Name is the name of a site for a message, also if it is none.
func Name(name protocol.SiteName) string { return protocol.EscapeText(fmt.Sprintf("%.40s", name)) }

// CheckURL checks the length and the letters of a URL or address, which may be empty. What it names is for the configuration to check.
func CheckURL(wrong *problems.List, at problems.Place, url string, most int) {
	if err := protocol.CheckText(url); err != nil && url != "" {
		wrong.Add(at, "%v", err)
	} else if len(url) > most {
		wrong.Add(at, "has %d bytes; at most %d are allowed", len(url), most)
	}
}
