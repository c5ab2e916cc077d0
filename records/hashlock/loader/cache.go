package loader

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
)

// Cache is the library cache that ldconfig writes.
type Cache struct {
	entries map[string][]cacheEntry
}

type cacheEntry struct {
	flags  int32
	hwcap  string // glibc-hwcaps subdirectory; empty for none
	legacy bool   // an entry under the hardware names that glibc 2.37 dropped
	path   string
}

const (
	cacheMagicOld  = "ld.so-1.7.0"
	cacheMagicNew  = "glibc-ld.so.cache1.1"
	cacheExtension = 0xEAA42174
)

// ParseCache reads the format that glibc has written since 2.2, alone or behind
// the older one:
//
//	"ld.so-1.7.0\0" count u32, count x 12 bytes, padding to 8   (may be missing)
//	"glibc-ld.so.cache1.1" count u32, strings u32, flags u8, 3 x 0,
//	extension u32, 3 x u32 0                                    48 bytes
//	count x { flags i32, name u32, path u32, osversion u32, hwcap u64 }
//	strings, extension: magic u32, count u32, count x { tag, flags, offset, size }
//
// Offsets count from the start of the newer header.
func ParseCache(b []byte) (*Cache, error) {
	b, err := newCache(b)
	if err != nil {
		return nil, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	if b[28]&3 == 3 {
		order = binary.BigEndian
	}
	count := int64(order.Uint32(b[20:]))
	if 48+count*24 > int64(len(b)) {
		return nil, damagedf("library cache claims %d entries in %d bytes", count, len(b))
	}
	str := func(off uint32) (string, error) {
		if int64(off) >= int64(len(b)) {
			return "", damagedf("library cache string %d lies outside", off)
		}
		s, ok := cString(b[off:min(len(b), int(off)+maxNameBytes)])
		if !ok {
			return "", damagedf("library cache string %d has no end", off)
		}
		return s, nil
	}
	var hwcaps []string
	for _, off := range cacheHWCaps(b, order) {
		name, err := str(off)
		if err != nil {
			return nil, err
		}
		hwcaps = append(hwcaps, name)
	}
	c := &Cache{entries: make(map[string][]cacheEntry, count)}
	for i := range count {
		e := b[48+i*24:]
		name, err := str(order.Uint32(e[4:]))
		if err != nil {
			return nil, err
		}
		path, err := str(order.Uint32(e[8:]))
		if err != nil {
			return nil, err
		}
		entry := cacheEntry{flags: int32(order.Uint32(e)), path: path}
		switch hwcap := order.Uint64(e[16:]); {
		case hwcap == 0:
		case hwcap>>32 == 1<<30:
			index := int(uint32(hwcap))
			if index >= len(hwcaps) {
				return nil, damagedf("library cache entry %s names hwcaps %d of %d", name, index, len(hwcaps))
			}
			entry.hwcap = hwcaps[index]
		default:
			entry.legacy = true
		}
		c.entries[name] = append(c.entries[name], entry)
	}
	return c, nil
}

// newCache returns the bytes from the newer header on.
func newCache(b []byte) ([]byte, error) {
	if bytes.HasPrefix(b, []byte(cacheMagicOld)) && len(b) >= 16 {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			at := (16 + int64(order.Uint32(b[12:]))*12 + 7) &^ 7
			if at < int64(len(b)) && bytes.HasPrefix(b[at:], []byte(cacheMagicNew)) {
				b = b[at:]
				break
			}
		}
	}
	if !bytes.HasPrefix(b, []byte(cacheMagicNew)) || len(b) < 48 {
		return nil, damagedf("library cache without the header %q", cacheMagicNew)
	}
	return b, nil
}

