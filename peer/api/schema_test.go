package api

import (
	"context"
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// typeDirs are the directories of the packages whose types are in requests and answers.
func typeDirs() []string {
	return []string{".", "../view", "../event", "../eventstream", "../accesstokens", "../../protocol"}
}

// constantsOf are the values of the constants of each type that is a text, as the sources have them, by package and name.
func constantsOf(t *testing.T) map[string][]any {
	t.Helper()
	found, err := readConstants()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var readConstants = sync.OnceValues(func() (map[string][]any, error) {
	found := map[string][]any{}
	for _, dir := range typeDirs() {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok {
					return true
				}
				of, named := spec.Type.(*ast.Ident)
				for _, value := range spec.Values {
					literal, isText := value.(*ast.BasicLit)
					if named && isText && literal.Kind == token.STRING {
						text, _ := strconv.Unquote(literal.Value)
						name := file.Name.Name + "." + of.Name
						found[name] = append(found[name], text)
					}
				}
				return true
			})
		}
	}
	return found, nil
})

// wordsOf are the texts of a type of numbers that are written as texts and read again. There are none if too many numbers have one.
func wordsOf(t reflect.Type) (words []any) {
	if t.Kind() != reflect.Uint8 {
		return nil
	}
	for n := range 1 << 8 {
		value, back := reflect.New(t), reflect.New(t)
		value.Elem().SetUint(uint64(n))
		writes, _ := reflect.TypeAssert[encoding.TextMarshaler](value)
		reads, ok := reflect.TypeAssert[encoding.TextUnmarshaler](back)
		if !ok {
			return nil
		}
		text, err := writes.MarshalText()
		if err == nil && reads.UnmarshalText(text) == nil && back.Elem().Uint() == uint64(n) {
			words = append(words, string(text))
		}
	}
	return words
}

// jsonField is a field of an object as encoding/json writes it.
type jsonField struct {
	name   string
	of     reflect.Type
	always bool // also if it is zero
}

// jsonFields are the fields of a struct.
func jsonFields(t reflect.Type) (fields []jsonField) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields = append(fields, jsonField{name, f.Type, options == ""})
	}
	return fields
}

// sample is a body that a request accepts. Between them they have each object that may be in a body.
type sample struct {
	request string
	of      reflect.Type
	body    string
}

func samples() []sample {
	submission := reflect.TypeFor[Submission]()
	jobs := func(more string) []sample {
		body := `{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1000},"payload":{"script":"IyEvYmluL3NoCg==","work_dir":"L2E=","stdout":"L2Iv","stderr":"L2I="}` + more
		return []sample{{"POST /v1/quotes", submission, body}, {"POST /v1/jobs", submission, body}}
	}
	return slices.Concat(
		jobs(`}]}`),
		jobs(`,"array":{"indexes":"1-5"},"conditions":{"dependency":{"terms":[{"kind":"afterok","job":1000000000001}]}}}]}`),
		jobs(`,"conditions":{"hold":"user","dependency":{"terms":[{"kind":"singleton"}]}},"mail":{"events":["END"],"to":"ann@x"},"export":{"names":["A"]}}]}`),
		[]sample{
			{"POST /v1/quotes", submission, `{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1000,"layout":{"tasks":1},"resources":[{"name":"gpu","count":1,"per":"node"}]},` +
				`"payload":{"shell":{"umask":2,"limits":[{"name":"NOFILE","soft":9}]},"limit_signal":{"signal":10},"staging":{"out":["a"]}}}]}`},
			{"POST /v1/quotes", submission, `{"jobs":[{"spec":{"cpus":4,"wall_time_ms":1000},"component":{"behavior":{"mflop":1},"shapes":[` +
				`{"cpus":8,"wall_time_ms":900}]}}],"application":{"name":"a","rates":[{"from_ms":0,"per_hour_micro":1}]}}`},
			{"POST /v1/quotes", submission, `{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1000},"payload":{"staging":{` +
				`"bytes":1,"sha256":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32],"inputs":[{"name":"a","mode":420}]}}}]}`},
			{"PATCH /v1/jobs/1000000000001", reflect.TypeFor[protocol.Change](), `{"dependency":{"terms":[{"kind":"after","job":1000000000002}]},"sites":["a"]}`},
			{"POST /v1/jobs/1000000000001/requeue", reflect.TypeFor[Requeue](), `{"hold":true}`},
			{"POST /v1/recovery", reflect.TypeFor[Resume](), `{"requeue":true}`},
			{"POST /v1/sites/a/drain", reflect.TypeFor[Drain](), `{"scope":"guests","reason":"a"}`},
			{"POST /v1/tokens", reflect.TypeFor[NewToken](), `{"scopes":["read"],"lifetime_ms":86400000,"note":"a"}`},
		},
	)
}

