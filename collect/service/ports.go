package service

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// portTries is how often a freely chosen port may be lost to another program
// between its choice and the server's bind.
const portTries = 5

// onPort calls start with the address that the spec fixes, which must be free,
// or with free ports of 127.0.0.1 until one holds.
func (i *Instance) onPort(ctx context.Context, start func(ctx context.Context, host, port string) error) error {
	if i.spec.Address != "" {
		if err := probeFree(i.spec.Address); err != nil {
			return err
		}
		host, port, err := net.SplitHostPort(i.spec.Address)
		if err != nil {
			return err
		}
		return start(ctx, host, port)
	}
	var err error
	for range portTries {
		var port string
		if port, err = freePort(); err != nil {
			return err
		}
		if err = start(ctx, "127.0.0.1", port); !errors.Is(err, errAddressTaken) {
			return err
		}
		i.abandon()
	}
	return fmt.Errorf("%d ports in turn were taken by others: %w", portTries, err)
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}

func probeFree(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("use %s: %w", address, err)
	}
	return listener.Close()
}
