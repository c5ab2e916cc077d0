package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"pairbench/collect/driver"
	"pairbench/collect/proc"
)

// startEmbedded starts pbdriver as a server and reads its address.
func (i *Instance) startEmbedded(ctx context.Context) error {
	binary, err := proc.Resolve(i.spec.Program)
	if err != nil {
		return err
	}
	protocol := i.spec.Protocol
	if protocol == "" && i.Kind == Redis {
		protocol = "resp2"
	}
	listen := "127.0.0.1:0"
	if i.spec.Address != "" {
		if err := probeFree(i.spec.Address); err != nil {
			return err
		}
		listen = i.spec.Address
	}
	// The server ends when this pipe closes, which it does with the collector.
	childEnd, own, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("create a pipe: %w", err)
	}
	defer childEnd.Close()
	i.stdin = own
	argv := []string{binary, "serve", "--listen", listen, "--protocol", protocol}
	i.record(argv, "")
	return i.launch(ctx, argv, childEnd, func(context.Context) error {
		address, err := i.announced()
		if err != nil {
			return err
		}
		i.Service = driver.Service{Address: address}
		i.Product = "pairbench"
		return nil
	})
}

// announced reads the line in which the embedded server says where it listens.
func (i *Instance) announced() (string, error) {
	content, err := os.ReadFile(i.dir.file(logName))
	if err != nil {
		return "", err
	}
	line, _, complete := bytes.Cut(content, []byte("\n"))
	if !complete {
		return "", errors.New("it has not said where it listens")
	}
	var said struct {
		Address string `json:"address"`
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return "", fmt.Errorf("its first line is %q, expected its address in JSON: %w", line, err)
	}
	if _, _, err := net.SplitHostPort(said.Address); err != nil {
		return "", fmt.Errorf("its address is %q, expected host:port: %w", said.Address, err)
	}
	return said.Address, nil
}