// cacheHWCaps returns the string offsets of the glibc-hwcaps section.
func cacheHWCaps(b []byte, order binary.ByteOrder) []uint32 {
	at := int64(order.Uint32(b[32:]))
	if at == 0 || at+8 > int64(len(b)) || order.Uint32(b[at:]) != cacheExtension {
		return nil
	}
	count := int64(order.Uint32(b[at+4:]))
	for i := range count {
		section := at + 8 + i*16
		if section+16 > int64(len(b)) {
			return nil
		}
		off, n := int64(order.Uint32(b[section+8:])), int64(order.Uint32(b[section+12:]))
		if order.Uint32(b[section:]) != 1 || off+n > int64(len(b)) {
			continue
		}
		var offsets []uint32
		for j := off; j+4 <= off+n; j += 4 {
			offsets = append(offsets, order.Uint32(b[j:]))
		}
		return offsets
	}
	return nil
}

// parseLdconfig reads the output of ldconfig -p:
//
//	libc.so.6 (libc6,x86-64, hwcap: "x86-64-v3") => /lib/x86_64-linux-gnu/libc.so.6
func parseLdconfig(out string) *Cache {
	c := &Cache{entries: map[string][]cacheEntry{}}
	for line := range strings.Lines(out) {
		left, path, ok := strings.Cut(strings.TrimSpace(line), " => ")
		name, details, hasDetails := strings.Cut(left, " (")
		if !ok || !hasDetails {
			continue
		}
		e := cacheEntry{path: path, flags: 1}
		for i, d := range strings.Split(strings.TrimSuffix(details, ")"), ",") {
			d = strings.TrimSpace(d)
			switch value, isHWCap := strings.CutPrefix(d, "hwcap: "); {
			case isHWCap:
				e.hwcap = strings.Trim(value, `"`)
				e.legacy = strings.HasPrefix(value, "0x")
			case i == 0 && d == "libc6":
				e.flags = 3
			default:
				e.flags |= ldconfigFlags[d]
			}
		}
		c.entries[name] = append(c.entries[name], e)
	}
	return c
}

// ldconfigFlags are the words of ldconfig -p for the architecture bits.
var ldconfigFlags = map[string]int32{
	"64bit": 0x0400, "x86-64": 0x0300, "x32": 0x0800, "AArch64": 0x0a00,
	"hard-float": 0x0900, "double-float": 0x1000, "N32": 0x0600,
}

// cacheFlags returns the flags of the entries that a loader of this machine
// and class takes; ok is false for machines that this package does not know.
func cacheFlags(machine elf.Machine, class elf.Class) (flags int32, ok bool) {
	switch {
	case machine == elf.EM_X86_64 && class == elf.ELFCLASS64:
		return 0x0303, true
	case machine == elf.EM_X86_64:
		return 0x0803, true
	case machine == elf.EM_386:
		return 0x0003, true
	case machine == elf.EM_AARCH64:
		return 0x0a03, true
	case machine == elf.EM_ARM:
		return 0x0903, true
	case machine == elf.EM_PPC64:
		return 0x0503, true
	case machine == elf.EM_S390 && class == elf.ELFCLASS64:
		return 0x0403, true
	case machine == elf.EM_RISCV && class == elf.ELFCLASS64:
		return 0x1003, true
	}
	return 0, false
}

// lookup returns the path that a loader takes for a name.
func (c *Cache) lookup(name string, machine elf.Machine, class elf.Class, hwcaps []string) (string, bool) {
	if c == nil {
		return "", false
	}
	want, known := cacheFlags(machine, class)
	best, bestRank := "", len(hwcaps)+1
	for _, e := range c.entries[name] {
		if e.legacy || known && e.flags != want && e.flags != 1 {
			continue
		}
		rank := len(hwcaps)
		if e.hwcap != "" {
			rank = indexOf(hwcaps, e.hwcap)
			if rank < 0 {
				continue
			}
		}
		if rank < bestRank {
			best, bestRank = e.path, rank
		}
	}
	return best, best != ""
}

func indexOf(list []string, want string) int {
	for i, s := range list {
		if s == want {
			return i
		}
	}
	return -1
}
