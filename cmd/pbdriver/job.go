package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"pairbench/collect/driver"
	"pairbench/collect/workload"
	"pairbench/collect/workload/engine"
)

// carryOut speaks the protocol from hello to exit.
func carryOut() error {
	releaseProgram()
	client, job, err := driver.Open()
	if err != nil {
		return err
	}
	held, err := engine.Apply(job)
	if err == nil {
		err = client.Hello(driver.Hello{Driver: "pbdriver", Versions: versions()})
	}
	if err != nil {
		client.Fail(err)
		return err
	}
	work, err := workload.Open(job)
	if err != nil {
		client.Fail(err)
		return err
	}
	defer work.Close()
	releaseProgram()
	if err := measure(client, work, held); err != nil {
		client.Fail(err)
		return err
	}
	return client.WaitExit()
}

func measure(client *driver.Client, work engine.Work, held map[string]string) error {
	if err := work.WarmUp(); err != nil {
		return err
	}
	if err := client.Ready(); err != nil {
		return err
	}
	if err := client.WaitGo(); err != nil {
		return err
	}
	if err := work.Measure(client.Begin); err != nil {
		return err
	}
	result := work.Result()
	if result.Runtime == nil {
		result.Runtime = map[string]string{}
	}
	for name, value := range held {
		if _, stated := result.Runtime[name]; !stated {
			result.Runtime[name] = value
		}
	}
	result.ClientCPUs = engine.HeldCPUs()
	result.PeakRSSBytes = peakRSS()
	result.CPUProcessNs = engine.ProcessCPU()
	if err := client.End(result); err != nil {
		return err
	}
	if err := client.WriteSamples(work.Samples()); err != nil {
		return err
	}
	return client.Done()
}

// versions names what this driver is made of.
func versions() map[string]string {
	v := map[string]string{"driver": version, "go": runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, m := range info.Deps {
		for _, library := range []string{"redis/go-redis", "go-sql-driver/mysql", "gorilla/websocket"} {
			if strings.Contains(m.Path, library) {
				if m.Replace != nil {
					m = m.Replace
				}
				v[library[strings.IndexByte(library, '/')+1:]] = m.Version
			}
		}
	}
	return v
}

// peakRSS reads the high-water mark of the resident set; nil where the system
// does not tell.
func peakRSS() *int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	_, rest, found := strings.Cut(string(status), "\nVmHWM:")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return nil
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return nil
	}
	bytes := kib * 1024
	return &bytes
}
