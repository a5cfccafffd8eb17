global _start

section .data
input:  db "input.txt", 0
output: db "output.txt", 0

section .bss
buffer: resb 4096

section .text
_start:
    mov eax, 2              ; open for reading
    mov rdi, input
    xor esi, esi
    syscall
    mov rdi, rax
    xor eax, eax            ; read
    mov rsi, buffer
    mov edx, 4096
    syscall
    mov r12, rax
    mov eax, 2              ; create for writing
    mov rdi, output
    mov esi, 101o
    mov edx, 644o
    syscall
    mov rdi, rax
    mov eax, 1              ; write
    mov rsi, buffer
    mov rdx, r12
    syscall
    mov eax, 60
    xor edi, edi
    syscall
