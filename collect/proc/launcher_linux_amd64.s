#include "textflag.h"

// launcherProgram is the whole text of the launcher; see launcher_linux.go for
// what it does. It is copied out of this binary, so it refers to nothing
// outside itself, and it never moves the stack pointer: its memory lies below
// it, where no signal handler can write, because it has none.
//
//	R12 the stack as the kernel left it: argc, argv...
//	R14 environment
//	R15 memory: 0 all signals, 8 the old mask, 16 number of the child,
//	    24 error of exec, 32 status, 40 rusage
TEXT launcherProgram<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ SP, R12
	MOVQ (R12), R13
	LEAQ 16(R12)(R13*8), R14
	LEAQ -512(R12), R15

	// rt_sigprocmask(SIG_BLOCK, all, old, 8): signals are for the program.
	MOVQ $-1, (R15)
	MOVL $14, AX
	XORL DI, DI
	MOVQ R15, SI
	LEAQ 8(R15), DX
	MOVL $8, R10
	SYSCALL

	// clone(CLONE_VM|CLONE_VFORK|SIGCHLD): come back when the child has
	// executed the program, or has not been able to.
	MOVL $56, AX
	MOVL $0x4111, DI
	XORL SI, SI
	XORL DX, DX
	XORL R10, R10
	XORL R8, R8
	SYSCALL
	TESTQ AX, AX
	JZ   child
	MOVQ AX, 16(R15)

	// write(6, number of the child or error of clone, 8)
	MOVL $1, AX
	MOVL $6, DI
	LEAQ 16(R15), SI
	MOVL $8, DX
	SYSCALL

	// wait4(child, status, 0, rusage)
	MOVL $61, AX
	MOVQ 16(R15), DI
	LEAQ 32(R15), SI
	XORL DX, DX
	LEAQ 40(R15), R10
	SYSCALL

	// write(6, status and rusage, 152)
	MOVL $1, AX
	MOVL $6, DI
	LEAQ 32(R15), SI
	MOVL $152, DX
	SYSCALL

	// exit_group(0)
	MOVL $231, AX
	XORL DI, DI
	SYSCALL

child:
	// fcntl(6, F_SETFD, FD_CLOEXEC)
	MOVL $72, AX
	MOVL $6, DI
	MOVL $2, SI
	MOVL $1, DX
	SYSCALL

	// prctl(PR_SET_PDEATHSIG, SIGKILL): the program dies with the launcher.
	MOVL $157, AX
	MOVL $1, DI
	MOVL $9, SI
	SYSCALL

	// rt_sigprocmask(SIG_SETMASK, old, 0, 8)
	MOVL $14, AX
	MOVL $2, DI
	LEAQ 8(R15), SI
	XORL DX, DX
	MOVL $8, R10
	SYSCALL

	// execve(argv[1], argv+2, environment)
	MOVL $59, AX
	MOVQ 16(R12), DI
	LEAQ 24(R12), SI
	MOVQ R14, DX
	SYSCALL

	// write(6, error, 8), exit_group(127)
	MOVQ AX, 24(R15)
	MOVL $1, AX
	MOVL $6, DI
	LEAQ 24(R15), SI
	MOVL $8, DX
	SYSCALL
	MOVL $231, AX
	MOVL $127, DI
	SYSCALL

// func launcherText() *[launcherTextBytes]byte
TEXT ·launcherText(SB), NOSPLIT, $0-8
	LEAQ launcherProgram<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET
