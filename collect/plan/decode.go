package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"pairbench/records"
)

// Limits that hold where a suite does not set its own.
const (
	defaultTimeLimit = 10 * time.Minute
	defaultStepLimit = 30 * time.Second
)

// Parse reads and validates a plan file. name stands in its errors. Every fault
// of the file is an *Error; it is the first one in the file.
func Parse(source []byte, name string) (*Plan, error) {
	root, err := parseYAML(source, name)
	if err != nil {
		return nil, err
	}
	if root.kind != kindMapping {
		return nil, &Error{File: name, Line: root.line, Column: root.col, Key: "document",
			Found: root.found(), Expected: "an object with the keys plan, study, arms, rounds and suites"}
	}
	if err := validate(root, name); err != nil {
		return nil, err
	}
	d := &decoder{file: name}
	if err := d.refuseSecrets(root, ""); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(source)
	p := &Plan{Source: slices.Clone(source), SHA256: hex.EncodeToString(sum[:])}
	if err := d.plan(root, p); err != nil {
		return nil, err
	}
	return p, nil
}

// decoder turns a tree that the schema accepts into a Plan and checks what the
// schema cannot say.
type decoder struct{ file string }

func (d *decoder) fail(n *node, key, found, expected string) error {
	return &Error{File: d.file, Line: n.line, Column: n.col, Key: key, Found: found, Expected: expected}
}

func (n *node) text(fallback string) string {
	if n == nil {
		return fallback
	}
	return n.str
}

func (n *node) strings() []string {
	if n == nil {
		return nil
	}
	out := make([]string, len(n.items))
	for i, item := range n.items {
		out[i] = item.str
	}
	return out
}

func (n *node) stringMap() map[string]string {
	if n == nil {
		return nil
	}
	out := make(map[string]string, len(n.keys))
	for i, k := range n.keys {
		out[k] = n.items[i].str
	}
	return out
}

// words reads a text: a string is English.
func (n *node) words() map[string]string {
	switch {
	case n == nil:
		return nil
	case n.kind == kindString:
		return map[string]string{"en": n.str}
	default:
		return n.stringMap()
	}
}

func (d *decoder) plan(root *node, p *Plan) error {
	p.Study = root.get("study").str
	p.Title = root.get("title").words()
	p.Profile = root.get("profile").text("database")
	p.Layout = root.get("layout").text("paired")
	p.Rounds = int(root.get("rounds").num)
	p.PassEnv = root.get("pass_env").strings()
	p.Env = root.get("env").stringMap()
	d.order(root.get("order"), p)
	arms := root.get("arms")
	for i, item := range arms.items {
		arm, err := d.arm(item, fmt.Sprintf("arms[%d]", i), records.Sides[i])
		if err != nil {
			return err
		}
		p.Arms[i] = arm
	}
	if p.Arms[0].Name == p.Arms[1].Name {
		return d.fail(arms.items[1].get("name"), "arms[1].name", quote(p.Arms[1].Name), "another name than the first arm's")
	}
	suites := root.get("suites")
	total := 0
	for i, item := range suites.items {
		path := fmt.Sprintf("suites[%d]", i)
		s, err := d.suite(item, path, p)
		if err != nil {
			return err
		}
		for _, other := range p.Suites {
			if strings.EqualFold(other.ID, s.ID) {
				return d.fail(item.get("id"), path+".id", quote(s.ID), "an id that no other suite has")
			}
		}
		if total += len(s.Cells) * p.Rounds * 2; total > maxStarts {
			return d.fail(item, path, fmt.Sprintf("%d processes", total), fmt.Sprintf("at most %d in a plan", maxStarts))
		}
		p.Suites = append(p.Suites, s)
	}
	return d.services(suites, p)
}

