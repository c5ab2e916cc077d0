package hostinfo

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// cgroupDir is the control group of this process in one hierarchy.
type cgroupDir struct {
	mount, path string
	version     int
}

// levels returns the directories from the process's own group up to the mount.
// A container sees its group as /, or a path that it has no files for.
func (d cgroupDir) levels() []string {
	var dirs []string
	for p := path.Clean("/" + d.path); ; p = path.Dir(p) {
		dirs = append(dirs, path.Join(d.mount, p))
		if p == "/" {
			return dirs
		}
	}
}

// cgroupFor finds the group that limits a resource: cpu, memory or cpuset.
func (c *collector) cgroupFor(controller string) (cgroupDir, error) {
	text, err := c.read("/proc/self/cgroup")
	if err != nil {
		return cgroupDir{}, err
	}
	unified := ""
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			unified = parts[2]
			continue
		}
		for _, name := range strings.Split(parts[1], ",") {
			if name != controller {
				continue
			}
			for _, mount := range []string{"/sys/fs/cgroup/" + parts[1], "/sys/fs/cgroup/" + controller} {
				if len(c.glob(mount+"/*")) > 0 {
					return cgroupDir{mount: mount, path: parts[2], version: 1}, nil
				}
			}
		}
	}
	if unified != "" && len(c.glob("/sys/fs/cgroup/cgroup.controllers")) > 0 {
		return cgroupDir{mount: "/sys/fs/cgroup", path: unified, version: 2}, nil
	}
	return cgroupDir{}, fmt.Errorf("no control group hierarchy for %s is mounted", controller)
}

// tightest returns the smallest limit over the levels of a group: a parent's
// limit holds for its children. A level that says nothing does not limit.
func (c *collector) tightest(d cgroupDir, file string, parse func(string) (int64, bool)) (limit int64, limited bool) {
	for _, dir := range d.levels() {
		text, err := c.read(path.Join(dir, file))
		if err != nil {
			continue
		}
		if v, ok := parse(text); ok && (!limited || v < limit) {
			limit, limited = v, true
		}
	}
	return limit, limited
}

// cgroup records the limits that hold for this process.
func (c *collector) cgroup() {
	const source = "/proc/self/cgroup"
	d, err := c.cgroupFor("cpu")
	if err != nil {
		for _, fact := range []string{"cgroup.version", "cgroup.cpu_quota_milli", "cgroup.memory_max_bytes", "cgroup.cpuset", "cgroup.throttled_ns"} {
			c.absent(fact, source, reasonOf(err))
		}
		return
	}
	c.add("cgroup.version", strconv.Itoa(d.version), "", source)
	quota, limited := c.cpuQuota(d)
	c.limit("cgroup.cpu_quota_milli", quota, limited, "thousandths of a processor", d.mount)
	if ns, ok := c.throttledNs(d); ok {
		c.add("cgroup.throttled_ns", strconv.FormatInt(ns, 10), "ns", d.mount)
	} else {
		c.absent("cgroup.throttled_ns", d.mount, "not provided for this group")
	}
	if m, err := c.cgroupFor("memory"); err == nil {
		file := "memory.max"
		if m.version == 1 {
			file = "memory.limit_in_bytes"
		}
		max, limited := c.tightest(m, file, memoryLimit)
		c.limit("cgroup.memory_max_bytes", max, limited, "bytes", m.mount)
	} else {
		c.absent("cgroup.memory_max_bytes", source, reasonOf(err))
	}
	s, err := c.cgroupFor("cpuset")
	if err != nil {
		c.absent("cgroup.cpuset", source, reasonOf(err))
		return
	}
	for _, dir := range s.levels() {
		for _, file := range []string{"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"} {
			if cpus, err := c.read(path.Join(dir, file)); err == nil && cpus != "" {
				c.add("cgroup.cpuset", cpus, "", path.Join(dir, file))
				return
			}
		}
	}
	c.absent("cgroup.cpuset", s.mount, "no processor set in this group")
}

// limit records a limit, or "unlimited", which is a fact and no absence.
func (c *collector) limit(fact string, value int64, limited bool, unit, source string) {
	if !limited {
		c.add(fact, "unlimited", "", source)
		return
	}
	c.add(fact, strconv.FormatInt(value, 10), unit, source)
}

// cpuQuota returns the quota in thousandths of a processor.
func (c *collector) cpuQuota(d cgroupDir) (milli int64, limited bool) {
	if d.version == 2 {
		return c.tightest(d, "cpu.max", func(text string) (int64, bool) {
			quota, period, ok := strings.Cut(text, " ")
			if !ok {
				return 0, false
			}
			return quotaMilli(quota, period)
		})
	}
	for _, dir := range d.levels() {
		quota, err := c.read(path.Join(dir, "cpu.cfs_quota_us"))
		if err != nil {
			continue
		}
		period, err := c.read(path.Join(dir, "cpu.cfs_period_us"))
		if err != nil {
			continue
		}
		if v, ok := quotaMilli(quota, period); ok && (!limited || v < milli) {
			milli, limited = v, true
		}
	}
	return milli, limited
}

func quotaMilli(quota, period string) (int64, bool) {
	q, err := strconv.ParseInt(quota, 10, 64)
	if err != nil || q <= 0 || q > 1<<50 {
		return 0, false // max or -1
	}
	p, err := strconv.ParseInt(period, 10, 64)
	if err != nil || p <= 0 {
		return 0, false
	}
	return q * 1000 / p, true
}

// memoryLimit reads a limit; version 1 says "no limit" with a number close to
// the largest.
func memoryLimit(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && n < 1<<62
}

// throttledNs returns how long the group has been held back by its quota since
// it was made.
func (c *collector) throttledNs(d cgroupDir) (int64, bool) {
	for _, dir := range d.levels() {
		text, err := c.read(path.Join(dir, "cpu.stat"))
		if err != nil {
			continue
		}
		return throttled(text)
	}
	return 0, false
}

func throttled(stat string) (int64, bool) {
	f := fields(stat, " ")
	if v, err := strconv.ParseInt(f["throttled_usec"], 10, 64); err == nil {
		return v * 1000, true
	}
	v, err := strconv.ParseInt(f["throttled_time"], 10, 64)
	return v, err == nil
}
