package driver

import (
	"errors"
	"fmt"
	"io"
	"os"

	"pairbench/records"
)

// ErrCollectorGone is returned when the collector closed its end before the
// exit command: the driver has nobody left to work for.
var ErrCollectorGone = errors.New("collector is gone")

// Client is the driver's end of the protocol. Its methods are called in the
// order of the protocol and from one goroutine.
type Client struct {
	messages io.Writer
	commands lineReader
	frame    *FrameWriter
}

// Open reads the job that the environment names and takes over the inherited
// descriptors. The memory that the sample frame needs is there when it returns.
func Open() (*Client, Job, error) {
	path := os.Getenv(JobEnv)
	if path == "" {
		return nil, Job{}, fmt.Errorf("open driver protocol: %s is not set; this program is started by pairbench collect", JobEnv)
	}
	for _, fd := range []int{FDMessages, FDCommands, FDSamples} {
		if err := inherited(fd); err != nil {
			return nil, Job{}, fmt.Errorf("open driver protocol: descriptor %d: %w", fd, err)
		}
	}
	c := NewClient(os.NewFile(FDMessages, "messages"), os.NewFile(FDCommands, "commands"), os.NewFile(FDSamples, "samples"))
	job, err := ReadJob(path)
	if err != nil {
		c.Fail(err)
		return nil, Job{}, err
	}
	return c, job, nil
}

// NewClient returns a client on open descriptors.
func NewClient(messages io.Writer, commands io.Reader, samples io.Writer) *Client {
	return &Client{messages: messages, commands: lineReader{r: commands}, frame: NewFrameWriter(samples)}
}

// Hello sends the first message; its protocol version is filled in.
func (c *Client) Hello(h Hello) error {
	h.Protocol = ProtocolVersion
	return c.send(Message{Type: TypeHello, Hello: &h})
}

// Ready says that the driver is connected and warm.
func (c *Client) Ready() error { return c.send(Message{Type: TypeReady}) }

// WaitGo waits for the go command.
func (c *Client) WaitGo() error { return c.wait(CommandGo) }

// Begin says that the measured interval starts now.
func (c *Client) Begin() error { return c.send(Message{Type: TypeBegin}) }

// End says what was counted.
func (c *Client) End(r Result) error { return c.send(Message{Type: TypeEnd, End: &r}) }

// WriteSamples writes the sample frame.
func (c *Client) WriteSamples(s records.Samples) error { return c.frame.Write(s) }

// Done says that the frame is written.
func (c *Client) Done() error { return c.send(Message{Type: TypeDone}) }

// WaitExit waits for the exit command.
func (c *Client) WaitExit() error { return c.wait(CommandExit) }

// Fail says that the driver cannot go on, and why. The text must hold no
// secret. A collector that is gone does not hear it.
func (c *Client) Fail(cause error) {
	_ = c.send(Message{Type: TypeError, Error: cause.Error()})
}

func (c *Client) send(m Message) error {
	line, err := encodeLine(m)
	if err != nil {
		return fmt.Errorf("send %s: %w", m.Type, err)
	}
	if _, err := c.messages.Write(line); err != nil {
		return fmt.Errorf("send %s: %w: %w", m.Type, ErrCollectorGone, err)
	}
	return nil
}

func (c *Client) wait(want string) error {
	line, err := c.commands.next()
	if err == io.EOF {
		return fmt.Errorf("wait for %s: %w", want, ErrCollectorGone)
	}
	if err != nil {
		return fmt.Errorf("wait for %s: %w", want, err)
	}
	got, err := ParseCommand(line)
	if err != nil {
		return fmt.Errorf("wait for %s: %w", want, err)
	}
	if got.Type != want {
		return fmt.Errorf("wait for %s: got %s", want, got.Type)
	}
	return nil
}
