global _start

section .data
line: times 99 db "x"
      db 10

section .text
_start:
    mov r12d, 50000
next:
    mov eax, 1
    mov edi, 1
    mov rsi, line
    mov edx, 100
    syscall
    dec r12d
    jnz next
    mov eax, 60
    xor edi, edi
    syscall