// demands finds out which fields requests do not do without, by leaving each out of the samples.
type demands struct {
	t       *testing.T
	routes  http.Handler
	seen    map[reflect.Type]map[string]bool // of the objects that were in samples: whether it was always refused without the field
	request string
	body    any // of the sample
}

func demanded(t *testing.T) map[reflect.Type]map[string]bool {
	t.Helper()
	book, err := accesstokens.Open(filepath.Join(t.TempDir(), "tokens"))
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Config: Config{Node: town{}, Log: discard(), Network: &Network{Tokens: book}}}
	d := &demands{t: t, routes: s.routes(), seen: map[reflect.Type]map[string]bool{}}
	for _, one := range samples() {
		d.request, d.body = one.request, nil
		if err = json.Unmarshal([]byte(one.body), &d.body); err != nil {
			t.Fatal(one.body, err)
		}
		if why := d.refusal(); why != "" {
			t.Errorf("%s refuses the sample %s: %s", one.request, one.body, why)
		}
		d.look(one.of, d.body)
	}
	return d.seen
}

// refusal is how the request is refused as one that is wrong, if it is.
func (d *demands) refusal() string {
	text, err := json.Marshal(d.body)
	if err != nil {
		d.t.Fatal(err)
	}
	got := askWith(d.t, d.routes, caller{user: "root", admin: true}, d.request, string(text))
	if got.Code == http.StatusBadRequest {
		return got.Body.String()
	}
	return ""
}

// look leaves out each field of the objects in a value of a type.
func (d *demands) look(of reflect.Type, value any) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of == reflect.TypeFor[protocol.Payload]() {
		of = reflect.TypeFor[protocol.PayloadJSON]()
	}
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			d.look(of.Elem(), one)
		}
	case object:
		if d.seen[of] == nil {
			d.seen[of] = map[string]bool{}
		}
		for _, f := range jsonFields(of) {
			inner, there := value[f.name]
			if !there {
				d.seen[of][f.name] = false
				continue
			}
			delete(value, f.name)
			refused := d.refusal() != ""
			value[f.name] = inner
			before, known := d.seen[of][f.name]
			d.seen[of][f.name] = refused && (before || !known)
			d.look(f.of, inner)
		}
	}
}

// askWith makes a request with a body.
func askWith(t *testing.T, routes http.Handler, who caller, request, body string) *httptest.ResponseRecorder {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return who })
	answer := httptest.NewRecorder()
	routes.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body)))
	return answer
}

