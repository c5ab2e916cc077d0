package plan

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds on the file, checked before the parser sees it, because it recurses
// once a level and compares each key of an object with all others.
const (
	maxPlanBytes  = 1 << 20
	maxPlanTokens = 100_000
	maxDepth      = 32
)

type nodeKind string

const (
	kindMapping nodeKind = "an object"
	kindList    nodeKind = "a list"
	kindString  nodeKind = "a string"
	kindInt     nodeKind = "an integer"
	kindFloat   nodeKind = "a number"
	kindBool    nodeKind = "a boolean"
	kindNull    nodeKind = "nothing"
)

// node is one YAML value with its place in the file. The tree holds no anchors,
// aliases, merge keys or tags, so it is as large as the file and no larger.
type node struct {
	kind      nodeKind
	line, col int
	str       string
	num       int64
	float     float64
	flag      bool
	items     []*node
	// keys are the mapping's keys in the order of the file; keyNodes their
	// places.
	keys     []string
	keyNodes []*node
}

// get returns the value of a mapping's key, or nil.
func (n *node) get(key string) *node {
	if n == nil || n.kind != kindMapping {
		return nil
	}
	for i, k := range n.keys {
		if k == key {
			return n.items[i]
		}
	}
	return nil
}

// value returns the node as encoding/json would decode it, for the schema.
func (n *node) value() any {
	switch n.kind {
	case kindMapping:
		m := make(map[string]any, len(n.keys))
		for i, k := range n.keys {
			m[k] = n.items[i].value()
		}
		return m
	case kindList:
		l := make([]any, len(n.items))
		for i, item := range n.items {
			l[i] = item.value()
		}
		return l
	case kindInt:
		return n.num
	case kindFloat:
		return n.float
	case kindBool:
		return n.flag
	case kindString:
		return n.str
	default:
		return nil
	}
}

// found describes the node for an error, cut to a readable length.
func (n *node) found() string {
	switch n.kind {
	case kindString:
		return quote(n.str)
	case kindInt:
		return strconv.FormatInt(n.num, 10)
	case kindFloat:
		return strconv.FormatFloat(n.float, 'g', -1, 64)
	case kindBool:
		return strconv.FormatBool(n.flag)
	case kindList:
		if len(n.items) == 0 {
			return "an empty list"
		}
	case kindMapping:
		if len(n.items) == 0 {
			return "an empty object"
		}
	}
	return string(n.kind)
}

