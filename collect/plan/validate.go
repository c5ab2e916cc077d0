package plan

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"pairbench/schemas"
)

const schemaURL = "plan.v1.schema.json"

// validate checks the tree against the plan's JSON Schema and reports the
// violation that stands first in the file.
func validate(root *node, file string) error {
	schema, err := compileSchema()
	if err != nil {
		return err
	}
	err = schema.Validate(root.value())
	if err == nil {
		return nil
	}
	violation, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return fmt.Errorf("validate plan %s: %w", file, err)
	}
	var all []*Error
	leaves(violation, func(v *jsonschema.ValidationError) {
		all = append(all, explain(root, file, v)...)
	})
	all = withoutMisspelt(all)
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].Line != all[j].Line {
			return all[i].Line < all[j].Line
		}
		return all[i].Column < all[j].Column
	})
	return all[0]
}

// What is found where a key is missing, and where one is not known.
const (
	missing = "no "
	unknown = "an unknown key"
)

// withoutMisspelt drops what is missing where there is an unknown key as well:
// this is most likely the same key misspelt, and its line is where to look.
func withoutMisspelt(all []*Error) []*Error {
	object := func(key string) string { return key[:max(0, strings.LastIndexByte(key, '.'))] }
	misspelt := map[string]bool{}
	for _, e := range all {
		if e.Found == unknown {
			misspelt[object(e.Key)] = true
		}
	}
	return slices.DeleteFunc(all, func(e *Error) bool {
		key := e.Key
		if key == "document" {
			key = ""
		}
		return strings.HasPrefix(e.Found, missing) && strings.HasPrefix(e.Expected, "the key") && misspelt[key]
	})
}

func compileSchema() (*jsonschema.Schema, error) {
	source, ok := schemas.Lookup("plan.v1")
	if !ok {
		return nil, fmt.Errorf("compile plan schema: plan.v1 is not embedded")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		return nil, fmt.Errorf("compile plan schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, fmt.Errorf("compile plan schema: %w", err)
	}
	schema, err := c.Compile(schemaURL)
	if err != nil {
		return nil, fmt.Errorf("compile plan schema: %w", err)
	}
	return schema, nil
}

func leaves(v *jsonschema.ValidationError, visit func(*jsonschema.ValidationError)) {
	_, name := v.ErrorKind.(*kind.PropertyNames)
	if len(v.Causes) == 0 || name {
		visit(v)
		return
	}
	for _, cause := range v.Causes {
		leaves(cause, visit)
	}
}

// explain turns one violation into the words of Error, at the place of the
// value it is about.
func explain(root *node, file string, v *jsonschema.ValidationError) []*Error {
	n, parent, path := locate(root, v.InstanceLocation)
	at := func(place *node, key, found, expected string) *Error {
		if key == "" {
			key = "document"
		}
		return &Error{File: file, Line: place.line, Column: place.col, Key: key, Found: found, Expected: expected}
	}
	switch k := v.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		var out []*Error
		for _, name := range k.Properties {
			out = append(out, at(n.keyNode(name), join(path, name), unknown, "one of "+strings.Join(knownKeys(v), ", ")))
		}
		return out
	case *kind.PropertyNames:
		// The validator's location of this one violation is not reliable.
		n, path = holder(root, "", k.Property)
		return []*Error{at(n.keyNode(k.Property), join(path, k.Property), "the key "+quote(k.Property), "a name of letters, digits and _")}
	case *kind.Required:
		word := "the key "
		if len(k.Missing) > 1 {
			word = "the keys "
		}
		return []*Error{at(n, path, missing+strings.Join(k.Missing, ", "), word+strings.Join(k.Missing, ", "))}
	case *kind.Type:
		return []*Error{at(n, path, n.found(), strings.Join(typeWords(k.Want), " or "))}
	case *kind.Enum:
		words := make([]string, len(k.Want))
		for i, w := range k.Want {
			words[i] = fmt.Sprint(w)
		}
		return []*Error{at(n, path, n.found(), "one of "+strings.Join(words, ", "))}
	case *kind.Const:
		return []*Error{at(n, path, n.found(), fmt.Sprint(k.Want))}
	case *kind.Pattern:
		if parent != nil && n.kind != kindString {
			n = parent
		}
		return []*Error{at(n, path, quote(k.Got), patternWords(k.Want))}
	case *kind.MinItems:
		return []*Error{at(n, path, itemWords(n), fmt.Sprintf("at least %d", k.Want))}
	case *kind.MaxItems:
		return []*Error{at(n, path, itemWords(n), fmt.Sprintf("at most %d", k.Want))}
	case *kind.MinProperties:
		return []*Error{at(n, path, n.found(), fmt.Sprintf("at least %d key", k.Want))}
	case *kind.MaxProperties:
		return []*Error{at(n, path, fmt.Sprintf("%d keys", k.Got), fmt.Sprintf("at most %d keys", k.Want))}
	case *kind.MinLength:
		return []*Error{at(n, path, n.found(), fmt.Sprintf("at least %d character", k.Want))}
	case *kind.MaxLength:
		return []*Error{at(n, path, fmt.Sprintf("%d characters", k.Got), fmt.Sprintf("at most %d characters", k.Want))}
	case *kind.Minimum:
		return []*Error{at(n, path, n.found(), "at least "+k.Want.RatString())}
	case *kind.Maximum:
		return []*Error{at(n, path, n.found(), "at most "+k.Want.RatString())}
	case *kind.ExclusiveMinimum:
		return []*Error{at(n, path, n.found(), "more than "+k.Want.RatString())}
	default:
		return []*Error{at(n, path, n.found(), "what the plan schema allows ("+strings.Join(v.ErrorKind.KeywordPath(), ".")+")")}
	}
}

