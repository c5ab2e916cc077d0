package workload

import (
	"fmt"
	"slices"

	"pairbench/collect/driver"
	"pairbench/collect/workload/echo"
	"pairbench/collect/workload/engine"
	"pairbench/collect/workload/mysql"
	"pairbench/collect/workload/redis"
)

// workloads holds every built-in workload in the order in which help names them.
var workloads = []builtin{
	{"redis_echo", pooled(redis.NewEcho)},
	{"redis_pipeline", pooled(redis.NewPipeline)},
	{"mysql_text", pooled(mysql.NewText)},
	{"tcp_echo", echo.Open},
	{"http_echo", itself(echo.OpenHTTP)},
	{"websocket_echo", itself(echo.OpenWebSocket)},
}

type builtin struct {
	name string
	open func(job driver.Job) (engine.Work, error)
}

// pooled opens a workload that runs on the engine's pool of connections.
func pooled[W engine.Workload](make func(driver.Job) (W, error)) func(driver.Job) (engine.Work, error) {
	return func(job driver.Job) (engine.Work, error) {
		w, err := make(job)
		if err != nil {
			return nil, err
		}
		return engine.Open(job, w)
	}
}

// itself opens a workload that brings its own loops.
func itself[W engine.Work](open func(driver.Job) (W, error)) func(driver.Job) (engine.Work, error) {
	return func(job driver.Job) (engine.Work, error) {
		w, err := open(job)
		if err != nil {
			return nil, err
		}
		return w, nil
	}
}

// Names returns the names of the built-in workloads.
func Names() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

// Open connects the workload that the job names. The calling goroutine is the
// owner: it calls every method of what is returned.
func Open(job driver.Job) (engine.Work, error) {
	i := slices.IndexFunc(workloads, func(b builtin) bool { return b.name == job.Workload })
	if i < 0 {
		return nil, fmt.Errorf("job: workload is %q, expected one of %q", job.Workload, Names())
	}
	return workloads[i].open(job)
}
