package api

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/accounting"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var update = flag.Bool("update", false, "write openapi.json")

// operation is what the description has of a request besides its scope and path.
type operation struct {
	does    string
	query   []parameter
	headers []parameter
	body    any
	minimal bool // the body may be left out
	status  int
	answer  any            // nil: bytes, such as the output of a job
	takes   string         // media type of a body that is not JSON; empty: it is
	media   string         // of an answer of bytes; empty: any
	events  map[string]any // of an answer that is a stream, by their names; nil: it is none
}

type parameter struct {
	name, kind, means string
	many              bool
	required          bool
	values            []any // that it may have; nil: any of its kind
}

func one(name, kind, means string) parameter { return parameter{name: name, kind: kind, means: means} }

func many(name, means string) parameter {
	return parameter{name: name, kind: "string", means: means, many: true}
}

// among is the parameter with the values that it may have.
func (p parameter) among(values []any) parameter {
	p.values = values
	return p
}

// needed is the parameter as one without which the request is refused.
func (p parameter) needed() parameter {
	p.required = true
	return p
}

// words are texts as values of a parameter.
func words[T any](of []T, text func(T) string) (all []any) {
	for _, one := range texts(of, text) {
		all = append(all, one)
	}
	return all
}

// guestWords are the values of the parameter that says whether guests are wanted.
func guestWords() (all []any) {
	for _, filter := range []view.GuestFilter{view.WithoutGuests, view.OnlyGuests} {
		q := url.Values{}
		setGuests(q, filter)
		all = append(all, q.Get("guests"))
	}
	return all
}

// streamWords are the names of the streams that are output.
func streamWords() []any {
	return words(slices.DeleteFunc(protocol.Streams(), func(s protocol.Stream) bool {
		_, err := parseStream(s.String())
		return err != nil
	}), protocol.Stream.String)
}

