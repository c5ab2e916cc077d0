package plan_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"pairbench/collect/driver"
	"pairbench/records"
	"pairbench/schemas"
)

// dictionary is schemas/columns.v1.json.
type dictionary struct {
	Tables []struct {
		Name    string
		Columns []column
	}
}

type column struct {
	Name, Type, Unit, Meaning string
	Required                  bool
	Absent                    string
}

func readDictionary(t *testing.T) map[string][]column {
	t.Helper()
	text, ok := schemas.Lookup("columns")
	if !ok {
		t.Fatal("no dictionary")
	}
	var d dictionary
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	tables := make(map[string][]column)
	for _, table := range d.Tables {
		tables[table.Name] = table.Columns
	}
	return tables
}

// TestDictionaryIsTheRecords compares the dictionary with the struct tags that
// the tables are written from.
func TestDictionaryIsTheRecords(t *testing.T) {
	tables := readDictionary(t)
	for name, row := range map[string]any{"processes": records.Process{}, "host": records.HostFact{}, "inputs": records.Input{}} {
		var want, got []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(row)) {
			tag := strings.Split(f.Tag.Get("parquet"), ",")
			absent := "required"
			if f.Type.Kind() == reflect.Pointer {
				absent = "optional"
			}
			want = append(want, tag[0]+" "+typeName(f.Type)+" "+absent)
		}
		for _, c := range tables[name] {
			absent := "optional"
			if c.Required {
				absent = "required"
			}
			got = append(got, c.Name+" "+c.Type+" "+absent)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-records +dictionary):\n%s", name, diff)
		}
	}
	for name, columns := range tables {
		for _, c := range columns {
			if c.Meaning == "" || c.Required != (c.Absent == "") {
				t.Errorf("%s.%s: no meaning, or absence that is not explained", name, c.Name)
			}
			for suffix, unit := range map[string]string{"_ns": "ns", "_bytes": "bytes"} {
				if strings.HasSuffix(c.Name, suffix) && c.Unit != unit && c.Name != "f_*" {
					t.Errorf("%s.%s: unit is %q, the name says %s", name, c.Name, c.Unit, unit)
				}
			}
		}
	}
}

func typeName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		return "timestamp_us_utc"
	case reflect.Slice:
		return "binary"
	case reflect.Bool:
		return "boolean"
	default:
		return t.Kind().String()
	}
}

// TestReadmeIsTheDictionary keeps the page for people equal to the one for
// programs.
func TestReadmeIsTheDictionary(t *testing.T) {
	page, err := os.ReadFile("../../schemas/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, columns := range readDictionary(t) {
		_, section, ok := strings.Cut(string(page), "\n### "+name+": ")
		if !ok {
			t.Errorf("no section of %s", name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		for _, c := range columns {
			if !strings.Contains(section, "| `"+c.Name+"` | "+c.Type+" | "+c.Unit+" | "+c.Meaning+" |") {
				t.Errorf("%s.%s is not in the page as in the dictionary", name, c.Name)
			}
		}
	}
	for _, name := range schemas.Names() {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("the page does not name %s", name)
		}
	}
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, ok := schemas.Lookup(name)
	if !ok {
		t.Fatalf("no schema %s", name)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemasCompile(t *testing.T) {
	for _, name := range schemas.Names() {
		if text, _ := schemas.Lookup(name); bytes.Contains(text, []byte(`"$schema"`)) {
			compile(t, name)
		}
	}
	for _, name := range []string{"plan", "plan.v1", "plan.v1.schema.json", "report", "columns", "frame"} {
		if _, ok := schemas.Lookup(name); !ok {
			t.Errorf("no %s", name)
		}
	}
	for _, name := range []string{"", "nope", "plan.v2", "../plan", "schemas.go"} {
		if _, ok := schemas.Lookup(name); ok {
			t.Errorf("%q is found", name)
		}
	}
}

// TestProtocolSchemas holds the schemas against what the protocol's own types
// write: each full value is valid, and each of its keys is described.
func TestProtocolSchemas(t *testing.T) {
	one := int64(1)
	job := driver.Job{
		Protocol: 1, ProcessNo: 1, Side: records.SideA, Round: 1, Factors: map[string]any{"a": 1}, Settings: map[string]any{"b": "c"},
		Warmup: driver.Amount{Operations: 1}, Measure: driver.Amount{DurationNs: 1}, OperationsPerSample: 1, ClientCPUs: []int{0}, Seed: 1,
		Service: &driver.Service{Address: "a:1", CAFile: "f", ServerName: "n", User: "u", PasswordEnv: "P", Database: "d"},
	}
	end := driver.Message{Type: driver.TypeEnd, End: &driver.Result{
		MissedTicks: &one, FirstError: "e", CPUIntervalNs: &one, CPUProcessNs: &one, PeakRSSBytes: &one, P50Ns: &one, P99Ns: &one,
		ClockTickNs: 1, ClientCPUs: "0", Runtime: map[string]string{"a": "b"}, Versions: map[string]string{"a": "b"},
	}}
	hello := driver.Message{Type: driver.TypeHello, Hello: &driver.Hello{Protocol: 1, Driver: "d", Versions: map[string]string{"a": "b"}}}
	for _, tt := range []struct {
		schema string
		value  any
	}{{"job", job}, {"message", end}, {"message", hello}, {"message", driver.Message{Type: driver.TypeReady}}, {"message", driver.Command{Type: driver.CommandGo}}} {
		text, err := json.Marshal(tt.value)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		s := compile(t, tt.schema)
		if err := s.Validate(value); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		described(t, tt.schema, s, value)
	}
}

func described(t *testing.T, path string, s *jsonschema.Schema, value any) {
	t.Helper()
	object, ok := value.(map[string]any)
	if !ok || s == nil || s.Properties == nil {
		return
	}
	for key, v := range object {
		p, ok := s.Properties[key]
		if !ok {
			t.Errorf("%s.%s is not described", path, key)
			continue
		}
		described(t, path+"."+key, p, v)
	}
}
