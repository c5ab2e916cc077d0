package loader

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// elfSpec describes a small ELF file that loaders accept: one readable segment
// with everything in it, and no sections.
type elfSpec struct {
	class          elf.Class   // zero: 64 bits
	data           elf.Data    // zero: little-endian
	machine        elf.Machine // zero: x86-64
	interp         string
	soname         string
	needed         []string
	auxiliary      []string
	rpath, runpath string
	flags1         uint64
}

// bytes lays the file out: header, program headers, interpreter, dynamic
// section, strings.
func (s elfSpec) bytes() []byte {
	if s.class == 0 {
		s.class = elf.ELFCLASS64
	}
	if s.data == 0 {
		s.data = elf.ELFDATA2LSB
	}
	if s.machine == 0 {
		s.machine = elf.EM_X86_64
	}
	var order binary.ByteOrder = binary.LittleEndian
	if s.data == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	strtab := []byte{0}
	str := func(v string) uint64 {
		at := len(strtab)
		strtab = append(append(strtab, v...), 0)
		return uint64(at)
	}
	type dyn struct{ tag, value uint64 }
	var dyns []dyn
	for _, n := range s.needed {
		dyns = append(dyns, dyn{uint64(elf.DT_NEEDED), str(n)})
	}
	for _, n := range s.auxiliary {
		dyns = append(dyns, dyn{dtAuxiliary, str(n)})
	}
	for _, d := range []struct {
		tag   elf.DynTag
		value string
	}{{elf.DT_SONAME, s.soname}, {elf.DT_RPATH, s.rpath}, {elf.DT_RUNPATH, s.runpath}} {
		if d.value != "" {
			dyns = append(dyns, dyn{uint64(d.tag), str(d.value)})
		}
	}
	if s.flags1 != 0 {
		dyns = append(dyns, dyn{uint64(elf.DT_FLAGS_1), s.flags1})
	}
	headerSize, phSize, word := 64, 56, 8
	if s.class == elf.ELFCLASS32 {
		headerSize, phSize, word = 52, 32, 4
	}
	segments := 2
	if s.interp != "" {
		segments++
	}
	interpOff := headerSize + segments*phSize
	interp := []byte{}
	if s.interp != "" {
		interp = append([]byte(s.interp), 0)
	}
	dynOff := (interpOff + len(interp) + 7) &^ 7
	// STRTAB, SYMTAB, SYMENT, STRSZ and NULL come behind the others.
	dynSize := (len(dyns) + 5) * 2 * word
	strOff := dynOff + dynSize
	size := strOff + len(strtab)
	symEntry := uint64(24)
	if s.class == elf.ELFCLASS32 {
		symEntry = 16
	}
	dyns = append(dyns, dyn{uint64(elf.DT_STRTAB), uint64(strOff)}, dyn{uint64(elf.DT_SYMTAB), uint64(strOff)},
		dyn{uint64(elf.DT_SYMENT), symEntry}, dyn{uint64(elf.DT_STRSZ), uint64(len(strtab))}, dyn{})

	var out bytes.Buffer
	put := func(v any) { _ = binary.Write(&out, order, v) }
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(s.class), byte(s.data), 1}
	type segment struct {
		typ              elf.ProgType
		off, size, align int
	}
	list := []segment{{elf.PT_LOAD, 0, size, 4096}}
	if s.interp != "" {
		list = append(list, segment{elf.PT_INTERP, interpOff, len(interp), 1})
	}
	list = append(list, segment{elf.PT_DYNAMIC, dynOff, dynSize, 8})
	flags := uint32(elf.PF_R | elf.PF_W)
	if s.class == elf.ELFCLASS64 {
		put(elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(s.machine), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: uint16(len(list))})
		for _, g := range list {
			put(elf.Prog64{Type: uint32(g.typ), Flags: flags, Off: uint64(g.off), Vaddr: uint64(g.off), Paddr: uint64(g.off), Filesz: uint64(g.size), Memsz: uint64(g.size), Align: uint64(g.align)})
		}
	} else {
		put(elf.Header32{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(s.machine), Version: 1, Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: uint16(len(list))})
		for _, g := range list {
			put(elf.Prog32{Type: uint32(g.typ), Flags: flags, Off: uint32(g.off), Vaddr: uint32(g.off), Paddr: uint32(g.off), Filesz: uint32(g.size), Memsz: uint32(g.size), Align: uint32(g.align)})
		}
	}
	out.Write(interp)
	out.Write(make([]byte, dynOff-out.Len()))
	for _, d := range dyns {
		if word == 8 {
			put(d.tag)
			put(d.value)
		} else {
			put(uint32(d.tag))
			put(uint32(d.value))
		}
	}
	out.Write(strtab)
	return out.Bytes()
}

