package driver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrTooLong is returned for a control line of more than MaxMessageBytes.
var ErrTooLong = errors.New("line is longer than the protocol allows")

// ParseMessage decodes one line of FDMessages. The type must be known and carry
// what it promises; keys that the protocol does not know are ignored, so that a
// newer driver can talk to an older collector.
func ParseMessage(line []byte) (Message, error) {
	var m Message
	if err := parseLine(line, &m); err != nil {
		return Message{}, err
	}
	switch m.Type {
	case TypeHello:
		if m.Hello == nil {
			return Message{}, errors.New("hello without its object")
		}
		if m.Hello.Protocol != ProtocolVersion {
			return Message{}, fmt.Errorf("driver speaks protocol %d, expected %d", m.Hello.Protocol, ProtocolVersion)
		}
	case TypeEnd:
		if m.End == nil {
			return Message{}, errors.New("end without its object")
		}
	case TypeError:
		if m.Error == "" {
			return Message{}, errors.New("error without its text")
		}
	case TypeReady, TypeBegin, TypeDone:
	default:
		return Message{}, fmt.Errorf("unknown message type %s", quote(m.Type))
	}
	return m, nil
}

// ParseCommand decodes one line of FDCommands.
func ParseCommand(line []byte) (Command, error) {
	var c Command
	if err := parseLine(line, &c); err != nil {
		return Command{}, err
	}
	if c.Type != CommandGo && c.Type != CommandExit {
		return Command{}, fmt.Errorf("unknown command type %s", quote(c.Type))
	}
	return c, nil
}

func parseLine(line []byte, into any) error {
	if len(line) > MaxMessageBytes {
		return ErrTooLong
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("line %s: %w", quote(string(line)), err)
	}
	return nil
}

// encodeLine returns v as one line, newline included.
func encodeLine(v any) ([]byte, error) {
	line, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(line)+1 > MaxMessageBytes {
		return nil, ErrTooLong
	}
	return append(line, '\n'), nil
}

// quote cuts what came from outside to a length that fits an error.
func quote(s string) string {
	const most = 120
	if len(s) > most {
		return fmt.Sprintf("%q...", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// lineReader reads lines of bounded length. It grows only to what it was given,
// and keeps what came after a line for the next call.
type lineReader struct {
	r   io.Reader
	buf []byte
	// used is the length of the line handed out last, newline included.
	used int
	eof  bool
}

// next returns the next line without its newline, valid until the next call. At
// the end of the input it returns io.EOF, or io.ErrUnexpectedEOF when a line was
// cut short.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:copy(l.buf, l.buf[l.used:])]
	l.used = 0
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[searched:], '\n'); i >= 0 {
			line := l.buf[:searched+i]
			if len(line)+1 > MaxMessageBytes {
				return nil, ErrTooLong
			}
			l.used = searched + i + 1
			return line, nil
		}
		searched = len(l.buf)
		switch {
		case searched >= MaxMessageBytes:
			return nil, ErrTooLong
		case l.eof && searched > 0:
			return nil, io.ErrUnexpectedEOF
		case l.eof:
			return nil, io.EOF
		}
		if cap(l.buf) == searched {
			grown := make([]byte, searched, max(4096, 2*searched))
			copy(grown, l.buf)
			l.buf = grown
		}
		n, err := l.r.Read(l.buf[searched:cap(l.buf)])
		l.buf = l.buf[:searched+n]
		if err == io.EOF {
			l.eof = true
		} else if err != nil {
			return nil, err
		}
	}
}