// operations are those of the requests, by their patterns.
func operations() map[string]operation {
	accepted := func(does string) operation {
		return operation{does: does, status: http.StatusAccepted, answer: view.Done{}}
	}
	past := []parameter{
		many("user", "jobs of these users"), many("account", "of these accounts"), many("name", "of these names"),
		many("job", "jobs, arrays and elements, as 1000000000042 or 1000000000042_[1-5]"), many("site", "that ran at these sites"),
		many("origin", "that were submitted at these sites"), many("state", "that ended in these states").among(words(protocol.States(), protocol.State.String)),
		one("since", "integer", "that ended at this instant or later, in milliseconds since 1970"), one("until", "integer", "that ended before it"),
		one("guests", "string", "none: without jobs of partners; only: those alone").among(guestWords()),
	}
	requeue := accepted("Have a job, or elements of an array, start again")
	requeue.body, requeue.minimal = Requeue{}, true
	change := accepted("Change a job that has not started")
	change.body = protocol.Change{}
	cancel := accepted("Cancel a job, an array, or elements of one")
	cancel.query = []parameter{one("elements", "string", "indexes of an array, as 1-5,9")}
	return map[string]operation{
		"POST /v1/jobs":   {does: "Submit jobs, all or none. Each needs a payload with script, work_dir, stdout and stderr", body: Submission{}, status: http.StatusCreated, answer: view.Submitted{}},
		"POST /v1/quotes": {does: "Ask what every site would answer for jobs now", body: Submission{}, answer: Quoted{}},
		"GET /v1/jobs": {does: "List jobs: pending and running ones, and with all those that have ended lately", answer: view.Queue{}, query: []parameter{
			many("user", "jobs of these users"), many("name", "of these names"), many("job", "jobs, arrays and elements"),
			many("site", "that wait or run at these sites; empty: in the grid queue"), many("state", "in these states").among(words(protocol.States(), protocol.State.String)),
			one("application", "integer", "components of this application"), one("components", "boolean", "only components of applications"), one("guests", "string", "none: without jobs of partners; only: those alone").among(guestWords()),
			one("elements", "boolean", "list elements of arrays one by one"), one("after", "integer", "the next of an earlier answer"),
			one("page", "integer", "jobs of a page"), one("limit", "integer", "jobs that have ended, at most"), one("all", "boolean", "with jobs that have ended"),
		}},
		"GET /v1/jobs/{id}":          {does: "One job, array or element, live or ended", answer: view.Job{}},
		"DELETE /v1/jobs/{id}":       cancel,
		"PATCH /v1/jobs/{id}":        change,
		"POST /v1/jobs/{id}/hold":    accepted("Keep a pending job from starting"),
		"POST /v1/jobs/{id}/release": accepted("End the hold of a job"),
		"POST /v1/jobs/{id}/requeue": requeue,
		"GET /v1/jobs/{id}/wait":     {does: "Wait up to a minute for the end of a job, and answer with the job", answer: view.Job{}},
		"GET /v1/jobs/{id}/explain":  {does: "What happened to a job, in order", answer: Explanation{}},
		"GET /v1/jobs/{id}/output": {does: "The output of a job, or what is kept of it if it could not be written to its file; at the socket perhaps the path of that, as JSON. The trailers Switchyard-Missing and Switchyard-Notice say what is missing of it, and where it is kept; Switchyard-Refused is the code of an error that ended it early, as when a token ends while it is followed", query: []parameter{
			one("stream", "string", "without it stdout").among(streamWords()), one("offset", "integer", "bytes that are left out"), one("follow", "boolean", "go on until the job has ended"),
		}},
		"GET /v1/jobs/{id}/files": {does: "Files of a job that has ended, as an archive of tar; over TCP only. The trailers Switchyard-Missing and Switchyard-Notice name what is not in it", media: tarType, query: []parameter{
			many("file", "name or pattern of files below the job's directory; . is all of them").needed(),
		}},
		"POST /v1/files": {
			does: "Put the files of an archive of tar below a directory of the caller's, for jobs that are submitted then; over TCP only. Content-Length is needed, too", status: http.StatusCreated, takes: tarType, answer: view.Done{},
			query:   []parameter{one("dir", "string", "absolute path of the directory at the site; it is made if there is none").needed()},
			headers: []parameter{one(digestHeader, "string", "the SHA-256 of the body, as RFC 9530 has it: "+digestPrefix+"BASE64:").needed()},
		},
		"GET /v1/sites":                {does: "What is known of every site", answer: view.Sites{}},
		"POST /v1/sites/{site}/drain":  {does: "Have the local site take no new jobs, or a partner get none", body: Drain{}, answer: view.Done{}},
		"POST /v1/sites/{site}/resume": {does: "End the drain of a site", answer: view.Done{}},
		"GET /v1/counts":               {does: "How many jobs the site has that have not ended, of all users; up to 2 seconds old", answer: view.Counts{}},
		"GET /v1/shares":               {does: "How users stand with their shares", answer: view.Shares{}},
		"GET /v1/history":              {does: "Jobs that have ended, the last one first", answer: view.History{}, query: slices.Concat(past, []parameter{one("earlier", "boolean", "with the runs after which jobs were requeued"), one("after", "string", "the next of an earlier answer"), one("page", "integer", "jobs of a page")})},
		"GET /v1/usage":                {does: "What jobs that have ended came to", answer: view.Usage{}, query: slices.Concat(past, []parameter{many("by", "what to add up by").among(words(accounting.Properties(), func(s string) string { return s }))})},
		"GET /v1/runs":                 {does: "The run history of components", answer: view.RunHistory{}, query: []parameter{one("component", "string", "of this name"), one("all", "boolean", "of all users")}},
		"GET /v1/events": {
			does:    "What happens, as it happens",
			headers: []parameter{one(lastEventHeader, "string", "the ID of the last event of an earlier answer, to go on after it; without it only what happens from now on comes")},
			query:   []parameter{many("kind", "these kinds of events").among(words(eventstream.Kinds(), func(k eventstream.Kind) string { return string(k) })), many("job", "events about these jobs, arrays and elements"), many("user", "events about jobs of these users")},
			events: map[string]any{
				eventBegin: Begin{}, eventGap: eventstream.Gap{}, eventEnd: view.Refusal{}, string(eventstream.OfJob): eventstream.JobChange{},
				string(eventstream.OfLog): event.LogEvent{}, string(eventstream.OfSite): eventstream.SiteChange{},
			},
		},
		"GET /v1/info":      {does: "What peer this is, and as whom it knows the caller", answer: Info{}},
		"GET /v1/recovery":  {does: "What is wrong with the peer's store, if anything", answer: view.Recovery{}},
		"POST /v1/recovery": {does: "Have the peer's store go on", body: Resume{}, answer: view.Recovery{}},
		"GET /v1/plugins":   {does: "The plugins that the peer has started", answer: Plugins{}},
		"GET /v1/prices":    {does: "The prices of electricity at this site by which it quotes, for some time ahead", answer: Prices{}},
		"GET /v1/settings/changes": {
			does: "What has changed in the settings of the peer, the last change first; for users of what placing jobs depends on", answer: SettingsHistory{},
		},
		"POST /v1/reload": {does: "Read the configuration again", answer: Reloaded{}},
		"GET /v1/store": {does: "What the database holds, and what is wrong with it", answer: StoreReport{}, query: []parameter{
			one("verify", "boolean", "look also for rows that contradict each other"),
		}},
		"POST /v1/store/backup":     {does: "A snapshot of the database: a bbolt file"},
		"POST /v1/store/compact":    {does: "Make the file of the database as small as its rows", answer: Compacted{}},
		"GET /v1/tokens":            {does: "The caller's tokens that have not expired", query: []parameter{one("all", "boolean", "those of all users")}, answer: Tokens{}},
		"POST /v1/tokens":           {does: "Make a token", body: NewToken{}, status: http.StatusCreated, answer: CreatedToken{}},
		"DELETE /v1/tokens/{token}": {does: "Have a token work no more", answer: view.Done{}},
		"GET /v1/openapi.json":      {does: "This description", answer: map[string]any{}},
	}
}

