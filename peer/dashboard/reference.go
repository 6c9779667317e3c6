package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// reference is the description of the API as people read it. It is the same for all, and made once.
type reference struct {
	Answer  string
	Groups  []operationGroup
	Codes   []refusalCode
	Objects []object
}

// operationGroup are operations about one thing.
type operationGroup struct {
	ID, Name   string
	Operations []operation
}

// operation is a request that the peer answers.
type operation struct {
	ID, Method, Path, Summary string

	Scope      string // empty: none is needed
	Parameters []field
	Body       *content // nil: it has none
	Answers    []content
}

// content is a body, or an answer.
type content struct {
	Status   string // of an answer
	Media    string // if it is not JSON
	Means    string
	Optional bool
	Kinds    []namedKind // none: any bytes
}

// namedKind is a type, and by which name, if there are several.
type namedKind struct {
	Name string
	Kind kind
}

// kind is a type in words, with the object that it is of, if it is of one.
type kind struct{ Before, Object, ID string }

// field is one of an object, or a parameter.
type field struct {
	Name, In string
	Kind     kind
	Means    string
	Required bool
}

// object is a type that has fields.
type object struct {
	ID, Name, Means string
	Strict          bool // it has no other fields
	Fields          []field
	Values          []string // of a text that has these only
}

// refusalCode is a reason for which requests are refused.
type refusalCode struct {
	Code   view.RefusalCode
	Status int
	Means  string
}

// refusalCodes are all of them.
func refusalCodes() []refusalCode {
	codes := []refusalCode{
		{Code: view.BadRequest, Means: "The request is wrong; the reason says what."},
		{Code: view.NotFound, Means: "There is no such job, site, token or request, or the caller may not know of it. Status 405, with Allow: the path has no request with this method."},
		{Code: view.Denied, Means: "The caller may not do this, or the token lacks the scope. Status 401: no good token was shown."},
		{Code: view.NoSite, Means: "No site can run the job; sites has the reason of each."},
		{Code: view.Conflict, Means: "The job is in a state that does not allow it, as one that has ended; repeating the request does not help."},
		{Code: view.Unavailable, Means: "Not now; try again later. Status 429, with Retry-After: too many requests."},
	}
	for i := range codes {
		codes[i].Status = api.StatusOf(codes[i].Code)
	}
	return codes
}

// openAPI is what is read of the description.
type openAPI struct {
	Paths      map[string]map[string]described
	Components struct{ Schemas map[string]schema }
}

type described struct {
	ID         string `json:"operationId"`
	Summary    string
	Tags       []string
	Parameters []struct {
		Name, In, Description string
		Required              bool
		Schema                schema
	}
	Body *struct {
		Required bool
		Content  map[string]struct{ Schema *schema }
	} `json:"requestBody"`
	Responses map[string]struct {
		Description string
		Content     map[string]struct{ Schema *schema }
	}
	Security []map[string][]string
}

type schema struct {
	Ref         string `json:"$ref"`
	Title       string
	Type        schemaTypes
	Enum        []string
	Description string
	Items       *schema
	Properties  map[string]schema
	Required    []string
	Additional  any      `json:"additionalProperties"` // false: there are no others
	Any         []schema `json:"anyOf"`
	All         []schema `json:"allOf"`
}

// schemaTypes are the types that a value may have: in JSON a text, or a list of texts.
type schemaTypes []string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *schemaTypes) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*s = schemaTypes{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(s))
}

// readReference reads the description of the API.
func readReference(text []byte) (*reference, error) {
	var read openAPI
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("description of the API: %w", err)
	}
	page := &reference{Codes: refusalCodes()}
	n := 0
	byTag := map[string]*operationGroup{}
	for _, path := range slices.Sorted(maps.Keys(read.Paths)) {
		for _, method := range []string{"get", "post", "patch", "put", "delete"} {
			op, ok := read.Paths[path][method]
			if !ok {
				continue
			}
			if len(op.Tags) != 1 {
				return nil, fmt.Errorf("description of the API: %s %s has %d tags", method, path, len(op.Tags))
			}
			n++
			group := byTag[op.Tags[0]]
			if group == nil {
				group = &operationGroup{ID: "tag-" + strings.ToLower(op.Tags[0]), Name: op.Tags[0]}
				byTag[op.Tags[0]] = group
			}
			group.Operations = append(group.Operations, operationOf(method, path, &op))
		}
	}
	for _, tag := range api.Tags() {
		if group := byTag[tag]; group != nil {
			page.Groups = append(page.Groups, *group)
			delete(byTag, tag)
		}
	}
	if len(byTag) > 0 {
		return nil, errors.New("description of the API: it has tags that are not those of the package api")
	}
	for _, name := range slices.Sorted(maps.Keys(read.Components.Schemas)) {
		one := read.Components.Schemas[name]
		page.Objects = append(page.Objects, objectOf(name, &one))
	}
	page.Answer = fmt.Sprintf("The peer answers %d requests in JSON, over TCP to who shows a token or a certificate, and at its socket.", n)
	return page, nil
}