// holder finds the first object with the key.
func holder(n *node, path, key string) (*node, string) {
	if slices.Contains(n.keys, key) {
		return n, path
	}
	for i, item := range n.items {
		below := fmt.Sprintf("%s[%d]", path, i)
		if n.kind == kindMapping {
			below = join(path, n.keys[i])
		}
		if found, at := holder(item, below, key); found != nil {
			return found, at
		}
	}
	return nil, ""
}

// keyNode returns the place of a mapping's key, or of the mapping.
func (n *node) keyNode(key string) *node {
	for i, k := range n.keys {
		if k == key {
			return n.keyNodes[i]
		}
	}
	return n
}

func itemWords(n *node) string {
	if len(n.items) == 0 {
		return "an empty list"
	}
	return fmt.Sprintf("%d values", len(n.items))
}

// typeWords names the wanted types, simple ones first.
func typeWords(want []string) []string {
	var out []string
	for _, t := range [][2]string{
		{"null", "nothing"}, {"boolean", "a boolean"}, {"integer", "an integer"}, {"number", "a number"},
		{"string", "a string"}, {"array", "a list"}, {"object", "an object"},
	} {
		if slices.Contains(want, t[0]) {
			out = append(out, t[1])
		}
	}
	return out
}

func patternWords(pattern string) string {
	switch {
	case strings.Contains(pattern, "(ns|us|ms|s|m|h)"):
		return "a duration such as 250ms, 1s or 2m"
	case strings.HasPrefix(pattern, "^(") && strings.HasSuffix(pattern, ")$") && !strings.ContainsAny(pattern, "[\\"):
		return "one of " + strings.ReplaceAll(pattern[2:len(pattern)-2], "|", ", ")
	default:
		return "text that matches " + pattern
	}
}

// knownKeys finds the properties of the schema object that a violation is
// about.
func knownKeys(v *jsonschema.ValidationError) []string {
	schema, err := compileSchema()
	if err != nil {
		return nil
	}
	_, pointer, _ := strings.Cut(v.SchemaURL, "#")
	sub := findSchema(schema, pointer)
	if sub == nil {
		return nil
	}
	keys := make([]string, 0, len(sub.Properties))
	for k := range sub.Properties {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func findSchema(root *jsonschema.Schema, pointer string) *jsonschema.Schema {
	seen := make(map[*jsonschema.Schema]bool)
	var walk func(s *jsonschema.Schema) *jsonschema.Schema
	walk = func(s *jsonschema.Schema) *jsonschema.Schema {
		if s == nil || seen[s] {
			return nil
		}
		seen[s] = true
		if _, p, _ := strings.Cut(s.Location, "#"); p == pointer {
			return s
		}
		next := []*jsonschema.Schema{s.Ref, s.Items2020}
		if extra, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
			next = append(next, extra)
		}
		if items, ok := s.Items.(*jsonschema.Schema); ok {
			next = append(next, items)
		}
		for _, p := range s.Properties {
			next = append(next, p)
		}
		for _, n := range next {
			if found := walk(n); found != nil {
				return found
			}
		}
		return nil
	}
	return walk(root)
}

// locate follows a JSON pointer's tokens through the tree.
func locate(root *node, tokens []string) (n, parent *node, path string) {
	n = root
	for _, t := range tokens {
		parent = n
		switch n.kind {
		case kindList:
			i, err := strconv.Atoi(t)
			if err != nil || i < 0 || i >= len(n.items) {
				return n, parent, path
			}
			n, path = n.items[i], fmt.Sprintf("%s[%d]", path, i)
		default:
			child := n.get(t)
			if child == nil {
				return n, parent, join(path, t)
			}
			n, path = child, join(path, t)
		}
	}
	return n, parent, path
}
