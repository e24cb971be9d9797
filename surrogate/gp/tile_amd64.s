#include "textflag.h"

// func tileFMA(a *[4][]float64, b *[3][]float64, c *float64, k int)
//
// A 4 by 3 block of dot products held in twelve vector accumulators: each step loads four
// numbers of seven rows for twelve fused multiply-adds. Slice headers are 24 bytes apart;
// rows of c are tileStride = 384 bytes (48 numbers) apart.
TEXT ·tileFMA(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DX
	MOVQ c+16(FP), DI
	MOVQ k+24(FP), CX
	MOVQ 0(SI), R8
	MOVQ 24(SI), R9
	MOVQ 48(SI), R10
	MOVQ 72(SI), R11
	MOVQ 0(DX), R12
	MOVQ 24(DX), R13
	MOVQ 48(DX), BX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	VXORPD Y8, Y8, Y8
	VXORPD Y9, Y9, Y9
	VXORPD Y10, Y10, Y10
	VXORPD Y11, Y11, Y11
	XORQ AX, AX

loop:
	CMPQ AX, CX
	JGE  sum
	VMOVUPD (R12)(AX*8), Y12
	VMOVUPD (R13)(AX*8), Y13
	VMOVUPD (BX)(AX*8), Y14
	VMOVUPD (R8)(AX*8), Y15
	VFMADD231PD Y12, Y15, Y0
	VFMADD231PD Y13, Y15, Y1
	VFMADD231PD Y14, Y15, Y2
	VMOVUPD (R9)(AX*8), Y15
	VFMADD231PD Y12, Y15, Y3
	VFMADD231PD Y13, Y15, Y4
	VFMADD231PD Y14, Y15, Y5
	VMOVUPD (R10)(AX*8), Y15
	VFMADD231PD Y12, Y15, Y6
	VFMADD231PD Y13, Y15, Y7
	VFMADD231PD Y14, Y15, Y8
	VMOVUPD (R11)(AX*8), Y15
	VFMADD231PD Y12, Y15, Y9
	VFMADD231PD Y13, Y15, Y10
	VFMADD231PD Y14, Y15, Y11
	ADDQ $4, AX
	JMP  loop

// ADDTO folds the four lanes of y (low half x) into one number and adds it to c.
#define ADDTO(y, x, off) \
	VEXTRACTF128 $1, y, X12; \
	VADDPD       X12, x, x;  \
	VHADDPD      x, x, x;    \
	VADDSD       off(DI), x, x; \
	VMOVSD       x, off(DI)

sum:
	ADDTO(Y0, X0, 0)
	ADDTO(Y1, X1, 8)
	ADDTO(Y2, X2, 16)
	ADDTO(Y3, X3, 384)
	ADDTO(Y4, X4, 392)
	ADDTO(Y5, X5, 400)
	ADDTO(Y6, X6, 768)
	ADDTO(Y7, X7, 776)
	ADDTO(Y8, X8, 784)
	ADDTO(Y9, X9, 1152)
	ADDTO(Y10, X10, 1160)
	ADDTO(Y11, X11, 1168)
	VZEROUPPER
	RET

// func hasFMA() bool
//
// CPUID leaf 1, ECX: FMA (bit 12), OSXSAVE (27), AVX (28); then XCR0 bits 1 and 2, which say
// that the operating system saves the vector registers (Intel SDM volume 1, section 14.3).
TEXT ·hasFMA(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	MOVL $1, AX
	XORL CX, CX
	CPUID
	ANDL $0x18001000, CX
	CMPL CX, $0x18001000
	JNE  done
	XORL CX, CX
	XGETBV
	ANDL $6, AX
	CMPL AX, $6
	JNE  done
	MOVB $1, ret+0(FP)

done:
	RET
