package mysql

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"

	protocol "pairbench/collect/driver"
	"pairbench/collect/workload/engine"
)

// echoQuery is answered with its argument; the library sends it as one text
// query.
const echoQuery = "SELECT ?"

// The reset policies of a lease.
const (
	resetLibrary = "library"
	resetFull    = "full"
)

// Workload is mysql_text. It is an engine.Workload.
type Workload struct {
	service  protocol.Service
	password string
	tls      *tls.Config
	payloads *engine.Payloads
	query    string
	reset    string

	mu      sync.Mutex
	version string
	ciphers map[string]bool
}

// NewText returns mysql_text for the job (factor payload_bytes, setting
// mysql_reset). A service without a CA file is refused: there is no mysql_text
// without verified TLS.
func NewText(job protocol.Job) (*Workload, error) {
	if job.Service == nil || job.Service.Address == "" {
		return nil, errors.New("job: no service address")
	}
	if job.PerSample() != 1 {
		return nil, fmt.Errorf("job: operations_per_sample is %d, expected 1", job.PerSample())
	}
	size, err := job.IntRange("payload_bytes", 64, 1, 16<<20)
	if err != nil {
		return nil, err
	}
	w := &Workload{service: *job.Service, query: echoQuery, payloads: engine.NewTextPayloads(job.Seed, int(size)), ciphers: map[string]bool{}}
	if w.reset, err = job.Text("mysql_reset", resetLibrary, resetFull); err != nil {
		return nil, err
	}
	if w.tls, err = engine.TLSConfig(w.service); err != nil {
		return nil, err
	}
	if w.tls == nil {
		return nil, errors.New("job: the service has no ca_file, and mysql_text uses TLS only with full verification")
	}
	if w.password, err = engine.Password(w.service); err != nil {
		return nil, err
	}
	return w, nil
}

// Open implements engine.Workload: it connects over verified TLS, and checks that
// the session is encrypted in the server's eyes too.
func (w *Workload) Open(no int, dial engine.Dial) (engine.Conn, error) {
	config := mysql.NewConfig()
	config.User, config.Passwd = w.service.User, w.password
	config.Net, config.Addr, config.DBName = "tcp", w.service.Address, w.service.Database
	config.TLS = w.tls
	config.InterpolateParams = true
	config.DialFunc = dial
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, w.redact(err)
	}
	raw, err := connector.Connect(context.Background())
	if err != nil {
		return nil, w.redact(err)
	}
	c, err := newConn(w, raw)
	if err == nil {
		err = w.checkSession(c)
	}
	if err != nil {
		raw.Close()
		return nil, w.redact(err)
	}
	return c, nil
}

// checkSession asks the server for the session's cipher and its version.
func (w *Workload) checkSession(c *conn) error {
	cipher, err := c.text("SHOW SESSION STATUS LIKE 'Ssl_cipher'", 2)
	if err != nil {
		return fmt.Errorf("read session cipher: %w", err)
	}
	if cipher[1] == "" {
		return errors.New("read session cipher: the server says that the session has none")
	}
	version, err := c.text("SELECT VERSION()", 1)
	if err != nil {
		return fmt.Errorf("read server version: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ciphers[cipher[1]] = true
	w.version = version[0]
	return nil
}

// Describe implements engine.Workload.
func (w *Workload) Describe(r *protocol.Result) {
	r.Runtime["reset_policy"] = "library: go-sql-driver checks that the connection is alive when it is leased"
	if w.reset == resetFull {
		r.Runtime["reset_policy"] = "full: COM_RESET_CONNECTION when a connection is leased"
	}
	r.Runtime["tls_cipher"] = strings.Join(slices.Sorted(maps.Keys(w.ciphers)), " ")
	r.Runtime["tls_verified"] = "chain and name " + w.tls.ServerName
	r.Versions["server"] = w.version
}

// redact takes the password out of an error that may quote what was sent.
func (w *Workload) redact(err error) error {
	if w.password == "" || !strings.Contains(err.Error(), w.password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), w.password, "[redacted]"))
}

