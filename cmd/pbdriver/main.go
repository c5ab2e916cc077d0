package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(serve(ctx, os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	fmt.Fprintln(os.Stderr, "pbdriver: expected the command serve")
	os.Exit(2)
}
