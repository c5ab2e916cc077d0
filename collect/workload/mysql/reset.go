package mysql

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"unsafe"
)

// resetter sends COM_RESET_CONNECTION, for which go-sql-driver has no call, on
// the library's own encrypted connection. Between two commands the library has
// nothing in flight and starts every command with sequence number 0, so that a
// whole exchange in between leaves no trace in it.
type resetter struct {
	conn  net.Conn
	reply [256]byte
}

const (
	comResetConnection = 0x1f
	replyOK            = 0x00
	replyError         = 0xff
)

// newResetter reaches the connection that the library keeps to itself: the TLS
// connection is made inside the library, and no call returns it.
func newResetter(c driver.Conn) (*resetter, error) {
	v := reflect.ValueOf(c)
	if v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		field := v.Elem().FieldByName("netConn")
		if field.IsValid() && field.Type() == reflect.TypeFor[net.Conn]() {
			conn := *(*net.Conn)(unsafe.Pointer(field.UnsafeAddr()))
			return &resetter{conn: conn}, nil
		}
	}
	return nil, fmt.Errorf("mysql_reset full: this version of go-sql-driver (%T) keeps its connection elsewhere", c)
}

// reset has the server forget the session's state. After an error the
// connection is of no use.
func (r *resetter) reset() error {
	if _, err := r.conn.Write([]byte{1, 0, 0, 0, comResetConnection}); err != nil {
		return err
	}
	head := r.reply[:4]
	if _, err := io.ReadFull(r.conn, head); err != nil {
		return err
	}
	size := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if size == 0 || size > len(r.reply) {
		return fmt.Errorf("reply of %d bytes to COM_RESET_CONNECTION", size)
	}
	body := r.reply[:size]
	if _, err := io.ReadFull(r.conn, body); err != nil {
		return err
	}
	switch body[0] {
	case replyOK:
		return nil
	case replyError:
		if len(body) < 3 {
			return errors.New("error reply without a code to COM_RESET_CONNECTION")
		}
		return fmt.Errorf("error %d to COM_RESET_CONNECTION", binary.LittleEndian.Uint16(body[1:]))
	default:
		return fmt.Errorf("reply %#x to COM_RESET_CONNECTION", body[0])
	}
}
