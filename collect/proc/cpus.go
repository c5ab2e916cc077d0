package proc

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// FormatCPUs writes processors as the kernel does: "0", "0-1", "0,2-3". The
// order of the input does not matter; none is "".
func FormatCPUs(cpus []int) string {
	sorted := append([]int(nil), cpus...)
	sort.Ints(sorted)
	var b strings.Builder
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] <= sorted[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(sorted[i]))
		if sorted[j] > sorted[i] {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(sorted[j]))
		}
		i = j + 1
	}
	return b.String()
}

// maxCPU bounds what ParseCPUs accepts; it is the size of the kernel's set.
const maxCPU = 1023

// ParseCPUs reads a list as FormatCPUs writes it, ascending and without
// repetition. The empty list is nil.
func ParseCPUs(list string) ([]int, error) {
	list = strings.TrimSpace(list)
	if list == "" {
		return nil, nil
	}
	var cpus []int
	for _, part := range strings.Split(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(high)
		}
		after := -1
		if len(cpus) > 0 {
			after = cpus[len(cpus)-1]
		}
		if err != nil || first <= after || last < first || last > maxCPU {
			return nil, fmt.Errorf("parse processors %q: expected ascending numbers and ranges up to %d, as in 0,2-3", list, maxCPU)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