// services checks that suites which share a service's name mean the same one,
// because --service chooses by name.
func (d *decoder) services(suites *node, p *Plan) error {
	first := make(map[string]*Service)
	for i := range p.Suites {
		s := p.Suites[i].Service
		if s == nil {
			continue
		}
		if other, ok := first[s.Name]; ok && other.Kind != s.Kind {
			key := fmt.Sprintf("suites[%d].service.kind", i)
			return d.fail(suites.items[i].get("service").get("kind"), key, quote(s.Kind),
				fmt.Sprintf("%s, as the other service named %s", other.Kind, s.Name))
		}
		first[s.Name] = s
	}
	return nil
}

// order reads the rule. A shuffle without a seed takes one from the file's own
// hash, so that the order is recorded and repeatable either way.
func (d *decoder) order(n *node, p *Plan) {
	p.Order = records.RunOrder{Kind: "alternate"}
	if n == nil {
		return
	}
	var seed *node
	if n.kind == kindString {
		p.Order.Kind = n.str
	} else {
		p.Order.Kind = n.get("kind").str
		seed = n.get("seed")
	}
	if p.Order.Kind != "shuffle" {
		return
	}
	v := seedOf(p.SHA256)
	if seed != nil {
		v = seed.num
	}
	p.Order.Seed = &v
}

func (d *decoder) arm(n *node, path string, side records.Side) (Arm, error) {
	arm := Arm{
		Side: side, Name: n.get("name").str, Label: n.get("label").words(),
		Env: n.get("env").stringMap(), Settings: d.settings(n.get("settings")),
	}
	var err error
	if program := n.get("program"); program != nil {
		arm.Program, err = d.program(program, path+".program")
	}
	return arm, err
}

func (d *decoder) settings(n *node) map[string]any {
	if n == nil {
		return nil
	}
	out := make(map[string]any, len(n.keys))
	for i, k := range n.keys {
		out[k] = n.items[i].value()
	}
	return out
}

func (d *decoder) program(n *node, path string) (Program, error) {
	p := Program{Builtin: n.get("builtin").text(""), Command: n.get("command").strings()}
	set := 0
	for _, key := range []string{"builtin", "command", "build"} {
		if n.get(key) != nil {
			set++
		}
	}
	if set != 1 {
		return p, d.fail(n, path, fmt.Sprintf("%d of builtin, command and build", set), "exactly one")
	}
	if c := n.get("command"); c != nil && p.Command[0] == "" {
		return p, d.fail(c.items[0], path+".command[0]", `""`, "a program")
	}
	if b := n.get("build"); b != nil {
		build := &Build{
			Repository: b.get("repository").str, Revision: b.get("revision").str,
			Command: b.get("command").strings(), Binary: b.get("binary").str,
			Args: b.get("args").strings(), GoModules: b.get("go_modules").stringMap(),
		}
		if !filepath.IsLocal(build.Binary) {
			return p, d.fail(b.get("binary"), path+".build.binary", quote(build.Binary), "a path inside the work tree")
		}
		if build.Command[0] == "" {
			return p, d.fail(b.get("command").items[0], path+".build.command[0]", `""`, "a program")
		}
		p.Build = build
	}
	if r := n.get("read"); r != nil {
		read := &Read{From: r.get("from").text("stdout"), Fields: make(map[string]ReadField)}
		fields := r.get("fields")
		if fields != nil {
			for i, name := range fields.keys {
				f, err := d.readField(fields.items[i], path+".read.fields."+name)
				if err != nil {
					return p, err
				}
				read.Fields[name] = f
			}
		}
		p.Read = read
	}
	return p, nil
}

func (d *decoder) readField(n *node, path string) (ReadField, error) {
	f := ReadField{Regexp: n.get("regexp").text(""), JSONPath: n.get("json_path").text("")}
	if (f.Regexp == "") == (f.JSONPath == "") {
		return f, d.fail(n, path, n.found(), "exactly one of regexp and json_path")
	}
	if f.Regexp != "" {
		re, err := regexp.Compile(f.Regexp)
		if err != nil {
			return f, d.fail(n.get("regexp"), path+".regexp", quote(f.Regexp), "a regular expression in RE2 syntax")
		}
		if re.NumSubexp() < 1 {
			return f, d.fail(n.get("regexp"), path+".regexp", quote(f.Regexp), "a regular expression with a group around the number")
		}
	}
	if s := n.get("scale"); s != nil {
		f.Scale = s.number()
	}
	return f, nil
}

