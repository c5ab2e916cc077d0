package loader

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"regexp"
	"strings"
)

// elfFile is the part of an ELF file that decides what gets loaded. It is read
// through the program headers, as the loader reads it: section headers may be
// stripped or lie.
type elfFile struct {
	class   elf.Class
	order   binary.ByteOrder
	machine elf.Machine
	typ     elf.Type
	interp  string
	dynamic bool

	needed  []elfNeed
	soname  string
	rpath   *string // nil when there is none, or when DT_RUNPATH overrides it
	runpath *string
	flags1  uint64
}

// elfNeed is one library that a dynamic section asks for.
type elfNeed struct {
	name     string
	optional bool // DT_AUXILIARY: the loader goes on without it
}

// Tags of the dynamic section that debug/elf does not name as such.
const (
	dtAuxiliary = 0x7ffffffd
	dtFilter    = 0x7fffffff
)

type elfSegment struct {
	typ                     elf.ProgType
	offset, vaddr, fileSize uint64
}

// parseELF reads the headers of an ELF file of the given size.
func parseELF(r io.ReaderAt, size int64) (*elfFile, error) {
	ident, err := readBytes(r, size, 0, elf.EI_NIDENT, "ELF identification")
	if err != nil {
		return nil, err
	}
	if string(ident[:4]) != elf.ELFMAG {
		return nil, damagedf("no ELF magic")
	}
	f := &elfFile{class: elf.Class(ident[elf.EI_CLASS])}
	switch elf.Data(ident[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
		f.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		f.order = binary.BigEndian
	default:
		return nil, damagedf("unknown ELF byte order %d", ident[elf.EI_DATA])
	}
	segments, err := f.header(r, size)
	if err != nil {
		return nil, err
	}
	for _, s := range segments {
		if s.typ != elf.PT_INTERP {
			continue
		}
		if s.fileSize > maxNameBytes {
			return nil, damagedf("interpreter name of %d bytes", s.fileSize)
		}
		b, err := readBytes(r, size, int64(s.offset), int64(s.fileSize), "PT_INTERP")
		if err != nil {
			return nil, err
		}
		name, ok := cString(b)
		if !ok || name == "" {
			return nil, damagedf("interpreter name has no end")
		}
		f.interp = name
		break
	}
	return f, f.dynamicSection(r, size, segments)
}

// header reads the file header and the program headers.
func (f *elfFile) header(r io.ReaderAt, size int64) ([]elfSegment, error) {
	var phoff uint64
	var phentsize, phnum int
	switch f.class {
	case elf.ELFCLASS64:
		h, err := readBytes(r, size, 0, 64, "ELF header")
		if err != nil {
			return nil, err
		}
		f.typ, f.machine = elf.Type(f.order.Uint16(h[16:])), elf.Machine(f.order.Uint16(h[18:]))
		phoff = f.order.Uint64(h[32:])
		phentsize, phnum = int(f.order.Uint16(h[54:])), int(f.order.Uint16(h[56:]))
	case elf.ELFCLASS32:
		h, err := readBytes(r, size, 0, 52, "ELF header")
		if err != nil {
			return nil, err
		}
		f.typ, f.machine = elf.Type(f.order.Uint16(h[16:])), elf.Machine(f.order.Uint16(h[18:]))
		phoff = uint64(f.order.Uint32(h[28:]))
		phentsize, phnum = int(f.order.Uint16(h[42:])), int(f.order.Uint16(h[44:]))
	default:
		return nil, damagedf("unknown ELF class %d", f.class)
	}
	want := 56
	if f.class == elf.ELFCLASS32 {
		want = 32
	}
	if phnum == 0 {
		return nil, nil
	}
	if phentsize != want {
		return nil, damagedf("program header entries of %d bytes, expected %d", phentsize, want)
	}
	table, err := readBytes(r, size, int64(phoff), int64(phentsize)*int64(phnum), "program headers")
	if err != nil {
		return nil, err
	}
	segments := make([]elfSegment, phnum)
	for i := range segments {
		b := table[i*phentsize:]
		s := &segments[i]
		s.typ = elf.ProgType(f.order.Uint32(b))
		if f.class == elf.ELFCLASS64 {
			s.offset, s.vaddr, s.fileSize = f.order.Uint64(b[8:]), f.order.Uint64(b[16:]), f.order.Uint64(b[32:])
		} else {
			s.offset, s.vaddr, s.fileSize = uint64(f.order.Uint32(b[4:])), uint64(f.order.Uint32(b[8:])), uint64(f.order.Uint32(b[16:]))
		}
	}
	return segments, nil
}

// fileOffset translates an address of the loaded image into a place in the
// file, with the number of bytes that follow it there.
func fileOffset(segments []elfSegment, addr uint64) (off, left uint64, ok bool) {
	for _, s := range segments {
		if s.typ == elf.PT_LOAD && addr >= s.vaddr && addr-s.vaddr < s.fileSize {
			return s.offset + (addr - s.vaddr), s.fileSize - (addr - s.vaddr), true
		}
	}
	return 0, 0, false
}

// dynamicSection reads PT_DYNAMIC; a file without one is not dynamic.
func (f *elfFile) dynamicSection(r io.ReaderAt, size int64, segments []elfSegment) error {
	var dyn *elfSegment
	for i := range segments {
		if segments[i].typ == elf.PT_DYNAMIC {
			dyn = &segments[i]
		}
	}
	if dyn == nil {
		return nil
	}
	f.dynamic = true
	off := dyn.offset
	if mapped, _, ok := fileOffset(segments, dyn.vaddr); ok {
		off = mapped
	}
	table, err := readBytes(r, size, int64(off), int64(dyn.fileSize), "dynamic section")
	if err != nil {
		return err
	}
	word := func(b []byte) uint64 { return f.order.Uint64(b) }
	width := 8
	if f.class == elf.ELFCLASS32 {
		word = func(b []byte) uint64 { return uint64(f.order.Uint32(b)) }
		width = 4
	}
	type entry struct{ tag, value uint64 }
	var entries []entry
	var strtab, strsize uint64
	for i := 0; i+2*width <= len(table); i += 2 * width {
		e := entry{word(table[i:]), word(table[i+width:])}
		if e.tag == uint64(elf.DT_NULL) {
			break
		}
		switch elf.DynTag(e.tag) {
		case elf.DT_STRTAB:
			strtab = e.value
		case elf.DT_STRSZ:
			strsize = e.value
		case elf.DT_FLAGS_1:
			f.flags1 = e.value
		}
		entries = append(entries, e)
	}
	stroff, left, ok := fileOffset(segments, strtab)
	str := func(at uint64) (string, error) {
		if !ok {
			return "", damagedf("string table at address %#x lies in no segment", strtab)
		}
		if at >= left || (strsize != 0 && at >= strsize) {
			return "", damagedf("string %d lies outside the string table", at)
		}
		n := min(maxNameBytes, left-at, uint64(size))
		start := stroff + at
		if start >= uint64(size) {
			return "", damagedf("string %d lies outside the file", at)
		}
		b, err := readBytes(r, size, int64(start), int64(min(n, uint64(size)-start)), "string table")
		if err != nil {
			return "", err
		}
		s, ended := cString(b)
		if !ended {
			return "", damagedf("string %d has no end", at)
		}
		return s, nil
	}
	for _, e := range entries {
		var into *string
		var s string
		switch e.tag {
		case uint64(elf.DT_NEEDED), dtFilter, dtAuxiliary:
			into = &s
		case uint64(elf.DT_SONAME):
			into = &f.soname
		case uint64(elf.DT_RPATH):
			f.rpath = new(string)
			into = f.rpath
		case uint64(elf.DT_RUNPATH):
			f.runpath = new(string)
			into = f.runpath
		default:
			continue
		}
		if *into, err = str(e.value); err != nil {
			return err
		}
		if into == &s {
			if len(f.needed) == maxObjects {
				return damagedf("more than %d needed libraries", maxObjects)
			}
			f.needed = append(f.needed, elfNeed{name: s, optional: e.tag == dtAuxiliary})
		}
	}
	if f.runpath != nil {
		f.rpath = nil
	}
	return nil
}

// systemDirs matches the list of default directories that is compiled into the
// GNU loader: absolute names with a slash at the end, one NUL after each.
var systemDirs = regexp.MustCompile(`\x00((?:/[A-Za-z0-9_.+/-]*/\x00){2,})`)

// defaultDirs reads the default directories out of a GNU loader's own bytes;
// nil when they are not where they are expected.
func defaultDirs(r io.ReaderAt, size int64) []string {
	if size > 4*maxTableBytes {
		return nil
	}
	b := make([]byte, size)
	if n, err := r.ReadAt(b, 0); err != nil && err != io.EOF || int64(n) != size {
		return nil
	}
	m := systemDirs.FindSubmatch(b)
	if m == nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(m[1]), "\x00"), "\x00")
}
