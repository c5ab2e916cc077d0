#include "textflag.h"

// launcherProgram is the whole text of the launcher; see launcher_linux.go for
// what it does, and launcher_linux_amd64.s for the same steps with comments.
//
//	R19 the stack as the kernel left it: argc, argv...
//	R21 environment
//	R22 memory: 0 all signals, 8 the old mask, 16 number of the child,
//	    24 error of exec, 32 status, 40 rusage
TEXT launcherProgram<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVD RSP, R19
	MOVD (R19), R20
	ADD  R20<<3, R19, R21
	ADD  $16, R21, R21
	SUB  $512, R19, R22

	// rt_sigprocmask(SIG_BLOCK, all, old, 8)
	MOVD $-1, R0
	MOVD R0, (R22)
	MOVD $0, R0
	MOVD R22, R1
	ADD  $8, R22, R2
	MOVD $8, R3
	MOVD $135, R8
	SVC

	// clone(CLONE_VM|CLONE_VFORK|SIGCHLD)
	MOVD $0x4111, R0
	MOVD $0, R1
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	MOVD $220, R8
	SVC
	CBZ  R0, child
	MOVD R0, 16(R22)

	// write(6, number of the child or error of clone, 8)
	MOVD $6, R0
	ADD  $16, R22, R1
	MOVD $8, R2
	MOVD $64, R8
	SVC

	// wait4(child, status, 0, rusage)
	MOVD 16(R22), R0
	ADD  $32, R22, R1
	MOVD $0, R2
	ADD  $40, R22, R3
	MOVD $260, R8
	SVC

	// write(6, status and rusage, 152)
	MOVD $6, R0
	ADD  $32, R22, R1
	MOVD $152, R2
	MOVD $64, R8
	SVC

	// exit_group(0)
	MOVD $0, R0
	MOVD $94, R8
	SVC

child:
	// fcntl(6, F_SETFD, FD_CLOEXEC)
	MOVD $6, R0
	MOVD $2, R1
	MOVD $1, R2
	MOVD $25, R8
	SVC

	// prctl(PR_SET_PDEATHSIG, SIGKILL)
	MOVD $1, R0
	MOVD $9, R1
	MOVD $167, R8
	SVC

	// rt_sigprocmask(SIG_SETMASK, old, 0, 8)
	MOVD $2, R0
	ADD  $8, R22, R1
	MOVD $0, R2
	MOVD $8, R3
	MOVD $135, R8
	SVC

	// execve(argv[1], argv+2, environment)
	MOVD 16(R19), R0
	ADD  $24, R19, R1
	MOVD R21, R2
	MOVD $221, R8
	SVC

	// write(6, error, 8), exit_group(127)
	MOVD R0, 24(R22)
	MOVD $6, R0
	ADD  $24, R22, R1
	MOVD $8, R2
	MOVD $64, R8
	SVC
	MOVD $127, R0
	MOVD $94, R8
	SVC

// func launcherText() *[launcherTextBytes]byte
TEXT ·launcherText(SB), NOSPLIT, $0-8
	MOVD $launcherProgram<>(SB), R0
	MOVD R0, ret+0(FP)
	RET