// fault turns a library error of request op into the engine's terms: after an
// error packet the connection is good, after anything else it is not.
func (w *Workload) fault(op int64, err error) error {
	err = fmt.Errorf("request %d: %w", op, w.redact(err))
	var packet *mysql.MySQLError
	if errors.As(err, &packet) {
		return err
	}
	return &engine.LostError{Err: err}
}

// conn is one connection of the pool, used as database/sql would use it.
type conn struct {
	w       *Workload
	raw     driver.Conn
	queryer driver.QueryerContext
	session driver.SessionResetter
	valid   driver.Validator
	full    *resetter // nil for the library's own reset
	args    []driver.NamedValue
	row     [1]driver.Value
}

func newConn(w *Workload, raw driver.Conn) (*conn, error) {
	c := &conn{w: w, raw: raw, args: []driver.NamedValue{{Ordinal: 1}}}
	var q, s, v bool
	c.queryer, q = raw.(driver.QueryerContext)
	c.session, s = raw.(driver.SessionResetter)
	c.valid, v = raw.(driver.Validator)
	if !q || !s || !v {
		return nil, fmt.Errorf("connection %T has no query, reset or validity check of its own", raw)
	}
	if w.reset == resetFull {
		r, err := newResetter(raw)
		if err != nil {
			return nil, err
		}
		c.full = r
	}
	return c, nil
}

// Do implements engine.Conn.
func (c *conn) Do(op int64) error {
	if err := c.lease(); err != nil {
		return &engine.LostError{Err: fmt.Errorf("request %d: reset session: %w", op, err)}
	}
	c.args[0].Value = c.w.payloads.Text(op)
	rows, err := c.queryer.QueryContext(context.Background(), c.w.query, c.args)
	if err != nil {
		return c.w.fault(op, err)
	}
	wrong := c.check(op, rows)
	if err := rows.Close(); err != nil {
		return c.w.fault(op, err)
	}
	if !c.valid.IsValid() {
		return &engine.LostError{Err: fmt.Errorf("request %d: connection is not valid when it is returned: %v", op, wrong)}
	}
	return wrong
}

func (c *conn) lease() error {
	if err := c.session.ResetSession(context.Background()); err != nil {
		return err
	}
	if c.full != nil {
		return c.full.reset()
	}
	return nil
}

// check reads the rows to their end and compares the one there is.
func (c *conn) check(op int64, rows driver.Rows) error {
	if n := len(rows.Columns()); n != 1 {
		return fmt.Errorf("reply %d: %d columns, expected 1", op, n)
	}
	if err := rows.Next(c.row[:]); err == io.EOF {
		return fmt.Errorf("reply %d: no row", op)
	} else if err != nil {
		return c.w.fault(op, err)
	}
	got, ok := c.row[0].([]byte)
	if !ok {
		return fmt.Errorf("reply %d: value is %T, expected bytes", op, c.row[0])
	}
	if err := c.w.payloads.Compare(op, got); err != nil {
		return err
	}
	if err := rows.Next(c.row[:]); err == nil {
		return fmt.Errorf("reply %d: a second row", op)
	} else if err != io.EOF {
		return c.w.fault(op, err)
	}
	return nil
}

// text returns the first row of a query without arguments.
func (c *conn) text(query string, columns int) ([]string, error) {
	rows, err := c.queryer.QueryContext(context.Background(), query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	row := make([]driver.Value, columns)
	if n := len(rows.Columns()); n != columns {
		return nil, fmt.Errorf("%d columns, expected %d", n, columns)
	}
	if err := rows.Next(row); err != nil {
		return nil, fmt.Errorf("read row: %w", err)
	}
	values := make([]string, columns)
	for i, v := range row {
		switch v := v.(type) {
		case []byte:
			values[i] = string(v)
		case string:
			values[i] = v
		default:
			return nil, fmt.Errorf("column %d is %T, expected text", i, v)
		}
	}
	return values, nil
}

// Close implements engine.Conn.
func (c *conn) Close() error { return c.raw.Close() }