func (n *node) number() float64 {
	if n.kind == kindInt {
		return float64(n.num)
	}
	return n.float
}

func (d *decoder) suite(n *node, path string, p *Plan) (Suite, error) {
	s := Suite{
		ID: n.get("id").str, Title: n.get("title").words(), Profile: n.get("profile").text(""),
		Workload: n.get("workload").str, Panel: n.get("panel").strings(), Metrics: n.get("metrics").strings(),
		CPUScope:      records.CPUScope(n.get("cpu_scope").text("interval")),
		CPUCovers:     n.get("cpu_covers").text("client"),
		LatencyCovers: n.get("latency_covers").text("request"),
		Settings:      d.settings(n.get("settings")),
		TimeLimit:     defaultTimeLimit, StepLimit: defaultStepLimit,
	}
	if b := n.get("busy_threads"); b != nil {
		s.BusyThreads = int(b.num)
	}
	if notes := n.get("notes"); notes != nil {
		for _, note := range notes.items {
			s.Notes = append(s.Notes, note.words())
		}
	}
	for key, limit := range map[string]*time.Duration{"time_limit": &s.TimeLimit, "step_limit": &s.StepLimit} {
		if v := n.get(key); v != nil {
			t, err := time.ParseDuration(v.str)
			if err != nil || t <= 0 {
				return s, d.fail(v, path+"."+key, quote(v.str), "a duration above zero")
			}
			*limit = t
		}
	}
	s.Placement = placement(n.get("placement"))
	if err := d.programs(n, path, p, &s); err != nil {
		return s, err
	}
	if err := d.service(n.get("service"), path+".service", &s); err != nil {
		return s, err
	}
	if kind := s.needsService(); kind != "" && s.Service == nil {
		return s, d.fail(n.get("workload"), path+".workload", s.Workload+" without a service", "a service of the kind "+kind+" in the suite")
	}
	if err := d.cells(n, path, &s); err != nil {
		return s, err
	}
	return s, d.references(n, path, p, &s)
}

func placement(n *node) Placement {
	cpus := func(n *node) []int {
		if n == nil {
			return nil
		}
		out := make([]int, len(n.items))
		for i, item := range n.items {
			out[i] = int(item.num)
		}
		return out
	}
	switch {
	case n == nil:
		return Placement{}
	case n.kind == kindString:
		return Placement{Policy: n.str}
	default:
		return Placement{Client: cpus(n.get("client")), Server: cpus(n.get("server"))}
	}
}

// programs settles what each side runs: the suite's word for the arm, then the
// suite's for both, then the arm's own, then pbdriver for built-in workloads.
func (d *decoder) programs(n *node, path string, p *Plan, s *Suite) error {
	var both Program
	var err error
	if v := n.get("program"); v != nil {
		if both, err = d.program(v, path+".program"); err != nil {
			return err
		}
	}
	byArm := make(map[string]Program)
	if v := n.get("programs"); v != nil {
		for i, name := range v.keys {
			if name != p.Arms[0].Name && name != p.Arms[1].Name {
				return d.fail(v.keyNodes[i], join(path+".programs", name), "the unknown arm "+quote(name),
					p.Arms[0].Name+" or "+p.Arms[1].Name)
			}
			if byArm[name], err = d.program(v.items[i], join(path+".programs", name)); err != nil {
				return err
			}
		}
	}
	for i, arm := range p.Arms {
		chosen, ok := byArm[arm.Name]
		switch {
		case ok:
		case n.get("program") != nil:
			chosen = both
		case !arm.Program.zero():
			chosen = arm.Program
		case s.Workload != "command":
			chosen = Program{Builtin: "pbdriver"}
		default:
			return d.fail(n.get("workload"), path+".workload", fmt.Sprintf("no program for the arm %s", arm.Name),
				"a program in the suite or the arm")
		}
		s.Programs[i] = chosen
	}
	return nil
}