// machoSpec describes a small Mach-O slice: header and load commands.
type machoSpec struct {
	cpu      macho.Cpu // zero: arm64
	big      bool
	narrow   bool // 32 bits
	commands []machoCommand
}

type machoCommand struct {
	kind  uint32
	name  string
	flags uint32 // set: a dylib_use_command
}

func (s machoSpec) bytes() []byte {
	var order binary.ByteOrder = binary.LittleEndian
	if s.big {
		order = binary.BigEndian
	}
	if s.cpu == 0 {
		s.cpu = macho.CpuArm64
	}
	var commands bytes.Buffer
	for _, c := range s.commands {
		header := 12
		switch {
		case c.flags != 0:
			header = 28
		case c.kind != lcRpath && c.kind != lcLoadLinker && c.kind != lcEnvironment:
			header = 24
		}
		size := (header + len(c.name) + 1 + 7) &^ 7
		b := make([]byte, size)
		order.PutUint32(b, c.kind)
		order.PutUint32(b[4:], uint32(size))
		order.PutUint32(b[8:], uint32(header))
		if c.flags != 0 {
			order.PutUint32(b[12:], dylibUseMarker)
			order.PutUint32(b[24:], c.flags)
		}
		copy(b[header:], c.name)
		commands.Write(b)
	}
	header := make([]byte, 32)
	magic := macho.Magic64
	if s.narrow {
		magic, header = macho.Magic32, header[:28]
	}
	order.PutUint32(header, magic)
	order.PutUint32(header[4:], uint32(s.cpu))
	order.PutUint32(header[12:], 2)
	order.PutUint32(header[16:], uint32(len(s.commands)))
	order.PutUint32(header[20:], uint32(commands.Len()))
	return append(header, commands.Bytes()...)
}

// fat puts slices into one file.
func fat(wide bool, slices ...machoSpec) []byte {
	magic, width := uint32(fatMagic), 20
	if wide {
		magic, width = fatMagic64, 32
	}
	out := binary.BigEndian.AppendUint32(nil, magic)
	out = binary.BigEndian.AppendUint32(out, uint32(len(slices)))
	at := 8 + width*len(slices)
	var bodies []byte
	for _, s := range slices {
		b := s.bytes()
		out = binary.BigEndian.AppendUint32(out, uint32(s.cpu))
		out = binary.BigEndian.AppendUint32(out, 0)
		if wide {
			out = binary.BigEndian.AppendUint64(out, uint64(at+len(bodies)))
			out = binary.BigEndian.AppendUint64(out, uint64(len(b)))
			out = binary.BigEndian.AppendUint64(out, 0)
		} else {
			out = binary.BigEndian.AppendUint32(out, uint32(at+len(bodies)))
			out = binary.BigEndian.AppendUint32(out, uint32(len(b)))
			out = binary.BigEndian.AppendUint32(out, 0)
		}
		bodies = append(bodies, b...)
	}
	return append(out, bodies...)
}

// tree writes files below a new directory and returns its real path.
func tree(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