func quote(s string) string {
	const limit = 60
	if len(s) > limit {
		cut := limit
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strconv.Quote(s)
}

// parseYAML turns a plan file into a tree. Its error is always an *Error.
func parseYAML(source []byte, file string) (root *node, err error) {
	fail := func(line, col int, found, expected string) error {
		return &Error{File: file, Line: line, Column: col, Key: "document", Found: found, Expected: expected}
	}
	if len(source) > maxPlanBytes {
		return nil, fail(1, 1, "a larger file", fmt.Sprintf("at most %d bytes", maxPlanBytes))
	}
	if err := checkText(source, fail); err != nil {
		return nil, err
	}
	// The parser is given hostile text; a panic in it is a bad plan, not a crash.
	defer func() {
		if recover() != nil {
			root, err = nil, fail(1, 1, "text the YAML parser cannot read", "a YAML document")
		}
	}()
	text := strings.TrimPrefix(string(source), "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	tokens := lexer.Tokenize(text)
	if err := checkTokens(tokens, fail); err != nil {
		return nil, err
	}
	doc, perr := parser.Parse(tokens, 0)
	if perr != nil {
		line, col, message := 1, 1, perr.Error()
		var syntax yaml.Error
		if errors.As(perr, &syntax) {
			message = syntax.GetMessage()
			if t := syntax.GetToken(); t != nil && t.Position != nil {
				line, col = t.Position.Line, t.Position.Column
			}
		}
		return nil, fail(line, col, strings.TrimPrefix(oneLine(message), "found "), "a YAML document")
	}
	bodies := 0
	for _, d := range doc.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if bodies++; bodies > 1 {
			at := place(d.Body)
			return nil, fail(at.Line, at.Column, "a second document", "one YAML document")
		}
		if root, err = convert(d.Body, file, "", 0); err != nil {
			return nil, err
		}
	}
	if root == nil {
		return nil, fail(1, 1, "an empty document", "an object with the keys plan, study, arms, rounds and suites")
	}
	return root, nil
}

func oneLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

type failFunc func(line, col int, found, expected string) error

func checkText(source []byte, fail failFunc) error {
	line, start := 1, 0
	for i := 0; i < len(source); {
		r, size := utf8.DecodeRune(source[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return fail(line, i-start+1, fmt.Sprintf("the byte 0x%02x", source[i]), "UTF-8 text")
		case r == '\n':
			line, start = line+1, i+1
		case r == '\r' && bytes.HasPrefix(source[i:], []byte("\r\n")):
		case r < 0x20 && r != '\t', r == 0x7f, r >= 0x80 && r < 0xa0:
			return fail(line, i-start+1, fmt.Sprintf("the control character U+%04X", r), "printable text")
		}
		i += size
	}
	return nil
}

// checkTokens refuses what a plan has no use for and what could make the parser
// recurse without bound.
func checkTokens(tokens token.Tokens, fail failFunc) error {
	flow, entries, entryLine := 0, 0, 0
	last := token.MappingValueType
	for i, t := range tokens {
		at := t.Position
		refuse := func(found, expected string) error { return fail(at.Line, at.Column, found, expected) }
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return refuse("a YAML anchor or alias", "plain values")
		case token.TagType:
			return refuse("a YAML tag", "plain values")
		case token.DirectiveType:
			return refuse("a YAML directive", "plain values")
		case token.MappingKeyType:
			return refuse("a complex key", "a plain key")
		case token.InvalidType:
			return refuse(strings.TrimPrefix(oneLine(t.Error), "found "), "a YAML document")
		case token.MappingValueType:
			if last == token.MappingValueType {
				return refuse("a colon without a key", "a key in front of each colon")
			}
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType:
			if at.Line != entryLine {
				entries, entryLine = 0, at.Line
			}
			entries++
		}
		last = t.Type
		switch {
		case flow > maxDepth || entries > maxDepth:
			return refuse("values nested too deeply", fmt.Sprintf("at most %d levels", maxDepth))
		case i == maxPlanTokens:
			return refuse(fmt.Sprintf("more than %d words and signs", maxPlanTokens), "a smaller plan")
		}
	}
	return nil
}

func place(n ast.Node) token.Position {
	if n == nil {
		return token.Position{Line: 1, Column: 1}
	}
	// A block mapping's own token is its first colon: its first key is meant.
	switch v := n.(type) {
	case *ast.MappingNode:
		if !v.IsFlowStyle && len(v.Values) > 0 {
			return place(v.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return place(v.Key)
	}
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return token.Position{Line: 1, Column: 1}
	}
	return *t.Position
}

func convert(n ast.Node, file, path string, depth int) (*node, error) {
	at := place(n)
	out := &node{line: at.Line, col: at.Column}
	fail := func(found, expected string) error {
		key := path
		if key == "" {
			key = "document"
		}
		return &Error{File: file, Line: at.Line, Column: at.Column, Key: key, Found: found, Expected: expected}
	}
	if depth > maxDepth {
		return nil, fail("values nested too deeply", fmt.Sprintf("at most %d levels", maxDepth))
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		out.kind = kindMapping
		return out, convertMapping(out, v.Values, file, path, depth)
	case *ast.MappingValueNode:
		out.kind = kindMapping
		return out, convertMapping(out, []*ast.MappingValueNode{v}, file, path, depth)
	case *ast.SequenceNode:
		out.kind = kindList
		for i, item := range v.Values {
			child, err := convert(item, file, fmt.Sprintf("%s[%d]", path, i), depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, child)
		}
	case *ast.StringNode:
		out.kind, out.str = kindString, v.Value
	case *ast.LiteralNode:
		out.kind, out.str = kindString, v.Value.Value
	case *ast.BoolNode:
		out.kind, out.flag = kindBool, v.Value
	case *ast.FloatNode:
		out.kind, out.float = kindFloat, v.Value
	case *ast.IntegerNode:
		out.kind = kindInt
		switch i := v.Value.(type) {
		case int64:
			out.num = i
		case uint64:
			if i > math.MaxInt64 {
				return nil, fail(oneLine(v.Token.Value), "an integer of at most 63 bits")
			}
			out.num = int64(i)
		default:
			return nil, fail(oneLine(v.Token.Value), "an integer of at most 63 bits")
		}
	case *ast.InfinityNode, *ast.NanNode:
		return nil, fail("infinity or not a number", "a finite number")
	case *ast.NullNode, nil:
		out.kind = kindNull
	default:
		return nil, fail(fmt.Sprintf("YAML %s", strings.ToLower(n.Type().String())), "a plain value")
	}
	return out, nil
}

func convertMapping(out *node, values []*ast.MappingValueNode, file, path string, depth int) error {
	seen := make(map[string]bool, len(values))
	for _, pair := range values {
		at := place(pair.Key)
		var key string
		switch k := pair.Key.(type) {
		case *ast.StringNode:
			key = k.Value
		case ast.ScalarNode:
			// A key that looks like a number or a boolean is its text.
			key = k.GetToken().Value
		default:
			return &Error{File: file, Line: at.Line, Column: at.Column, Key: join(path, "?"), Found: "a complex key", Expected: "a plain key"}
		}
		full := join(path, key)
		if seen[key] {
			return &Error{File: file, Line: at.Line, Column: at.Column, Key: full, Found: "the key a second time", Expected: "each key once"}
		}
		seen[key] = true
		child, err := convert(pair.Value, file, full, depth+1)
		if err != nil {
			return err
		}
		if child.kind == kindNull {
			child.line, child.col = at.Line, at.Column
		}
		out.keys = append(out.keys, key)
		out.keyNodes = append(out.keyNodes, &node{kind: kindString, str: key, line: at.Line, col: at.Column})
		out.items = append(out.items, child)
	}
	return nil
}

func join(path, key string) string {
	for _, r := range key {
		if r <= ' ' || r == '.' || r == '[' || r == 0x7f {
			key = quote(key)
			break
		}
	}
	if len(key) > 100 {
		key = quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