const (
	schemaRef = "#/components/schemas/"
	module    = "github.com/switchyard-hpc/switchyard/peer/api"
)

// describer collects the schemas of types. A request has no other fields than those, and an answer of a later
// version may have.
type describer struct {
	schemas  map[string]any
	reflect  [2]*jsonschema.Reflector // of answers, of requests
	types    map[string]reflect.Type  // by the names of their schemas
	values   map[string][]any         // of the types that are texts, as [constantsOf] has them
	demanded map[reflect.Type]map[string]bool
}

func newDescriber(t *testing.T) *describer {
	t.Helper()
	d := &describer{schemas: map[string]any{}, types: map[string]reflect.Type{}, values: constantsOf(t), demanded: demanded(t)}
	for i, prefix := range []string{"", "request."} {
		d.reflect[i] = &jsonschema.Reflector{
			Anonymous: true, AllowAdditionalProperties: i == 0, RequiredFromJSONSchemaTags: true, // see [describer.require]
			Mapper: func(of reflect.Type) *jsonschema.Schema {
				if of == reflect.TypeFor[protocol.Payload]() { // which is written as another type
					schema, _ := d.of(t, protocol.PayloadJSON{}, i == 1).(object)
					ref, _ := schema["$ref"].(string)
					return &jsonschema.Schema{Ref: ref}
				}
				return d.asText(of)
			},
			Namer: func(t reflect.Type) string {
				if t.Name() == "" {
					return "" // the library's own
				}
				name := prefix + t.String()
				d.types[name] = t
				return name
			},
		}
		for _, dir := range typeDirs() {
			if err := d.reflect[i].AddGoComments(module, dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	return d
}

// asText is the schema of types that are written as texts, with their values if they have names; nil: it is another type.
func (d *describer) asText(t reflect.Type) *jsonschema.Schema {
	values := d.values[t.String()]
	text := t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && t.Kind() != reflect.Pointer
	if text && len(values) == 0 {
		values = wordsOf(t)
	}
	switch {
	case len(values) > 0:
		schema := object{"type": "string", "enum": values}
		for name, comment := range d.reflect[0].CommentMap {
			if strings.HasSuffix(name, "/"+t.String()) {
				schema["description"] = comment
			}
		}
		d.schemas[t.String()] = schema
		return &jsonschema.Schema{Ref: schemaRef + t.String()}
	case text:
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// of is the schema of a value's type.
func (d *describer) of(t *testing.T, value any, request bool) any {
	t.Helper()
	r := d.reflect[0]
	if request {
		r = d.reflect[1]
	}
	text, err := json.Marshal(r.ReflectFromType(reflect.TypeOf(value)))
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err = json.Unmarshal(bytes.ReplaceAll(text, []byte("#/$defs/"), []byte(schemaRef)), &schema); err != nil {
		t.Fatal(err)
	}
	if defs, ok := schema["$defs"].(map[string]any); ok {
		for name, one := range defs {
			if fields, isObject := one.(object); isObject && d.types[name] != nil && d.types[name].Kind() == reflect.Struct {
				d.require(t, fields, d.types[name], request)
			}
		}
		maps.Copy(d.schemas, defs)
	}
	delete(schema, "$defs")
	delete(schema, "$schema")
	return schema
}

// require says which fields of an object are required: of an answer those that are always there, some of them perhaps as null, and of a
// request those without which the peer refuses it.
func (d *describer) require(t *testing.T, schema object, of reflect.Type, request bool) {
	t.Helper()
	needed, sampled := d.demanded[of]
	if request && !sampled {
		t.Errorf("samples have no %s; add one in which it is", of)
	}
	fields, _ := schema["properties"].(object)
	var required []string
	for _, f := range jsonFields(of) {
		if request && needed[f.name] || !request && f.always {
			required = append(required, f.name)
		}
		if one, ok := fields[f.name].(object); ok && !request && f.always && f.of.Kind() == reflect.Pointer {
			one["type"] = []any{one["type"], "null"}
		}
	}
	if len(required) > 0 {
		schema["required"] = required
	}
}

type object = map[string]any

// describe makes the description of all requests.
func describe(t *testing.T) []byte {
	t.Helper()
	d, paths, all := newDescriber(t), object{}, operations()
	refused := object{"description": "Refused, by code and reason", "content": object{"application/json": object{"schema": d.of(t, view.Refusal{}, false)}}}
	for _, route := range (&server{}).requests() {
		op, known := all[route.pattern]
		if !known {
			t.Errorf("operations have nothing of %s", route.pattern)
			continue
		}
		delete(all, route.pattern)
		method, at, _ := strings.Cut(route.pattern, " ")
		if paths[at] == nil {
			paths[at] = object{}
		}
		described := object{
			"tags":    []string{tagOf(t, at)},
			"summary": op.does, "operationId": strings.ToLower(method) + strings.NewReplacer("/v1", "", "/", "-", "{", "", "}", "", ".", "-").Replace(at),
			"parameters": op.parameters(at), "responses": object{strconv.Itoa(max(op.status, http.StatusOK)): op.response(t, d), "default": refused},
			"security": []any{object{"token": []string{string(route.scope)}}, object{"certificate": []string{string(route.scope)}}},
		}
		if route.local {
			described["security"] = []any{object{}}
			described["description"] = "At the socket only."
		}
		if op.body != nil {
			described["requestBody"] = object{"required": !op.minimal, "content": object{"application/json": object{"schema": d.of(t, op.body, true)}}}
		}
		if op.takes != "" {
			described["requestBody"] = object{"required": true, "content": object{op.takes: object{}}}
		}
		paths[at].(object)[strings.ToLower(method)] = described //nolint:forcetypeassert // made above
	}
	for pattern := range all {
		t.Errorf("operations have %s, which is not answered", pattern)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Switchyard", "version": "1",
			"description": "The API of a peer, at its Unix socket and over TCP with a token or a certificate. Names that end in _ms are milliseconds, of instants since 1970. " +
				"Money is in millionths of a currency. New versions may add fields to answers, and values to those that are texts; a field that a request has and the peer does not know is refused.",
		},
		"paths": paths,
		"components": object{"schemas": d.schemas, "securitySchemes": object{
			"token": object{
				"type": "http", "scheme": "bearer", "description": "A token of `switchyard token create`, with the scope that is named: " + accesstokens.All().String(),
			},
			"certificate": object{"type": "mutualTLS", "description": "A certificate of a client that the site knows, with the scope that is named"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// tagOf says what the requests of a path are about.
func tagOf(t *testing.T, at string) string {
	t.Helper()
	tag := map[string]string{
		"jobs": "Jobs", "quotes": "Jobs", "files": "Files", "history": "History", "usage": "History", "runs": "History", "sites": "Sites", "counts": "Sites", "shares": "Sites", "events": "Events",
		"info": "Peer", "store": "Peer", "recovery": "Peer", "plugins": "Peer", "settings": "Peer", "prices": "Sites", "reload": "Peer", "openapi.json": "Peer", "tokens": "Tokens",
	}[strings.Split(at, "/")[2]]
	if path.Base(at) == "files" {
		tag = "Files"
	}
	if !slices.Contains(Tags(), tag) {
		t.Errorf("%s has no tag", at)
	}
	return tag
}

func (o *operation) parameters(at string) []any {
	all := []any{}
	for part := range strings.SplitSeq(at, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			all = append(all, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	for i := range o.query {
		all = append(all, o.query[i].described("query"))
	}
	for i := range o.headers {
		all = append(all, o.headers[i].described("header"))
	}
	return all
}

func (p parameter) described(in string) object {
	schema := object{"type": p.kind}
	if len(p.values) > 0 {
		schema["enum"] = p.values
	}
	if p.many {
		schema = object{"type": "array", "items": schema}
	}
	described := object{"name": p.name, "in": in, "description": p.means, "schema": schema}
	if p.required {
		described["required"] = true
	}
	return described
}

func (o *operation) response(t *testing.T, d *describer) object {
	t.Helper()
	if o.events != nil {
		return object{"description": o.means(), "content": object{"text/event-stream": object{"schema": object{"anyOf": o.bodies(t, d)}}}}
	}
	if o.answer == nil {
		return object{"description": "Bytes", "content": object{cmp.Or(o.media, "application/octet-stream"): object{}}}
	}
	return object{"description": "Done", "content": object{"application/json": object{"schema": d.of(t, o.answer, false)}}}
}

// means says what the events of a stream are.
func (*operation) means() string {
	return "Server-sent events: begin is the first; job, log and site are what happens; gap says that events before it are not kept any more; " +
		"end is the last, if the peer ends the stream, and says why. The data of each is one line of JSON, of the schema with its name as title."
}

// bodies are the schemas of the events of a stream, with their names.
func (o *operation) bodies(t *testing.T, d *describer) (all []any) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(o.events)) {
		schema, _ := d.of(t, o.events[name], false).(object)
		all = append(all, object{"title": name, "allOf": []any{schema}})
	}
	return all
}

// The description is that of the requests that the peer answers, and of the types in them.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	want := describe(t)
	if *update {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(openAPI, want) {
		t.Error("openapi.json is not that of the types; write it: go test ./peer/api -run TestOpenAPI -update")
	}
}

// Each request refuses parameters that it does not know, before it does anything, and the description has those that it knows.
func TestParametersAreDescribed(t *testing.T) {
	t.Parallel()
	for pattern, op := range operations() {
		var names []string
		for _, p := range op.query {
			names = append(names, p.name)
		}
		slices.Sort(names)
		method, at, _ := strings.Cut(pattern, " ")
		at = strings.NewReplacer("{id}", "1", "{site}", "a", "{token}", "t").Replace(at)
		got := ask(t, false, caller{user: "root", admin: true}, method, at+"?no-such=1")
		known := cmp.Or(strings.Join(names, ", "), "none with this request")
		if got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), "use "+known+"\"") {
			t.Errorf("%s: %d %s, want %d and %s", pattern, got.Code, got.Body, http.StatusBadRequest, known)
		}
	}
}

// A value that a parameter cannot have is refused on every request alike, and says what it can be.
func TestValuesOfParameters(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"GET /v1/jobs/1/output?follow=yes":       `follow: invalid value \"yes\"; use true or false`,
		"GET /v1/jobs/1/output?follow=1&follow=": "follow: is given 2 times; give it once",
		"GET /v1/jobs/1/output?offset=-1":        `offset: invalid value \"-1\"; use a number of bytes`,
		"GET /v1/jobs/1/output?stream=out":       `stream: invalid value \"out\"; use stdout or stderr`,
		"GET /v1/history?earlier=yes":            `earlier: invalid value \"yes\"; use true or false`,
		"GET /v1/runs?all=all":                   `all: invalid value \"all\"; use true or false`,
		"GET /v1/tokens?all=":                    `all: invalid value \"\"; use true or false`,
		"GET /v1/store?verify=yes":               `verify: invalid value \"yes\"; use true or false`,
		"GET /v1/jobs?state=PD":                  `state: invalid value \"PD\"; use PENDING, RUNNING, `,
		"GET /v1/jobs?user=ann;all=true":         "invalid parameters after ?: ",
		"DELETE /v1/jobs/1?elements=":            "elements: ",
	} {
		method, at, _ := strings.Cut(request, " ")
		got := ask(t, false, caller{user: "root", admin: true}, method, at)
		if got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s: %d %s, want %d and %s", request, got.Code, got.Body, http.StatusBadRequest, want)
		}
	}
}

// fill makes a value of a schema of the description: texts and bytes hold the word.
func fill(t *testing.T, schema object, word string) any {
	t.Helper()
	switch kind, _ := schema["type"].(string); kind {
	case "string":
		if schema["contentEncoding"] == "base64" {
			return base64.StdEncoding.EncodeToString([]byte(word))
		}
		return word
	case "array":
		items, _ := schema["items"].(object)
		return []any{fill(t, items, word)}
	case "boolean":
		return true
	default:
		t.Fatalf("%v is no schema of a text, bytes, an array or a boolean", schema)
		return nil
	}
}

// Who makes a payload from nothing but the description has it decoded as meant.
func TestPayloadOfDescriptionIsDecoded(t *testing.T) {
	t.Parallel()
	var described struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]object }
		}
	}
	if err := json.Unmarshal(openAPI, &described); err != nil {
		t.Fatal(err)
	}
	jobs := described.Components.Schemas["request.protocol.Job"].Properties["payload"]
	name, _ := jobs["$ref"].(string)
	payload := object{}
	for field, schema := range described.Components.Schemas[strings.TrimPrefix(name, schemaRef)].Properties {
		if schema["$ref"] == nil {
			payload[field] = fill(t, schema, "/a=ü")
		}
	}
	text, err := json.Marshal(object{"jobs": []any{object{"spec": object{"cpus": 1, "wall_time_ms": 1000}, "payload": payload}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeSubmission(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	want := &protocol.Payload{
		Script: []byte("/a=ü"), Args: []string{"/a=ü"}, Env: []string{"/a=ü"}, WorkDir: "/a=ü", Stdout: "/a=ü", Stderr: "/a=ü", Input: "/a=ü", AppendOutput: true,
	}
	if !reflect.DeepEqual(got.Jobs[0].Payload, want) {
		t.Errorf("got %+v, want %+v", got.Jobs[0].Payload, want)
	}
}

// The overview of the package names each request.
func TestOverviewHasEachRequest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for pattern := range operations() {
		method, at, _ := strings.Cut(pattern, " ")
		if line := fmt.Sprintf("//\t%-6s %s ", method, at); !bytes.Contains(text, []byte(line)) {
			t.Errorf("doc.go has no line for %s", pattern)
		}
	}
}