// needsService is the kind of service without which the built-in driver cannot
// do the suite's workload; empty where there is none, because the driver serves
// itself or is the plan's own.
func (s *Suite) needsService() string {
	if s.Programs[0].Builtin != "pbdriver" && s.Programs[1].Builtin != "pbdriver" {
		return ""
	}
	switch s.Workload {
	case "redis_echo", "redis_pipeline":
		return "redis"
	case "mysql_text":
		return "mysql"
	default:
		return ""
	}
}

func (p Program) zero() bool { return p.Builtin == "" && len(p.Command) == 0 && p.Build == nil }

// serviceModes are the ways to have each kind of service.
var serviceModes = map[string][]string{
	"redis": {"managed", "embedded", "external"},
	"mysql": {"managed", "external"},
	"echo":  {"embedded", "external"},
}

func (d *decoder) service(n *node, path string, s *Suite) error {
	if n == nil {
		return nil
	}
	v := &Service{
		Name: n.get("name").str, Kind: n.get("kind").str, Mode: n.get("mode").text("managed"),
		Address: n.get("address").text(""), User: n.get("user").text(""),
		PasswordEnv: n.get("password_env").text(""), PasswordFile: n.get("password_file").text(""),
		Database: n.get("database").text(""), CAFile: n.get("ca_file").text(""),
		ServerName: n.get("server_name").text(""), Options: n.get("options").stringMap(),
	}
	if n.get("mode") == nil && v.Kind == "echo" {
		v.Mode = "embedded"
	}
	if !slices.Contains(serviceModes[v.Kind], v.Mode) {
		return d.fail(n.get("mode"), path+".mode", quote(v.Mode), "one of "+strings.Join(serviceModes[v.Kind], ", ")+" for "+v.Kind)
	}
	if (v.Mode == "external") != (v.Address != "") {
		at := n
		if a := n.get("address"); a != nil {
			at = a
		}
		if v.Address == "" {
			return d.fail(at, path, "no address", "an address, because the mode is external")
		}
		return d.fail(at, path+".address", quote(v.Address), "no address, because the mode is "+v.Mode)
	}
	if v.Address != "" && !validAddress(v.Address) {
		return d.fail(n.get("address"), path+".address", quote(v.Address), "host:port")
	}
	if v.PasswordEnv != "" && v.PasswordFile != "" {
		return d.fail(n.get("password_file"), path+".password_file", "both password_env and password_file", "one of them")
	}
	s.Service = v
	return nil
}

// references checks names that point at factors and placeholders.
func (d *decoder) references(n *node, path string, p *Plan, s *Suite) error {
	known := make([]string, len(s.Factors))
	for i, f := range s.Factors {
		known[i] = f.Name
	}
	sort.Strings(known)
	if panel := n.get("panel"); panel != nil {
		for i, item := range panel.items {
			if !slices.Contains(known, item.str) {
				return d.fail(item, fmt.Sprintf("%s.panel[%d]", path, i), "the unknown factor "+quote(item.str), "one of "+strings.Join(known, ", "))
			}
		}
	}
	for i, program := range s.Programs {
		for _, element := range program.arguments() {
			_, err := Expand(element, func(name string) (string, bool) {
				return "", slices.Contains(known, name) || isPlaceholder(name)
			})
			if err == nil {
				continue
			}
			at, key := n, path
			if v := n.get("program"); v != nil {
				at, key = v, path+".program"
			}
			if v := n.get("programs").get(p.Arms[i].Name); v != nil {
				at, key = v, join(path+".programs", p.Arms[i].Name)
			}
			return d.fail(at, key, fmt.Sprintf("%s in %s", err, quote(element)),
				"a factor of the suite ("+strings.Join(known, ", ")+") or one of "+strings.Join(placeholders, ", "))
		}
	}
	return nil
}

// arguments lists the elements in which placeholders are replaced.
func (p Program) arguments() []string {
	if p.Build != nil {
		return p.Build.Args
	}
	return p.Command
}