// compiled is a schema of the description.
func compiled(t *testing.T, at ...string) *jsonschema.Schema {
	t.Helper()
	text, err := jsonschema.UnmarshalJSON(strings.NewReader(string(openAPI)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err = compiler.AddResource("openapi.json", text); err != nil {
		t.Fatal(err)
	}
	for i, part := range at {
		at[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
	}
	schema, err := compiler.Compile("openapi.json#/" + strings.Join(at, "/"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// follows says how a text in JSON breaks a schema; nil: it does not.
func follows(schema *jsonschema.Schema, text string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// The samples are as the description has them. Without a field that it says is required they are not, and with a field that the
// decoder does not know, neither.
func TestRequestsFollowDescription(t *testing.T) {
	t.Parallel()
	for _, one := range samples() {
		schema := compiled(t, "components", "schemas", "request."+one.of.String())
		if err := follows(schema, one.body); err != nil {
			t.Errorf("%s: %v", one.body, err)
		}
	}
	submission := compiled(t, "components", "schemas", "request.api.Submission")
	for _, wrong := range []string{
		`{}`, `{"jobs":[{}]}`, `{"jobs":[{"spec":{"cpus":1}}]}`, `{"jobs":[{"spec":{"wall_time_ms":1}}]}`,
		`{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1000},"conditions":{"hold":"me"}}]}`,
		`{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1000},"conditions":{"dependency":{"terms":[{"kind":"before","job":1}]}}}]}`,
	} {
		if follows(submission, wrong) == nil {
			t.Errorf("the description allows %s", wrong)
		}
		if _, err := DecodeSubmission(strings.NewReader(wrong)); err == nil {
			t.Errorf("the peer accepts %s", wrong)
		}
	}
}

// Whatever is in an answer, the description allows it: what is zero, and each value of a type that has names for them.
func TestValuesFollowDescription(t *testing.T) {
	t.Parallel()
	for pattern, op := range operations() {
		method, at, _ := strings.Cut(pattern, " ")
		if op.answer == nil || op.answer != nil && reflect.TypeOf(op.answer).Kind() == reflect.Map {
			continue
		}
		schema := compiled(t, "paths", at, strings.ToLower(method), "responses", strconv.Itoa(max(op.status, http.StatusOK)), "content", "application/json", "schema")
		for fill := range 2 {
			value := reflect.New(reflect.TypeOf(op.answer)).Elem()
			populate(t, value, fill, 0)
			text, err := json.Marshal(value.Interface())
			if err != nil {
				t.Fatal(err)
			}
			if err = follows(schema, string(text)); err != nil {
				t.Errorf("%s: %s: %v", pattern, text, err)
			}
		}
	}
}

// populate gives a value lists that are there and, if it is to be filled, what else can be in it.
func populate(t *testing.T, v reflect.Value, fill, depth int) {
	t.Helper()
	if v.Kind() == reflect.Uint8 && len(wordsOf(v.Type())) > 0 {
		reads, _ := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr())
		word, _ := wordsOf(v.Type())[fill].(string)
		if err := reads.UnmarshalText([]byte(word)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if values := constantsOf(t)[v.Type().String()]; v.Kind() == reflect.String && len(values) > 0 {
		text, _ := values[len(values)-1-fill].(string)
		v.SetString(text)
		return
	}
	switch v.Kind() { //nolint:exhaustive // the others stay zero
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				populate(t, field, fill, depth)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), fill, fill))
		if fill > 0 {
			populate(t, v.Index(0), fill, depth)
		}
	case reflect.Pointer:
		if fill > 0 && depth < 2 {
			v.Set(reflect.New(v.Type().Elem()))
			populate(t, v.Elem(), fill, depth+1)
		}
	case reflect.String:
		v.SetString(strings.Repeat("a", fill))
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(fill))
	default:
	}
}

// The description has each value of the types with names for them, and no other.
func TestDescriptionHasValues(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"protocol.State":          texts(protocol.States(), protocol.State.String),
		"view.RefusalCode":        {string(view.BadRequest), string(view.NotFound), string(view.Denied), string(view.NoSite), string(view.Conflict), string(view.Unavailable)},
		"protocol.Hold":           {string(protocol.HeldByUser), string(protocol.HeldByAdmin)},
		"protocol.Per":            {protocol.PerNode.String(), protocol.PerTask.String(), protocol.PerJob.String()},
		"event.LogKind":           {string(event.LogJobSubmitted), string(event.LogJobReleased)},
		"view.DrainScope":         {string(view.DrainGuests), string(view.DrainIsolated)},
		"accesstokens.Scope":      {string(accesstokens.Read), string(accesstokens.Submit), string(accesstokens.Operate)},
		"protocol.DependencyKind": {string(protocol.After), string(protocol.AfterAny), string(protocol.AfterOK), string(protocol.AfterNotOK), string(protocol.AfterCorr), string(protocol.Singleton)},
	} {
		schema := compiled(t, "components", "schemas", name)
		for _, value := range want {
			if err := follows(schema, strconv.Quote(value)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if follows(schema, `"no such value"`) == nil {
			t.Errorf("%s allows any text", name)
		}
	}
}

// Answers are as the description has them: those to a caller who may ask for all.
func TestAnswersFollowDescription(t *testing.T) {
	t.Parallel()
	for request, described := range map[string]string{
		"/v1/jobs?all=true": "/v1/jobs", "/v1/jobs/1000000000001": "/v1/jobs/{id}", "/v1/jobs/1000000000001/wait": "/v1/jobs/{id}/wait",
		"/v1/jobs/1000000000001/explain": "/v1/jobs/{id}/explain", "/v1/counts": "/v1/counts", "/v1/history": "/v1/history", "/v1/usage": "/v1/usage",
		"/v1/usage?by=user&by=state": "/v1/usage", "/v1/info": "/v1/info", "/v1/recovery": "/v1/recovery", "/v1/plugins": "/v1/plugins", "/v1/prices": "/v1/prices",
		"/v1/settings/changes": "/v1/settings/changes",
	} {
		got := ask(t, false, caller{user: "root", admin: true}, http.MethodGet, request)
		if err := follows(compiled(t, "paths", described, "get", "responses", "200", "content", "application/json", "schema"), got.Body.String()); got.Code != http.StatusOK || err != nil {
			t.Errorf("%s: %d %s: %v", request, got.Code, got.Body, err)
		}
	}
	refused := compiled(t, "components", "schemas", "view.Refusal")
	for _, request := range []string{"/v1/jobs?a=1", "/v1/jobs/7", "/v1/events", "/no-such"} {
		got := ask(t, false, caller{user: "root", admin: true}, http.MethodGet, request)
		if err := follows(refused, got.Body.String()); err != nil {
			t.Errorf("%s: %d %s: %v", request, got.Code, got.Body, err)
		}
	}
}

// A request that there is not is refused in JSON, with the methods that its path has, and nothing is redirected.
func TestUnknownRequests(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]struct {
		status        int
		allow, reason string
	}{
		"PUT /v1/jobs":             {http.StatusMethodNotAllowed, "GET, HEAD, POST", "unknown request PUT /v1/jobs; the methods of this path are GET, HEAD, POST"},
		"POST /v1/counts":          {http.StatusMethodNotAllowed, "GET, HEAD", "the methods of this path are GET, HEAD"},
		"GET /v1/jobs/7/hold":      {http.StatusMethodNotAllowed, "POST", "the methods of this path are POST"},
		"GET /v1/no-such":          {http.StatusNotFound, "", "unknown request GET /v1/no-such; the version"},
		"GET /v1/jobs/":            {http.StatusNotFound, "", "unknown request GET /v1/jobs/; the version"},
		"GET /v1//jobs":            {http.StatusNotFound, "", "use the path /v1/jobs"},
		"POST /v1/../v1/jobs/":     {http.StatusNotFound, "", "use the path /v1/jobs/"},
		"DELETE /v1/jobs/./7%2F..": {http.StatusNotFound, "", "use the path /v1/jobs/7%2F.."},
	} {
		got := askWith(t, (&server{Config: Config{Node: town{}, Log: discard()}}).routes(), caller{user: "ann"}, request, "")
		var refused view.Refusal
		err := json.Unmarshal(got.Body.Bytes(), &refused)
		if err != nil || got.Code != want.status || got.Header().Get("Allow") != want.allow || refused.Code != view.NotFound || !strings.Contains(refused.Reason, want.reason) {
			t.Errorf("%s: %d %v %s, want %+v", request, got.Code, got.Header(), got.Body, want)
		}
	}
}

// A parameter is refused with any value but those that the description has, and is accepted with each of these. Those that are
// required are demanded.
func TestParametersFollowDescription(t *testing.T) {
	t.Parallel()
	refused := func(request, why string) bool {
		got := askWith(t, (&server{Config: Config{Node: town{}, Log: discard()}}).routes(), caller{user: "root", admin: true}, request, "")
		return got.Code == http.StatusBadRequest && strings.Contains(got.Body.String(), why)
	}
	for pattern, op := range operations() {
		at := strings.NewReplacer("{id}", "1000000000001", "{site}", "a", "{token}", "t").Replace(pattern)
		for _, p := range op.query {
			if len(p.values) > 0 && !refused(at+"?"+p.name+"=no-such-value", `"`+p.name+": ") {
				t.Errorf("%s: %s may be anything", pattern, p.name)
			}
			for _, value := range p.values {
				if text, _ := value.(string); refused(at+"?"+p.name+"="+text, `"`+p.name+": ") {
					t.Errorf("%s: %s may not be %s", pattern, p.name, value)
				}
			}
		}
	}
	for request, why := range map[string]string{
		"POST /v1/files": "dir ", "POST /v1/files?dir=/a": digestHeader,
	} {
		if !refused(request, why) {
			t.Errorf("%s is not refused for want of %s", request, why)
		}
	}
}
