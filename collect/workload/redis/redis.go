package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"pairbench/collect/driver"
	"pairbench/collect/workload/engine"
)

// Workload is redis_echo, or redis_pipeline with a batch. It is an
// engine.Workload.
type Workload struct {
	service  driver.Service
	password string
	tls      *tls.Config
	payloads *engine.Payloads
	size     int
	// batch is the number of commands in a sample; 0 sends single commands.
	batch   int
	version string
}

// NewEcho returns redis_echo for the job (factor payload_bytes).
func NewEcho(job driver.Job) (*Workload, error) { return newWorkload(job, 0) }

// NewPipeline returns redis_pipeline for the job (factors payload_bytes and
// batch, the latter the job's operations per sample).
func NewPipeline(job driver.Job) (*Workload, error) {
	batch, err := job.IntRange("batch", job.PerSample(), 1, 1<<16)
	if err != nil {
		return nil, err
	}
	if batch != job.PerSample() {
		return nil, fmt.Errorf("job: batch is %d, operations_per_sample is %d, expected the same", batch, job.PerSample())
	}
	return newWorkload(job, int(batch))
}

func newWorkload(job driver.Job, batch int) (*Workload, error) {
	if job.Service == nil || job.Service.Address == "" {
		return nil, errors.New("job: no service address")
	}
	size, err := job.IntRange("payload_bytes", 64, 1, 64<<20)
	if err != nil {
		return nil, err
	}
	w := &Workload{service: *job.Service, size: int(size), batch: batch, payloads: engine.NewPayloads(job.Seed, int(size))}
	if w.tls, err = engine.TLSConfig(w.service); err != nil {
		return nil, err
	}
	if w.password, err = engine.Password(w.service); err != nil {
		return nil, err
	}
	return w, nil
}

// Open implements engine.Workload: it connects and asks the server who it is.
func (w *Workload) Open(no int, dial engine.Dial) (engine.Conn, error) {
	client := redis.NewClient(w.options(dial))
	info, err := client.Info(context.Background(), "server").Result()
	var refused redis.Error
	if err != nil && !(errors.As(err, &refused) && strings.Contains(strings.ToLower(err.Error()), "unknown command")) {
		client.Close()
		return nil, w.redact(err)
	}
	if no == 0 {
		w.version = field(info, "redis_version")
	}
	if w.batch > 0 {
		return newPipeline(w, client), nil
	}
	return newEcho(w, client), nil
}

func (w *Workload) options(dial engine.Dial) *redis.Options {
	buffer := bufferSize(w.size * max(w.batch, 1))
	return &redis.Options{
		Addr: w.service.Address, Protocol: 2, DisableIdentity: true,
		Username: w.service.User, Password: w.password,
		PoolSize: 1, MaxRetries: -1, DialerRetries: 1,
		ReadTimeout: -2, WriteTimeout: -2, PoolTimeout: time.Hour, ConnMaxIdleTime: -1,
		ReadBufferSize: buffer, WriteBufferSize: buffer,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil || w.tls == nil {
				return conn, err
			}
			return tls.Client(conn, w.tls), nil
		},
	}
}

// bufferSize lets a whole request or reply of so many payload bytes pass in one
// call of the system, within reason.
func bufferSize(payload int) int {
	const least, most = 4 << 10, 256 << 10
	return min(max(payload+payload/8+512, least), most)
}

// field returns the value of a line "name:value" of an INFO reply.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Describe implements engine.Workload.
func (w *Workload) Describe(r *driver.Result) {
	r.Runtime["reset_policy"] = "library: go-redis checks that an idle connection is alive when it is leased"
	if w.version != "" {
		r.Versions["server"] = w.version
	}
}

// fault turns a library error of request op into the engine's terms: after an
// error reply the connection is good, after anything else it is not.
func (w *Workload) fault(op int64, err error) error {
	err = fmt.Errorf("request %d: %w", op, w.redact(err))
	var reply redis.Error
	if errors.As(err, &reply) {
		return err
	}
	return &engine.LostError{Err: err}
}

// redact takes the password out of an error that may quote what was sent.
func (w *Workload) redact(err error) error {
	if w.password == "" || !strings.Contains(err.Error(), w.password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), w.password, "[redacted]"))
}

// echo is one ECHO command that is used again and again.
type echo struct {
	cmd     *redis.ZeroCopyStringCmd
	payload string
	reply   []byte
}

func (e *echo) init(size int) {
	// Room for the line's end makes the library read reply and end at once.
	e.reply = make([]byte, size+2)
	e.cmd = redis.NewZeroCopyStringCmd(context.Background(), e.reply, "echo", &e.payload)
}

// echoConn is a connection of redis_echo.
type echoConn struct {
	w      *Workload
	client *redis.Client
	echo   echo
}

func newEcho(w *Workload, client *redis.Client) *echoConn {
	c := &echoConn{w: w, client: client}
	c.echo.init(w.size)
	return c
}

func (c *echoConn) Do(op int64) error {
	c.echo.payload = c.w.payloads.Text(op)
	if err := c.client.Process(context.Background(), c.echo.cmd); err != nil {
		return c.w.fault(op, err)
	}
	return c.w.payloads.Compare(op, c.echo.cmd.Bytes())
}

func (c *echoConn) Close() error { return c.client.Close() }

// pipelineConn is a connection of redis_pipeline.
type pipelineConn struct {
	w      *Workload
	client *redis.Client
	pipe   redis.Pipeliner
	echoes []echo
	cmds   []redis.Cmder
}

func newPipeline(w *Workload, client *redis.Client) *pipelineConn {
	c := &pipelineConn{w: w, client: client, pipe: client.Pipeline(), echoes: make([]echo, w.batch)}
	for i := range c.echoes {
		c.echoes[i].init(w.size)
		c.cmds = append(c.cmds, c.echoes[i].cmd)
	}
	return c
}

func (c *pipelineConn) Do(op int64) error {
	first := op * int64(c.w.batch)
	for i := range c.echoes {
		c.echoes[i].payload = c.w.payloads.Text(first + int64(i))
	}
	if err := c.pipe.BatchProcess(context.Background(), c.cmds...); err != nil {
		return c.w.fault(op, err)
	}
	if _, err := c.pipe.Exec(context.Background()); err != nil {
		return c.w.fault(op, err)
	}
	for i := range c.echoes {
		if err := c.echoes[i].cmd.Err(); err != nil {
			return c.w.fault(op, fmt.Errorf("command %d: %w", i, err))
		}
		if err := c.w.payloads.Compare(first+int64(i), c.echoes[i].cmd.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (c *pipelineConn) Close() error { return c.client.Close() }
