package hostinfo

import (
	"strconv"
	"strings"
)

// power records where the current comes from and how warm the machine is.
func (c *collector) power() {
	const supplies = "/sys/class/power_supply"
	source, battery := "", ""
	for _, dir := range c.glob(supplies + "/*") {
		kind, _ := c.read(dir + "/type")
		switch kind {
		case "Mains", "USB":
			if online, _ := c.read(dir + "/online"); online == "1" {
				source = "mains"
			}
		case "Battery":
			if scope, _ := c.read(dir + "/scope"); scope == "Device" {
				continue // the battery of a mouse
			}
			status, _ := c.read(dir + "/status")
			battery = status
			if capacity, err := c.read(dir + "/capacity"); err == nil {
				battery += ", " + capacity + " %"
			}
			if source == "" && status == "Discharging" {
				source = "battery"
			}
		}
	}
	c.orAbsent("power.source", source, supplies, "no power supply tells")
	c.orAbsent("power.battery", strings.TrimPrefix(battery, ", "), supplies, "no battery")

	hottest, found := int64(0), false
	for _, zone := range c.glob("/sys/class/thermal/thermal_zone[0-9]*") {
		text, err := c.read(zone + "/temp")
		if err != nil {
			continue
		}
		// Zones that are switched off read below freezing, or nonsense.
		if t, err := strconv.ParseInt(text, 10, 64); err == nil && t > 0 && t < 200_000 && (!found || t > hottest) {
			hottest, found = t, true
		}
	}
	value := ""
	if found {
		value = strconv.FormatInt(hottest, 10)
	}
	c.orAbsentUnit("thermal.hottest_millicelsius", value, "thousandths of a degree Celsius", "/sys/class/thermal", "no thermal zone tells")

	throttles, any := int64(0), false
	for _, path := range c.glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count") {
		if text, err := c.read(path); err == nil {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				throttles, any = throttles+n, true
			}
		}
	}
	value = ""
	if any {
		value = strconv.FormatInt(throttles, 10)
	}
	c.orAbsent("thermal.throttle_count", value, "/sys/devices/system/cpu/cpu*/thermal_throttle", "not provided by this system")
}

func (c *collector) orAbsent(name, value, source, reason string) {
	c.orAbsentUnit(name, value, "", source, reason)
}

func (c *collector) orAbsentUnit(name, value, unit, source, reason string) {
	if value == "" {
		c.absent(name, source, reason)
		return
	}
	c.add(name, value, unit, source)
}

// limits records the resource limits that processes inherit.
func (c *collector) limits() {
	const path = "/proc/self/limits"
	for _, l := range []struct{ fact, row string }{
		{"limits.open_files", "Max open files"},
		{"limits.processes", "Max processes"},
		{"limits.locked_memory_bytes", "Max locked memory"},
		{"limits.stack_bytes", "Max stack size"},
		{"limits.core_bytes", "Max core file size"},
	} {
		text, err := c.read(path)
		soft, hard, ok := limitRow(text, l.row)
		if err == nil && !ok {
			err = errNoValue
		}
		unit := ""
		if strings.HasSuffix(l.fact, "_bytes") {
			unit = "bytes"
		}
		for suffix, value := range map[string]string{"_soft": soft, "_hard": hard} {
			name := l.fact + suffix
			if base, isBytes := strings.CutSuffix(l.fact, "_bytes"); isBytes {
				name = base + suffix + "_bytes"
			}
			switch {
			case err != nil:
				c.absent(name, path, reasonOf(err))
			case value == "unlimited":
				c.add(name, value, "", path)
			default:
				c.add(name, value, unit, path)
			}
		}
	}
	c.file("limits.system_open_files", "", "/proc/sys/fs/file-max", nil)
}

// limitRow reads one row of /proc/PID/limits.
func limitRow(text, row string) (soft, hard string, ok bool) {
	for line := range strings.Lines(text) {
		rest, found := strings.CutPrefix(line, row)
		if f := strings.Fields(rest); found && len(f) >= 2 {
			return f[0], f[1], true
		}
	}
	return "", "", false
}

// network records what bounds connections over loopback.
func (c *collector) network() {
	const dir = "/proc/sys/net/"
	c.file("network.local_ports", "", dir+"ipv4/ip_local_port_range", func(text string) (string, error) {
		f := strings.Fields(text)
		if len(f) != 2 {
			return "", errNoValue
		}
		first, errFirst := strconv.Atoi(f[0])
		last, errLast := strconv.Atoi(f[1])
		if errFirst != nil || errLast != nil || first < 1 || last < first || last > 65535 {
			return "", errNoValue
		}
		return strconv.Itoa(last - first + 1), nil
	})
	c.file("network.listen_backlog_max", "", dir+"core/somaxconn", nil)
	c.file("network.congestion_control", "", dir+"ipv4/tcp_congestion_control", nil)
	c.file("network.loopback_mtu_bytes", "bytes", "/sys/class/net/lo/mtu", nil)
}