func operationOf(method, path string, d *described) operation {
	op := operation{ID: "op-" + d.ID, Method: strings.ToUpper(method), Path: path, Summary: d.Summary}
	for _, way := range d.Security {
		if scopes := way["token"]; len(scopes) == 1 {
			op.Scope = scopes[0]
		}
	}
	for i := range d.Parameters {
		p := &d.Parameters[i]
		op.Parameters = append(op.Parameters, field{Name: p.Name, In: p.In, Kind: kindOf(&p.Schema), Means: plain(p.Description), Required: p.Required})
	}
	if d.Body != nil {
		for media, one := range d.Body.Content {
			body := contentOf(media, one.Schema)
			body.Optional = !d.Body.Required
			op.Body = &body
		}
	}
	for _, status := range slices.Sorted(maps.Keys(d.Responses)) {
		for media, one := range d.Responses[status].Content {
			answer := contentOf(media, one.Schema)
			answer.Status, answer.Means = status, plain(d.Responses[status].Description)
			op.Answers = append(op.Answers, answer)
		}
	}
	return op
}

// contentOf is what a body of a media type has.
func contentOf(media string, s *schema) content {
	c := content{}
	if media != "application/json" {
		c.Media = media
	}
	switch {
	case s == nil:
	case len(s.Any) > 0:
		for i := range s.Any {
			for j := range s.Any[i].All {
				c.Kinds = append(c.Kinds, namedKind{s.Any[i].Title, kindOf(&s.Any[i].All[j])})
			}
		}
	default:
		c.Kinds = []namedKind{{"", kindOf(s)}}
	}
	return c
}

// kindOf is a type in words.
func kindOf(s *schema) kind {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return kind{Object: shortName(name), ID: objectID(name)}
	}
	switch {
	case slices.Contains(s.Type, "array") && s.Items != nil:
		of := kindOf(s.Items)
		of.Before = strings.TrimSpace("list of " + of.Before)
		return of
	case len(s.Enum) > 0:
		return kind{Before: strings.Join(s.Enum, " | ")}
	case len(s.Type) == 0:
		return kind{Before: "any"}
	}
	return kind{Before: strings.Join(s.Type, " or ")}
}

func objectOf(name string, s *schema) object {
	o := object{ID: objectID(name), Name: shortName(name), Means: plain(s.Description), Strict: s.Additional == false, Values: s.Enum}
	if s.Items != nil {
		o.Fields = []field{{Name: "(each)", Kind: kindOf(s.Items)}}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		one := s.Properties[key]
		o.Fields = append(o.Fields, field{Name: key, Kind: kindOf(&one), Means: plain(one.Description), Required: slices.Contains(s.Required, key)})
	}
	return o
}

// objectID is where an object is on the page.
func objectID(name string) string { return "type-" + strings.ReplaceAll(name, ".", "-") }

// shortName is the name of a type without its package. What requests have is strict, and a type of its own.
func shortName(name string) string {
	short := name[strings.LastIndexByte(name, '.')+1:]
	if strings.HasPrefix(name, "request.") {
		short += " (in requests)"
	}
	return short
}

// linked is a name in a comment of Go that is a link there.
var linked = regexp.MustCompile(`\[([A-Za-z][A-Za-z.]*)\]`)

// plain is a comment of Go without its links.
func plain(comment string) string { return linked.ReplaceAllString(comment, "$1") }

func (d *Dashboard) showReference(r *request) error {
	return d.show(r, http.StatusOK, "reference", frame{Title: "Reference of the API", Path: "/reference", Body: d.reference})
}
